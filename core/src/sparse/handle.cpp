// Handles of sparse matrices.
#include "tenure/sparse.hpp"

#include <cinttypes>
#include <memory>

#include "memory/slot_table.hpp"
#include "sparse/device_parts.hpp"
#include "tenure/sparse_voucher.hpp"
#include "tenure/view.hpp"

namespace tenure {

namespace {

// ---- parts: a reference to each blob, and a seal on each that holds indices ----

// References and seals on their way into a record, or out of one. Each step that throws leaves what
// the steps before it have done.
class Parts {
 public:
  explicit Parts(const tnr_sparse_view& view) noexcept
      : tokens_{view.major.owner, view.minor.owner, view.values.owner},
        count_(is_batch(view) ? 4 : 3),
        index_count_(count_ - 1) {
    if (!is_batch(view)) return;
    tokens_[2] = view.batch_offsets.owner;
    tokens_[3] = view.values.owner;
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    while (sealed_ != 0) blob_unseal(tokens_[--sealed_]);
    while (held_ != 0) blob_drop(tokens_[--held_]);
  }

  void retain() {
    for (; held_ < count_; ++held_) blob_retain(tokens_[held_]);
  }
  // The references are there.
  void adopt() noexcept { held_ = count_; }
  void seal() {
    for (; sealed_ < index_count_; ++sealed_) blob_seal(tokens_[sealed_]);
  }
  // The seals are there too.
  void adopt_sealed() noexcept {
    adopt();
    sealed_ = index_count_;
  }
  void keep() noexcept { held_ = sealed_ = 0; }

 private:
  BlobToken tokens_[4];
  unsigned count_;
  unsigned index_count_;  // of the first ones
  unsigned held_ = 0;
  unsigned sealed_ = 0;
};

// The slot of a matrix points at its view, whose parts have their blobs as owners. It does not
// change while the handle lives.
using Record = tnr_sparse_view;

const Record& record_of(const BlobSlot& slot) noexcept {
  // Relaxed: a thread that holds or has pinned the matrix has acquired it.
  return *static_cast<const Record*>(slot.data.load(std::memory_order_relaxed));
}

// Opens a handle over parts that are retained and sealed.
SparseToken open_record(Parts& parts, const tnr_sparse_view& view) {
  auto record = std::make_unique<Record>(view);
  record->owner = 0;
  record->struct_size = sizeof(tnr_sparse_view);
  const SparseToken token =
      sparse_table.open({record.get(), sizeof(Record), TNR_TENURE_ALLOCATED, nullptr, nullptr});
  static_cast<void>(record.release());  // the table's
  parts.keep();
  return token;
}

// Runs once per matrix, in the thread whose step made is_finished() true, with no lock held.
void finish(SparseToken token, BlobSlot& slot) noexcept {
  const std::unique_ptr<const Record> record(&record_of(slot));
  sparse_table.retire_or_reuse(token, slot);
  Parts parts(*record);
  parts.adopt_sealed();
}

// ---- handles: what a token may name ----

BlobSlot& slot_of_handle(SparseToken token) {
  BlobSlot* const slot = sparse_table.find(token);
  if (slot == nullptr) [[unlikely]] {
    fail(TNR_STATUS_STALE_HANDLE, "matrix is 0x%" PRIx64 ", which no sparse matrix was ever given",
         token);
  }
  return *slot;
}

void require_held(SlotWord word, SparseToken token) {
  if (!is_held(word, token)) [[unlikely]] {
    fail(TNR_STATUS_STALE_HANDLE, "matrix is 0x%" PRIx64 ", a sparse matrix that has been released",
         token);
  }
}

// Adds a use. `stale` is the status of an invalid token; `name` and `field` name it in messages.
BlobSlot& pin(SparseToken token, tnr_status stale, const char* name, const char* field) {
  BlobSlot* const slot = sparse_table.find(token);
  if (slot == nullptr) [[unlikely]] {
    fail(stale, "%s%s is 0x%" PRIx64 ", which no sparse matrix was ever given", name, field, token);
  }
  change(*slot, [=](SlotWord word) {
    if (!is_held(word, token)) [[unlikely]] {
      fail(stale, "%s%s is 0x%" PRIx64 ", a sparse matrix that has been released", name, field,
           token);
    }
    if (pins_of(word) == kMaxPins) [[unlikely]] {
      fail(TNR_STATUS_BUSY, "%s%s is in use by %u calls, and no more can be counted", name, field,
           kMaxPins);
    }
    return word + kOnePin;
  });
  return *slot;
}

void unpin(SparseToken token, BlobSlot& slot) noexcept {
  const SlotWord left = slot.word.fetch_sub(kOnePin, std::memory_order_acq_rel) - kOnePin;
  if (is_finished(left)) [[unlikely]]
    finish(token, slot);
}

// A use of the matrix that a handle names.
class HandleUse {
 public:
  explicit HandleUse(SparseToken token)
      : token_(token), slot_(pin(token, TNR_STATUS_STALE_HANDLE, "matrix", "")) {}
  HandleUse(const HandleUse&) = delete;
  HandleUse& operator=(const HandleUse&) = delete;
  ~HandleUse() { unpin(token_, slot_); }

