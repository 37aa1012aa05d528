// The operations of a device: one description of a call for each.
//
// DeviceQueue::enqueue() takes any of them. The descriptions refer to views and attributes of the
// caller, and live for the call.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "tenure/device_expression.hpp"
#include "tenure/status.hpp"

namespace tenure {

class Context;
class Pins;
enum class SortOrder;
namespace kernels {
struct Predicate;
}

// One operand: an array, or a number in its place.
struct ViewOrScalar {
  constexpr ViewOrScalar(const tnr_view& of) noexcept : view(&of) {}
  constexpr ViewOrScalar(const tnr_scalar& of) noexcept : scalar(&of) {}

  const tnr_view* view = nullptr;
  const tnr_scalar* scalar = nullptr;
};

// ---- element-wise -------------------------------------------------------------------------------

// One view may be on the CPU, or on another device. Without `is_async` the call waits for a copy
// from or to the CPU, and `context` runs the copies on the CPU that it needs. With `is_async` one
// view is on the CPU.
struct DeviceCopy {
  const Context& context;
  const tnr_view& a;
  const tnr_view_mut& out;
  bool is_async;
};

struct DeviceCast {
  const tnr_view& a;
  const tnr_view_mut& out;
};

struct DeviceFill {
  const tnr_scalar& value;
  const tnr_view_mut& out;
};

struct DeviceUnary {
  tnr_unary_op op;
  const tnr_view& a;
  const tnr_view_mut& out;
};

// One operand at most is a number.
struct DeviceBinary {
  tnr_binary_op op;
  ViewOrScalar a;
  ViewOrScalar b;
  const tnr_view_mut& out;
};

struct DeviceTernary {
  tnr_ternary_op op;
  const tnr_view& a;
  const tnr_view& b;
  const tnr_view& c;
  const tnr_view_mut& out;
};

struct DeviceCompare {
  tnr_compare_op op;
  const tnr_view& a;
  ViewOrScalar b;
  const tnr_view_mut& out;
};

struct DeviceSelect {
  const tnr_view& condition;
  const tnr_view& a;
  const tnr_view& b;
  const tnr_view_mut& out;
};

// The caller has checked everything, and there are elements. `a` may be exactly `out`.
struct DeviceTriangular {
  tnr_triangle part;
  const tnr_view& a;
  std::int64_t diagonal;
  const tnr_view_mut& out;
  const Pins& pins;
};

// The caller has checked everything, also that operands broadcast to the output. A view that is
// exactly the output is read before it is written. The call waits where an integer may be divided
// by 0 or raised to a negative power.
struct DeviceEvaluation {
  const DeviceExpression& expression;
  const tnr_view* const* views;
  const tnr_view_mut& out;
  const Pins& pins;
  DeviceFindings& findings;
};

// ---- along axes ---------------------------------------------------------------------------------

struct DeviceReduce {
  tnr_reduce_op op;
  const tnr_view& a;
  std::uint32_t axes;
  std::uint32_t ddof;
  const tnr_view_mut& out;
  double power;
};

struct DeviceNormalize {
  tnr_normalize_op op;
  const tnr_view& a;
  std::uint32_t axes;
  const tnr_normalize_attributes& attributes;
  const tnr_view_mut& out;
};

struct DeviceScan {
  tnr_scan_op op;
  const tnr_view& a;
  std::uint32_t axis;
  const tnr_view_mut& out;
};

// All elements of each row, or the first ones; nullptr for an output that is not wanted.
struct DeviceSort {
  enum class Kept : std::uint8_t { kAll, kFirst };
  Kept kept;
  const tnr_view& a;
  std::uint32_t axis;
  SortOrder order;
  const tnr_view_mut* indices;
  const tnr_view_mut* out;
};

// ---- products and images ------------------------------------------------------------------------

struct DeviceMatmul {
  const tnr_scalar& alpha;
  const tnr_view& a;
  const tnr_view& b;
  const tnr_scalar& beta;
  const tnr_view_mut& out;
  const tnr_matmul_attributes& attributes;
};

struct DeviceConv2d {
  bool is_transposed;
  const tnr_view& a;
  const tnr_view& weight;
  const tnr_view* bias;  // or nullptr
  const tnr_conv2d_attributes& attributes;
  const tnr_view_mut& out;
};

struct DevicePool2d {
  tnr_reduce_op op;
  const tnr_view& a;
  const tnr_pool2d_attributes& attributes;
  const tnr_view_mut& out;
};

// The caller has checked everything, and there are elements of the output. `g` are gradients.
struct DeviceConv2dFilters {
  const tnr_view& a;
  const tnr_view& g;
  const tnr_conv2d_attributes& attributes;
  const tnr_view_mut& out;
  const Pins& pins;
};
struct DevicePool2dGradient {
  tnr_reduce_op op;
  const tnr_view& a;
  const tnr_view& g;
  const tnr_pool2d_attributes& attributes;
  const tnr_view_mut& out;
  const Pins& pins;
};

// `mean`, `weight` and `bias` may be nullptr.
struct DeviceBatchNorm {
  const tnr_view& a;
  const tnr_view* mean;
  const tnr_view& var;
  const tnr_view* weight;
  const tnr_view* bias;
  double eps;
  const tnr_view_mut& out;
};

// ---- by index -----------------------------------------------------------------------------------

// Whether indices name rows (take, put) or elements (gather, scatter).
enum class IndexedBy : std::uint8_t { kRow, kElement };

struct DeviceTake {
  IndexedBy by;
  const tnr_view& a;
  std::uint32_t axis;
  const tnr_view& indices;
  const tnr_view_mut& out;
};

struct DevicePut {
  IndexedBy by;
  tnr_binary_op op;
  const tnr_view& a;
  std::uint32_t axis;
  const tnr_view& indices;
  const tnr_view_mut& out;
};

// ---- sparse matrices ----------------------------------------------------------------------------
//
// The caller has checked everything but offsets and indices. A call waits to learn whether they are
// right, unless they are trusted. Where they are wrong, it writes a part of `out`, as on the CPU,
// and no other memory.

// A product of the rows of a sparse matrix, CSR or transposed CSC, with a dense vector or matrix.
struct DeviceSparseMatmul {
  const tnr_sparse_view& a;
  const tnr_view& b;
  const tnr_view_mut& out;
  // One element each, of the dtype of the sums: f32 for f16 and bf16. beta is nullptr for 0.
  const void* alpha;
  const void* beta;
  bool is_trusted;
  const Pins& a_pins;  // of the matrix's parts
  const Pins& pins;    // of b and out
  bool& is_right;
};

// Products of dense rows and columns at the entries of a sparse matrix. The caller has also checked
// that the entries of the rows are those of out.
struct DeviceSample {
  const tnr_sparse_view& a;  // CSR or CSC
  const tnr_view& x;
  const tnr_view& y;
  const tnr_view_mut& out;  // row-major, of the entries from `first` on
  std::int64_t first;
  const void* alpha;     // as in DeviceSparseMatmul
  bool is_times_values;  // multiplies by the values of the entries
  bool is_trusted;
  const Pins& a_pins;
  const Pins& pins;
  bool& is_right;
};

// The entries of a sparse matrix as elements among zeros.
struct DeviceScatter {
  const tnr_sparse_view& a;  // CSR or CSC
  const tnr_view_mut& out;
  bool is_unique;  // no position has several entries; else these are added in their order
  bool is_trusted;
  const Pins& a_pins;
  const Pins& pins;
  bool& is_right;
};

// The search of a dense matrix for entries, by rows, into memory of the device. The call waits for
// their number.
struct DeviceEntrySearch {
  const tnr_view& dense;  // of rank 2, not empty
  const tnr_view* mask;   // the predicate is on its elements, of the same shape; or nullptr
  const kernels::Predicate& predicate;
  tnr_dtype index_dtype;  // the caller sees whether it holds the indices
  void* offsets;          // or nullptr
  void* row_indices;      // or nullptr
  void* indices;
  void* values;
  std::int64_t capacity;  // entries that fit the memory; the others are only counted
  const Pins& pins;       // of dense and mask
  std::int64_t& count;
};

// kFall: rows of COO that are to be compressed as they are, and fall.
enum class EntryFinding : std::uint8_t { kRight, kWrong, kFall };

// Entries in an order, those of one position combined or kept. The call waits for what the entries
// are, and for their number.
struct DeviceEntryOrder {
  // kNone: as they are.
  enum class By : std::uint8_t { kNone, kRow, kPosition };
  // Memory of the device; for COO `major` has the rows of entries, else offsets.
  struct Arrays {
    void* major;
    void* minor;
    void* values;
  };
  const char* name;          // of the operation, for messages
  const tnr_sparse_view& a;  // COO, CSR or CSC; its flags are not read
  By by;
  tnr_sparse_combine combine;  // of adjacent entries of one position; 0 keeps all
  bool has_offsets;            // the result of COO is compressed by its rows; others have offsets
  // Called with the number of entries, when they have been counted and all of `a` is right.
  const std::function<Arrays(std::int64_t)>& allocate;
  const Pins& pins;
  EntryFinding& finding;
};

// ---- all ----------------------------------------------------------------------------------------

// The descriptions. cuda/operations/enqueue.hpp declares the function of each.
// clang-format off
#define TENURE_DEVICE_CALLS(CALL) \
  CALL(DeviceCopy) CALL(DeviceCast) CALL(DeviceFill) CALL(DeviceUnary) CALL(DeviceBinary) \
  CALL(DeviceTernary) CALL(DeviceCompare) CALL(DeviceSelect) CALL(DeviceTriangular) \
  CALL(DeviceEvaluation) \
  CALL(DeviceReduce) CALL(DeviceNormalize) CALL(DeviceScan) CALL(DeviceSort) \
  CALL(DeviceMatmul) CALL(DeviceConv2d) CALL(DevicePool2d) CALL(DeviceBatchNorm) \
  CALL(DeviceConv2dFilters) CALL(DevicePool2dGradient) \
  CALL(DeviceTake) CALL(DevicePut) \
  CALL(DeviceSparseMatmul) CALL(DeviceSample) CALL(DeviceScatter) CALL(DeviceEntrySearch) \
  CALL(DeviceEntryOrder)
// clang-format on

// Without the first type, which has no comma before it.
template <class, class... Calls>
struct AnyDeviceCall {
  using type = std::variant<Calls...>;
};
#define TENURE_DEVICE_CALL(name) , name
using DeviceCall = AnyDeviceCall<void TENURE_DEVICE_CALLS(TENURE_DEVICE_CALL)>::type;
#undef TENURE_DEVICE_CALL

// Why a device does not compute a node of this code (TNR_NODE_* and an operation) on operands of a
// dtype, by its name; nullopt where it does. For casts `dtype` is the dtype of either side.
Refusal device_refusal(tnr_device device, std::uint32_t code, tnr_dtype dtype) noexcept;

// The type of a sparse operand.
struct SparseType {
  tnr_sparse_format format;
  tnr_dtype dtype;
  bool is_transposed = false;
  bool is_unique = false;
};
// Why a device does not compute a node with a sparse operand of this type; nullopt where it does.
Refusal device_refusal(tnr_device device, std::uint32_t code, const SparseType& a) noexcept;

}  // namespace tenure
