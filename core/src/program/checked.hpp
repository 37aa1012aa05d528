// What runs lend to functions of others, on a device always and on the CPU where they are checked,
// and how checked ones see what these did to it.
#pragma once

#include <cstddef>
#include <vector>

#include "base/array_type.hpp"
#include "cpu/kernel.hpp"
#include "memory/memory.hpp"
#include "tenure/blob.hpp"

namespace tenure {

// Views whose owners end behind the call: whoever kept one is told so when it is used.
class Lending {
 public:
  explicit Lending(std::size_t most) { tokens_.reserve(most); }
  Lending(const Lending&) = delete;
  Lending& operator=(const Lending&) = delete;
  ~Lending() { (void)end(); }

  // The owner is the view's from here on. Throws as blob_borrow().
  void lend(tnr_view& view);
  void lend_mut(tnr_view& view);
  // The same of memory that the context's queue reaches. Throw std::bad_alloc.
  void lend_on(const Context& context, tnr_view& view);
  void lend_mut_on(const Context& context, tnr_view& view);
  // Whether nobody holds any of the memory. No call uses it then, in either case.
  [[nodiscard]] bool end() noexcept;

 private:
  std::vector<BlobToken> tokens_;
};

// Row-major memory for an array, between guards; all of it filled with one byte.
class Guarded {
 public:
  Guarded(const ArrayType& type, unsigned char pattern);

  [[nodiscard]] const tnr_view& view() const noexcept { return view_; }
  // Whether the guards hold what they held.
  [[nodiscard]] bool is_whole() const noexcept;
  // Whether the elements are the same bytes. Of the same type.
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
