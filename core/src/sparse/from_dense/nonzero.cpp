// Indices and elements that a predicate names, as dense arrays: bits of all elements first, a 32nd
// of their bytes or so, which say how large the result is and which are all that is read again.
#include <algorithm>
#include <cstring>
#include <optional>

#include "cpu/compress.hpp"
#include "cpu/dispatch.hpp"
#include "dense/bool8.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/movement.hpp"
#include "dense/movement/pieces.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "sparse/from_dense/entry_stage.hpp"
#include "sparse/from_dense/predicate.hpp"
#include "tenure/counters.hpp"
#include "tenure/movement.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// A view itself where its elements are in row-major order, or a copy of it.
class RowMajor {
 public:
  RowMajor(const Context& context, const tnr_view& view)
      : copy_(is_row_major(view) ? 0 : static_cast<std::size_t>(moved_bytes(view))),
        data_(static_cast<const Byte*>(view.data)) {
    if (is_row_major(view)) return;
    data_ = copy_.data();
    tnr_view to =
        make_view(copy_.data(), copy_.size_bytes(), 0, view.dtype, view.rank, view.shape, nullptr);
    const PartCopier copier(to, 2 * moved_bytes(to));
    Pieces(to, 2 * moved_bytes(to)).for_each(context, [&](const Box& box) noexcept {
      copier.copy(part_of(view, box), part_of(to, box));
    });
  }

  [[nodiscard]] const Byte* data() const noexcept { return data_; }

 private:
  Scratch copy_;
  const Byte* data_;
};

// A bit of each element, and how many are 1 before each chunk.
class Marks {
 public:
  Marks(const Context& context, const tnr_view& view, const kernels::Predicate& predicate)
      : elements_(context, view),
        count_(element_count(view)),
        bits_(chunk_count() * kChunkWords, 8),
        before_(chunk_count() + 1, 8) {
    const kernels::MaskKernel mark =
        kernels::compression_kernels()
            .predicate_mask[static_cast<unsigned>(predicate.kind)][width_index(view.dtype)];
    const auto width = static_cast<std::int64_t>(element_size(view.dtype));
    std::int64_t* const before = before_.numbers();
    for_each_chunk(context, count_ * width, [&](std::int64_t chunk) noexcept {
      const std::int64_t first = chunk * kChunkElements;
      const kernels::MaskedElements run = {
          chunk_elements(chunk), elements_.data() + first * width, bits(chunk), 0, 0, 1, nullptr};
      before[chunk + 1] = mark(run, predicate);
    });
    before[0] = 0;
    for (std::int64_t chunk = 0; chunk < chunk_count(); ++chunk) before[chunk + 1] += before[chunk];
  }

  static constexpr std::int64_t kChunkElements = 16384;

  [[nodiscard]] std::int64_t chunk_count() const noexcept {
    return (count_ + kChunkElements - 1) / kChunkElements;
  }
  [[nodiscard]] std::int64_t chunk_elements(std::int64_t chunk) const noexcept {
    return std::min(kChunkElements, count_ - chunk * kChunkElements);
  }
  [[nodiscard]] std::uint64_t* bits(std::int64_t chunk) const noexcept {
    return reinterpret_cast<std::uint64_t*>(bits_.data()) + chunk * kChunkWords;
  }
  [[nodiscard]] std::int64_t before(std::int64_t chunk) const noexcept {
    return before_.numbers()[chunk];
  }
  [[nodiscard]] std::int64_t found() const noexcept { return before(chunk_count()); }

  // Calls body(chunk) for each, on the context's threads; `bytes` are those of all.
  template <class Body>
  void for_each_chunk(const Context& context, std::int64_t bytes, const Body& body) const noexcept {
    const std::int64_t slice_count = std::min(chunk_count(), slice_count_of(context, bytes));
    for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
      const std::int64_t last = slice_begin(chunk_count(), slice_count, slice + 1);
      for (auto chunk = slice_begin(chunk_count(), slice_count, slice); chunk < last; ++chunk) {
        body(chunk);
      }
    });
  }

 private:
  static constexpr std::int64_t kChunkWords = kChunkElements / kernels::kWordElements;

  RowMajor elements_;
  std::int64_t count_;
  Scratch bits_;
  Scratch before_;
};

// The target of results: row-major memory of `size_bytes` bytes, or none, for a result that has no
// room.
struct Room {
  Byte* data;
  std::int64_t size_bytes;
};

// A new blob for an array, and the view of it.
class Result {
 public:
  Result(const Context& context, tnr_dtype dtype, std::uint32_t rank, const std::int64_t* shape)
      : size_bytes_(row_major_bytes(dtype, rank, shape)),
        token_(blob_allocate(context, size_bytes_)),
        view_{
            make_view(blob_memory_mut(token_).data, size_bytes_, 0, dtype, rank, shape, nullptr)} {
    view_.view.owner = token_;
    touch_fresh_pages(context, writable(view_), static_cast<std::int64_t>(size_bytes_));
  }

