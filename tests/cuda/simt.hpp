// The part of CUDA C++ beyond C++, so that a host compiler takes the kernels as they are: for
// kernels/device.cuh, in place of nvcc's own declarations.
//
// Each thread of a block is a fibre where it waits for others, and a plain call where it does not.
// Blocks run one after the other, warps as far as they can go, both in an order that follows from a
// seed (TENURE_SIMT_SEED): a barrier that is missing shows, where a fair order would hide it.
// Behaviour that a device leaves undefined ends the program with a message: a thread that waits for
// one that has ended, lanes that meet at different calls, a block that no thread can continue.
//
// Not here: weak memory, blocks that run at once, instructions in assembler.
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cstddef>

#define __device__
#define __host__
#define __forceinline__ inline
#define __restrict__ __restrict
// Blocks run one after the other. simt.cpp says why it is no plain static.
#define __shared__ static thread_local
#define __constant__ static const
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

namespace simt {

struct Index {
  unsigned x, y, z;
};

using Run = void (*)(const void* argument);

// A parameter of a kernel, in the bytes that a launch copies.
struct Parameter {
  std::size_t offset;
  std::size_t bytes;
};

// A kernel that was compiled for the host.
struct Kernel {
  const char* name;
  const Parameter* parameters;
  std::size_t parameter_count;
  Run run;
  const Kernel* next;
};

// Puts a kernel into the list of all.
class Registration {
 public:
  // A kernel of one parameter, and one of several.
  Registration(const char* name, std::size_t argument_bytes, Run run);
  Registration(const char* name, const Parameter* parameters, std::size_t parameter_count, Run run);
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

 private:
  Parameter argument_;  // the one
  Kernel kernel_;
};

// nullptr: there is none of that name.
const Kernel* find_kernel(const char* name);

// Runs all blocks. Not more than one launch at a time.
void launch(const Kernel& kernel, Index blocks, Index threads, const void* argument);

// ---- what a thread waits for ----

enum class Meeting : unsigned {
  kBarrier,  // of the block; all others are of lanes of one warp
  kWarpBarrier,
  kShuffle,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kBallot,
  kAdd,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
};

struct Call {
  Meeting meeting;
  unsigned mask;   // lanes that meet
  uint64_t value;  // of this thread
  unsigned lane;   // a shuffle's argument: a lane, or a distance
  unsigned width;  // of the groups of a shuffle
};

// Waits for the threads that the call names. Returns this thread's result.
uint64_t meet(const Call& call);

inline constexpr unsigned kWarp = 32;

template <class T>
uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= sizeof(uint64_t), "as the device: up to 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T exchange(Meeting meeting, unsigned mask, T value, unsigned lane, int width) {
  const uint64_t bits = meet({meeting, mask, bits_of(value), lane, static_cast<unsigned>(width)});
  T result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

// The types that a device shuffles and folds.
template <class T>
struct IsShuffled {
  static constexpr bool kValue = false;
};
template <>
struct IsShuffled<int> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<unsigned> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<long> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<unsigned long> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<long long> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<unsigned long long> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<float> {
  static constexpr bool kValue = true;
};
template <>
struct IsShuffled<double> {
  static constexpr bool kValue = true;
};

}  // namespace simt

// Where the thread that runs is.
inline simt::Index threadIdx = {0, 0, 0};
inline simt::Index blockIdx = {0, 0, 0};
inline simt::Index blockDim = {1, 1, 1};
inline simt::Index gridDim = {1, 1, 1};
inline constexpr int warpSize = static_cast<int>(simt::kWarp);

// ---- meetings ----

