// The families of kernels, listed once: the function that finds the kernels in use (dispatch.hpp),
// the type of their table, and the table's name in the namespace of each instruction set
// (tables.hpp).
//
// A family has the kernels that one kind of call needs. All other code of the core names the
// families that it calls and no table of all families, so that a static link keeps no kernels that
// a program cannot reach.
#pragma once

#include "cpu/complex.hpp"
#include "cpu/compress.hpp"
#include "cpu/fold.hpp"
#include "cpu/gemm.hpp"
#include "cpu/group_by_key.hpp"
#include "cpu/indexed.hpp"
#include "cpu/kernel.hpp"
#include "cpu/nibbles.hpp"
#include "cpu/normalize.hpp"
#include "cpu/operations.hpp"
#include "cpu/packed.hpp"
#include "cpu/quantize.hpp"
#include "cpu/random.hpp"
#include "cpu/reduce.hpp"
#include "cpu/scan.hpp"
#include "cpu/sddmm.hpp"
#include "cpu/spmm.hpp"
#include "cpu/window.hpp"

namespace tenure::kernels {

using CopyTable = StripKernel[kWidthCount];        // by Width
using SelectTable = StripKernel[kWidthCount + 1];  // the last is bool8, whose values are normalised
using CastTable = Elementwise[kTypeCount][kTypeCount];  // from, to
using ComplexCastTable = StripKernel[2];                // c64 to c128, c128 to c64
using UnaryTable = Elementwise[kUnaryCount][kTypeCount];
using BinaryTable = Elementwise[kBinaryCount][kTypeCount];
using TernaryTable = Elementwise[kTernaryCount][kTypeCount];
using CompareTable = Elementwise[kCompareKernelCount][kTypeCount];
using ComplexTable = ComplexKernels[kComplexTypeCount];
using ReduceTable = Reductions[kReduceCount];
using SquareSumTable = SquareSum[2];         // f64 and f32
using NormalizeTable = NormalizeKernels[4];  // floats
using ScanTable = ScanKernels[kScanCount];
using NormTable = Reductions[kNormCount];
using GemmTable = Gemm[kPlainSumTypeCount];
using FactorPackingTable = FactorPacking[kPlainFactorTypeCount];
using BytePackingTable = FactorPacking[2][2];  // i8 and u8, by an other factor of i8 and u8
using WindowTable = WindowKernels[2];          // f64 and f32
using BatchNormTable = Elementwise[2];         // f64 and f32
using IndexCheckTable = IndexChecks[kIndexTypeCount];
using ScatteringTable = Scattering[kIndexTypeCount];
using RowProductTable = RowProducts[kIndexTypeCount][kProductTypeCount];
using MatmulTable = MatmulKernel[2][kIndexTypeCount];                // f64 and f32, without blocks
using CheckedColumnTable = CheckedKernel[2][kIndexTypeCount];        // f64 and f32, without blocks
using BlockMatmulTable = MatmulKernel[kTypeCount][kIndexTypeCount];  // nullptr: no such product
using BlockColumnTable = BlockColumn[4][kIndexTypeCount];            // floats
using ScatterAddTable = ScatterAddKernels[kTypeCount];
using SamplerTable = Samplers[kTypeCount];
using PackedTable = PackedKernels[kPackedFloatCount];
struct Ordering;  // ordering.hpp, which only code that sorts includes

}  // namespace tenure::kernels

