// The word of a slot: pin, unpin, retain, release, end_borrow, reclaim, finish.
#include "lent_word.hpp"

namespace tenure::explore {

namespace {

// ---- two threads ----

void release_against_pin() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread user([&] { require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  blob_release(blob);
  user.join();
  require(lent.end_count == 1, "the callback has not run");
  require(lent.read(blob) == TNR_STATUS_STALE_VIEW, "a blob is used after its end");
}

void two_pins_against_release() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread user([&] {
    require_either(lent.read(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW);
    require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW);
  });
  blob_release(blob);
  user.join();
  require(lent.end_count == 1, "the callback has not run");
}

// The use that is left ends the blob, after what the other one read.
void use_and_release_against_use() {
  LentWord lent;
  const BlobToken blob = lent.share();
  Thread user([&] { require_either(lent.read(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  require_ok(lent.read(blob));
  blob_release(blob);
  user.join();
  require(lent.end_count == 1, "the callback has not run");
}

// Each holder writes its own word, and the second to release finds that it is the last. The
// callback must come behind both.
void release_against_release() {
  LentWord lent;
  LentWord other;
  const BlobToken blob = lent.adopt();
  blob_retain(blob);
  Thread holder([&] {
    other.word = kWritten;
    blob_release(blob);
  });
  lent.word = kWritten;
  blob_release(blob);
  holder.join();
  require(lent.end_count == 1, "the callback has not run");
}

// The accesses of both holders come before the memory's end, whichever of them ends it.
void holders_read() {
  LentWord lent;
  const BlobToken blob = lent.share();
  blob_retain(blob);
  Thread holder([&] {
    require_ok(lent.read(blob));
    require(lent.word == kFresh, "memory ends under a holder");
    blob_release(blob);
  });
  require(lent.word == kFresh, "memory ends under a holder");
  blob_release(blob);
  holder.join();
  require(lent.end_count == 1, "the callback has not run");
}

// The handle is lent to the other thread for as long as this one holds it, or not.
void retain_against_release() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread holder([&] {
    if (status_of([&] { blob_retain(blob); }) != TNR_STATUS_OK) return;
    require(lent.end_count == 0, "a blob that has ended is retained");
    require(lent.word == kFresh, "memory ends under a holder");
    require_ok(status_of([&] { blob_release(blob); }));
  });
  blob_release(blob);
  holder.join();
  require(lent.end_count == 1, "the callback has not run");
}

// Pin, retain and unpin while another releases: with references and pins in two words the blob
// would close under a holder.
void pinned_retain_against_release() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread user([&] {
    bool holds = false;
    status_of([&] {
      Pins pins;
      pins.add(view_over(lent.word, blob), "a");
      holds = status_of([&] { blob_retain(blob); }) == TNR_STATUS_OK;
    });
    if (!holds) return;
    require(lent.word == kFresh, "memory ends under a holder");
    blob_release(blob);
  });
  blob_release(blob);
  user.join();
  require(lent.end_count == 1, "the callback has not run");
}

// The lender: asks until the memory is its own again.
void end_borrow(LentWord& lent, BlobToken blob) {
  for (;;) {
    const tnr_status status = status_of([&] { blob_end_borrow(blob); });
    if (status == TNR_STATUS_OK) break;
    require_either(status, TNR_STATUS_BUSY, TNR_STATUS_BORROW_ESCAPED);
    await_change();
  }
  lent.word = kFreed;
  require(lent.write(blob) == TNR_STATUS_STALE_VIEW, "a blob is pinned after it was closed");
  require_ok(status_of([&] { blob_release(blob); }));
}

void end_borrow_against_pin() {
  LentWord lent;
  const BlobToken blob = lent.borrow_mut();
  Thread user([&] { require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  end_borrow(lent, blob);
  user.join();
}

// A version that ends nothing while it is used would wait for ever for users who take turns.
void end_borrow_against_turns() {
  LentWord lent;
  const BlobToken blob = lent.borrow_mut();
  Thread user([&] {
    const tnr_status first = lent.write(blob);
    const tnr_status second = lent.write(blob);
    require(first == TNR_STATUS_OK || second == TNR_STATUS_STALE_VIEW,
            "a borrow that has ended is used");
  });
  // Once closed, one user may be left at most.
  if (status_of([&] { blob_end_borrow(blob); }) == TNR_STATUS_BUSY) {
    require(lent.write(blob) == TNR_STATUS_STALE_VIEW, "a blob is pinned after it was closed");
  }
  end_borrow(lent, blob);
  user.join();
}

void end_borrow_against_retain() {
  LentWord lent;
  const BlobToken blob = lent.borrow_mut();
  Thread holder([&] {
    if (status_of([&] { blob_retain(blob); }) != TNR_STATUS_OK) return;
    require(lent.word == kFresh, "a borrow ends under a holder");
    require_ok(status_of([&] { blob_release(blob); }));
  });
  end_borrow(lent, blob);
  holder.join();
}

// A borrow's last handle is not given up while the memory is in use.
void last_release_of_a_borrow_against_pin() {
  LentWord lent;
  const BlobToken blob = lent.borrow_mut();
  Thread user([&] { require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  const tnr_status status = status_of([&] { blob_release(blob); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status == TNR_STATUS_OK) lent.word = kFreed;
  user.join();
  if (status == TNR_STATUS_BUSY) require_ok(status_of([&] { blob_release(blob); }));
}

void reclaim_against_pin() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread user([&] { require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  const tnr_status status = status_of([&] { blob_reclaim(blob, &lent); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status == TNR_STATUS_OK) {
    lent.word = kFreed;
  } else {
    blob_release(blob);
  }
  user.join();
  require(lent.end_count == (status == TNR_STATUS_OK ? 0 : 1), "a callback too many, or too few");
}

void reclaim_against_retain() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread holder([&] {
    if (status_of([&] { blob_retain(blob); }) != TNR_STATUS_OK) return;
    require(lent.word == kFresh, "memory is reclaimed under a holder");
    require_ok(status_of([&] { blob_release(blob); }));
  });
  const tnr_status status = status_of([&] { blob_reclaim(blob, &lent); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status == TNR_STATUS_OK) {
    lent.word = kFreed;
  } else {
    blob_release(blob);
  }
  holder.join();
  require(lent.end_count == (status == TNR_STATUS_OK ? 0 : 1), "a callback too many, or too few");
}

// Two holders: the caller of reclaim gets the memory back if it finds the other holder gone, else
// BUSY.
void reclaim_against_release() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  blob_retain(blob);
  Thread holder([&] {
    lent.word = kWritten;
    blob_release(blob);
  });
  const tnr_status status = status_of([&] { blob_reclaim(blob, &lent); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status == TNR_STATUS_OK) {
    lent.word = kFreed;
  } else {
    blob_release(blob);
  }
  holder.join();
  require(lent.end_count == (status == TNR_STATUS_OK ? 0 : 1), "a callback too many, or too few");
}

// The slot lives on as another blob, and the old token means nothing of that.
void reuse_against_pin() {
  LentWord old;
  LentWord next;
  const BlobToken blob = old.adopt();
  Thread user([&] {
    // Never INVALID_ARGUMENT, which is what memory of the next life would be answered with.
    require_either(old.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW);
  });
  blob_release(blob);
  const BlobToken reused = next.share();
  user.join();
  require(old.end_count == 1, "the callback has not run");
  require_ok(next.read(reused));
  blob_release(reused);
  require(next.end_count == 1, "the callback has not run");
}

void reuse_against_describe() {
  LentWord old;
  LentWord next;
  const BlobToken blob = old.adopt();
  Thread reader([&] {
    const tnr_status status = status_of([&] {
      const BlobInfo info = blob_describe(blob);
      require(info.data == &old.word && info.size_bytes == sizeof(Word) &&
                  info.tenure == TNR_TENURE_ADOPTED && !info.sealed,
              "a blob is described by what its slot holds in another life");
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_HANDLE);
  });
  blob_release(blob);
  const BlobToken reused = blob_share(&next.word, 0, LentWord::release, &next);
  reader.join();
  blob_release(reused);
  require(old.end_count == 1 && next.end_count == 1, "the callback has not run");
}

// ---- three threads ----

void two_users_against_release() {
  LentWord lent;
  const BlobToken blob = lent.share();
  const auto use = [&] { require_either(lent.read(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); };
  Thread one(use);
  Thread other(use);
  blob_release(blob);
  one.join();
  other.join();
  require(lent.end_count == 1, "the callback has not run");
}

void three_holders() {
  LentWord lent;
  const BlobToken blob = lent.share();
  blob_retain(blob);
  blob_retain(blob);
  const auto hold = [&] {
    require(lent.word == kFresh, "memory ends under a holder");
    blob_release(blob);
  };
  Thread one(hold);
  Thread other(hold);
  hold();
  one.join();
  other.join();
  require(lent.end_count == 1, "the callback has not run");
}

void end_borrow_against_pin_and_retain() {
  LentWord lent;
  const BlobToken blob = lent.borrow_mut();
  Thread user([&] { require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  Thread holder([&] {
    if (status_of([&] { blob_retain(blob); }) != TNR_STATUS_OK) return;
    require_ok(status_of([&] { blob_release(blob); }));
  });
  end_borrow(lent, blob);
  user.join();
  holder.join();
}

void reclaim_against_pin_and_retain() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread user([&] { require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  Thread holder([&] {
    if (status_of([&] { blob_retain(blob); }) != TNR_STATUS_OK) return;
    require_ok(status_of([&] { blob_release(blob); }));
  });
  const tnr_status status = status_of([&] { blob_reclaim(blob, &lent); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status == TNR_STATUS_OK) {
    lent.word = kFreed;
  } else {
    blob_release(blob);
  }
  user.join();
  holder.join();
  require(lent.end_count == (status == TNR_STATUS_OK ? 0 : 1), "a callback too many, or too few");
}

}  // namespace

std::vector<Scenario> blob_scenarios() {
  return {
      {"release_against_pin", 2, release_against_pin},
      {"two_pins_against_release", 2, two_pins_against_release},
      {"use_and_release_against_use", 2, use_and_release_against_use},
      {"release_against_release", 2, release_against_release},
      {"holders_read", 2, holders_read},
      {"retain_against_release", 2, retain_against_release},
      {"pinned_retain_against_release", 2, pinned_retain_against_release},
      {"end_borrow_against_pin", 2, end_borrow_against_pin},
      {"end_borrow_against_turns", 2, end_borrow_against_turns, kNothingSpurious},
      {"end_borrow_against_retain", 2, end_borrow_against_retain},
      {"last_release_of_a_borrow_against_pin", 2, last_release_of_a_borrow_against_pin},
      {"reclaim_against_pin", 2, reclaim_against_pin},
      {"reclaim_against_retain", 2, reclaim_against_retain},
      {"reclaim_against_release", 2, reclaim_against_release},
      {"reuse_against_pin", 2, reuse_against_pin},
      {"reuse_against_describe", 2, reuse_against_describe},
      {"two_users_against_release", 3, two_users_against_release, kThreePreemptions},
      {"three_holders", 3, three_holders, kThreePreemptions},
      {"end_borrow_against_pin_and_retain", 3, end_borrow_against_pin_and_retain,
       kThreePreemptions},
      {"reclaim_against_pin_and_retain", 3, reclaim_against_pin_and_retain, kThreePreemptions},
  };
}

}  // namespace tenure::explore