inline void __syncthreads() { simt::meet({simt::Meeting::kBarrier, 0, 0, 0, 0}); }
// How many threads of the block say yes.
inline int __syncthreads_count(int yes) {
  return static_cast<int>(simt::meet({simt::Meeting::kBarrier, 0, yes != 0 ? 1u : 0u, 0, 0}));
}
inline int __syncthreads_or(int yes) { return __syncthreads_count(yes) != 0; }
inline int __syncthreads_and(int yes) { return __syncthreads_count(yes == 0) == 0; }
inline void __syncwarp(unsigned mask = ~0u) {
  simt::meet({simt::Meeting::kWarpBarrier, mask, 0, 0, 0});
}

#define TENURE_SIMT_SHUFFLE(name, meeting, Lane)                                     \
  template <class T>                                                                 \
  T name(unsigned mask, T value, Lane lane, int width = warpSize) {                  \
    static_assert(simt::IsShuffled<T>::kValue, "a device has no such shuffle");      \
    return simt::exchange(meeting, mask, value, static_cast<unsigned>(lane), width); \
  }
TENURE_SIMT_SHUFFLE(__shfl_sync, simt::Meeting::kShuffle, int)
TENURE_SIMT_SHUFFLE(__shfl_up_sync, simt::Meeting::kShuffleUp, unsigned)
TENURE_SIMT_SHUFFLE(__shfl_down_sync, simt::Meeting::kShuffleDown, unsigned)
TENURE_SIMT_SHUFFLE(__shfl_xor_sync, simt::Meeting::kShuffleXor, int)
#undef TENURE_SIMT_SHUFFLE

inline unsigned __ballot_sync(unsigned mask, int yes) {
  return static_cast<unsigned>(
      simt::meet({simt::Meeting::kBallot, mask, yes != 0 ? 1u : 0u, 0, 0}));
}
inline int __any_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes) != 0; }
inline int __all_sync(unsigned mask, int yes) { return __ballot_sync(mask, yes) == mask; }

// For int and unsigned, as compute capability 8.0 has them.
#define TENURE_SIMT_FOLD(name, meeting, T)                                    \
  inline T name(unsigned mask, T value) {                                     \
    const uint64_t wide = static_cast<uint64_t>(static_cast<int64_t>(value)); \
    return static_cast<T>(simt::meet({meeting, mask, wide, 0, 0}));           \
  }
TENURE_SIMT_FOLD(__reduce_add_sync, simt::Meeting::kAdd, int)
TENURE_SIMT_FOLD(__reduce_add_sync, simt::Meeting::kAdd, unsigned)
TENURE_SIMT_FOLD(__reduce_min_sync, simt::Meeting::kMin, int)
TENURE_SIMT_FOLD(__reduce_min_sync, simt::Meeting::kMin, unsigned)
TENURE_SIMT_FOLD(__reduce_max_sync, simt::Meeting::kMax, int)
TENURE_SIMT_FOLD(__reduce_max_sync, simt::Meeting::kMax, unsigned)
TENURE_SIMT_FOLD(__reduce_and_sync, simt::Meeting::kAnd, unsigned)
TENURE_SIMT_FOLD(__reduce_or_sync, simt::Meeting::kOr, unsigned)
TENURE_SIMT_FOLD(__reduce_xor_sync, simt::Meeting::kXor, unsigned)
#undef TENURE_SIMT_FOLD

// Fibres change only at meetings.
inline void __threadfence() {}
inline void __threadfence_block() {}

template <class T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = static_cast<T>(before + value);
  return before;
}
template <class T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at = before | value;
  return before;
}
template <class T>
T atomicMax(T* at, T value) {
  const T before = *at;
  if (before < value) *at = value;
  return before;
}
template <class T>
T atomicMin(T* at, T value) {
  const T before = *at;
  if (value < before) *at = value;
  return before;
}
template <class T>
T atomicExch(T* at, T value) {
  const T before = *at;
  *at = value;
  return before;
}

// ---- vectors, with a device's alignment ----

#define TENURE_SIMT_VECTOR(T, name, bytes2, bytes4)          \
  struct alignas(bytes2) name##2 { T x, y; };                \
  struct alignas(bytes4) name##4 { T x, y, z, w; };          \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
