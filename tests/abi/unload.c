/* A thread that computed ends after the library was unloaded, as far as it can be: what the library
 * wanted to hear of the thread's end must not run where it no longer is. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <tenure/tenure.h>

typedef tnr_status (*fill_function)(tnr_context*, const tnr_scalar*, const tnr_extension*,
                                    const tnr_view_mut*);

static pthread_barrier_t computed, unloaded;
static fill_function fill;
static tnr_status answer = TNR_STATUS_INTERNAL;

static void* compute(void* unused) {
  float memory[4];
  const tnr_scalar one = {TNR_DTYPE_F32, 0, {0, 0, 0x80, 0x3f}};
  tnr_view_mut out = {{0}};
  out.view.data = out.view.base = memory;
  out.view.size_bytes = sizeof memory;
  out.view.dtype = TNR_DTYPE_F32;
  out.view.rank = 1;
  out.view.device.kind = TNR_DEVICE_KIND_CPU;
  out.view.shape[0] = 4;
  out.view.strides[0] = 1;
  answer = fill(NULL, &one, NULL, &out);
  pthread_barrier_wait(&computed);
  pthread_barrier_wait(&unloaded);
  return unused;
}

int main(int count, char** arguments) {
  void* const library = count == 2 ? dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "usage: unload LIBRARY (%s)\n", count == 2 ? dlerror() : "no argument");
    return 2;
  }
  /* The way from void * that ISO C and POSIX agree on. */
  *(void**)&fill = dlsym(library, "tnr_fill");
  pthread_t thread;
  pthread_barrier_init(&computed, NULL, 2);
  pthread_barrier_init(&unloaded, NULL, 2);
  if (fill == NULL || pthread_create(&thread, NULL, compute, NULL) != 0) return 2;
  pthread_barrier_wait(&computed);
  const int closed = dlclose(library);
  pthread_barrier_wait(&unloaded);
  pthread_join(thread, NULL);
  return closed != 0 || answer != TNR_STATUS_OK;
}