// FAMILY(name of the function, type of the table, the table). An entry that is nullptr is an
// unsupported dtype.
#define TENURE_FAMILIES(FAMILY)                                      \
  FAMILY(copy_kernels, CopyTable, kCopy)                             \
  FAMILY(select_kernels, SelectTable, kSelect)                       \
  FAMILY(cast_kernels, CastTable, kCast)                             \
  FAMILY(complex_cast_kernels, ComplexCastTable, kCastComplex)       \
  FAMILY(unary_kernels, UnaryTable, kUnary)                          \
  FAMILY(binary_kernels, BinaryTable, kBinary)                       \
  FAMILY(ternary_kernels, TernaryTable, kTernary)                    \
  FAMILY(compare_kernels, CompareTable, kCompare)                    \
  FAMILY(complex_kernels, ComplexTable, kComplex)                    \
  FAMILY(reduce_kernels, ReduceTable, kReduce)                       \
  FAMILY(square_sum_kernels, SquareSumTable, kSquareSums)            \
  FAMILY(norm_kernels, NormTable, kNorms)                            \
  FAMILY(normalize_kernels, NormalizeTable, kNormalize)              \
  FAMILY(scan_kernels, ScanTable, kScan)                             \
  FAMILY(gemm_kernels, GemmTable, kGemm)                             \
  FAMILY(factor_packing_kernels, FactorPackingTable, kFactorPacking) \
  FAMILY(window_kernels, WindowTable, kWindows)                      \
  FAMILY(batch_norm_kernels, BatchNormTable, kBatchNorm)             \
  FAMILY(streaming_kernels, Streaming, kStreaming)                   \
  FAMILY(permuting_kernels, Permuting, kPermuting)                   \
  FAMILY(indexing_kernels, Indexing, kIndexing)                      \
  FAMILY(index_check_kernels, IndexCheckTable, kIndexChecks)         \
  FAMILY(grouping_kernels, Grouping, kGrouping)                      \
  FAMILY(folding_kernels, Folding, kFolding)                         \
  FAMILY(scattering_kernels, ScatteringTable, kScattering)           \
  FAMILY(row_product_kernels, RowProductTable, kRowProducts)         \
  FAMILY(matmul_kernels, MatmulTable, kMatmulRows)                   \
  FAMILY(checked_column_kernels, CheckedColumnTable, kCheckedColumn) \
  FAMILY(block_matmul_kernels, BlockMatmulTable, kMatmulBlockRows)   \
  FAMILY(block_column_kernels, BlockColumnTable, kBlockColumn)       \
  FAMILY(scatter_add_kernels, ScatterAddTable, kScatterAdds)         \
  FAMILY(sampler_kernels, SamplerTable, kSamplers)                   \
  FAMILY(packed_kernels, PackedTable, kPacked)                       \
  FAMILY(random_kernels, RandomKernels, kRandom)                     \
  FAMILY(quantizing_kernels, QuantizingKernels, kQuantize)           \
  FAMILY(ordering_kernels, Ordering, kOrdering)

// FAMILY(these three arguments, an extension of the table, the capability that the extension
// needs). The extension is compiled with the last base set, and used instead of the table where the
// processor has the capability too.
#define TENURE_EXTENDED_FAMILIES(FAMILY)                                              \
  FAMILY(compression_kernels, Compression, kCompression, kCompressionByBytes, kVbmi2) \
  FAMILY(nibble_kernels, NibbleKernels, kNibbles, kNibbleQuads, kVnni)

// FAMILY(these five arguments, a second extension, the capability that this extension needs). The
// second extension is used instead of both.
#define TENURE_TWICE_EXTENDED_FAMILIES(FAMILY)                                                    \
  FAMILY(bf16_gemm_kernels, Gemm, kBF16Gemm, kBF16GemmOfPairs, kBF16, kBF16GemmOfTiles, kAmx)     \
  FAMILY(byte_gemm_kernels, ByteGemmTable, kByteGemm, kByteGemmOfQuads, kVnni, kByteGemmOfTiles,  \
         kAmx)                                                                                    \
  FAMILY(bf16_packing, FactorPacking, kBF16Packing, kBF16PairPacking, kBF16, kBF16TilePacking,    \
         kAmx)                                                                                    \
  FAMILY(byte_packing, BytePackingTable, kBytePacking, kByteQuadPacking, kVnni, kByteTilePacking, \
         kAmx)

// All tables, declared: in the namespace of an instruction set.
#define TENURE_DECLARE_TABLE(name, Type, table) extern const Type table;
#define TENURE_DECLARE_EXTENDED_TABLE(name, Type, table, extension, capability) \
  extern const Type table;                                                      \
  extern const Type extension;
#define TENURE_DECLARE_TWICE_EXTENDED_TABLE(name, Type, table, extension, capability, second, \
                                            second_capability)                                \
  extern const Type table;                                                                    \
  extern const Type extension;                                                                \
  extern const Type second;
#define TENURE_DECLARE_TABLES                             \
  TENURE_FAMILIES(TENURE_DECLARE_TABLE)                   \
  TENURE_EXTENDED_FAMILIES(TENURE_DECLARE_EXTENDED_TABLE) \
  TENURE_TWICE_EXTENDED_FAMILIES(TENURE_DECLARE_TWICE_EXTENDED_TABLE)
