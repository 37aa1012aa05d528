#include "sparse_operands.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "given_attributes.hpp"
#include "sparse_calls.hpp"

namespace tenure::test {
namespace {

constexpr unsigned char kUnwritten = 0x5A;

std::uint64_t bytes_of(const tnr_packed* packed) {
  tnr_packed_info info{};
  info.struct_size = sizeof info;
  return tnr_packed_describe(packed, &info) == TNR_STATUS_OK ? info.size_bytes : 0;
}

}  // namespace

std::uint64_t bytes_of(const tnr_sparse_view& a) {
  return a.major.size_bytes + a.minor.size_bytes + a.values.size_bytes;
}

SparseModel thirds(tnr_sparse_format format, std::int64_t rows, std::int64_t cols) {
  const std::int64_t block = format == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
  const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  SparseModel model{.format = format,
                    .rows = rows,
                    .cols = cols,
                    .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE,
                    .block_rows = block,
                    .block_cols = block};
  if (!is_coo) model.major.push_back(0);
  for (std::int64_t major = 0; major < (is_csc ? cols : rows) / block; ++major) {
    for (std::int64_t minor = 0; minor < (is_csc ? rows : cols) / block; ++minor) {
      const bool is_empty = rows != cols && (major == 1 || minor == 1);
      if (is_empty || (major != minor && (major + minor) % 3 != 0)) continue;
      if (is_coo) model.major.push_back(major);
      model.minor.push_back(minor);
      model.values.insert(model.values.end(), static_cast<std::size_t>(block * block), 2);
    }
    if (!is_coo) model.major.push_back(static_cast<std::int64_t>(model.minor.size()));
  }
  return model;
}

SparseOperands::~SparseOperands() {
  tnr_sparse_release(held_);
  tnr_packed_release(packed_);
}

SparseOperands::Shape SparseOperands::shape() const {
  if (like_.batch_offsets.rank == 0) return {rows(), cols()};
  return {like_.batch_offsets.shape[0] - 1, rows(), cols()};
}

// Lends memory for a few elements where the shape has more than a test has memory for: a view of
// them is refused. Where `period` is not 0, elements are 1, but the second of each period is 0.
tnr_view SparseOperands::lent(Bytes& memory, const Shape& shape, tnr_dtype dtype, int period) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  Shape strides(shape.size());
  std::int64_t count = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = count;
    if (shape[axis] > 0 && shape[axis] <= kMost / count) count *= shape[axis];
  }
  const std::size_t width = element_size(dtype);
  memory.assign(static_cast<std::size_t>(count) * width, period == 0 ? kUnwritten : 0);
  for (std::int64_t i = 0; period != 0 && i < count; ++i) {
    const float number = i % period == 1 ? 0.0f : 1.0f;
    unsigned char* const element = memory.data() + static_cast<std::size_t>(i) * width;
    if (dtype == TNR_DTYPE_F32) {
      std::memcpy(element, &number, sizeof number);
    } else {
      *element = static_cast<unsigned char>(number);
    }
  }
  tnr_view view = flat_view(memory.data(), dtype, Shape(shape.size(), 1));
  std::copy(shape.begin(), shape.end(), view.shape);
  std::copy(strides.begin(), strides.end(), view.strides);
  const bool is_empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  view.size_bytes = is_empty ? 0 : memory.size();
  return view;
}

const tnr_view* SparseOperands::input(const tnr_view& view) {
  read_bytes += view.size_bytes;
  return passed(&views_.emplace_back(tnr_view_mut{view}).view);
}

const tnr_scalar* SparseOperands::number(float value) {
  return passed(&scalars_.emplace_back(f32(value)));
}

const tnr_view* SparseOperands::ones(const Shape& shape) {
  return input(lent(inputs_.emplace_back(), shape, like_.values.dtype, 1));
}

const tnr_view* SparseOperands::dense() {
  return input(lent(inputs_.emplace_back(), {rows(), cols()}, like_.values.dtype, 3));
}

const tnr_view* SparseOperands::list(const std::vector<std::int64_t>& numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  Bytes& memory = inputs_.emplace_back();
  const tnr_view view = lent(memory, {count}, TNR_DTYPE_I64, 0);
  std::memcpy(memory.data(), numbers.data(), memory.size());
  return &views_.emplace_back(tnr_view_mut{view}).view;
}

tnr_view_mut& SparseOperands::written(const Shape& shape, tnr_dtype dtype) {
  const tnr_dtype own = dtype == 0 ? like_.values.dtype : dtype;
  tnr_view_mut& made =
      views_.emplace_back(tnr_view_mut{lent(outputs_.emplace_back(), shape, own, 0)});
  if (output_memory != nullptr) made.view.data = made.view.base = output_memory;
  written_bytes += made.view.size_bytes;
  output_count += made.view.size_bytes != 0 ? 1 : 0;
  return made;
}

