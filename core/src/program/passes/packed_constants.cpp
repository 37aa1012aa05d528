#include "program/passes/packed_constants.hpp"

#include <cinttypes>
#include <cstring>

#include "memory/traffic.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

constexpr std::uint64_t kMagic =
    0x334b4341'50524e54;  // TNRPACK3 where the first byte is the lowest

struct Header {
  std::uint64_t magic;
  std::uint64_t size_bytes;  // of all bytes
  std::uint64_t count;       // of entries, which follow
  std::uint64_t reserved;    // 0
};

}  // namespace

struct PackedEntry {
  std::int64_t dtype;
  std::int64_t a_dtype;
  std::int64_t rows;   // of filters: what each has
  std::int64_t cols;   // of filters: their number
  std::int64_t group;  // rows of a scale of weights of 4 bits, else 0
  // How kernels read it.
  std::int64_t panel_columns;
  std::int64_t depths;
  std::int64_t starts;
  std::int64_t most_depth;
  std::int64_t sum_bytes;
  std::int64_t size_bytes;
  std::int64_t offset;  // from the first byte, whole lines
  // Set for filters, else 0.
  std::int64_t groups;
  std::int64_t kernel[2];
};

namespace {

PackedEntry entry_of(const FactorLayout& layout) noexcept {
  return {layout.dtype,
          layout.a_dtype,
          layout.rows,
          layout.cols,
          layout.group,
          layout.panel_columns(),
          layout.types.depths,
          layout.types.starts,
          layout.types.most_depth(),
          layout.types.sum_bytes,
          layout.bytes,
          0,
          0,
          {0, 0}};
}

PackedEntry entry_of(const FiltersLayout& layout) noexcept {
  return {layout.dtype,
          layout.dtype,
          layout.channels * layout.kernel[0] * layout.kernel[1],
          layout.filters,
          0,
          layout.panel_filters,
          1,
          0,
          layout.block_depth,
          static_cast<std::int64_t>(element_size(layout.dtype)),
          layout.bytes,
          0,
          layout.groups,
          {layout.kernel[0], layout.kernel[1]}};
}

bool is_same_matrix(const PackedEntry& a, const PackedEntry& b) noexcept {
  return a.dtype == b.dtype && a.a_dtype == b.a_dtype && a.rows == b.rows && a.cols == b.cols &&
         a.group == b.group;
}

bool are_same_filters(const PackedEntry& a, const PackedEntry& b) noexcept {
  return a.groups == b.groups && a.kernel[0] == b.kernel[0] && a.kernel[1] == b.kernel[1];
}

bool is_same_packing(const PackedEntry& a, const PackedEntry& b) noexcept {
  return a.panel_columns == b.panel_columns && a.depths == b.depths && a.starts == b.starts &&
         a.most_depth == b.most_depth && a.sum_bytes == b.sum_bytes && a.size_bytes == b.size_bytes;
}

// A packed constant. The bytes between its panels belong to no element.
struct PackedConstant {
  PackedEntry entry;
  const Byte* bytes;
  std::int64_t panel_bytes;
  std::int64_t panel_step;
};

void add_constants(const Graph& graph, std::vector<PackedConstant>& constants) {
  for (const auto& factor : graph.factors) {
    const FactorLayout& layout = factor->layout();
    constants.push_back({entry_of(layout), factor->bytes(), layout.panel_bytes, layout.panel_step});
  }
  for (const auto& filters : graph.filters) {
    const FiltersLayout& layout = filters->layout();
    constants.push_back({entry_of(layout), filters->bytes(), layout.bytes, layout.bytes});
  }
  for (const GraphNode& node : graph.nodes) {
    for (const auto& body : node.bodies) add_constants(body->graph, constants);
  }
}

std::uint64_t entries_end(std::uint64_t count) noexcept {
  return whole_lines(sizeof(Header) + count * sizeof(PackedEntry));
}

template <class T>
T read_at(const tnr_view& bytes, std::uint64_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const Byte*>(bytes.data) + offset, sizeof value);
  return value;
}

}  // namespace

PackedConstants::PackedConstants(const tnr_view& view) {
  check_view(view, "packed");
  require_rank(view, "packed", 1);
  require_dtype(view, "packed", TNR_DTYPE_U8, "it must be");
  if (view.shape[0] > 1 && view.strides[0] != 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "packed.strides[0] is %" PRId64 " but must be 1",
         view.strides[0]);
  }
  if (view.owner == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "packed.owner is 0, but the program keeps the bytes: a blob must own them");
  }
  if (reinterpret_cast<std::uintptr_t>(view.data) % kLineBytes != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "packed.data is %p but must be a multiple of %" PRId64,
         view.data, kLineBytes);
  }
  memory_ = std::make_shared<const Constant>(view, "packed");
  if (memory_->is_borrowed()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "packed lies in a borrowed blob, which may end before the program: adopt or share it");
  }
  const auto size = static_cast<std::uint64_t>(view.shape[0]);
  const Header header = size < sizeof(Header) ? Header{} : read_at<Header>(memory_->view(), 0);
  if (header.magic != kMagic || header.size_bytes != size ||
      header.count > (size - sizeof(Header)) / sizeof(PackedEntry)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "packed has %" PRIu64
         " bytes that are no packed constants of a program, or not all of them",
         size);
  }
  count_ = header.count;
}

