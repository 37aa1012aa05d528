/* The most that the machine allows with nothing of Tenure in between: memory read and written,
 * products.
 *
 * Compiled once per instruction set, with SET (its name) and WIDTH (bytes of a vector) given by
 * build.rs. Pointers are aligned to 64 bytes, and sizes are multiples of 256. */
#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float floats __attribute__((vector_size(WIDTH), may_alias));
typedef double doubles __attribute__((vector_size(WIDTH), may_alias));
typedef uint64_t words __attribute__((vector_size(WIDTH), may_alias));

typedef void store(floats* to, floats value);

INLINE void plainly(floats* to, floats value) { *to = value; }

/* Stores past the caches. GCC has no such store for other processors. */
#if defined(__x86_64__)
INLINE void streamed(floats* to, floats value) {
#if WIDTH == 64
  _mm512_stream_ps((float*)to, (__m512)value);
#elif WIDTH == 32
  _mm256_stream_ps((float*)to, (__m256)value);
#else
  _mm_stream_ps((float*)to, (__m128)value);
#endif
}
#endif

/* Returns the wrapping sum of the words. Four sums: additions do not wait for each other. */
static uint64_t read_all(const void* a, const void* b, void* c, size_t bytes) {
  (void)b;
  (void)c;
  const words* from = a;
  words sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
  for (size_t i = 0; i < bytes / WIDTH; i += 4) {
    sum0 += from[i];
    sum1 += from[i + 1];
    sum2 += from[i + 2];
    sum3 += from[i + 3];
  }
  sum0 += sum1 + sum2 + sum3;
  uint64_t sum = 0;
  for (size_t lane = 0; lane < WIDTH / 8; ++lane) sum += sum0[lane];
  return sum;
}

/* c = the first number of a, everywhere. */
INLINE uint64_t fill_with(store* put, const void* a, void* c, size_t bytes) {
  const floats value = *(const float*)a - (floats){0};
  floats* to = c;
  for (size_t i = 0; i < bytes / WIDTH; i += 4) {
    put(to + i, value);
    put(to + i + 1, value);
    put(to + i + 2, value);
    put(to + i + 3, value);
  }
  return 0;
}

/* c = a. */
INLINE uint64_t copy_with(store* put, const void* a, void* c, size_t bytes) {
  const floats* from = a;
  floats* to = c;
  for (size_t i = 0; i < bytes / WIDTH; i += 4) {
    const floats v0 = from[i], v1 = from[i + 1], v2 = from[i + 2], v3 = from[i + 3];
    put(to + i, v0);
    put(to + i + 1, v1);
    put(to + i + 2, v2);
    put(to + i + 3, v3);
  }
  return 0;
}

/* c = a + b, of f32. */
INLINE uint64_t add_with(store* put, const void* a, const void* b, void* c, size_t bytes) {
  const floats *x = a, *y = b;
  floats* to = c;
  for (size_t i = 0; i < bytes / WIDTH; i += 4) {
    const floats v0 = x[i] + y[i], v1 = x[i + 1] + y[i + 1];
    const floats v2 = x[i + 2] + y[i + 2], v3 = x[i + 3] + y[i + 3];
    put(to + i, v0);
    put(to + i + 1, v1);
    put(to + i + 2, v2);
    put(to + i + 3, v3);
  }
  return 0;
}

static uint64_t fill(const void* a, const void* b, void* c, size_t bytes) {
  (void)b;
  return fill_with(plainly, a, c, bytes);
}

static uint64_t copy(const void* a, const void* b, void* c, size_t bytes) {
  (void)b;
  return copy_with(plainly, a, c, bytes);
}

static uint64_t add(const void* a, const void* b, void* c, size_t bytes) {
  return add_with(plainly, a, b, c, bytes);
}

#if defined(__x86_64__)
static uint64_t fill_streamed(const void* a, const void* b, void* c, size_t bytes) {
  (void)b;
  fill_with(streamed, a, c, bytes);
  _mm_sfence();
  return 0;
}

