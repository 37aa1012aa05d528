#include "tenure/blob.hpp"

#include <cinttypes>
#include <cstddef>
#include <cstring>

#include "base/callback.hpp"
#include "memory/blob_words.hpp"
#include "memory/memory.hpp"
#include "memory/queue_order.hpp"
#include "memory/slot_table.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {

namespace {

// ---- handles: what a token may name ----

BlobSlot& slot_of_handle(BlobToken token) {
  BlobSlot* const slot = slot_table.find(token);
  if (slot == nullptr) [[unlikely]] {
    fail(TNR_STATUS_STALE_HANDLE, "blob is 0x%" PRIx64 ", which no blob was ever given", token);
  }
  return *slot;
}

void require_held(SlotWord word, BlobToken token) {
  if (!is_held(word, token)) [[unlikely]] {
    fail(TNR_STATUS_STALE_HANDLE, "blob 0x%" PRIx64 " has been released", token);
  }
}

[[noreturn, gnu::cold]] void fail_ended(BlobToken token) {
  fail(TNR_STATUS_STALE_HANDLE, "the borrow of blob 0x%" PRIx64 " has ended", token);
}

// ---- the end of a blob ----

void run_callback(tnr_release_fn release, void* context) noexcept {
  if (release == nullptr) return;
  const LastErrorKept kept;
  release(context);
}

// `origin` is what the memory's source needs to know besides.
void give_back(const Context* home, Memory memory, std::size_t size_bytes) noexcept {
  if (home == nullptr) return give_memory(memory, size_bytes);
  home->deallocate(memory.data, size_bytes, kBlobAlignment);
}

bool is_from_library(tnr_tenure tenure) {
  return tenure == TNR_TENURE_ALLOCATED || tenure == TNR_TENURE_COPIED;
}

// Instead of a context: the end of the memory is in the order of the home's queue.
char lent_in_order;

// Waits for what uses the memory of a blob on a device. In a child of fork there is no device, and
// nothing to wait for.
void settle(const BlobSlot& slot) noexcept {
  if (slot.context.load(std::memory_order_relaxed) == &lent_in_order) return;
  const Context& home = *static_cast<const Context*>(slot.home);
  if (home.queue() != nullptr) home.queue()->settle();
}

// The last step of a blob on a device. Memory of the library ends in the order of the queue. Other
// memory may end in another way, so that work on it has to be done before.
void finish_on_device(BlobSlot& slot) noexcept {
  const Context& home = *static_cast<const Context*>(slot.home);
  void* const data = slot.data.load(std::memory_order_relaxed);
  if (is_from_library(slot.tenure.load(std::memory_order_relaxed))) {
    if (data != nullptr && home.queue() != nullptr) home.queue()->free(data);
  } else {
    if (slot.size_bytes.load(std::memory_order_relaxed) != 0) settle(slot);
    run_callback(slot.release, slot.context.load(std::memory_order_relaxed));
  }
  home.let_go();
}

// Runs once per blob, in the thread whose step made is_finished() true, with no lock held. After
// that step no other thread reads the content: no step leads out of a finished word.
void finish(BlobToken token, BlobSlot& slot) noexcept {
  if (!is_on_cpu(slot)) [[unlikely]] {
    finish_on_device(slot);
    return slot_table.retire_or_reuse(token, slot);
  }
  switch (slot.tenure.load(std::memory_order_relaxed)) {
    case TNR_TENURE_ALLOCATED:
    case TNR_TENURE_COPIED:
      // Pinned memory is freed by the driver.
      if (slot.release != nullptr) [[unlikely]] {
        run_callback(slot.release, slot.context.load(std::memory_order_relaxed));
        break;
      }
      give_back(
          slot.home,
          {slot.data.load(std::memory_order_relaxed), slot.context.load(std::memory_order_relaxed)},
          slot.size_bytes.load(std::memory_order_relaxed));
      break;
    case TNR_TENURE_ADOPTED:
    case TNR_TENURE_SHARED:
      run_callback(slot.release, slot.context.load(std::memory_order_relaxed));
      break;
    default: break;  // borrowed: the memory is the caller's
  }
  slot_table.retire_or_reuse(token, slot);
}

// ---- making ----

// No object is larger: the distance between two of its bytes must fit a ptrdiff_t.
constexpr std::size_t kMaxSizeBytes = PTRDIFF_MAX;

void require_memory(const void* data, std::size_t size_bytes) {
  if (data == nullptr && size_bytes != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "data is NULL but size_bytes is %zu; only 0 bytes may be NULL", size_bytes);
  }
  if (size_bytes > kMaxSizeBytes) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "size_bytes is %zu but must be at most %zu", size_bytes,
         kMaxSizeBytes);
  }
  if (reinterpret_cast<std::uintptr_t>(data) > UINTPTR_MAX - size_bytes) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "data is %p, and %zu bytes from there exceed the address space", data, size_bytes);
  }
}

