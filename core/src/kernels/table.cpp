#include "kernels/tables.hpp"

namespace tenure::kernels {

const Table& table() noexcept {
  static constexpr Table kBaseline = {kCopy,  kSelect, kCast,    kCastComplex,
                                      kUnary, kBinary, kCompare, kReduce};
  return kBaseline;
}

}  // namespace tenure::kernels
