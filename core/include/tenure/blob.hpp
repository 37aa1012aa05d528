// Blobs: memory with a tenure, behind tokens that are never dereferenced.
//
//   tenure            made by            who frees                  who may write      ends
//   ----------------  -----------------  -------------------------  ------------------ -----------
//   allocated         allocate()         the library                the holder         last release
//   copied            copy()             the library                the holder         last release
//   adopted           adopt()            the caller's callback, or  the holder         last release
//                                        no one after reclaim()
//   shared            share()            the caller's callback      no one             last release
//   borrowed          borrow()           the caller                 no one             end_borrow()
//   borrowed mutably  borrow_mut()       the caller                 only the borrower  end_borrow()
//
// A blob lives in a slot of a table whose memory is never given back, so that a stale token meets
// a newer generation and not freed memory. One 64-bit word per slot holds everything that changes,
//
//   generation:24 | closed:1 | pins:15 | refs:24
//
// and changes by compare-and-swap. Rejected: references and pins in two words. Between reading
// "refs = 1" in one and closing on "pins = 0" in the other, a thread can pin, retain and unpin, and
// the blob closes under a holder.
//
// One misuse cannot be seen: a second release of the same handle while others hold the blob takes
// the reference of one of them.
//
//   step        needs                                            does
//   ----------  -----------------------------------------------  --------------------------------
//   pin         generation equal, not closed; pins < max         pins + 1 (acquire)
//   unpin       -                                                pins - 1; closed, no refs and the
//                                                                last pin: finish
//   retain      generation equal, refs > 0, not closed;          refs + 1
//               refs < max
//   release     generation equal, refs > 0; not the last ref of  refs - 1; the last sets closed;
//               a pinned borrow                                  no pins: finish
//   end_borrow  generation equal, refs > 0, borrowed             sets closed; done when refs = 1
//                                                                and pins = 0. Ends no handle
//   reclaim     adopted with this context, refs = 1, pins = 0    as release, without the callback
//   finish      closed, refs 0, pins 0; once                     callback with no lock held; the
//                                                                slot is reused with generation + 1
//                                                                or retired after the last one
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_blob* and a view's owner hold. 0 is no token.
using BlobToken = std::uint64_t;

inline constexpr std::size_t kBlobAlignment = 64;  // one cache line, and one AVX-512 register

// Largest values of the word's fields.
inline constexpr std::uint32_t kMaxRefs = (1u << 24) - 1;
inline constexpr std::uint32_t kMaxPins = (1u << 15) - 1;
inline constexpr std::uint32_t kLastGeneration = (1u << 24) - 1;

// All throw Error: OUT_OF_MEMORY, and INVALID_ARGUMENT for memory that is NULL but not empty, or
// larger than PTRDIFF_MAX. On failure nothing is taken and no callback runs. Allocated bytes are
// aligned to kBlobAlignment and undefined; 0 bytes have the address NULL. A context with an
// allocator allocates the bytes with it, and the blob keeps the context alive.
BlobToken blob_allocate(const Context& context, std::size_t size_bytes);
BlobToken blob_copy(const Context& context, const void* data, std::size_t size_bytes);
BlobToken blob_adopt(void* data, std::size_t size_bytes, tnr_release_fn release, void* context);
BlobToken blob_share(const void* data, std::size_t size_bytes, tnr_release_fn release,
                     void* context);
BlobToken blob_borrow(const void* data, std::size_t size_bytes);
BlobToken blob_borrow_mut(void* data, std::size_t size_bytes);

// The CPU's memory, pinned by the driver of the context's device. Also throws INVALID_ARGUMENT for
// a context without a device, and DEVICE_ERROR.
BlobToken blob_allocate_pinned(const Context& context, std::size_t size_bytes);

// Make blobs in memory of the context's device, and are the functions above for a context without a
// device. The blob keeps the context alive. Memory of the library is freed in the order of the
// context's queue. All work on other memory is done before its callback runs and before reclaim()
// or end_borrow() returns it. blob_copy_on() copies from memory of the CPU. Also throw
// INVALID_ARGUMENT for memory that is not on the device, and DEVICE_ERROR.
BlobToken blob_allocate_on(const Context& context, std::size_t size_bytes);
// A blob over the first bytes of memory that the queue of the context has allocated, at least one.
// Throws std::bad_alloc, and then leaves the memory to the caller.
BlobToken blob_keep_on(const Context& context, void* data, std::size_t size_bytes);
BlobToken blob_copy_on(const Context& context, const void* data, std::size_t size_bytes);
BlobToken blob_adopt_on(const Context& context, void* data, std::size_t size_bytes,
                        tnr_release_fn release, void* release_context);
BlobToken blob_share_on(const Context& context, const void* data, std::size_t size_bytes,
                        tnr_release_fn release, void* release_context);
BlobToken blob_borrow_on(const Context& context, const void* data, std::size_t size_bytes);
BlobToken blob_borrow_mut_on(const Context& context, void* data, std::size_t size_bytes);

// All throw Error: STALE_HANDLE for a token that is garbage, of another kind, or released; others
// as the table above says: BUSY at kMaxRefs, for a reclaim that meets another holder or a pin, and
// for the last release of a pinned borrow; BORROW_ESCAPED and BUSY for an end_borrow that meets
// another holder or else a pin; INVALID_ARGUMENT for a reclaim of a blob that was not adopted with
// `context`, and for an end_borrow of a blob that is not borrowed.
void blob_retain(BlobToken token);
void blob_release(BlobToken token);
void blob_reclaim(BlobToken token, void* context);
void blob_end_borrow(BlobToken token);