// Memory on its way into a slot.
class Allocation {
 public:
  Allocation(const Context& context, std::size_t size_bytes) : size_bytes_(size_bytes) {
    if (context.has_allocator() && size_bytes != 0) [[unlikely]] {
      require_object_size(size_bytes);
      memory_.data = context.allocate(size_bytes, kBlobAlignment);
      home_ = &context;
    } else {
      memory_ = take_memory(size_bytes);
    }
  }
  Allocation(const Allocation&) = delete;
  Allocation& operator=(const Allocation&) = delete;
  ~Allocation() {
    if (memory_.data != nullptr) give_back(home_, memory_, size_bytes_);
  }

  void* data() const { return memory_.data; }

  // Throws std::bad_alloc, and then keeps the memory.
  BlobToken open(tnr_tenure tenure) {
    const BlobToken token =
        slot_table.open({memory_.data, size_bytes_, tenure, nullptr, memory_.origin, home_});
    memory_ = {};
    return token;
  }

 private:
  Memory memory_;
  std::size_t size_bytes_;
  const Context* home_ = nullptr;
};

}  // namespace

BlobToken blob_allocate(const Context& context, std::size_t size_bytes) {
  return Allocation(context, size_bytes).open(TNR_TENURE_ALLOCATED);
}

BlobToken blob_copy(const Context& context, const void* data, std::size_t size_bytes) {
  require_memory(data, size_bytes);
  Allocation memory(context, size_bytes);
  if (size_bytes != 0) std::memcpy(memory.data(), data, size_bytes);
  return memory.open(TNR_TENURE_COPIED);
}

BlobToken blob_adopt(void* data, std::size_t size_bytes, tnr_release_fn release, void* context) {
  return blob_adopt_on(kDefaultContext, data, size_bytes, release, context);
}

BlobToken blob_share(const void* data, std::size_t size_bytes, tnr_release_fn release,
                     void* context) {
  return blob_share_on(kDefaultContext, data, size_bytes, release, context);
}

BlobToken blob_borrow(const void* data, std::size_t size_bytes) {
  return blob_borrow_on(kDefaultContext, data, size_bytes);
}

BlobToken blob_borrow_mut(void* data, std::size_t size_bytes) {
  return blob_borrow_mut_on(kDefaultContext, data, size_bytes);
}

// ---- making, on a device ----

namespace {

BlobToken open_device_memory(const Context& home, void* data, std::size_t size_bytes,
                             tnr_tenure tenure, void* context = nullptr) {
  const BlobToken token =
      slot_table.open({data, size_bytes, tenure, nullptr, context, &home, home.queue()->device()});
  home.keep();
  return token;
}

// Memory of a device on its way into a slot.
class DeviceAllocation {
 public:
  DeviceAllocation(const Context& home, std::size_t size_bytes)
      : home_(home), size_bytes_(size_bytes) {
    require_object_size(size_bytes);
    if (size_bytes != 0) data_ = home.queue()->allocate(size_bytes);
  }
  DeviceAllocation(const DeviceAllocation&) = delete;
  DeviceAllocation& operator=(const DeviceAllocation&) = delete;
  ~DeviceAllocation() {
    if (data_ != nullptr) home_.queue()->free(data_);
  }

  [[nodiscard]] void* data() const { return data_; }

