#include "tenure/sparse_voucher.hpp"

#include <atomic>
#include <chrono>

#include "base/token.hpp"

namespace tenure {
namespace {

std::atomic<SparseToken> voucher{0};

// Where the process has its memory, and when: what no caller writes by mistake. Against one that
// reads the library's memory nothing helps.
SparseToken any_number() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  auto bits = reinterpret_cast<std::uintptr_t>(&now) ^ static_cast<std::uint64_t>(now) ^
              reinterpret_cast<std::uintptr_t>(&voucher) << 20;
  // The finalizer of SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, OOPSLA 2014).
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

}  // namespace

SparseToken sparse_voucher() noexcept {
  // Relaxed: the word is all that there is.
  SparseToken found = voucher.load(std::memory_order_relaxed);
  if (found != 0) [[likely]]
    return found;
  const SparseToken made = make_token(kVoucherKind, 0, 0) | any_number() >> 8;
  return voucher.compare_exchange_strong(found, made, std::memory_order_relaxed) ? made : found;
}

bool is_sparse_voucher(SparseToken owner) noexcept {
  return owner != 0 && owner == voucher.load(std::memory_order_relaxed);
}

}  // namespace tenure