// For who holds a blob as a part of a sparse matrix. From the first seal to the last unseal no view
// for writing of a blob that could be written passes Pins. Throws BUSY when, at the first, a call
// uses the blob: it may be writing. Each seal has a reference of its own.
void blob_seal(BlobToken token);
void blob_unseal(BlobToken token) noexcept;
// The queue of the blob's home; nullptr for memory of the CPU. The caller has a reference to the
// blob.
const DeviceQueue* blob_home(BlobToken token) noexcept;
// For work on a blob that goes on after the call that pinned it: one more pin, which throws BUSY at
// kMaxPins. It is ended by blob_unpin(), which may run under a lock, and where that was the last
// thing which kept the memory, then by blob_finish(), which may not.
void blob_pin_again(BlobToken token);
enum class Left : bool { kKept, kNothing };
[[nodiscard]] Left blob_unpin(BlobToken token) noexcept;
void blob_finish(BlobToken token) noexcept;
// Gives up a reference that exists, also the last one of a borrow that a call uses: the lender has
// released the handle that end_borrow() needs.
void blob_drop(BlobToken token) noexcept;

struct BlobInfo {
  void* data;
  std::size_t size_bytes;
  tnr_device device;
  tnr_tenure tenure;
  std::uint32_t holder_count;
  std::uint32_t pin_count;
  bool closed;
  bool sealed;
};
// Throws STALE_HANDLE. The counts are those of one moment, and past when they are read.
BlobInfo blob_describe(BlobToken token);

struct BlobMemory {
  void* data;
  std::size_t size_bytes;
  tnr_device device;
};
// Throw what blob_describe() throws, and STALE_HANDLE when the borrow has ended. blob_memory_mut()
// also throws INVALID_ARGUMENT when the tenure may not be written or the blob is sealed.
BlobMemory blob_memory(BlobToken token);
BlobMemory blob_memory_mut(BlobToken token);

constexpr bool is_borrowed(tnr_tenure tenure) {
  return tenure == TNR_TENURE_BORROWED || tenure == TNR_TENURE_BORROWED_MUT;
}
constexpr bool may_write(tnr_tenure tenure) {
  return tenure != TNR_TENURE_SHARED && tenure != TNR_TENURE_BORROWED;
}

struct BlobSlot;

// Keeps the owners of one call's views alive while it lasts; each distinct owner is pinned once.
// The views have passed check_view(), which also knows their device.
class Pins {
 public:
  Pins() noexcept = default;
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;
  ~Pins() {
    if (count_ != 0) unpin_all();
  }

  // Throws STALE_VIEW, BUSY at kMaxPins, or INVALID_ARGUMENT when the view was lent more than the
  // blob's memory or names another device. `name` is the parameter's, for the message.
  void add(const tnr_view& view, const char* name) {
    if (view.owner != 0) require(pin(view, Access::kRead), view, name);
  }
  // Also throws INVALID_ARGUMENT when the tenure may not be written.
  void add_mut(const tnr_view_mut& view, const char* name) {
    if (view.view.owner != 0) require(pin(view.view, Access::kWrite), view.view, name);
  }

  enum class Access { kRead, kWrite };
  enum class Fault : std::uint8_t {
    kNone,
    kUnknownOwner,
    kReleased,
    kEnded,
    kTooManyPins,
    kElsewhere,
    kOutside,
    kReadOnly,
    kSealed
  };
  // Does the work of add() and add_mut() without an exception. The view has an owner.
  [[nodiscard]] Fault pin(const tnr_view& view, Access access) noexcept;
  // The Error of a fault that pin() found in the view.
  [[nodiscard, gnu::cold]] Error error(Fault fault, const tnr_view& view,
                                       const char* name) const noexcept;

  // Whether no pinned blob of a device has another home than the queue's context.
  [[nodiscard]] bool are_at_home(const DeviceQueue& queue) const noexcept;
  // Calls visit(queue) with the queue of each pinned blob that has a device, also more than once.
  template <class Visit>
  void for_each_home(Visit visit) const {
    for (unsigned i = 0; i < count_; ++i) {
      if (const DeviceQueue* const queue = home_of(*pinned_[i].slot)) visit(*queue);
    }
  }

 private:
  void require(Fault fault, const tnr_view& view, const char* name) const {
    if (fault != Fault::kNone) [[unlikely]]
      refuse(fault, view, name);
  }
  [[noreturn, gnu::cold]] void refuse(Fault fault, const tnr_view& view, const char* name) const;

  struct Pinned {
    BlobToken token;
    BlobSlot* slot;
  };

  BlobSlot* find(BlobToken token) const noexcept;
  void unpin_all() noexcept;
  static const DeviceQueue* home_of(const BlobSlot& slot) noexcept;

  // An expression has the most views, and an output.
  static constexpr unsigned kCapacity = TNR_MAX_EXPRESSION_VIEWS + 1;
  unsigned count_ = 0;
  Pinned pinned_[kCapacity];  // uninitialised beyond count_: a call with no owner pays one store
};

struct Stats {
  std::uint64_t allocated_bytes;
  std::uint64_t copied_bytes;
  std::uint64_t blobs_made;
  std::uint64_t blobs_finished;
  std::uint64_t cached_bytes;
};
// Process totals, ended threads included; the cached bytes are those of one moment.
Stats stats() noexcept;

// Gives the memory that is cached for reuse back to the system; returns how many bytes.
std::size_t trim_memory() noexcept;

}  // namespace tenure
