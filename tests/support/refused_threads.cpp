#include "refused_threads.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>

// The sanitizer's, where one is linked: it must know of each thread.
extern "C" [[gnu::weak]] int __interceptor_pthread_create(pthread_t*, const pthread_attr_t*,
                                                          void* (*)(void*), void*);

namespace {

constinit thread_local bool t_active = false;
constinit thread_local int t_left = 0;
constinit std::atomic<int> g_started{0};

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

Create real_create() {
  if (__interceptor_pthread_create != nullptr) return __interceptor_pthread_create;
  return reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
}

}  // namespace

namespace tenure::test {

ThreadFault::ThreadFault(int first) noexcept {
  t_active = true;
  t_left = first;
}
ThreadFault::~ThreadFault() { t_active = false; }

int started_threads() noexcept { return g_started; }

}  // namespace tenure::test

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*run)(void*), void* argument) noexcept {
  if (t_active && t_left-- <= 0) return EAGAIN;
  const int error = real_create()(thread, attributes, run, argument);
  if (error == 0) g_started += 1;
  return error;
}