  [[nodiscard]] Room room() const noexcept {
    return {writable(view_), static_cast<std::int64_t>(size_bytes_)};
  }
  BlobToken give(tnr_view_mut& out) const noexcept {
    out = view_;
    return token_;
  }

 private:
  std::size_t size_bytes_;
  BlobToken token_;
  tnr_view_mut view_;
};

// The coordinates of elements that come in row-major order.
class Coordinates {
 public:
  // From element `first` of the view on.
  Coordinates(const tnr_view& view, std::int64_t first) noexcept
      : shape_(view.shape), outer_(view.rank == 0 ? 0 : view.rank - 1) {
    columns_ = view.rank == 0 ? 1 : shape_[outer_];
    row_begin_ = first / columns_ * columns_;
    std::int64_t row = first / columns_;
    for (std::uint32_t axis = outer_; axis-- > 0;) {
      position_[axis] = row % shape_[axis];
      row /= shape_[axis];
    }
  }

  // Writes the indices of elements first + positions[i], one row after the other.
  void write(std::int64_t first, const std::uint16_t* positions, std::int64_t count,
             std::int64_t* out) noexcept {
    switch (outer_) {
      case 0:
        for (std::int64_t i = 0; i < count; ++i) out[i] = first + positions[i];
        return;
      case 1: return write_rows<1>(first, positions, count, out);
      case 2: return write_rows<2>(first, positions, count, out);
      default: return write_rows<0>(first, positions, count, out);
    }
  }

 private:
  // kOuter: the axes but the last, or 0 for any number.
  template <std::uint32_t kOuter>
  void write_rows(std::int64_t first, const std::uint16_t* positions, std::int64_t count,
                  std::int64_t* out) noexcept {
    const std::uint32_t outer = kOuter == 0 ? outer_ : kOuter;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t element = first + positions[i];
      while (element - row_begin_ >= columns_) next_row();
      for (std::uint32_t axis = 0; axis < outer; ++axis) out[axis] = position_[axis];
      out[outer] = element - row_begin_;
      out += outer + 1;
    }
  }

  void next_row() noexcept {
    row_begin_ += columns_;
    for (std::uint32_t axis = outer_; axis-- > 0;) {
      if (++position_[axis] < shape_[axis]) return;
      position_[axis] = 0;
    }
  }

  const std::int64_t* shape_;
  std::uint32_t outer_;
  std::int64_t columns_;
  std::int64_t row_begin_;  // the element that begins the row
  std::int64_t position_[TNR_MAX_RANK] = {};
};

// The positions of 1s of some words.
struct Positions {
  std::uint16_t numbers[kPieceElements + kernels::kMorePositions];
  std::int64_t count;

  void find(const std::uint64_t* bits, std::int64_t elements) noexcept {
    const std::int64_t words = (elements + kernels::kWordElements - 1) / kernels::kWordElements;
    count = kernels::compression_kernels().list_bit_indices(bits, words, numbers);
  }
};

void write_positions(const tnr_view& a, const Marks& marks, std::int64_t chunk, Byte* result,
                     Stores stores) noexcept {
  const auto row_bytes = std::int64_t{a.rank} * 8;
  const std::int64_t step = kPieceElements / std::max<std::int64_t>(1, a.rank);
  EntryStage stage;
  stage.start(result + marks.before(chunk) * row_bytes, stores);
  const std::int64_t begin = chunk * Marks::kChunkElements;
  const std::int64_t end = begin + marks.chunk_elements(chunk);
  Coordinates coordinates(a, begin);
  Positions positions;
  for (std::int64_t first = begin; first < end; first += kPieceElements) {
    const std::int64_t elements = std::min(kPieceElements, end - first);
    positions.find(marks.bits(chunk) + (first - begin) / kernels::kWordElements, elements);
    for (std::int64_t i = 0; i < positions.count; i += step) {
      const std::int64_t some = std::min(step, positions.count - i);
      coordinates.write(first, positions.numbers + i, some,
                        reinterpret_cast<std::int64_t*>(stage.end()));
      stage.append(some * row_bytes);
    }
  }
  stage.finish();
}