  // Throws std::bad_alloc, and then keeps the memory.
  BlobToken open(tnr_tenure tenure) {
    const BlobToken token = open_device_memory(home_, data_, size_bytes_, tenure);
    data_ = nullptr;
    return token;
  }

 private:
  const Context& home_;
  std::size_t size_bytes_;
  void* data_ = nullptr;
};

// Memory of the CPU that a driver has pinned, on its way into a slot.
class PinnedAllocation {
 public:
  PinnedAllocation(const DeviceQueue& queue, std::size_t size_bytes) : size_bytes_(size_bytes) {
    require_object_size(size_bytes);
    if (size_bytes != 0) data_ = queue.allocate_pinned(size_bytes);
  }
  PinnedAllocation(const PinnedAllocation&) = delete;
  PinnedAllocation& operator=(const PinnedAllocation&) = delete;
  ~PinnedAllocation() {
    if (data_ != nullptr) free_pinned(data_);
  }

  // Throws std::bad_alloc, and then keeps the memory. The blob keeps no context: copies that a
  // queue has still to do keep the blob.
  BlobToken open() {
    const tnr_release_fn release = data_ == nullptr ? nullptr : free_pinned;
    const BlobToken token =
        slot_table.open({data_, size_bytes_, TNR_TENURE_ALLOCATED, release, data_});
    data_ = nullptr;
    return token;
  }

 private:
  std::size_t size_bytes_;
  void* data_ = nullptr;
};

// Opens a blob over memory of another owner.
BlobToken open_on(const Context& home, SlotContent content) {
  require_memory(content.data, content.size_bytes);
  const DeviceQueue* const queue = home.queue();
  if (queue == nullptr) return slot_table.open(content);
  queue->require_memory(content.data, content.size_bytes);
  content.home = &home;
  content.device = queue->device();
  const BlobToken token = slot_table.open(content);
  // The calling thread has a use of the context, so that it is not at its end.
  home.keep();
  return token;
}

}  // namespace

BlobToken blob_allocate_on(const Context& context, std::size_t size_bytes) {
  if (context.queue() == nullptr) return blob_allocate(context, size_bytes);
  return DeviceAllocation(context, size_bytes).open(TNR_TENURE_ALLOCATED);
}

BlobToken blob_keep_on(const Context& context, void* data, std::size_t size_bytes) {
  return open_device_memory(context, data, size_bytes, TNR_TENURE_ALLOCATED);
}

BlobToken blob_allocate_pinned(const Context& context, std::size_t size_bytes) {
  if (context.queue() == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the context has no device, whose driver could pin memory");
  }
  return PinnedAllocation(*context.queue(), size_bytes).open();
}

BlobToken blob_copy_on(const Context& context, const void* data, std::size_t size_bytes) {
  if (context.queue() == nullptr) return blob_copy(context, data, size_bytes);
  require_memory(data, size_bytes);
  DeviceAllocation memory(context, size_bytes);
  context.queue()->copy_bytes(DeviceQueue::Direction::kIn, memory.data(), data, size_bytes);
  return memory.open(TNR_TENURE_COPIED);
}

BlobToken blob_adopt_on(const Context& context, void* data, std::size_t size_bytes,
                        tnr_release_fn release, void* release_context) {
  return open_on(context, {data, size_bytes, TNR_TENURE_ADOPTED, release, release_context});
}

BlobToken blob_share_on(const Context& context, const void* data, std::size_t size_bytes,
                        tnr_release_fn release, void* release_context) {
  // Never written: may_write() is checked before a caller gets the address to write to.
  return open_on(
      context, {const_cast<void*>(data), size_bytes, TNR_TENURE_SHARED, release, release_context});
}

BlobToken blob_borrow_on(const Context& context, const void* data, std::size_t size_bytes) {
  return open_on(context,
                 {const_cast<void*>(data), size_bytes, TNR_TENURE_BORROWED, nullptr, nullptr});
}

BlobToken blob_borrow_mut_on(const Context& context, void* data, std::size_t size_bytes) {
  return open_on(context, {data, size_bytes, TNR_TENURE_BORROWED_MUT, nullptr, nullptr});
}

