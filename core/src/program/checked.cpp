#include "program/checked.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "memory/queue_order.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {

void Lending::lend(tnr_view& view) {
  tokens_.push_back(blob_borrow(view.base, static_cast<std::size_t>(view.size_bytes)));
  view.owner = tokens_.back();
}

void Lending::lend_mut(tnr_view& view) {
  tokens_.push_back(blob_borrow_mut(const_cast<void*>(view.base), view.size_bytes));
  view.owner = tokens_.back();
}

void Lending::lend_on(const Context& context, tnr_view& view) {
  tokens_.push_back(blob_lend_on(context, view.base, static_cast<std::size_t>(view.size_bytes)));
  view.owner = tokens_.back();
}

void Lending::lend_mut_on(const Context& context, tnr_view& view) {
  tokens_.push_back(blob_lend_mut_on(context, const_cast<void*>(view.base), view.size_bytes));
  view.owner = tokens_.back();
}

bool Lending::end() noexcept {
  bool is_free = true;
  for (const BlobToken token : tokens_) {
    try {
      try {
        blob_end_borrow(token);
      } catch (const Error& error) {
        is_free &= error.status() != TNR_STATUS_BORROW_ESCAPED;
      }
      // Another thread's call ends by itself, and no new one begins.
      while (blob_describe(token).pin_count != 0) std::this_thread::yield();
      blob_release(token);
    } catch (const Error&) {
      // The function gave up a handle that it does not own.
      is_free = false;
    }
  }
  tokens_.clear();
  return is_free;
}

Guarded::Guarded(const ArrayType& type, unsigned char pattern)
    : size_bytes_(row_major_bytes(type.dtype, type.rank, type.shape)),
      pattern_(pattern),
      memory_(size_bytes_ + 2 * kGuardBytes),
      view_(make_view(elements(), size_bytes_, 0, type.dtype, type.rank, type.shape, nullptr)) {
  std::memset(memory_.data(), pattern, memory_.size_bytes());
}

bool Guarded::is_whole() const noexcept {
  const auto is_guard = [this](const kernels::Byte* begin) {
    return std::all_of(begin, begin + kGuardBytes,
                       [this](kernels::Byte byte) { return byte == pattern_; });
  };
  return is_guard(elements() - kGuardBytes) && is_guard(elements() + size_bytes_);
}

bool Guarded::is_same(const Guarded& other) const noexcept {
  return std::equal(elements(), elements() + size_bytes_, other.elements());
}

}  // namespace tenure