const tnr_view_mut* SparseOperands::out(const Shape& shape, tnr_dtype dtype) {
  return passed(&written(shape, dtype));
}

const tnr_view_mut* SparseOperands::inout(const Shape& shape) {
  tnr_view_mut& made = written(shape, 0);
  read_bytes += made.view.size_bytes;
  return passed(&made);
}

const tnr_view_mut* SparseOperands::columns_out() {
  Shape turned = shape();
  const std::size_t last = turned.size() - 1;
  std::swap(turned[last], turned[last - 1]);
  tnr_view_mut& made = written(turned, 0);
  std::swap(made.view.shape[last], made.view.shape[last - 1]);
  std::swap(made.view.strides[last], made.view.strides[last - 1]);
  return passed(&made);
}

const tnr_view_mut* SparseOperands::entries() {
  const std::int64_t* const shape = like_.values.shape;
  return out(Shape(shape, shape + like_.values.rank));
}

double* SparseOperands::norm() {
  Bytes& memory = outputs_.emplace_back(sizeof(double), kUnwritten);
  written_bytes += memory.size();
  return passed(reinterpret_cast<double*>(memory.data()));
}

const tnr_sparse_view* SparseOperands::beside(std::int64_t rows, std::int64_t cols) {
  constexpr std::int64_t kMost = 4096;
  const tnr_sparse_view* other = &like_;
  if (second != nullptr && second->rows == rows && second->cols == cols) {
    other = second;
  } else if (rows <= kMost && cols <= kMost && rows * cols <= kMost) {
    tnr_sparse_view& made =
        matrices_.emplace_back(thirds(like_.format, rows, cols), like_.minor.dtype).view();
    made.values.dtype = like_.values.dtype;
    other = &made;
  }
  read_bytes += bytes_of(*other);
  return passed(other);
}

const tnr_sparse_view* SparseOperands::mask(const tnr_sparse_view* a) {
  if (a != nullptr) read_bytes -= a->values.size_bytes;
  return a;
}

const tnr_sparse_view* const* SparseOperands::pair(const tnr_sparse_view* first,
                                                   const tnr_sparse_view* other) {
  pair_ = {first, other};
  return passed(pair_.data());
}

const tnr_sparse_view_mut* SparseOperands::values_of(const tnr_sparse_view* a) {
  if (a != nullptr) written_bytes += a->values.size_bytes;
  return reinterpret_cast<const tnr_sparse_view_mut*>(a);
}

const tnr_sparse_view* SparseOperands::held(tnr_context* context, const tnr_sparse_view* a) {
  // A result shares the offsets and indices of the matrix.
  read_bytes -= bytes_of(like_) - like_.values.size_bytes;
  written_bytes -= bytes_of(like_) - like_.values.size_bytes;
  if (a != nullptr && a->owner != 0) return a;
  const tnr_sparse_convert_attributes blocks = blocks_like(like_);
  held_ = tnr_sparse_convert(context, like_.format, a, &blocks);
  if (held_ == nullptr) return nullptr;
  held_view_.struct_size = sizeof held_view_;
  return tnr_sparse_view_of(held_, &held_view_) == TNR_STATUS_OK ? &held_view_ : nullptr;
}

tnr_status SparseOperands::status_of(tnr_sparse* made) {
  if (made == nullptr) return tnr_last_error()->status;
  tnr_sparse_view view{};
  view.struct_size = sizeof view;
  const tnr_status status = tnr_sparse_view_of(made, &view);
  written_bytes += bytes_of(view);
  if (on_made) on_made(view);
  const tnr_status released = tnr_sparse_release(made);
  return status == TNR_STATUS_OK ? released : status;
}

tnr_status SparseOperands::status_of(tnr_packed* made) {
  if (made == nullptr) return tnr_last_error()->status;
  written_bytes += bytes_of(made);
  return tnr_packed_release(made);
}

tnr_packed* SparseOperands::packed(tnr_packed* made) {
  if (made != nullptr) read_bytes += bytes_of(made) - bytes_of(like_);
  return packed_ = made;
}

bool SparseOperands::is_unwritten() const {
  return std::all_of(outputs_.begin(), outputs_.end(), [](const Bytes& memory) {
    return std::all_of(memory.begin(), memory.end(),
                       [](unsigned char byte) { return byte == kUnwritten; });
  });
}

}  // namespace tenure::test