void write_elements(const Byte* elements, tnr_dtype dtype, const Marks& marks, std::int64_t chunk,
                    Byte* result, Stores stores) noexcept {
  const auto width = static_cast<std::int64_t>(element_size(dtype));
  const unsigned row = index_of_width(width);
  const bool compresses = row <= static_cast<unsigned>(kernels::Width::k8);
  Byte* out = result + marks.before(chunk) * width;
  EntryStage stage;
  stage.start(out, stores);
  kernels::PrefetchCursor ahead = {nullptr, nullptr};
  // The columns are not asked for, but a few bytes in a cache.
  Byte columns[kPieceElements * 4 + kernels::kSlackBytes];
  const std::int64_t begin = chunk * Marks::kChunkElements;
  const std::int64_t end = begin + marks.chunk_elements(chunk);
  for (std::int64_t first = begin; first < end; first += kPieceElements) {
    const std::int64_t count = std::min(kPieceElements, end - first);
    std::uint64_t* const bits = marks.bits(chunk) + (first - begin) / kernels::kWordElements;
    const Byte* const from = elements + first * width;
    if (compresses) {
      const kernels::MaskedElements run = {count, from, bits, 0, 0, kPieceElements, &ahead};
      const std::int64_t found =
          kernels::compression_kernels().compress[row][0](run, {stage.end(), columns, nullptr});
      if (dtype == TNR_DTYPE_BOOL8) write_as_bools(stage.end(), found);
      stage.append(found * width);
      continue;
    }
    Positions positions;
    positions.find(bits, count);
    for (std::int64_t i = 0; i < positions.count; ++i, out += width) {
      std::memcpy(out, from + positions.numbers[i] * width, static_cast<std::size_t>(width));
    }
  }
  stage.finish();
}

void finish(Stores stores) noexcept {
  if (stores == Stores::kStreamed) order_streamed_stores();
}

// Writes the positions to the room that room_of(count) gives; the count.
template <class RoomOf>
std::int64_t find_positions(const Context& context, const tnr_view& a, const RoomOf& room_of) {
  check_view(a, "a");
  Pins pins;
  pins.add(a, "a");
  if (type_index(a.dtype) == kNoType) refuse_dtype("nonzero", a.dtype);
  const Marks marks(context, a, non_zero(a.dtype));
  const Room room = room_of(marks.found());
  const Stores stores = stores_for(room.size_bytes);
  if (room.size_bytes != 0) {
    marks.for_each_chunk(context, room.size_bytes, [&](std::int64_t chunk) noexcept {
      write_positions(a, marks, chunk, room.data, stores);
      finish(stores);
    });
  }
  count_call(TNR_OPERATION_NONZERO, is_empty(a) ? 0 : element_bytes(a),
             static_cast<std::uint64_t>(room.size_bytes));
  return marks.found();
}

// Writes the elements that the mask selects to the room that room_of(count) gives; the count.
template <class RoomOf>
std::int64_t find_elements(const Context& context, const tnr_view& a, const tnr_view& mask,
                           const RoomOf& room_of) {
  check_view(a, "a");
  check_view(mask, "mask");
  require_dtype(mask, "mask", TNR_DTYPE_BOOL8, "must be");
  Pins pins;
  pins.add(a, "a");
  pins.add(mask, "mask");
  const tnr_view wide = broadcast(mask, a.rank, a.shape);
  const Marks marks(context, wide, non_zero(TNR_DTYPE_BOOL8));
  const RowMajor elements(context, a);
  const Room room = room_of(marks.found());
  const Stores stores = stores_for(moved_bytes(a) + room.size_bytes);
  if (room.size_bytes != 0) {
    marks.for_each_chunk(context, moved_bytes(a), [&](std::int64_t chunk) noexcept {
      write_elements(elements.data(), a.dtype, marks, chunk, room.data, stores);
      finish(stores);
    });
  }
  const std::uint64_t read = is_empty(a) ? 0 : element_bytes(a) + element_bytes(mask);
  count_call(TNR_OPERATION_NONZERO, read, static_cast<std::uint64_t>(room.size_bytes));
  return marks.found();
}

// A room in `out`, for as many as there are; none for more rows than it has.
auto room_in(const tnr_view_mut& out) {
  return [&](std::int64_t count) -> Room {
    if (count > out.view.shape[0]) return {nullptr, 0};
    tnr_view found = out.view;
    found.shape[0] = count;
    return {writable(out), is_empty(found) ? 0 : moved_bytes(found)};
  };
}

}  // namespace

BlobToken nonzero(const Context& context, const tnr_view& a, tnr_view_mut& out) {
  std::optional<Result> result;
  (void)find_positions(context, a, [&](std::int64_t count) {
    const std::int64_t shape[] = {count, a.rank};
    return result.emplace(context, TNR_DTYPE_I64, 2u, shape).room();
  });
  return result->give(out);
}

BlobToken masked_select(const Context& context, const tnr_view& a, const tnr_view& mask,
                        tnr_view_mut& out) {
  std::optional<Result> result;
  (void)find_elements(context, a, mask, [&](std::int64_t count) {
    return result.emplace(context, a.dtype, 1u, &count).room();
  });
  return result->give(out);
}

std::int64_t nonzero_into(const Context& context, const tnr_view& a, const tnr_view_mut& out) {
  return find_positions(context, a, room_in(out));
}

std::int64_t masked_select_into(const Context& context, const tnr_view& a, const tnr_view& mask,
                                const tnr_view_mut& out) {
  return find_elements(context, a, mask, room_in(out));
}

}  // namespace tenure