TENURE_SIMT_VECTOR(unsigned char, uchar, 2, 4)
TENURE_SIMT_VECTOR(unsigned short, ushort, 4, 8)
TENURE_SIMT_VECTOR(unsigned, uint, 8, 16)
TENURE_SIMT_VECTOR(int, int, 8, 16)
TENURE_SIMT_VECTOR(float, float, 8, 16)
TENURE_SIMT_VECTOR(double, double, 16, 16)
TENURE_SIMT_VECTOR(unsigned long long, ulonglong, 16, 16)
TENURE_SIMT_VECTOR(long long, longlong, 16, 16)
#undef TENURE_SIMT_VECTOR

// Loads and stores with hints for the caches.
#define TENURE_SIMT_LOAD(name) \
  template <class T>           \
  T name(const T* at) {        \
    return *at;                \
  }
TENURE_SIMT_LOAD(__ldg)
TENURE_SIMT_LOAD(__ldcs)
TENURE_SIMT_LOAD(__ldcg)
TENURE_SIMT_LOAD(__ldca)
TENURE_SIMT_LOAD(__ldlu)
#undef TENURE_SIMT_LOAD
#define TENURE_SIMT_STORE(name) \
  template <class T>            \
  void name(T* at, T value) {   \
    *at = value;                \
  }
TENURE_SIMT_STORE(__stcs)
TENURE_SIMT_STORE(__stcg)
TENURE_SIMT_STORE(__stwb)
TENURE_SIMT_STORE(__stwt)
#undef TENURE_SIMT_STORE

// ---- arithmetic ----

inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>((static_cast<Wide>(a) * b) >> 64);
}
inline int __clz(int a) { return a == 0 ? 32 : __builtin_clz(static_cast<unsigned>(a)); }
inline int __clzll(long long a) {
  return a == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(a));
}
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline int __popcll(unsigned long long a) { return __builtin_popcountll(a); }

inline unsigned __float_as_uint(float a) { return static_cast<unsigned>(simt::bits_of(a)); }
inline int __float_as_int(float a) { return static_cast<int>(__float_as_uint(a)); }
inline float __uint_as_float(unsigned a) {
  float result;
  memcpy(&result, &a, sizeof result);
  return result;
}
inline float __int_as_float(int a) { return __uint_as_float(static_cast<unsigned>(a)); }
inline long long __double_as_longlong(double a) { return static_cast<long long>(simt::bits_of(a)); }
inline double __longlong_as_double(long long a) {
  double result;
  memcpy(&result, &a, sizeof result);
  return result;
}

// Host code is compiled with -ffp-contract=off, so each is one rounding.
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return sqrtf(a); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return sqrt(a); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __double2float_rn(double a) { return static_cast<float>(a); }
inline float __double2float_rz(double a) {
  const float nearest = static_cast<float>(a);
  return fabs(static_cast<double>(nearest)) > fabs(a) ? nextafterf(nearest, 0) : nearest;
}
inline float rsqrtf(float a) { return 1 / sqrtf(a); }
inline double rsqrt(double a) { return 1 / sqrt(a); }
// Approximations of a device: the host's are closer.
inline float __expf(float a) { return expf(a); }
inline float __logf(float a) { return logf(a); }
inline float __log2f(float a) { return log2f(a); }
inline float __fdividef(float a, float b) { return a / b; }

#define TENURE_SIMT_EXTREMES(T)                    \
  inline T min(T a, T b) { return b < a ? b : a; } \
  inline T max(T a, T b) { return a < b ? b : a; }
TENURE_SIMT_EXTREMES(int)
TENURE_SIMT_EXTREMES(unsigned)
TENURE_SIMT_EXTREMES(long)
TENURE_SIMT_EXTREMES(unsigned long)
TENURE_SIMT_EXTREMES(long long)
TENURE_SIMT_EXTREMES(unsigned long long)
#undef TENURE_SIMT_EXTREMES
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