BlobToken blob_lend_on(const Context& context, const void* data, std::size_t size_bytes) {
  return open_device_memory(context, const_cast<void*>(data), size_bytes, TNR_TENURE_BORROWED,
                            &lent_in_order);
}

BlobToken blob_lend_mut_on(const Context& context, void* data, std::size_t size_bytes) {
  return open_device_memory(context, data, size_bytes, TNR_TENURE_BORROWED_MUT, &lent_in_order);
}

// ---- holding ----

void blob_retain(BlobToken token) {
  retain_slot(slot_of_handle(token), token, "blob", [token](SlotWord word) {
    require_held(word, token);
    if (is_closed(word)) fail_ended(token);
  });
}

void blob_release(BlobToken token) {
  BlobSlot& slot = slot_of_handle(token);
  const SlotWord left = change(slot, [&slot, token](SlotWord word) {
    require_held(word, token);
    if (refs_of(word) > 1) return word - kOneRef;
    // A borrow's memory must outlive its pins, and the caller would not learn when they end.
    if (pins_of(word) != 0 && is_borrowed(slot.tenure.load(std::memory_order_acquire))) {
      fail(TNR_STATUS_BUSY,
           "blob 0x%" PRIx64
           " is borrowed and in use by %u calls, but must be in use by 0 "
           "when its last handle is released",
           token, pins_of(word));
    }
    return (word - kOneRef) | kClosed;
  });
  if (is_finished(left)) finish(token, slot);
}

void blob_reclaim(BlobToken token, void* context) {
  BlobSlot& slot = slot_of_handle(token);
  change(slot, [&slot, token, context](SlotWord word) {
    require_held(word, token);
    const tnr_tenure tenure = slot.tenure.load(std::memory_order_acquire);
    if (tenure != TNR_TENURE_ADOPTED) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "blob 0x%" PRIx64 " is %s but must be adopted", token,
           tenure_name(tenure));
    }
    void* const adopted_with = slot.context.load(std::memory_order_acquire);
    if (adopted_with != context) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "release_context is %p but blob 0x%" PRIx64 " was adopted with %p", context, token,
           adopted_with);
    }
    if (refs_of(word) != 1 || pins_of(word) != 0) {
      fail(TNR_STATUS_BUSY, "blob 0x%" PRIx64 " has %u handles and %u users but must have 1 and 0",
           token, refs_of(word), pins_of(word));
    }
    return (word - kOneRef) | kClosed;
  });
  if (!is_on_cpu(slot)) {
    settle(slot);
    static_cast<const Context*>(slot.home)->let_go();
  }
  slot_table.retire_or_reuse(token, slot);
}

void blob_end_borrow(BlobToken token) {
  BlobSlot& slot = slot_of_handle(token);
  // Closing comes first, whatever the answer: while new uses may start, threads that take turns
  // could keep a borrow open for ever.
  const SlotWord word = change(slot, [&slot, token](SlotWord old) {
    require_held(old, token);
    const tnr_tenure tenure = slot.tenure.load(std::memory_order_acquire);
    if (!is_borrowed(tenure)) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "blob 0x%" PRIx64 " is %s but must be borrowed", token,
           tenure_name(tenure));
    }
    return old | kClosed;
  });
  // Escape before use: a use ends by itself, but the owner of another handle has to release it.
  if (refs_of(word) != 1) {
    fail(TNR_STATUS_BORROW_ESCAPED, "blob 0x%" PRIx64 " has %u handles but must have 1", token,
         refs_of(word));
  }
  if (pins_of(word) != 0) {
    fail(TNR_STATUS_BUSY, "blob 0x%" PRIx64 " is in use by %u calls but must be in use by 0", token,
         pins_of(word));
  }
  if (!is_on_cpu(slot)) settle(slot);
}

// ---- holding, for the parts of sparse matrices ----

namespace {

// In BlobSlot::seals while the one thread that wants the first seal looks for users.
constexpr std::uint32_t kSealing = UINT32_MAX;

}  // namespace

