// Pins: uses of a blob by calls, which keep its memory as it is until they end.
#include <cassert>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "memory/blob_words.hpp"
#include "memory/slot_table.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {

namespace {

Pins::Fault pin_fault(SlotWord word, BlobToken token) noexcept {
  if (generation_of(word) != token_generation(token) || (is_closed(word) && refs_of(word) == 0)) {
    return Pins::Fault::kReleased;
  }
  return is_closed(word) ? Pins::Fault::kEnded : Pins::Fault::kTooManyPins;
}

// Not change(): this is the path that every operation pays for every owner.
Pins::Fault pin_slot(BlobSlot& slot, BlobToken token) noexcept {
  SlotWord word = slot.word.load(std::memory_order_relaxed);
  do {
    const bool may_pin = generation_of(word) == token_generation(token) && !is_closed(word) &&
                         pins_of(word) != kMaxPins;
    if (!may_pin) [[unlikely]]
      return pin_fault(word, token);
    // Acquire: the content is read next. No release: a pin publishes nothing, and the release of
    // the thread that opened the slot carries on through it, as through every read-modify-write.
  } while (!slot.word.compare_exchange_weak(word, word + kOnePin, std::memory_order_acquire,
                                            std::memory_order_relaxed));
  return Pins::Fault::kNone;
}

// Whether the blob is to be finished.
bool take_pin(BlobSlot& slot) noexcept {
  // Release: what this call did to the memory comes before its end. Acquire: if this was the last
  // thing that kept the memory, the end is run here. Subtracting cannot reach the neighbouring
  // fields, since each unpin undoes one pin.
  return is_finished(slot.word.fetch_sub(kOnePin, std::memory_order_acq_rel) - kOnePin);
}

void unpin_slot(BlobToken token, BlobSlot& slot) noexcept {
  if (take_pin(slot)) [[unlikely]]
    blob_finish(token);
}

// Whether a view of the device is one of a blob there. The CPU's come first: what their index must
// be the view's check knows.
bool is_at(std::uint32_t word, const tnr_device& device) {
  if ((word | static_cast<std::uint32_t>(device.kind ^ TNR_DEVICE_KIND_CPU)) == 0) [[likely]]
    return true;
  return device_of_word(word) == device;
}

bool lies_inside(const tnr_view& view, const void* data, std::size_t size_bytes) {
  // Unsigned: a base below the memory becomes a huge offset.
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(view.base) - reinterpret_cast<std::uintptr_t>(data);
  return offset <= size_bytes && view.size_bytes <= size_bytes - offset;
}

}  // namespace

void blob_pin_again(BlobToken token) {
  change(*slot_table.find(token), [token](SlotWord word) {
    if (pins_of(word) == kMaxPins) {
      fail(TNR_STATUS_BUSY, "blob 0x%" PRIx64 " is in use by %u calls, and no more can be counted",
           token, kMaxPins);
    }
    return word + kOnePin;
  });
}

Left blob_unpin(BlobToken token) noexcept {
  return take_pin(*slot_table.find(token)) ? Left::kNothing : Left::kKept;
}

Pins::Fault Pins::pin(const tnr_view& view, Access access) noexcept {
  const BlobToken token = view.owner;
  BlobSlot* slot = find(token);
  if (slot == nullptr) {
    slot = slot_table.find(token);
    if (slot == nullptr) [[unlikely]]
      return Fault::kUnknownOwner;
    assert(count_ < kCapacity);
    if (const Fault fault = pin_slot(*slot, token); fault != Fault::kNone) [[unlikely]]
      return fault;
    pinned_[count_++] = {token, slot};
  }
  // Relaxed: the pin has acquired the content, and keeps it as it is.
  if (!is_at(slot->device_word.load(std::memory_order_relaxed), view.device))
    return Fault::kElsewhere;
  void* const data = slot->data.load(std::memory_order_relaxed);
  const std::size_t size_bytes = slot->size_bytes.load(std::memory_order_relaxed);
  if (!lies_inside(view, data, size_bytes)) [[unlikely]]
    return Fault::kOutside;
  if (access == Access::kRead) return Fault::kNone;
  if (!may_write(slot->tenure.load(std::memory_order_relaxed))) [[unlikely]]
    return Fault::kReadOnly;
  // A seal is seen: the pin has acquired what its sealer stored and then looked at the word.
  // Acquire: where there was a seal, the reads under it come before the writes of this call.
  if (slot->seals.load(std::memory_order_acquire) != 0) [[unlikely]]
    return Fault::kSealed;
  return Fault::kNone;
}

Error Pins::error(Fault fault, const tnr_view& view, const char* name) const noexcept {
  const BlobToken token = view.owner;
  const BlobSlot* const slot = find(token);  // pinned, where its content is at fault
  switch (fault) {
    case Fault::kNone: break;
    case Fault::kUnknownOwner:
      return error_of(TNR_STATUS_STALE_VIEW,
                      "%s.owner is 0x%" PRIx64 ", which no blob was ever given", name, token);
    case Fault::kReleased:
      return error_of(TNR_STATUS_STALE_VIEW,
                      "%s.owner is 0x%" PRIx64 ", a blob that has been released", name, token);
    case Fault::kEnded:
      return error_of(TNR_STATUS_STALE_VIEW,
                      "%s.owner is 0x%" PRIx64 ", a blob whose borrow has ended", name, token);
    case Fault::kTooManyPins:
      return error_of(TNR_STATUS_BUSY, "%s.owner is in use by %u calls, and no more can be counted",
                      name, kMaxPins);
    case Fault::kElsewhere:
      return error_of(
          TNR_STATUS_INVALID_ARGUMENT, "%s.device is %s but its owner holds memory of %s", name,
          DeviceName(view.device).text,
          DeviceName(device_of_word(slot->device_word.load(std::memory_order_relaxed))).text);
    case Fault::kOutside:
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "%s is lent %" PRIu64 " bytes at %p but its owner holds %zu bytes at %p",
                      name, view.size_bytes, view.base,
                      slot->size_bytes.load(std::memory_order_relaxed),
                      slot->data.load(std::memory_order_relaxed));
    case Fault::kReadOnly:
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "%s is written but its owner is %s, which nobody may write", name,
                      tenure_name(slot->tenure.load(std::memory_order_relaxed)));
    case Fault::kSealed:
      return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s is written but its owner is %s", name,
                      kSealedText);
  }
  return error_of(TNR_STATUS_INTERNAL, "%s is pinned", name);
}

void Pins::refuse(Fault fault, const tnr_view& view, const char* name) const {
  throw error(fault, view, name);
}

BlobSlot* Pins::find(BlobToken token) const noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    if (pinned_[i].token == token) return pinned_[i].slot;
  }
  return nullptr;
}

const DeviceQueue* Pins::home_of(const BlobSlot& slot) noexcept {
  return is_on_cpu(slot) ? nullptr : static_cast<const Context*>(slot.home)->queue();
}

bool Pins::are_at_home(const DeviceQueue& queue) const noexcept {
  for (unsigned i = 0; i < count_; ++i) {
    const DeviceQueue* const home = home_of(*pinned_[i].slot);
    if (home != &queue && home != nullptr) return false;
  }
  return true;
}

void Pins::unpin_all() noexcept {
  for (unsigned i = 0; i < count_; ++i) unpin_slot(pinned_[i].token, *pinned_[i].slot);
}

}  // namespace tenure
