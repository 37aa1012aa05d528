// Handles of objects that the library makes and no call writes: packed matrices, factors, programs,
// events.
#pragma once

#include <cinttypes>
#include <cstdint>
#include <memory>

#include "memory/slot_table.hpp"

namespace tenure {

// Each object has a slot of a table, and ends with its last handle. All throw STALE_HANDLE for a
// token that is garbage, of another kind, or released; BUSY at kMaxRefs.
template <class Object, std::uint32_t kKind>
class Handles {
 public:
  // In messages `name` is the parameter, and `noun` says that it is, say, "packed matrix".
  constexpr Handles(SlotTable<kKind>& table, const char* name, const char* noun) noexcept
      : table_(table), name_(name), noun_(noun) {}

  // Throws std::bad_alloc.
  [[nodiscard]] Token open(std::unique_ptr<const Object> object) const {
    const Token token = table_.open({const_cast<Object*>(object.get()), sizeof(Object),
                                     TNR_TENURE_ALLOCATED, nullptr, nullptr});
    static_cast<void>(object.release());  // the table's
    return token;
  }
  void retain(Token token) const { retain_at(slot_of(token), token); }
  void release(Token token) const {
    BlobSlot& slot = slot_of(token);
    const SlotWord left = change(slot, [this, token](SlotWord word) {
      require_held(word, token);
      return without_ref(word);
    });
    if (is_finished(left)) end(token, slot);
  }

  // A call holds the object as a handle does.
  class Use {
   public:
    Use(const Handles& handles, Token token)
        : handles_(handles), slot_(handles.slot_of(token)), token_(token) {
      handles_.retain_at(slot_, token);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use() {
      const SlotWord left = change(slot_, without_ref);
      if (is_finished(left)) [[unlikely]]
        handles_.end(token_, slot_);
    }

    [[nodiscard]] const Object& object() const {
      // Relaxed: a thread that holds the object has acquired it.
      return *static_cast<const Object*>(slot_.data.load(std::memory_order_relaxed));
    }

   private:
    const Handles& handles_;
    BlobSlot& slot_;
    Token token_;
  };

  // Use for a call that throws nothing: a pin of the slot's word.
  class QuietUse {
   public:
    explicit QuietUse(const Handles& handles) noexcept : handles_(handles) {}
    QuietUse(const QuietUse&) = delete;
    QuietUse& operator=(const QuietUse&) = delete;
    ~QuietUse() {
      if (slot_ == nullptr) return;
      // Like the unpin of a blob: if the last handle was released meanwhile, the object ends here.
      const SlotWord left = slot_->word.fetch_sub(kOnePin, std::memory_order_acq_rel) - kOnePin;
      if (is_finished(left)) [[unlikely]]
        handles_.end(token_, *slot_);
    }

    // STALE_HANDLE as retain(), and BUSY at kMaxPins.
    [[nodiscard, gnu::always_inline]] inline Refusal begin(Token token) noexcept {
      BlobSlot* const slot = handles_.table_.find(token);
      if (slot == nullptr) [[unlikely]]
        return handles_.unknown(token);
      SlotWord word = slot->word.load(std::memory_order_relaxed);
      do {
        if (!is_held(word, token) || pins_of(word) == kMaxPins) [[unlikely]]
          return refusal(word, token);
      } while (!slot->word.compare_exchange_weak(word, word + kOnePin, std::memory_order_acquire,
                                                 std::memory_order_relaxed));
      slot_ = slot;
      token_ = token;
      return std::nullopt;
    }
    [[nodiscard]] const Object& object() const noexcept {
      return *static_cast<const Object*>(slot_->data.load(std::memory_order_relaxed));
    }

   private:
    [[gnu::cold]] Error refusal(SlotWord word, Token token) const noexcept {
      if (!is_held(word, token)) return handles_.released(token);
      return error_of(TNR_STATUS_BUSY, "%s 0x%" PRIx64 " is used by %u calls at once",
                      handles_.name_, token, kMaxPins);
    }

    const Handles& handles_;
    BlobSlot* slot_ = nullptr;
    Token token_ = 0;
  };

 private:
  [[gnu::cold]] Error unknown(Token token) const noexcept {
    return error_of(TNR_STATUS_STALE_HANDLE, "%s is 0x%" PRIx64 ", which no %s was ever given",
                    name_, token, noun_);
  }
  [[gnu::cold]] Error released(Token token) const noexcept {
    return error_of(TNR_STATUS_STALE_HANDLE, "%s is 0x%" PRIx64 ", a %s that has been released",
                    name_, token, noun_);
  }
  [[nodiscard]] BlobSlot& slot_of(Token token) const {
    BlobSlot* const slot = table_.find(token);
    if (slot == nullptr) [[unlikely]]
      throw unknown(token);
    return *slot;
  }
  void retain_at(BlobSlot& slot, Token token) const {
    retain_slot(slot, token, name_, [this, token](SlotWord word) { require_held(word, token); });
  }
  void require_held(SlotWord word, Token token) const {
    if (!is_held(word, token)) [[unlikely]]
      throw released(token);
  }
  void end(Token token, BlobSlot& slot) const noexcept {
    const std::unique_ptr<const Object> object(
        static_cast<const Object*>(slot.data.load(std::memory_order_relaxed)));
    table_.retire_or_reuse(token, slot);
  }

  SlotTable<kKind>& table_;
  const char* name_;
  const char* noun_;
};

}  // namespace tenure