void blob_seal(BlobToken token) {
  BlobSlot& slot = slot_of_handle(token);
  if (!may_write(slot.tenure.load(std::memory_order_acquire))) return;
  // Every seal comes with a reference, so the count cannot reach kSealing.
  std::uint32_t seals = slot.seals.load(std::memory_order_relaxed);
  do {
    if (seals == kSealing) {
      fail(TNR_STATUS_BUSY, "blob 0x%" PRIx64 " is being sealed by another thread", token);
    }
  } while (!slot.seals.compare_exchange_weak(seals, seals == 0 ? kSealing : seals + 1,
                                             std::memory_order_acq_rel, std::memory_order_relaxed));
  if (seals != 0) return;
  // A read-modify-write, not a load: of this and the pin of a writer one comes first, and either
  // the pin is seen here, or the writer acquires this one and sees the seal.
  const SlotWord word = slot.word.fetch_add(0, std::memory_order_acq_rel);
  slot.seals.store(pins_of(word) == 0 ? 1 : 0, std::memory_order_release);
  if (pins_of(word) != 0) {
    fail(TNR_STATUS_BUSY,
         "blob 0x%" PRIx64
         " is in use by %u calls, any of which may write it, but must be in use by 0 when its "
         "indices become those of a sparse matrix",
         token, pins_of(word));
  }
}

void blob_unseal(BlobToken token) noexcept {
  BlobSlot& slot = *slot_table.find(token);
  if (!may_write(slot.tenure.load(std::memory_order_acquire))) return;
  slot.seals.fetch_sub(1, std::memory_order_acq_rel);
}

const DeviceQueue* blob_home(BlobToken token) noexcept {
  const BlobSlot& slot = *slot_table.find(token);
  return is_on_cpu(slot) ? nullptr : static_cast<const Context*>(slot.home)->queue();
}

void blob_drop(BlobToken token) noexcept {
  BlobSlot& slot = *slot_table.find(token);
  const SlotWord left = change(slot, [](SlotWord word) {
    return refs_of(word) > 1 ? word - kOneRef : (word - kOneRef) | kClosed;
  });
  if (is_finished(left)) finish(token, slot);
}

// ---- asking ----

namespace {

// Part of the making of every array.
[[gnu::always_inline]] inline BlobInfo describe(BlobToken token) {
  const BlobSlot& slot = slot_of_handle(token);
  const SlotWord word = slot.word.load(std::memory_order_acquire);
  require_held(word, token);
  const BlobInfo info = {
      .data = slot.data.load(std::memory_order_acquire),
      .size_bytes = slot.size_bytes.load(std::memory_order_acquire),
      .device = device_of_word(slot.device_word.load(std::memory_order_acquire)),
      .tenure = slot.tenure.load(std::memory_order_acquire),
      .holder_count = refs_of(word),
      .pin_count = pins_of(word),
      .closed = is_closed(word),
      .sealed = slot.seals.load(std::memory_order_acquire) != 0,
  };
  // The content belongs to the token if the generation is still the same after reading it.
  require_held(slot.word.load(std::memory_order_relaxed), token);
  return info;
}

}  // namespace

BlobInfo blob_describe(BlobToken token) { return describe(token); }

BlobMemory blob_memory(BlobToken token) {
  const BlobInfo info = describe(token);
  if (info.closed) fail_ended(token);
  return {info.data, info.size_bytes, info.device};
}

BlobMemory blob_memory_mut(BlobToken token) {
  const BlobInfo info = describe(token);
  if (info.closed) fail_ended(token);
  if (!may_write(info.tenure)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "blob 0x%" PRIx64 " is %s, which nobody may write", token,
         tenure_name(info.tenure));
  }
  if (info.sealed) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "blob 0x%" PRIx64 " is %s", token, kSealedText);
  }
  return {info.data, info.size_bytes, info.device};
}

Stats stats() noexcept {
  const BlobStats blobs = blob_stats();
  return {
      .allocated_bytes = blobs.allocated_bytes,
      .copied_bytes = blobs.copied_bytes,
      .blobs_made = blobs.made,
      .blobs_finished = blobs.finished,
      .cached_bytes = cached_memory_bytes(),
  };
}

void blob_finish(BlobToken token) noexcept { finish(token, *slot_table.find(token)); }

}  // namespace tenure
