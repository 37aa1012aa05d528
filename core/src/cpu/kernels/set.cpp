// The one name by which the rest of the library finds the kernels of this instruction set.
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

// Declared here too, since a constant of a namespace is private to its file otherwise.
extern const Table kTable;
constexpr Compression kCompression = {kPredicateMask, kCompress,        kCountRows,
                                      &kBlockTaking,  list_bit_indices, dropout_mask};
constexpr MatmulKernels kMatmul = {kMatmulRows, kMatmulBlockRows, kBlockColumn,  kScatterAdds,
                                   kSamplers,   kPacked,          kCheckedColumn};
constexpr Table table_with(const Compression& compression) {
  return {kCopy,
          kSelect,
          kCast,
          kCastComplex,
          kUnary,
          kBinary,
          kCompare,
          kReduce,
          stream_lines,
          stream_and_clear_lines,
          stream_lines_and_fetch,
          &kPermuting,
          kIndexChecks,
          &compression,
          &kGrouping,
          &kFolding,
          kScattering,
          kRowProducts,
          &kMatmul};
}
// Nothing runs before main.
constinit const Table kTable = table_with(kCompression);

#if defined(__AVX512BW__)
// The same for processors with more than the set asks for.
extern const Table kBytesTable;
constexpr Compression kBytesCompression = {
    kPredicateMask, kCompressBytes, kCountRows, &kBlockTaking, list_bit_indices_by_bytes,
    dropout_mask};
constinit const Table kBytesTable = table_with(kBytesCompression);
#endif

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
