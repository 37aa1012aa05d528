// The tables behind the tokens of blobs, of matrices, factors, programs and events: slots
// whose memory is never given back, so that any number that claims to be a token can be looked up
// and refused without reading freed memory.
//
// Access to the fields of a slot:
//   word       any thread, at any time; every rule of blob.hpp is a compare-and-swap on it.
//   data, size_bytes, tenure, context
//              a thread that then finds the word in the same generation (a reader with a stale
//              token races with the slot's next life). They are atomics stored with release and
//              loaded with acquire after the word: a reader who meets a value of the next life
//              also meets the newer word. Rejected: a fence between fields and word, which
//              ThreadSanitizer does not see.
//   seals      as data, by those who hold or use the blob.
//   device_word  as data.
//   release, home
//              the one thread that finishes the blob; home also those who use it.
//   next_free  the thread that found the slot at the head of the free list; valid only if the slot
//              is still there.
//
// Other objects than blobs have such slots too: the word counts as that of a blob, the data is the
// object (sparse/handle.cpp, handles.hpp), and the other fields mean nothing.
#pragma once

#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "base/concurrency.hpp"
#include "base/mutex.hpp"
#include "base/token.hpp"
#include "tenure/blob.hpp"
#include "tenure/device.hpp"
#include "tenure/status.hpp"

namespace tenure {

// generation:24 | closed:1 | pins:15 | refs:24
using SlotWord = std::uint64_t;

inline constexpr SlotWord kOneRef = SlotWord{1};
inline constexpr SlotWord kOnePin = SlotWord{1} << 24;
inline constexpr SlotWord kClosed = SlotWord{1} << 39;
inline constexpr unsigned kGenerationShift = 40;

constexpr std::uint32_t refs_of(SlotWord word) { return word & kMaxRefs; }
constexpr std::uint32_t pins_of(SlotWord word) { return (word >> 24) & kMaxPins; }
constexpr bool is_closed(SlotWord word) { return (word & kClosed) != 0; }
constexpr std::uint32_t generation_of(SlotWord word) {
  return static_cast<std::uint32_t>(word >> kGenerationShift);
}
// Nothing holds, uses or may reach the memory any more.
constexpr bool is_finished(SlotWord word) {
  return (word & ((SlotWord{1} << kGenerationShift) - 1)) == kClosed;
}

// One cache line, so that two blobs pinned by two threads do not share one.
struct alignas(64) BlobSlot {
  Atomic<SlotWord> word{kClosed};
  Atomic<void*> data{nullptr};
  Atomic<std::size_t> size_bytes{0};
  Atomic<void*> context{nullptr};
  Handed<tnr_release_fn> release = nullptr;
  // The context that the memory came from, if not from memory.hpp. For memory of a device, the
  // context of its queue, whatever the source of the memory.
  Handed<const Context*> home = nullptr;
  Atomic<tnr_tenure> tenure{0};
  Atomic<std::uint32_t> next_free{0};
  // The number of sparse matrices that forbid writes to the memory; see blob_seal().
  Atomic<std::uint32_t> seals{0};
  Atomic<std::uint32_t> device_word{0};  // device_word_of()
};
static_assert(sizeof(BlobSlot) == 64);
static_assert(Atomic<SlotWord>::is_always_lock_free);

// A device as a slot has it: 0 for the CPU.
constexpr std::uint32_t device_word_of(const tnr_device& device) {
  return static_cast<std::uint32_t>(device.kind - TNR_DEVICE_KIND_CPU) << 16 |
         (static_cast<std::uint32_t>(device.index) & 0xffffu);
}
constexpr tnr_device device_of_word(std::uint32_t word) {
  return {static_cast<tnr_device_kind>(word >> 16) + TNR_DEVICE_KIND_CPU,
          static_cast<std::int32_t>(word & 0xffffu)};
}

inline bool is_on_cpu(const BlobSlot& slot) noexcept {
  return slot.device_word.load(std::memory_order_relaxed) == device_word_of(kCpu);
}

// Initial content of a blob's slot.
struct SlotContent {
  void* data;
  std::size_t size_bytes;
  tnr_tenure tenure;
  tnr_release_fn release;
  void* context;
  const Context* home = nullptr;
  tnr_device device = kCpu;
};

// Whether the token's life of the slot has a holder.
constexpr bool is_held(SlotWord word, Token token) {
  return generation_of(word) == token_generation(token) && refs_of(word) != 0;
}

// Replaces the slot's word by step(word) and returns the new word. `step` throws to refuse. It may
// read the slot's content: a successful swap proves that the word, and with it the generation, had
// not changed since before the read.
//
// Acquire and release: each step is ordered after the ones before it, so the thread that finishes a
// blob, or learns that its borrow has ended, sees all changes of other threads to the memory.
// Relaxed where the swap fails: `step` reads the content of the life that the first load has
// acquired.
template <class Step>
SlotWord change(BlobSlot& slot, Step step) {
  SlotWord old = slot.word.load(std::memory_order_acquire);
  for (;;) {
    const SlotWord wanted = step(old);
    if (slot.word.compare_exchange_weak(old, wanted, std::memory_order_acq_rel,
                                        std::memory_order_relaxed)) {
      return wanted;
    }
  }
}

// One more handle. `require_held(word)` throws for a token that may not be retained, and BUSY is
// thrown at kMaxRefs; `noun` says in its message what the token is of.
template <class RequireHeld>
void retain_slot(BlobSlot& slot, Token token, const char* noun, const RequireHeld& require_held) {
  change(slot, [&](SlotWord word) {
    require_held(word);
    if (refs_of(word) == kMaxRefs) {
      fail(TNR_STATUS_BUSY, "%s 0x%" PRIx64 " has %u handles, and no more can be counted", noun,
           token, kMaxRefs);
    }
    return word + kOneRef;
  });
}

// The word with one handle less, which closes it if that was the last.
constexpr SlotWord without_ref(SlotWord word) {
  return refs_of(word) > 1 ? word - kOneRef : (word - kOneRef) | kClosed;
}

template <std::uint32_t kKind>
class SlotTable {
 public:
  constexpr SlotTable() noexcept = default;

