// Parallel construction of a compressed matrix by chunks of rows, where it is not known how many
// entries a row has before it is made.
//
// Threads take chunks of rows by ticket. The index of a chunk's first entry is known when the
// chunks before it have been counted. A single thread writes entries in order; several write to a
// buffer each, and copy from there to the result. Both need memory with a size that is known only
// at the end: the upper bound is reserved, and only touched memory is taken. Without it, few
// entries are copied out of memory that has room for the upper bound, and for more all rows are
// counted first.
//
// A Work has
//   chunks()                            WeightedChunks
//   bound(begin, end, limit)            a RowBound
//   scratch_bytes(), scratch(memory)    what a thread needs, as a Scratch, in memory of any bytes
//   count(scratch, begin, end)          the entries of these rows
//   fill(scratch, begin, end, out)      writes them, and the offset behind each row; returns how
//   many
// Works are types for each index and value, and the code around them exists once: it calls them
// through pointers, for a chunk at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <type_traits>

#include "base/bisect.hpp"
#include "cpu/kernel.hpp"
#include "memory/traffic.hpp"
#include "sparse/builder.hpp"
#include "tenure/context.hpp"

namespace tenure {

// How many entries rows have at most, from some row on, and the row at which there would be more
// than asked for.
struct RowBound {
  std::int64_t entries;
  std::int64_t end;
};

// Rows are put into chunks by a weight, Weight(row), from 0 on, that rises by 1 at least with each.
template <class Weight>
class WeightedChunks {
 public:
  WeightedChunks(std::int64_t rows, std::int64_t chunk_weight, const Weight& weight) noexcept
      : rows_(rows), chunk_weight_(chunk_weight), weight_(weight) {}

  [[nodiscard]] std::int64_t count() const noexcept {
    return std::max<std::int64_t>(1, (weight_(rows_) + chunk_weight_ - 1) / chunk_weight_);
  }
  // The row at which a chunk begins; of the one behind the last, all rows.
  [[nodiscard]] std::int64_t begin(std::int64_t chunk) const noexcept {
    return first_where(0, rows_,
                       [&](std::int64_t row) { return weight_(row) >= chunk * chunk_weight_; });
  }
  // End of the chunk that begins at this row: soon, as no row weighs less than 1.
  [[nodiscard]] std::int64_t end(std::int64_t chunk, std::int64_t begin) const noexcept {
    return first_where(begin, std::min(rows_, begin + chunk_weight_), [&](std::int64_t row) {
      return weight_(row) >= (chunk + 1) * chunk_weight_;
    });
  }

 private:
  std::int64_t rows_;
  std::int64_t chunk_weight_;
  Weight weight_;
};

// A Work of any type, which must outlive this.
class AnyRowWork {
  using Byte = kernels::Byte;

 public:
  template <class Work>
  explicit AnyRowWork(const Work& work) noexcept : work_(&work), functions_(&kFunctions<Work>) {}

  [[nodiscard]] std::int64_t chunk_count() const noexcept { return functions_->chunk_count(work_); }
  [[nodiscard]] std::int64_t chunk_begin(std::int64_t chunk) const noexcept {
    return functions_->chunk_begin(work_, chunk);
  }
  [[nodiscard]] std::int64_t chunk_end(std::int64_t chunk, std::int64_t begin) const noexcept {
    return functions_->chunk_end(work_, chunk, begin);
  }
  [[nodiscard]] RowBound bound(std::int64_t begin, std::int64_t end,
                               std::int64_t limit) const noexcept {
    return functions_->bound(work_, begin, end, limit);
  }
  // Bytes of the scratch that start() takes, aligned to a line.
  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return functions_->scratch_bytes(work_);
  }
  void start(Byte* scratch) const noexcept { functions_->start(work_, scratch); }
  std::int64_t count(Byte* scratch, std::int64_t begin, std::int64_t end) const noexcept {
    return functions_->count(work_, scratch, begin, end);
  }
  std::int64_t fill(Byte* scratch, std::int64_t begin, std::int64_t end,
                    const kernels::SparseRows& out) const noexcept {
    return functions_->fill(work_, scratch, begin, end, out);
  }

 private:
  struct Functions {
    std::int64_t (*chunk_count)(const void*) noexcept;
    std::int64_t (*chunk_begin)(const void*, std::int64_t) noexcept;
    std::int64_t (*chunk_end)(const void*, std::int64_t, std::int64_t) noexcept;
    RowBound (*bound)(const void*, std::int64_t, std::int64_t, std::int64_t) noexcept;
    std::int64_t (*scratch_bytes)(const void*) noexcept;
    void (*start)(const void*, Byte*) noexcept;
    std::int64_t (*count)(const void*, Byte*, std::int64_t, std::int64_t) noexcept;
    std::int64_t (*fill)(const void*, Byte*, std::int64_t, std::int64_t,
                         const kernels::SparseRows&) noexcept;
  };

  // The Scratch is in front of its memory.
  template <class Work>
  static constexpr std::int64_t kScratchAt =
      whole_lines(static_cast<std::int64_t>(sizeof(typename Work::Scratch)));
  template <class Work>
  static typename Work::Scratch& scratch_of(Byte* scratch) noexcept {
    static_assert(std::is_trivially_destructible_v<typename Work::Scratch>);
    return *std::launder(reinterpret_cast<typename Work::Scratch*>(scratch));
  }
  template <class Work>
  static const Work& of(const void* work) noexcept {
    return *static_cast<const Work*>(work);
  }
  template <class Work>
  static constexpr Functions kFunctions = {
      [](const void* work) noexcept { return of<Work>(work).chunks().count(); },
      [](const void* work, std::int64_t chunk) noexcept {
        return of<Work>(work).chunks().begin(chunk);
      },
      [](const void* work, std::int64_t chunk, std::int64_t begin) noexcept {
        return of<Work>(work).chunks().end(chunk, begin);
      },
      [](const void* work, std::int64_t begin, std::int64_t end, std::int64_t limit) noexcept {
        return of<Work>(work).bound(begin, end, limit);
      },
      [](const void* work) noexcept { return kScratchAt<Work> + of<Work>(work).scratch_bytes(); },
      [](const void* work, Byte* scratch) noexcept {
        new (scratch) typename Work::Scratch(of<Work>(work).scratch(scratch + kScratchAt<Work>));
      },
      [](const void* work, Byte* scratch, std::int64_t begin, std::int64_t end) noexcept {
        return of<Work>(work).count(scratch_of<Work>(scratch), begin, end);
      },
      [](const void* work, Byte* scratch, std::int64_t begin, std::int64_t end,
         const kernels::SparseRows& out) noexcept {
        return of<Work>(work).fill(scratch_of<Work>(scratch), begin, end, out);
      }};

  const void* work_;
  const Functions* functions_;
};

// Makes the entries of all rows. `builder` has its offsets, and the first one is written. Throws as
// SparseBuilder does, and std::bad_alloc.
void build_rows(const Context& context, const AnyRowWork& work, SparseBuilder& builder);

}  // namespace tenure