static uint64_t copy_streamed(const void* a, const void* b, void* c, size_t bytes) {
  (void)b;
  copy_with(streamed, a, c, bytes);
  _mm_sfence();
  return 0;
}

static uint64_t add_streamed(const void* a, const void* b, void* c, size_t bytes) {
  add_with(streamed, a, b, c, bytes);
  _mm_sfence();
  return 0;
}

/* Kernels that copy and add through a block in L1: memory may be faster when it is read and written
 * in runs of a page than in turns of a few lines. */
enum { PAGE = 4096 };

static uint64_t copy_paged(const void* a, const void* b, void* c, size_t bytes) {
  (void)b;
  _Alignas(64) char block[PAGE];
  for (size_t at = 0; at < bytes; at += PAGE) {
    const size_t size = bytes - at < PAGE ? bytes - at : PAGE;
    copy_with(plainly, (const char*)a + at, block, size);
    copy_with(streamed, block, (char*)c + at, size);
  }
  _mm_sfence();
  return 0;
}

static uint64_t add_paged(const void* a, const void* b, void* c, size_t bytes) {
  _Alignas(64) char block[PAGE / 2];
  for (size_t at = 0; at < bytes; at += sizeof block) {
    const size_t size = bytes - at < sizeof block ? bytes - at : sizeof block;
    add_with(plainly, (const char*)a + at, (const char*)b + at, block, size);
    copy_with(streamed, block, (char*)c + at, size);
  }
  _mm_sfence();
  return 0;
}
#define STREAMED(kernel) kernel
#else
#define STREAMED(kernel) NULL
#endif

/* Twelve chains: two units with a latency of four cycles need eight, and AVX2 has 16 registers. */
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define SUM_OF_EACH (x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9 + x10 + x11)

/* x = x * factor + addend, `iterations` times from x = the number of its chain; the sum of all. */
static double fma_f32(uint64_t iterations, double factor, double addend) {
  const floats m = (float)factor - (floats){0}, c = (float)addend - (floats){0};
#define START(i) floats x##i = (float)(i) - (floats){0};
#define ADVANCE(i) x##i = x##i * m + c;
  EACH(START)
  for (uint64_t i = 0; i < iterations; ++i) {
    EACH(ADVANCE)
  }
#undef START
  const floats sums = SUM_OF_EACH;
  double sum = 0;
  for (size_t lane = 0; lane < WIDTH / sizeof(float); ++lane) sum += sums[lane];
  return sum;
}

static double fma_f64(uint64_t iterations, double factor, double addend) {
  const doubles m = factor - (doubles){0}, c = addend - (doubles){0};
#define START(i) doubles x##i = (double)(i) - (doubles){0};
  EACH(START)
  for (uint64_t i = 0; i < iterations; ++i) {
    EACH(ADVANCE)
  }
  const doubles sums = SUM_OF_EACH;
  double sum = 0;
  for (size_t lane = 0; lane < WIDTH / sizeof(double); ++lane) sum += sums[lane];
  return sum;
}

typedef uint64_t mover(const void* a, const void* b, void* c, size_t bytes);
typedef double product(uint64_t iterations, double factor, double addend);

/* The twin of `Table` in kernels.rs. */
struct table {
  mover *read, *fill, *fill_streamed, *copy, *copy_streamed, *copy_paged, *add, *add_streamed,
      *add_paged;
  product *fma_f32, *fma_f64;
};

#define JOINED(a, b) a##b
#define NAME(set) JOINED(tenure_roofs_, set)

extern const struct table NAME(SET);
const struct table NAME(SET) = {
    .read = read_all,
    .fill = fill,
    .fill_streamed = STREAMED(fill_streamed),
    .copy = copy,
    .copy_streamed = STREAMED(copy_streamed),
    .copy_paged = STREAMED(copy_paged),
    .add = add,
    .add_streamed = STREAMED(add_streamed),
    .add_paged = STREAMED(add_paged),
    .fma_f32 = fma_f32,
    .fma_f64 = fma_f64,
};