  // The slot that the token names, whatever lives there now; nullptr for another kind or a slot
  // that was never made.
  BlobSlot* find(Token token) const noexcept {
    if (kind_of(token) != kKind) return nullptr;
    const Location location = location_of(token_index(token));
    // Acquire: the slots of a chunk are initialised before its address is stored.
    BlobSlot* const chunk = chunks_[location.chunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : chunk + location.offset;
  }

  // Opens a slot with one reference. Throws std::bad_alloc, and then nothing has changed.
  Token open(const SlotContent& content);

  // Ends the life of a finished slot: its token is stale from here on.
  void retire_or_reuse(Token token, BlobSlot& slot) noexcept;

  // Around fork: no thread grows the table while the process is copied.
  void lock() noexcept { growing_.lock(); }
  void unlock() noexcept { growing_.unlock(); }

 private:
  // Chunk c holds 64 << c slots: 4 KiB to begin with, and one bit scan finds the chunk of an index.
  // Explored ones hold 2 << c, so that tables grow within a few steps.
  static constexpr unsigned kFirstChunkBits = kExplored ? 1 : 6;
  // Indices below 2^32 - 64; a chunk of number 26 is never made, but its garbage index is looked
  // up.
  static constexpr unsigned kMaxChunks = 26;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Location {
    unsigned chunk;
    std::size_t offset;
  };
  static constexpr Location location_of(std::uint32_t index) {
    const std::uint64_t position = std::uint64_t{index} + (1u << kFirstChunkBits);
    const unsigned top_bit = static_cast<unsigned>(std::bit_width(position)) - 1;
    return {top_bit - kFirstChunkBits,
            static_cast<std::size_t>(position - (std::uint64_t{1} << top_bit))};
  }

  // The free slots, last in, first out: the slot whose cache line is warm. A stack by Treiber
  // ("Systems programming: coping with parallelism", IBM RJ 5118, 1986), whose head is
  // {takes:32, index:32}: between a thread's look at the first slot and its swap, that slot may
  // have been taken and put back, with another below it, and the count of takes tells. Slots are
  // never freed, so the look is harmless.
  using FreeHead = std::uint64_t;
  static constexpr std::uint32_t first_of(FreeHead head) {
    return static_cast<std::uint32_t>(head);
  }
  std::uint32_t take();
  // A chain of slots, linked from `first` to `last`.
  void put_back(std::uint32_t first, BlobSlot& last) noexcept;
  BlobSlot& slot_at(std::uint32_t index) const noexcept {
    const Location location = location_of(index);
    return chunks_[location.chunk].load(std::memory_order_relaxed)[location.offset];
  }
  void grow();

  Atomic<BlobSlot*> chunks_[kMaxChunks + 1] = {};
  Atomic<FreeHead> free_{kNone};

  Mutex growing_;  // guards chunk_count_
  Handed<unsigned> chunk_count_ = 0;
};

// Constant-initialised and never destroyed: blobs may be released from destructors of other
// statics and of thread-locals.
extern SlotTable<kBlobKind> slot_table;
extern SlotTable<kSparseKind> sparse_table;
extern SlotTable<kPackedKind> packed_table;
extern SlotTable<kFactorKind> factor_table;
extern SlotTable<kGraphKind> graph_table;
extern SlotTable<kProgramKind> program_table;
extern SlotTable<kBoundKind> bound_table;
extern SlotTable<kEventKind> event_table;
extern SlotTable<kKernelKind> kernel_table;

}  // namespace tenure
