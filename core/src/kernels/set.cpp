// The one name by which the rest of the library finds the kernels of this instruction set.
#include "kernels/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

// Declared here too, since a constant of a namespace is private to its file otherwise.
extern const Table kTable;
constexpr Compaction kCompaction = {kMark, kCompact, kCountRows, &kBlockTaking, thin};
constexpr MatmulKernels kMatmul = {kMatmulRows, kMatmulBlockRows, kMatmulSpreads, kSamplers,
                                   kPacked};
// Nothing runs before main.
constinit const Table kTable = {
    kCopy,       kSelect,      kCast,        kCastComplex, kUnary,
    kBinary,     kCompare,     kReduce,      stream_lines, stream_lines_and_fetch,
    &kPermuting, kIndexChecks, &kCompaction, &kRegrouping, &kFolding,
    kScattering, kRowProducts, &kMatmul};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
