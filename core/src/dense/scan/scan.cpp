// Scans: cumulative reductions along an axis.
#include <cinttypes>

#include "cpu/dispatch.hpp"
#include "cpu/scan.hpp"
#include "dense/checks.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/loops/row_panels.hpp"
#include "dense/loops/streamed.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/normalize.hpp"
#include "tenure/shape.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::ScanKernel;

// Elements of a part, which stays in the first cache; a multiple of kScannedTogether.
constexpr std::int64_t kPart = 2048;
constexpr std::int64_t kPartBytes = kPart * 8;
static_assert(kPart % kernels::kScannedTogether == 0);
// Rows that pass through panels together, at most.
constexpr std::int64_t kMostRows = 64;
// Rows that interleave and are taken together: 16 elements of 4 bytes fill a line.
constexpr std::int64_t kRowsOfALine = 16;

enum : unsigned { kIn, kOut };

class RowScan {
 public:
  RowScan(const ScanKernel& scan, const tnr_view& a, std::uint32_t axis,
          const tnr_view_mut& out) noexcept
      : scan_(scan),
        in_(static_cast<const Byte*>(a.data)),
        out_(writable(out)),
        in_bytes_(static_cast<std::int64_t>(element_size(a.dtype))),
        out_bytes_(static_cast<std::int64_t>(element_size(out.view.dtype))),
        count_(a.shape[axis]) {
    for (std::uint32_t i = 0; i < a.rank; ++i) {
      const std::int64_t steps[] = {step_of(a, i), step_of(out.view, i)};
      if (a.shape[i] > 1) (i == axis ? elements_ : rows_).add(a.shape[i], steps);
    }
    rows_.arrange(kIn);  // the elements keep their order
  }

  void run(const Context& context) const noexcept {
    const std::int64_t rows = rows_.strip_count() * rows_.inner_extent();
    const std::int64_t bytes = rows * count_ * (in_bytes_ + out_bytes_);
    const std::int64_t slices = std::min(rows, slice_count_of(context, bytes));
    const bool is_direct = scan_.load == nullptr && scan_.spill == nullptr &&
                           (count_ == 1 || (elements_.inner_step(kIn) == in_bytes_ &&
                                            elements_.inner_step(kOut) == out_bytes_));
    const bool is_streamed =
        is_direct && in_ != out_ && count_ >= kPart && stores_for(bytes) == Stores::kStreamed;
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(rows, slices, slice);
      const std::int64_t last = slice_begin(rows, slices, slice + 1);
      if (!is_direct) return run_panels(first, last);
      for_each_row_group(rows_, first, last, 1, [&](const std::int64_t* offsets, std::int64_t) {
        run_row(in_ + offsets[kIn], out_ + offsets[kOut], is_streamed);
      });
      if (is_streamed) order_streamed_stores();
    });
  }

 private:
  void run_row(const Byte* in, Byte* out, bool is_streamed) const noexcept {
    std::uint64_t carry = scan_.start;
    auto* const carried = reinterpret_cast<Byte*>(&carry);
    if (!is_streamed) return scan_.along(in, count_, carried, out);
    alignas(kLineBytes) Byte panel[kPartBytes];
    for (std::int64_t at = 0; at < count_; at += kPart) {
      const std::int64_t count = std::min(kPart, count_ - at);
      scan_.along(in + at * in_bytes_, count, carried, panel);
      copy_lines(out + at * out_bytes_, panel, count * out_bytes_, Stores::kStreamed);
    }
  }

  // Rows of other layouts and types.
  void run_panels(std::int64_t first, std::int64_t last) const noexcept {
    // Rows that interleave are taken together, or each line would be met once for each.
    const bool interleave = rows_.rank() != 0 && elements_.rank() != 0 &&
                            rows_.inner_step(kIn) < std::abs(elements_.inner_step(kIn));
    const std::int64_t length = std::min(count_, kPart / (interleave ? kRowsOfALine : 1));
    const std::int64_t most = std::min(kMostRows, kPart / length);
    for_each_row_group(rows_, first, last, most,
                       [&](const std::int64_t* offsets, std::int64_t rows) {
                         std::uint64_t carries[kMostRows];
                         std::fill_n(carries, rows, scan_.start);
                         for (std::int64_t at = 0; at < count_; at += length) {
                           run_part(in_ + offsets[kIn], out_ + offsets[kOut],
                                    {rows, at, std::min(length, count_ - at)}, carries);
                         }
                       });
  }

  void run_part(const Byte* in, Byte* out, const RowPart& part,
                std::uint64_t* carries) const noexcept {
    alignas(kLineBytes) Byte narrow[kPartBytes];  // elements of the operands
    alignas(kLineBytes) Byte panel[kPartBytes];   // what the loops read and write
    const RowElements from = {elements_, kIn, rows_.inner_step(kIn), in_bytes_};
    const RowElements to = {elements_, kOut, rows_.inner_step(kOut), out_bytes_};
    const std::int64_t elements = part.rows * part.count;
    gather_rows(from, in, part, scan_.load == nullptr ? panel : narrow);
    if (scan_.load != nullptr) {
      run_plainly(scan_.load->kernel,
                  dense_strip(elements, panel, scan_.in_bytes, {{narrow, in_bytes_, in_bytes_}}));
    }
    for (std::int64_t row = 0; row < part.rows; ++row) {
      Byte* const of_row = panel + row * part.count * scan_.in_bytes;
      scan_.along(of_row, part.count, reinterpret_cast<Byte*>(carries + row), of_row);
    }
    if (scan_.spill != nullptr) {
      run_plainly(scan_.spill->kernel, dense_strip(elements, narrow, out_bytes_,
                                                   {{panel, scan_.out_bytes, scan_.out_bytes}}));
    }
    scatter_rows(to, scan_.spill == nullptr ? panel : narrow, part, out);
  }

  const ScanKernel& scan_;
  const Byte* in_;
  Byte* out_;
  std::int64_t in_bytes_;
  std::int64_t out_bytes_;
  std::int64_t count_;  // elements of a row
  Nest rows_{2};
  Nest elements_{2};
};

