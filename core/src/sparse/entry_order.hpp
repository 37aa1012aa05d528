// The known order of a result's entries. The SORTED and UNIQUE flags of all matrices that the
// library makes come from here: an operation states how it has got its entries, and only this file
// derives the flags from that.
#pragma once

#include <cstdint>

#include "tenure/sparse.hpp"

namespace tenure {

class EntryOrder {
 public:
  // Each row (of CSC column, of COO the whole) has been written from its first column to its last,
  // each once.
  static constexpr EntryOrder rising() noexcept { return {true, true}; }
  // The entries of `a`, all of them or some, in the order that they have there: what its flags say,
  // which is trusted.
  static constexpr EntryOrder of(const tnr_sparse_view& a) noexcept { return said(a.flags); }
  static constexpr EntryOrder said(std::uint32_t flags) noexcept {
    return {(flags & TNR_SPARSE_SORTED) != 0, (flags & TNR_SPARSE_UNIQUE) != 0};
  }

  // Entries that have been put into any order: no two have come to one position.
  [[nodiscard]] constexpr EntryOrder reordered() const noexcept { return {false, is_unique_}; }
  // They have been put in order, or looked at and found to be.
  [[nodiscard]] constexpr EntryOrder sorted() const noexcept { return {true, is_unique_}; }

  // How the columns of a result come from those of the operand: each of the result is one of them.
  enum class Columns {
    kRise,       // each once at most, in their order
    kNeverFall,  // some several times one after the other
    kFall,       // in some other order
  };
  // Each entry has been written wherever its column has gone, one entry after the other.
  [[nodiscard]] constexpr EntryOrder moved(Columns columns) const noexcept {
    switch (columns) {
      case Columns::kRise: return *this;
      // A duplicated column: the second entry's first position lies behind the first one's last.
      case Columns::kNeverFall: return {is_sorted_ && is_unique_, is_unique_};
      default: return reordered();
    }
  }
  // Each block has become the elements of its rows.
  [[nodiscard]] constexpr EntryOrder spelled() const noexcept {
    // With two blocks at one position, the second begins with a column below the last one.
    return {is_sorted_ && is_unique_, is_unique_};
  }
  // For a batch, and for matrices whose entries follow each other in each row: the order that all
  // of them have.
  [[nodiscard]] constexpr EntryOrder and_of(EntryOrder other) const noexcept {
    return {is_sorted_ && other.is_sorted_, is_unique_ && other.is_unique_};
  }

  // Each entry has become a run of all those of a row of `other`, at columns of its own.
  [[nodiscard]] constexpr EntryOrder spread(EntryOrder other) const noexcept {
    // The run of a second entry at one position begins again at the first column.
    return {is_sorted_ && is_unique_ && other.is_sorted_, is_unique_ && other.is_unique_};
  }

  [[nodiscard]] constexpr bool is_sorted() const noexcept { return is_sorted_; }
  [[nodiscard]] constexpr std::uint32_t flags() const noexcept {
    return (is_sorted_ ? TNR_SPARSE_SORTED : 0u) | (is_unique_ ? TNR_SPARSE_UNIQUE : 0u);
  }

 private:
  constexpr EntryOrder(bool is_sorted, bool is_unique) noexcept
      : is_sorted_(is_sorted), is_unique_(is_unique) {}

  bool is_sorted_;
  bool is_unique_;
};

}  // namespace tenure