std::shared_ptr<const PackedFactor> PackedConstants::next(const FactorLayout& layout) {
  const Byte* const bytes = take(entry_of(layout));
  return std::make_shared<const PackedFactor>(layout, bytes, memory_);
}

std::shared_ptr<const PackedFilters> PackedConstants::next(const FiltersLayout& layout) {
  const Byte* const bytes = take(entry_of(layout));
  return std::make_shared<const PackedFilters>(layout, bytes, memory_);
}

const Byte* PackedConstants::take(const PackedEntry& needed) {
  if (index_ == count_) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "packed has %" PRIu64 " constants but the program packs more",
         count_);
  }
  const tnr_view& bytes = memory_->view();
  // Once: who writes the bytes meanwhile changes no bound.
  const auto entry = read_at<PackedEntry>(bytes, sizeof(Header) + index_ * sizeof(PackedEntry));
  if (!is_same_matrix(entry, needed)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "packed constant %" PRIu64 " is [%" PRId64 ", %" PRId64
         "] but the program's is %s [%" PRId64 ", %" PRId64 "]: it is that of another program",
         index_, entry.rows, entry.cols, dtype_name(static_cast<tnr_dtype>(needed.dtype)),
         needed.rows, needed.cols);
  }
  if (!are_same_filters(entry, needed)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "packed constant %" PRIu64 " is %" PRId64 " groups of filters of %" PRId64 " by %" PRId64
         " but the program's %" PRId64 " of %" PRId64 " by %" PRId64
         ": it is that of another program",
         index_, entry.groups, entry.kernel[0], entry.kernel[1], needed.groups, needed.kernel[0],
         needed.kernel[1]);
  }
  if (!is_same_packing(entry, needed)) {
    fail(TNR_STATUS_UNSUPPORTED,
         "packed constant %" PRIu64 " has panels of %" PRId64 " columns and %" PRId64
         " depths to a lane, but the instruction set in use reads %" PRId64 " and %" PRId64,
         index_, entry.panel_columns, entry.depths, needed.panel_columns, needed.depths);
  }
  const auto size = static_cast<std::uint64_t>(bytes.shape[0]);
  const auto offset = static_cast<std::uint64_t>(entry.offset);
  const auto length = static_cast<std::uint64_t>(needed.size_bytes);
  if (offset % kLineBytes != 0 || offset > size || length > size - offset) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "packed constant %" PRIu64 " lies at %" PRIu64 ", with %" PRIu64
         " bytes, but there are %" PRIu64,
         index_, offset, length, size);
  }
  ++index_;
  return static_cast<const Byte*>(bytes.data) + offset;
}

void PackedConstants::require_end() const {
  if (index_ == count_) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "packed has %" PRIu64 " constants but the program packs %" PRIu64, count_, index_);
}

BlobToken write_packed_constants(const Context& context, const Graph& graph) {
  std::vector<PackedConstant> constants;
  add_constants(graph, constants);
  const auto length_of = [](const PackedConstant& constant) {
    return whole_lines(static_cast<std::uint64_t>(constant.entry.size_bytes));
  };
  const std::uint64_t first = entries_end(constants.size());
  std::uint64_t size = first;
  for (const PackedConstant& constant : constants) size += length_of(constant);
  const BlobToken blob = blob_allocate(context, static_cast<std::size_t>(size));
  auto* const data = static_cast<Byte*>(blob_memory_mut(blob).data);
  std::memset(data, 0, static_cast<std::size_t>(size));
  const Header header = {kMagic, size, constants.size(), 0};
  std::memcpy(data, &header, sizeof header);
  Byte* to = data + sizeof header;
  std::uint64_t offset = first;
  for (PackedConstant& constant : constants) {
    constant.entry.offset = static_cast<std::int64_t>(offset);
    std::memcpy(to, &constant.entry, sizeof constant.entry);
    to += sizeof constant.entry;
    for (std::int64_t at = 0; at < constant.entry.size_bytes; at += constant.panel_step) {
      std::memcpy(data + offset + at, constant.bytes + at,
                  static_cast<std::size_t>(constant.panel_bytes));
    }
    offset += length_of(constant);
  }
  return blob;
}

}  // namespace tenure