  [[nodiscard]] const Record& record() const noexcept { return record_of(slot_); }

 private:
  SparseToken token_;
  BlobSlot& slot_;
};

void require_owner(const tnr_view& part, const char* name) {
  if (part.owner == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.owner is 0 but must be a blob, which the matrix can hold",
         name);
  }
}

// Checks parts that are sealed. Parts on a device are copied for the check, once for all uses of
// the handle, when the work that was enqueued on them is done.
void check_whole(const tnr_sparse_view& parts) {
  if (!is_on_device(parts.minor)) return check_entries(parts, RowExtent::kWhole, "");
  Pins pins;
  pin_parts(pins, parts, "");
  check_device_entries(parts, pins, RowExtent::kWhole, "");
}

}  // namespace

SparseToken sparse_create(const tnr_sparse_view& parts) {
  check_sparse(parts, "", named_device(parts.minor));
  check_values_apart(parts, "");
  if (parts.owner != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "owner is 0x%" PRIx64 " but must be 0: only its parts have owners before a matrix is made",
         parts.owner);
  }
  const SparseNames& names = sparse_names(parts.format);
  require_owner(parts.major, names.major);
  require_owner(parts.minor, names.minor);
  require_owner(parts.values, "values");
  if (is_batch(parts)) require_owner(parts.batch_offsets, "batch_offsets");
  Parts held(parts);
  {
    Pins pins;  // these check that the views are inside their blobs
    pin_parts(pins, parts, "");
    held.retain();
  }
  held.seal();
  check_whole(parts);
  return open_record(held, parts);
}

SparseToken sparse_open(const tnr_sparse_view& parts) {
  Parts held(parts);
  held.adopt();
  held.seal();
  return open_record(held, parts);
}

void sparse_retain(SparseToken token) {
  retain_slot(slot_of_handle(token), token, "matrix",
              [token](SlotWord word) { require_held(word, token); });
}

void sparse_release(SparseToken token) {
  BlobSlot& slot = slot_of_handle(token);
  const SlotWord left = change(slot, [token](SlotWord word) {
    require_held(word, token);
    return without_ref(word);
  });
  if (is_finished(left)) finish(token, slot);
}

tnr_sparse_view sparse_view(SparseToken token) {
  const HandleUse use(token);
  tnr_sparse_view view = use.record();
  view.owner = token;
  return view;
}

SparseParts sparse_parts(SparseToken token) {
  const HandleUse use(token);
  tnr_sparse_view view = use.record();
  view.batch_offsets.rank = 0;  // asked for on its own
  Parts held(view);
  held.retain();
  held.keep();
  return {view.major.owner, view.minor.owner, view.values.owner};
}

BlobToken sparse_batch_offsets(SparseToken token) {
  const HandleUse use(token);
  const tnr_sparse_view& view = use.record();
  if (!is_batch(view)) return 0;
  blob_retain(view.batch_offsets.owner);
  return view.batch_offsets.owner;
}

// ---- uses by the owner of a view ----

SparseUse::SparseUse(SparseToken owner, const char* name) : owner_(owner) {
  if (owner == 0 || is_sparse_voucher(owner)) return;
  slot_ = &pin(owner, TNR_STATUS_STALE_VIEW, name, *name != '\0' ? ".owner" : "owner");
  whole_ = &record_of(*slot_);
}

SparseUse::~SparseUse() {
  if (slot_ != nullptr) unpin(owner_, *slot_);
}

}  // namespace tenure
