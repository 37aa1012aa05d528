// Whether a device supports a node: a lookup in the tables of node kinds and operations.
#include <iterator>

#include "base/node_kinds.hpp"
#include "cpu/operations.hpp"
#include "tenure/device.hpp"
#include "tenure/device_call.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kOpMask = (1u << kNodeKindShift) - 1;

// nullptr for a kind without operations of its own.
const kernels::OperationRow* row_of(NodeKind kind, std::uint32_t op) noexcept {
  const auto at = [op](const auto& rows) {
    return op - 1 < std::size(rows) ? &rows[op - 1] : nullptr;
  };
  switch (kind) {
    case NodeKind::kUnary: return at(kernels::kUnaryRows);
    case NodeKind::kBinary: return at(kernels::kBinaryRows);
    case NodeKind::kTernary: return at(kernels::kTernaryRows);
    case NodeKind::kCompare: return at(kernels::kCompareRows);
    case NodeKind::kReduce: return at(kernels::kReduceRows);
    case NodeKind::kNormalize: return at(kernels::kNormalizeRows);
    case NodeKind::kScan: return at(kernels::kScanRows);
    default: return nullptr;
  }
}

bool is_real_float(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F64 || dtype == TNR_DTYPE_F32 || dtype == TNR_DTYPE_F16 ||
         dtype == TNR_DTYPE_BF16;
}

bool takes(DeviceDtypes dtypes, tnr_dtype dtype) noexcept {
  switch (dtypes) {
    case DeviceDtypes::kNone: return false;
    case DeviceDtypes::kFloats: return is_real_float(dtype);
    case DeviceDtypes::kReal: return !is_complex(dtype);
    case DeviceDtypes::kAll: return true;
  }
  return false;
}

Error dtype_error(tnr_device device, const char* name, const char* which,
                  tnr_dtype dtype) noexcept {
  return error_of(TNR_STATUS_UNSUPPORTED, "%s takes %s%s only on the CPU, not on %s", name,
                  dtype_name(dtype), which, DeviceName(device).text);
}

// The sparse formats that a node kind accepts, for messages; nullptr where it accepts `a`.
const char* taken_formats(NodeKind kind, const SparseType& a) noexcept {
  const bool is_csr = a.format == TNR_SPARSE_FORMAT_CSR;
  const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
  // A product of columns would add the entries of a sum in an order that changes from run to run.
  if (kind == NodeKind::kSparseMatmul) {
    return (a.is_transposed ? is_csc : is_csr) ? nullptr : "CSR and transposed CSC";
  }
  return is_csr || is_csc ? nullptr : "CSR and CSC";
}

}  // namespace

Refusal device_refusal(tnr_device device, std::uint32_t code, tnr_dtype dtype) noexcept {
  const auto kind = static_cast<NodeKind>(code >> kNodeKindShift);
  const NodeKindRow& of_kind = kNodeKindRows[static_cast<unsigned>(kind) - 1];
  const kernels::OperationRow* const row = row_of(kind, code & kOpMask);
  const char* const name = row != nullptr ? row->name : of_kind.name;
  const bool is_here = of_kind.device != DeviceDtypes::kNone &&
                       (row == nullptr || row->device != kernels::Device::kNone);
  if (!is_here) {
    return error_of(TNR_STATUS_UNSUPPORTED, "%s is computed only on the CPU, not on %s", name,
                    DeviceName(device).text);
  }
  if (!takes(of_kind.device, dtype)) return dtype_error(device, name, "", dtype);
  return std::nullopt;
}

Refusal device_refusal(tnr_device device, std::uint32_t code, const SparseType& a) noexcept {
  const auto kind = static_cast<NodeKind>(code >> kNodeKindShift);
  const char* const name = kNodeKindRows[static_cast<unsigned>(kind) - 1].name;
  if (const char* const taken = taken_formats(kind, a)) {
    return error_of(TNR_STATUS_UNSUPPORTED, "%s takes %s on %s, and other formats only on the CPU",
                    name, taken, DeviceName(device).text);
  }
  if (Refusal refusal = device_refusal(device, code, a.dtype)) return refusal;
  if (kind != NodeKind::kSparseToDense) return std::nullopt;
  if (element_size(a.dtype) > 8) return dtype_error(device, name, "", a.dtype);
  // Its sums of entries at one position round in other places than the CPU's.
  const bool is_narrow = a.dtype == TNR_DTYPE_F16 || a.dtype == TNR_DTYPE_BF16;
  if (is_narrow && !a.is_unique) {
    return dtype_error(device, name, " that is not said to be UNIQUE", a.dtype);
  }
  return std::nullopt;
}

}  // namespace tenure