struct CheckedScan {
  const ScanKernel& kernel;
  tnr_dtype result;
};
CheckedScan checked_scan(tnr_scan_op op, tnr_dtype dtype) {
  const auto code = static_cast<std::uint32_t>(op) - 1;
  if (code >= kernels::kScanCount) refuse_code("scan", op);
  const kernels::OperationRow& operation = kernels::kScanRows[code];
  const unsigned type = type_index(dtype);
  if (type == kNoType) refuse_dtype(operation.name, dtype);
  const ScanKernel& kernel = kernels::scan_kernels()[code].by_type[type];
  if (kernel.along == nullptr) refuse_dtype(operation.name, dtype);
  return {kernel, result_dtype(operation.gives, dtype)};
}

const ScanKernel& check_scanned(tnr_scan_op op, const tnr_view& a, std::uint32_t axis,
                                const tnr_view& out) {
  require_rank(out, "out", a.rank);
  for (std::uint32_t i = 0; i < a.rank; ++i) {
    if (out.shape[i] != a.shape[i]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but a.shape[%" PRIu32 "] is %" PRId64, i,
           out.shape[i], i, a.shape[i]);
    }
  }
  if (axis >= a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axis is %" PRIu32 " but a.rank is %" PRIu32, axis, a.rank);
  }
  const CheckedScan scan = checked_scan(op, a.dtype);
  require_dtype(out, "out", scan.result, "must be");
  return scan.kernel;
}

}  // namespace

tnr_dtype check_scan(tnr_scan_op op, tnr_dtype dtype) { return checked_scan(op, dtype).result; }

void check_scan(tnr_scan_op op, const tnr_view& a, std::uint32_t axis, const tnr_view& out) {
  check_scanned(op, a, axis, out);
}

void scan(const Context& context, tnr_scan_op op, const tnr_view& a, std::uint32_t axis,
          const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceScan{op, a, axis, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  const ScanKernel& kernel = check_scanned(op, a, axis, out.view);
  if (!is_empty(out.view)) {
    operands.touch_output(context);
    RowScan(kernel, a, axis, out).run(context);
  }
  operands.count(TNR_OPERATION_SCAN);
}

}  // namespace tenure
