// Memory that runs lend to user functions, on a device always and on the CPU in checked runs, and
// the guards by which a checked run sees how a function changed it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/array_type.hpp"
#include "cpu/kernel.hpp"
#include "memory/memory.hpp"
#include "tenure/blob.hpp"

namespace tenure {

// Views with owners that end after the call. A later use of a view that the function kept fails.
class Lending {
 public:
  explicit Lending(std::size_t most) { tokens_.reserve(most); }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  ~Lending() { (void)end(); }

  // The owner is the view's from here on. Throws as blob_borrow().
  void lend(tnr_view& view);
  void lend_mut(tnr_view& view);
  // lend() and lend_mut() for memory that the context's queue reaches. Both throw std::bad_alloc.
  void lend_on(const Context& context, tnr_view& view);
  void lend_mut_on(const Context& context, tnr_view& view);
  // Ends the owners. Returns whether the function kept no handle of the memory and gave none up.
  // No call uses the memory afterwards, in either case.
  [[nodiscard]] bool end() noexcept;

 private:
  std::vector<BlobToken> tokens_;
};

// Row-major memory for an array, between guards; all of it filled with one byte.
class Guarded {
 public:
  Guarded(const ArrayType& type, unsigned char pattern);

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }
  // Whether the guards are unchanged.
  [[nodiscard]] bool is_whole() const noexcept;
  // Whether the elements are the same bytes. Both arrays have the same type.
  [[nodiscard]] bool is_same(const Guarded& other) const noexcept;

 private:
  static constexpr std::size_t kGuardBytes = 256;

  [[nodiscard]] kernels::Byte* elements() const noexcept {
    return reinterpret_cast<kernels::Byte*>(memory_.data()) + kGuardBytes;
  }

  std::size_t size_bytes_;
  unsigned char pattern_;
  OwnedMemory memory_;
  tnr_view view_;
};

}  // namespace tenure
