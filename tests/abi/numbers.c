/* Dtypes and devices are numbered as DLPack composes them, written a second time on purpose. */
#include <tenure/tenure.h>

#define IS(name, value) _Static_assert((name) == (value), #name " is not DLPack's")
#define DLPACK(code, bits) ((code) | (bits) << 8 | 1 << 16)

/* DLPack's codes: 0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool. */
IS(TNR_DTYPE_F64, DLPACK(2, 64));
IS(TNR_DTYPE_F32, DLPACK(2, 32));
IS(TNR_DTYPE_F16, DLPACK(2, 16));
IS(TNR_DTYPE_BF16, DLPACK(4, 16));
IS(TNR_DTYPE_I8, DLPACK(0, 8));
IS(TNR_DTYPE_I16, DLPACK(0, 16));
IS(TNR_DTYPE_I32, DLPACK(0, 32));
IS(TNR_DTYPE_I64, DLPACK(0, 64));
IS(TNR_DTYPE_U8, DLPACK(1, 8));
IS(TNR_DTYPE_U16, DLPACK(1, 16));
IS(TNR_DTYPE_U32, DLPACK(1, 32));
IS(TNR_DTYPE_U64, DLPACK(1, 64));
IS(TNR_DTYPE_BOOL8, DLPACK(6, 8));
IS(TNR_DTYPE_C64, DLPACK(5, 64));
IS(TNR_DTYPE_C128, DLPACK(5, 128));

IS(TNR_DEVICE_KIND_CPU, 1);
