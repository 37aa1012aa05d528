#include "memory/slot_table.hpp"

#include <new>
#include <type_traits>
#include <utility>

#include "base/fork.hpp"
#include "tenure/counters.hpp"

namespace tenure {

constinit SlotTable<kBlobKind> slot_table;
constinit SlotTable<kSparseKind> sparse_table;
constinit SlotTable<kPackedKind> packed_table;
constinit SlotTable<kFactorKind> factor_table;
constinit SlotTable<kGraphKind> graph_table;
constinit SlotTable<kProgramKind> program_table;
constinit SlotTable<kBoundKind> bound_table;
constinit SlotTable<kEventKind> event_table;
constinit SlotTable<kKernelKind> kernel_table;
static_assert(std::is_trivially_destructible_v<SlotTable<kBlobKind>>);

namespace {

// A spare slot of the calling thread. Most arrays are made and ended by one thread, which with a
// spare changes no head of a list. Explored threads share all slots.
template <std::uint32_t kKind>
constexpr bool kHasSpare = kKind == kBlobKind && !kExplored;

// One more than its index; 0: none.
std::uint32_t take_spare() noexcept {
  CounterBlock* const own = t_counter_block;
  return own == nullptr ? 0 : std::exchange(own->spare_slot, 0);
}
// False where the thread has one.
bool keep_spare(std::uint32_t index) noexcept {
  CounterBlock* const own = t_counter_block;
  if (own == nullptr || own->spare_slot != 0) return false;
  own->spare_slot = index + 1;
  return true;
}

}  // namespace

template <std::uint32_t kKind>
Token SlotTable<kKind>::open(const SlotContent& content) {
  const std::uint32_t index = take();
  BlobSlot* const slot = &slot_at(index);
  if constexpr (kKind == kBlobKind) {
    const bool is_copy = content.tenure == TNR_TENURE_COPIED;
    const bool is_ours = is_copy || content.tenure == TNR_TENURE_ALLOCATED;
    count_blob_made(is_ours ? content.size_bytes : 0, is_copy ? content.size_bytes : 0);
  }
  // Relaxed: the slot is ours, and taking it came after the store that freed it. Its seals are 0:
  // each came with a reference.
  const std::uint32_t generation = generation_of(slot->word.load(std::memory_order_relaxed));
  slot->release = content.release;
  slot->home = content.home;
  slot->device_word.store(device_word_of(content.device), std::memory_order_release);
  slot->context.store(content.context, std::memory_order_release);
  slot->data.store(content.data, std::memory_order_release);
  slot->size_bytes.store(content.size_bytes, std::memory_order_release);
  slot->tenure.store(content.tenure, std::memory_order_release);
  // Release: a thread that finds the slot open finds its content. A plain store: on a closed word
  // every compare-and-swap refuses, so no other thread writes it.
  slot->word.store(SlotWord{generation} << kGenerationShift | kOneRef, std::memory_order_release);
  return make_token(kKind, generation, index);
}

template <std::uint32_t kKind>
void SlotTable<kKind>::retire_or_reuse(Token token, BlobSlot& slot) noexcept {
  if constexpr (kKind == kBlobKind) count_blob_finished();
  // Not reused after the last generation: the next would be the first again, and tokens that were
  // stale for 2^24 lives would name a blob. The 64 bytes are the price.
  if (token_generation(token) == kLastGeneration) return;
  // Relaxed: putting the slot back releases it. A reader with the old token who meets the next
  // life's content meets this word too.
  slot.word.store(SlotWord{token_generation(token) + 1} << kGenerationShift | kClosed,
                  std::memory_order_relaxed);
  if constexpr (kHasSpare<kKind>) {
    if (keep_spare(token_index(token))) return;
  }
  put_back(token_index(token), slot);
}

template <std::uint32_t kKind>
std::uint32_t SlotTable<kKind>::take() {
  if constexpr (kHasSpare<kKind>) {
    if (const std::uint32_t spare = take_spare(); spare != 0) return spare - 1;
  }
  // Acquire, here and below: the changes to the slot before it was put back, its link included, and
  // the chunk that has it.
  FreeHead head = free_.load(std::memory_order_acquire);
  for (;;) {
    const std::uint32_t index = first_of(head);
    if (index == kNone) [[unlikely]] {
      grow();
      head = free_.load(std::memory_order_acquire);
      continue;
    }
    const FreeHead next = slot_at(index).next_free.load(std::memory_order_relaxed);
    const FreeHead takes = (head >> 32) + 1;
    if (free_.compare_exchange_weak(head, takes << 32 | next, std::memory_order_acquire,
                                    std::memory_order_acquire)) {
      return index;
    }
  }
}

template <std::uint32_t kKind>
void SlotTable<kKind>::put_back(std::uint32_t first, BlobSlot& last) noexcept {
  FreeHead head = free_.load(std::memory_order_relaxed);
  FreeHead wanted;
  do {
    last.next_free.store(first_of(head), std::memory_order_relaxed);
    wanted = (head >> 32) << 32 | first;
  } while (!free_.compare_exchange_weak(head, wanted, std::memory_order_release,
                                        std::memory_order_relaxed));
}

template <std::uint32_t kKind>
void SlotTable<kKind>::grow() {
  prepare_for_fork();
  const std::lock_guard lock(growing_);
  // Another thread may have grown the table, or put a slot back, while this one waited.
  if (first_of(free_.load(std::memory_order_relaxed)) != kNone) return;
  if (chunk_count_ == kMaxChunks) throw std::bad_alloc();
  const std::size_t slot_count = std::size_t{1} << (kFirstChunkBits + chunk_count_);
  BlobSlot* const chunk = new BlobSlot[slot_count];
  const std::uint32_t first_index =
      static_cast<std::uint32_t>(slot_count - (std::size_t{1} << kFirstChunkBits));
  for (std::size_t i = 0; i + 1 < slot_count; ++i) {
    chunk[i].next_free.store(first_index + static_cast<std::uint32_t>(i) + 1,
                             std::memory_order_relaxed);
  }
  // Release: find() may meet the address at once, through a garbage token.
  chunks_[chunk_count_].store(chunk, std::memory_order_release);
  chunk_count_ += 1;
  put_back(first_index, chunk[slot_count - 1]);
}

template class SlotTable<kBlobKind>;
template class SlotTable<kSparseKind>;
template class SlotTable<kPackedKind>;
template class SlotTable<kFactorKind>;
template class SlotTable<kGraphKind>;
template class SlotTable<kProgramKind>;
template class SlotTable<kBoundKind>;
template class SlotTable<kEventKind>;
template class SlotTable<kKernelKind>;

}  // namespace tenure
