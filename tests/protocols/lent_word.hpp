// One word of memory that blobs are made over.
#pragma once

#include "scenarios.hpp"
#include "tenure/blob.hpp"

namespace tenure::explore {

// The status of a refusal, OK for none.
template <class Body>
tnr_status status_of(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.status();
  }
  return TNR_STATUS_OK;
}

inline tnr_view view_over(const Word& word, BlobToken owner) {
  tnr_view view = {};
  view.data = view.base = &word;
  view.size_bytes = sizeof(Word);
  view.owner = owner;
  view.device = {TNR_DEVICE_KIND_CPU, 0};
  return view;
}

struct LentWord {
  Word word{kFresh};
  int end_count = 0;

  // Writes it: after every use of it, or the explorer finds a race.
  static void release(void* context) {
    LentWord& self = *static_cast<LentWord*>(context);
    require(self.end_count++ == 0, "a callback runs twice");
    self.word = kFreed;
  }
  BlobToken adopt() { return blob_adopt(&word, sizeof(Word), release, this); }
  BlobToken share() { return blob_share(&word, sizeof(Word), release, this); }
  BlobToken borrow_mut() { return blob_borrow_mut(&word, sizeof(Word)); }

  tnr_status read(BlobToken owner) const {
    return status_of([&] {
      Pins pins;
      pins.add(view_over(word, owner), "a");
      require(word != kFreed, "memory is read after its end");
    });
  }
  tnr_status write(BlobToken owner) {
    return status_of([&] {
      Pins pins;
      pins.add_mut({view_over(word, owner)}, "out");
      require(word != kFreed, "memory is written after its end");
      word = kWritten;
    });
  }
};

// One of two statuses.
inline void require_either(tnr_status status, tnr_status one, tnr_status other) {
  require(status == one || status == other, "a step answers what it never should");
}

inline void require_ok(tnr_status status) {
  require(status == TNR_STATUS_OK, "a step is refused that never should be");
}

}  // namespace tenure::explore
