#include "tenure/dtype.hpp"

namespace tenure {

const char* dtype_name(tnr_dtype dtype) noexcept {
  switch (dtype) {
    case TNR_DTYPE_F64: return "f64";
    case TNR_DTYPE_F32: return "f32";
    case TNR_DTYPE_F16: return "f16";
    case TNR_DTYPE_BF16: return "bf16";
    case TNR_DTYPE_I8: return "i8";
    case TNR_DTYPE_I16: return "i16";
    case TNR_DTYPE_I32: return "i32";
    case TNR_DTYPE_I64: return "i64";
    case TNR_DTYPE_U8: return "u8";
    case TNR_DTYPE_U16: return "u16";
    case TNR_DTYPE_U32: return "u32";
    case TNR_DTYPE_U64: return "u64";
    case TNR_DTYPE_BOOL8: return "bool8";
    case TNR_DTYPE_C64: return "c64";
    case TNR_DTYPE_C128: return "c128";
    default: return "unknown";
  }
}

}  // namespace tenure
