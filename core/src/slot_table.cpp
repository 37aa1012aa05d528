#include "slot_table.hpp"

#include <new>
#include <type_traits>

namespace tenure {

constinit SlotTable slot_table;
static_assert(std::is_trivially_destructible_v<SlotTable>);

BlobToken SlotTable::open(const SlotContent& content) {
  std::uint32_t index = 0;
  BlobSlot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (first_free_ == kNone) grow();
    index = first_free_;
    const Place place = place_of(index);
    slot = chunks_[place.chunk].load(std::memory_order_relaxed) + place.offset;
    first_free_ = slot->next_free;

    stats_.blobs_made += 1;
    const bool is_copy = content.tenure == TNR_TENURE_COPIED;
    if (is_copy || content.tenure == TNR_TENURE_ALLOCATED) {
      stats_.allocated_bytes += content.size_bytes;
    }
    if (is_copy) stats_.copied_bytes += content.size_bytes;
  }
  // Relaxed: the slot is ours, and the mutex has ordered it after the store that freed it.
  const std::uint32_t generation = generation_of(slot->word.load(std::memory_order_relaxed));
  slot->release = content.release;
  slot->allocator = content.allocator;
  slot->context.store(content.context, std::memory_order_release);
  slot->data.store(content.data, std::memory_order_release);
  slot->size_bytes.store(content.size_bytes, std::memory_order_release);
  slot->tenure.store(content.tenure, std::memory_order_release);
  // Release: whoever finds the slot open finds its content. A plain store: on a closed word every
  // compare-and-swap refuses, so nobody else writes it.
  slot->word.store(SlotWord{generation} << kGenerationShift | kOneRef, std::memory_order_release);
  return make_token(kBlobKind, generation, index);
}

void SlotTable::retire_or_reuse(BlobToken token, BlobSlot& slot) noexcept {
  const std::lock_guard lock(mutex_);
  stats_.blobs_finished += 1;
  // Not reused after the last generation: the next would be the first again, and tokens that were
  // stale for 2^24 lives would name a blob. The 64 bytes are the price.
  if (token_generation(token) == kLastGeneration) return;
  // Release: a reader with the old token who meets the next life's content meets this word too.
  slot.word.store(SlotWord{token_generation(token) + 1} << kGenerationShift | kClosed,
                  std::memory_order_release);
  // Last in, first out: the slot whose cache line is warm.
  slot.next_free = first_free_;
  first_free_ = token_index(token);
}

Stats SlotTable::stats() noexcept {
  const std::lock_guard lock(mutex_);
  return stats_;
}

void SlotTable::grow() {
  if (chunk_count_ == kMaxChunks) throw std::bad_alloc();
  const std::size_t slot_count = std::size_t{1} << (kFirstChunkBits + chunk_count_);
  BlobSlot* const chunk = new BlobSlot[slot_count];
  const std::uint32_t first_index =
      static_cast<std::uint32_t>(slot_count - (std::size_t{1} << kFirstChunkBits));
  for (std::size_t i = 0; i < slot_count; ++i) {
    chunk[i].next_free = first_index + static_cast<std::uint32_t>(i) + 1;
  }
  chunk[slot_count - 1].next_free = kNone;
  first_free_ = first_index;
  // Release: find() may meet the address at once, through a garbage token.
  chunks_[chunk_count_].store(chunk, std::memory_order_release);
  chunk_count_ += 1;
}

}  // namespace tenure
