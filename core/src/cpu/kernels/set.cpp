// The one name by which the rest of the library finds the kernels of this instruction set.
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

// Declared here too, since a constant of a namespace is private to its file otherwise.
extern const Table kTable;
constexpr Compaction kCompaction = {kMark, kCompact, kCountRows, &kBlockTaking, list_places, thin};
constexpr MatmulKernels kMatmul = {kMatmulRows, kMatmulBlockRows, kBlockColumn,  kMatmulSpreads,
                                   kSamplers,   kPacked,          kCheckedColumn};
constexpr Table table_with(const Compaction& compaction) {
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
          &compaction,
          &kRegrouping,
          &kFolding,
          kScattering,
          kRowProducts,
          &kMatmul};
}
// Nothing runs before main.
constinit const Table kTable = table_with(kCompaction);

#if defined(__AVX512BW__)
// The same for processors with more than the set asks for.
extern const Table kBytesTable;
constexpr Compaction kBytesCompaction = {kMark,         kCompactBytes,        kCountRows,
                                         &kBlockTaking, list_places_by_bytes, thin};
constinit const Table kBytesTable = table_with(kBytesCompaction);
#endif

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
