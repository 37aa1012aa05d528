// Blobs: memory with a tenure, behind tokens that are never dereferenced.
//
//   tenure            made by            who frees                  who may write       ends
//   ----------------  -----------------  -------------------------  ------------------  -----------
//   allocated         allocate()         the library                the holder          last release
//   copied            copy()             the library                the holder          last release
//   adopted           adopt()            the caller's callback, or  the holder          last release
//                                        nobody after reclaim()
//   shared            share()            the caller's callback      nobody              last release
//   borrowed          borrow()           the caller                 nobody              end_borrow()
//   borrowed mutably  borrow_mut()       the caller                 the borrower alone  end_borrow()
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
//   step        needs                                            does
//   ----------  -----------------------------------------------  --------------------------------
//   pin         generation equal, not closed; pins < max         pins + 1 (acquire)
//   unpin       -                                                pins - 1; closed, no refs and the
//                                                                last pin: finish
//   retain      generation equal, refs > 0, not closed;          refs + 1
//               refs < max
//   release     generation equal, refs > 0; not the last ref of  refs - 1; the last sets closed;
//               a pinned borrow                                  no pins: finish
//   end_borrow  generation equal, borrowed                       sets closed; done when refs = 1
//                                                                and pins = 0
//   reclaim     adopted with this context, refs = 1, pins = 0    as release, without the callback
//   finish      closed, refs 0, pins 0; once                     callback with no lock held; the
//                                                                slot is reused with generation + 1
//                                                                or retired after the last one
#pragma once

#include <cstddef>
#include <cstdint>

#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_blob* and a view's owner hold. 0 is no token.
using BlobToken = std::uint64_t;

inline constexpr std::size_t kBlobAlignment = 64;  // one cache line, and one AVX-512 register

// All throw Error: INVALID_ARGUMENT for NULL memory that is not empty, OUT_OF_MEMORY. On failure
// nothing is taken and no callback runs.
BlobToken blob_allocate(std::size_t size_bytes);
BlobToken blob_copy(const void* data, std::size_t size_bytes);
BlobToken blob_adopt(void* data, std::size_t size_bytes, tnr_release_fn release, void* context);
BlobToken blob_share(const void* data, std::size_t size_bytes, tnr_release_fn release,
                     void* context);
BlobToken blob_borrow(const void* data, std::size_t size_bytes);
BlobToken blob_borrow_mut(void* data, std::size_t size_bytes);

// All throw Error: STALE_HANDLE for a token that is garbage, of another kind, or released; others
// as the table above says.
void blob_retain(BlobToken token);
void blob_release(BlobToken token);
void blob_reclaim(BlobToken token, void* context);
void blob_end_borrow(BlobToken token);

struct BlobInfo {
  void* data;
  std::size_t size_bytes;
  tnr_device device;
  tnr_tenure tenure;
  std::uint32_t holder_count;
  std::uint32_t pin_count;
  bool closed;
};
// Throws STALE_HANDLE.
BlobInfo blob_describe(BlobToken token);

constexpr bool may_write(tnr_tenure tenure) {
  return tenure != TNR_TENURE_SHARED && tenure != TNR_TENURE_BORROWED;
}

// Keeps the owners of one call's views alive while it lasts; each distinct owner is pinned once.
// At most five views meet in one operation.
class Pins {
 public:
  Pins() noexcept = default;
  Pins(const Pins&) = delete;
  Pins& operator=(const Pins&) = delete;
  ~Pins() {
    if (count_ != 0) unpin_all();
  }

  // Throws STALE_VIEW, BUSY, or INVALID_ARGUMENT when the view lies outside the blob's memory or is
  // on another device. `name` is the parameter's, for the message.
  void add(const tnr_view& view, const char* name) {
    if (view.owner != 0) pin(view, name, /*writes=*/false);
  }
  // Also throws INVALID_ARGUMENT when the tenure may not be written.
  void add_mut(const tnr_view_mut& view, const char* name) {
    if (view.view.owner != 0) pin(view.view, name, /*writes=*/true);
  }

 private:
  void pin(const tnr_view& view, const char* name, bool writes);
  void unpin_all() noexcept;

  static constexpr unsigned kCapacity = 5;
  unsigned count_ = 0;
  BlobToken tokens_[kCapacity];
};

struct Stats {
  std::uint64_t allocated_bytes;
  std::uint64_t copied_bytes;
  std::uint64_t blobs_made;
  std::uint64_t blobs_finished;
};
// Process totals, ended threads included.
Stats stats() noexcept;

}  // namespace tenure
