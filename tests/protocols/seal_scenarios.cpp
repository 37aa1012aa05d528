// No thread writes a sealed blob: sealing against pins for writing, and against sealing.
#include "lent_word.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"

namespace tenure::explore {

namespace {

// For as long as it is sealed: reads the memory, as a call that has checked the indices does.
void require_still(const LentWord& lent) {
  const int before = lent.word;
  require(lent.word == before, "sealed memory changes");
}

void write_or_be_refused(LentWord& lent, BlobToken blob) {
  require_either(lent.write(blob), TNR_STATUS_OK, TNR_STATUS_INVALID_ARGUMENT);
}

// Seals the blob as a sparse matrix does. Returns whether it got the seal.
bool seal_and_read(LentWord& lent, BlobToken blob) {
  blob_retain(blob);
  const tnr_status status = status_of([&] { blob_seal(blob); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status == TNR_STATUS_OK) {
    require_still(lent);
    blob_unseal(blob);
  }
  blob_drop(blob);
  return status == TNR_STATUS_OK;
}

// Seals, reads and unseals as a thread that already holds a reference.
void seal_read_and_unseal(const LentWord& lent, BlobToken blob) {
  const tnr_status status = status_of([&] { blob_seal(blob); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  if (status != TNR_STATUS_OK) return;
  require_still(lent);
  blob_unseal(blob);
}

// ---- two threads ----

void seal_against_write() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread writer([&] { write_or_be_refused(lent, blob); });
  seal_and_read(lent, blob);
  writer.join();
  require_ok(lent.write(blob));  // nothing is left of the seal, or of an attempt at it
  blob_release(blob);
}

// The seal is there: every writer is refused.
void sealed_against_write() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(status_of([&] { blob_seal(blob); }));
  Thread writer([&] {
    require(lent.write(blob) == TNR_STATUS_INVALID_ARGUMENT, "a sealed blob is written");
  });
  require_ok(lent.read(blob));
  require_still(lent);
  writer.join();
  blob_unseal(blob);
  blob_release(blob);
}

// Behind the last unseal the memory is written again, after all that was read under the seal.
void unseal_against_write() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(status_of([&] { blob_seal(blob); }));
  Thread writer([&] { write_or_be_refused(lent, blob); });
  require_still(lent);
  blob_unseal(blob);
  writer.join();
  blob_release(blob);
}

// A thread that gets the address from blob_memory_mut() writes after all that was read under the
// seal.
void unseal_against_data_mut() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(status_of([&] { blob_seal(blob); }));
  Thread writer([&] {
    const tnr_status status = status_of([&] { blob_memory_mut(blob); });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_INVALID_ARGUMENT);
    if (status == TNR_STATUS_OK) lent.word = kWritten;
  });
  require_still(lent);
  blob_unseal(blob);
  writer.join();
  blob_release(blob);
}

void seal_against_seal() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread other([&] { seal_and_read(lent, blob); });
  seal_and_read(lent, blob);
  other.join();
  require(!blob_describe(blob).sealed, "a seal is left");
  require_ok(lent.write(blob));
  blob_release(blob);
}

// The writer seals the memory that it has written. A second seal finds the first, and all that came
// before it.
void seal_against_write_and_seal() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread writer([&] {
    write_or_be_refused(lent, blob);
    seal_read_and_unseal(lent, blob);
  });
  seal_read_and_unseal(lent, blob);
  writer.join();
  blob_release(blob);
}

// One seal less is still a seal.
void second_seal_against_unseal() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(status_of([&] { blob_seal(blob); }));
  Thread other([&] {
    require_still(lent);
    blob_unseal(blob);
  });
  blob_retain(blob);
  require_ok(status_of([&] { blob_seal(blob); }));
  other.join();
  require(lent.write(blob) == TNR_STATUS_INVALID_ARGUMENT, "a sealed blob is written");
  blob_unseal(blob);
  blob_drop(blob);
  blob_release(blob);
}

// ---- sparse matrices ----

tnr_view part_over(const LentWord& lent, BlobToken owner) { return view_over(lent.word, owner); }

tnr_sparse_view matrix_over(const LentWord& indices, BlobToken owner, const LentWord& values,
                            BlobToken values_owner) {
  tnr_sparse_view view = {};
  view.major = view.minor = part_over(indices, owner);
  view.values = part_over(values, values_owner);
  return view;
}

// Indices are read where no thread can write them any more.
void create_against_write() {
  LentWord indices;
  LentWord values;
  const BlobToken blob = indices.adopt();
  const BlobToken values_blob = values.adopt();
  const tnr_sparse_view view = matrix_over(indices, blob, values, values_blob);
  Thread writer([&] { write_or_be_refused(indices, blob); });
  SparseToken matrix = 0;
  const tnr_status status = status_of([&] { matrix = sparse_create(view); });
  require_either(status, TNR_STATUS_OK, TNR_STATUS_BUSY);
  writer.join();
  if (status == TNR_STATUS_OK) {
    require(indices.write(blob) == TNR_STATUS_INVALID_ARGUMENT, "indices of a matrix are written");
    sparse_release(matrix);
  }
  require_ok(indices.write(blob));
  blob_release(blob);
  blob_release(values_blob);
  require(indices.end_count == 1 && values.end_count == 1, "the callback has not run");
}

