/* A client of only the public header, in the common subset of C99 and C++17. It calls every
 * function of the ABI and checks the result. It is built with today's header as C and as C++, with
 * today's header as one who asks for each older minor, and with each header that was frozen; and
 * always run against today's library. */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdio.h>
#include <string.h>
#include <tenure/tenure.h>

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) {                                                   \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, \
              tnr_last_error()->message);                                 \
      return 1;                                                           \
    }                                                                     \
  } while (0)
#define OK(call) CHECK((call) == TNR_STATUS_OK)

/* Each is 0 where all is well. */
int check_library(void);
int check_contexts(void);
int check_blobs(void);
int check_views(void);
int check_operations(void);
int check_devices(void);
int check_arrays(void);
int check_exchange(void);
int check_sparse(void);
int check_sparse_operations(void);
int check_packed(void);
int check_matmul(void);
int check_conv2d(void);
int check_quantized_conv2d(void);
int check_einsum(void);
int check_expressions(void);
int check_programs(void);
int check_layers(void);
int check_movement(void);
int check_ordering(void);
int check_normalizations(void);

/* A row-major view of f32 that are the program's own, of rank 1 where there are 0 columns. */
tnr_status lend(const float* data, int64_t rows, int64_t cols, tnr_view* out);
tnr_status lend_mut(float* data, int64_t rows, int64_t cols, tnr_view_mut* out);
tnr_scalar scalar(float value);

#endif