// The parts outlive every use of the matrix.
void use_against_matrix_release() {
  LentWord indices;
  LentWord values;
  const BlobToken blob = indices.share();
  const BlobToken values_blob = values.share();
  const SparseToken matrix = sparse_create(matrix_over(indices, blob, values, values_blob));
  blob_release(blob);
  blob_release(values_blob);
  Thread user([&] {
    const tnr_status status = status_of([&] {
      const SparseUse use(matrix, "a");
      require(indices.word == kFresh && values.word == kFresh, "a matrix ends under its use");
    });
    require_either(status, TNR_STATUS_OK, TNR_STATUS_STALE_VIEW);
  });
  sparse_release(matrix);
  user.join();
  require(indices.end_count == 1 && values.end_count == 1, "the callback has not run");
}

// The use that is left ends the matrix, after what the other one read.
void use_and_matrix_release_against_use() {
  LentWord values;
  const BlobToken blob = values.share();
  const SparseToken matrix = sparse_create(matrix_over(values, blob, values, blob));
  blob_release(blob);
  const auto use = [&] {
    const SparseUse use_of_matrix(matrix, "a");
    require(values.word == kFresh, "a matrix ends under its use");
  };
  Thread user([&] { require_either(status_of(use), TNR_STATUS_OK, TNR_STATUS_STALE_VIEW); });
  require_ok(status_of(use));
  sparse_release(matrix);
  user.join();
  require(values.end_count == 1, "the callback has not run");
}

void matrix_retain_against_release() {
  LentWord values;
  const BlobToken blob = values.share();
  tnr_sparse_view view = matrix_over(values, blob, values, blob);
  const SparseToken matrix = sparse_create(view);
  blob_release(blob);
  Thread holder([&] {
    if (status_of([&] { sparse_retain(matrix); }) != TNR_STATUS_OK) return;
    require(values.word == kFresh, "a matrix ends under a holder");
    sparse_release(matrix);
  });
  sparse_release(matrix);
  holder.join();
  require(values.end_count == 1, "the callback has not run");
}

// The matrix is the last holder of its parts. Their slots live on as another blob, whose seal is
// its own.
void matrix_release_against_next_seal() {
  LentWord indices;
  LentWord values;
  LentWord next;
  const BlobToken blob = indices.adopt();
  const BlobToken values_blob = values.adopt();
  const SparseToken matrix = sparse_create(matrix_over(indices, blob, values, values_blob));
  blob_release(blob);
  blob_release(values_blob);
  Thread other([&] {
    const BlobToken own = next.adopt();
    require_ok(next.write(own));
    require_ok(status_of([&] { blob_seal(own); }));
    require(next.write(own) == TNR_STATUS_INVALID_ARGUMENT, "a sealed blob is written");
    blob_unseal(own);
    blob_release(own);
  });
  sparse_release(matrix);
  other.join();
  require(indices.end_count == 1 && values.end_count == 1 && next.end_count == 1,
          "the callback has not run");
}

// ---- three threads ----

// The second sealer relies on the first that no thread writes.
void two_seals_against_write() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  Thread writer([&] { write_or_be_refused(lent, blob); });
  Thread other([&] { seal_read_and_unseal(lent, blob); });
  seal_read_and_unseal(lent, blob);
  writer.join();
  other.join();
  require(!blob_describe(blob).sealed, "a seal is left");
  blob_release(blob);
}

void two_unseals_against_write() {
  LentWord lent;
  const BlobToken blob = lent.adopt();
  require_ok(status_of([&] { blob_seal(blob); }));
  require_ok(status_of([&] { blob_seal(blob); }));
  const auto read_and_unseal = [&] {
    require_still(lent);
    blob_unseal(blob);
  };
  Thread writer([&] { write_or_be_refused(lent, blob); });
  Thread other(read_and_unseal);
  read_and_unseal();
  writer.join();
  other.join();
  blob_release(blob);
}

}  // namespace

std::vector<Scenario> seal_scenarios() {
  return {
      {"seal_against_write", 2, seal_against_write},
      {"sealed_against_write", 2, sealed_against_write},
      {"unseal_against_write", 2, unseal_against_write},
      {"unseal_against_data_mut", 2, unseal_against_data_mut},
      {"seal_against_seal", 2, seal_against_seal, kNothingSpurious},
      {"seal_against_write_and_seal", 2, seal_against_write_and_seal},
      {"second_seal_against_unseal", 2, second_seal_against_unseal},
      {"create_against_write", 2, create_against_write, kNothingSpurious},
      {"use_against_matrix_release", 2, use_against_matrix_release},
      {"use_and_matrix_release_against_use", 2, use_and_matrix_release_against_use,
       kNothingSpurious},
      {"matrix_retain_against_release", 2, matrix_retain_against_release},
      {"matrix_release_against_next_seal", 2, matrix_release_against_next_seal, kNothingSpurious},
      {"two_seals_against_write", 3, two_seals_against_write, kThreePreemptions},
      {"two_unseals_against_write", 3, two_unseals_against_write, kThreePreemptions},
  };
}

}  // namespace tenure::explore
