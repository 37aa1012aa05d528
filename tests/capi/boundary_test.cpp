// Structs that start with their struct_size, between a library and a program of two versions.
#include "boundary.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "expect_status.hpp"
#include "tenure/tenure.h"

namespace {

// Three versions of a struct: the first, this library's, and that of a program that is newer than
// this library.
struct FirstMatrix {
  std::uint64_t struct_size, rows;
};
struct Matrix {
  std::uint64_t struct_size, rows, batches;
};
struct NewerMatrix {
  std::uint64_t struct_size, rows, batches, ranks[2];
};

}  // namespace

template <>
inline constexpr std::size_t tenure::capi::kFirstSizeBytes<Matrix> = sizeof(FirstMatrix);

namespace {

using tenure::test::expect_refused;

constexpr std::uint64_t kUntouched = 0x5a5a5a5a5a5a5a5a;

template <class Client>
Matrix* known(Client& client) {
  return reinterpret_cast<Matrix*>(&client);
}

tnr_status write_sized(Matrix* target, const Matrix& value) {
  return tenure::capi::guarded([&] { tenure::capi::write_sized(target, "out", value); });
}

tnr_status write_report(Matrix* target, const Matrix& value) {
  return tenure::capi::guarded([&] { tenure::capi::write_report(target, "out", value); });
}

tnr_status read_sized(const Matrix* source, Matrix& value) {
  return tenure::capi::guarded([&] { value = tenure::capi::read_sized(source, "options"); });
}

// A client's struct, with the bytes behind it.
template <class Client>
struct Guarded {
  Client client;
  std::uint64_t behind = kUntouched;

  explicit Guarded(std::uint64_t struct_size = sizeof(Client)) {
    std::memset(static_cast<void*>(&client), 0x5a, sizeof client);
    client.struct_size = struct_size;
  }
};

TEST(Boundary, AnOlderClientIsToldWhatItCanHold) {
  Guarded<FirstMatrix> older;
  EXPECT_EQ(write_sized(known(older.client), {0, 7, 0}), TNR_STATUS_OK);
  EXPECT_EQ(older.client.struct_size, sizeof(FirstMatrix));
  EXPECT_EQ(older.client.rows, 7u);
  EXPECT_EQ(older.behind, kUntouched);
}

TEST(Boundary, AnOlderClientIsNotGivenAnotherMatrix) {
  Guarded<FirstMatrix> older;
  expect_refused(
      write_sized(known(older.client), {0, 7, 1}), TNR_STATUS_INVALID_ARGUMENT,
      {"out->struct_size is 16", "not 0 at offset 16 of its 24", "an older ABI than 0."});
  EXPECT_EQ(older.client.rows, kUntouched) << "a refused call writes nothing";
  EXPECT_EQ(older.behind, kUntouched);

  // A size between two versions cuts a field in two.
  Guarded<Matrix> between(20);
  EXPECT_EQ(write_sized(&between.client, {0, 7, 5}), TNR_STATUS_OK);
  expect_refused(write_sized(&between.client, {0, 7, std::uint64_t{1} << 40}),
                 TNR_STATUS_INVALID_ARGUMENT, {"offset 21"});
}

TEST(Boundary, AReportTellsAnOlderClientWhatItAsksFor) {
  Guarded<FirstMatrix> older;
  EXPECT_EQ(write_report(known(older.client), {0, 7, 1}), TNR_STATUS_OK);
  EXPECT_EQ(older.client.struct_size, sizeof(FirstMatrix));
  EXPECT_EQ(older.client.rows, 7u);
  EXPECT_EQ(older.behind, kUntouched);
}

TEST(Boundary, ANewerClientReadsZerosWhereNothingIsTold) {
  for (const auto write : {&write_sized, &write_report}) {
    Guarded<NewerMatrix> newer;
    EXPECT_EQ(write(known(newer.client), {0, 7, 2}), TNR_STATUS_OK);
    EXPECT_EQ(newer.client.struct_size, sizeof(NewerMatrix));
    EXPECT_EQ(newer.client.batches, 2u);
    EXPECT_EQ(newer.client.ranks[0], 0u);
    EXPECT_EQ(newer.client.ranks[1], 0u);
    EXPECT_EQ(newer.behind, kUntouched);
  }
}

TEST(Boundary, FieldsThatAnOlderClientLacksAreZero) {
  const FirstMatrix older = {sizeof older, 7};
  Matrix value = {9, 9, 9};
  EXPECT_EQ(read_sized(reinterpret_cast<const Matrix*>(&older), value), TNR_STATUS_OK);
  EXPECT_EQ(value.rows, 7u);
  EXPECT_EQ(value.batches, 0u);
}

TEST(Boundary, ANewerClientIsHeldToWhatIsKnownHere) {
  NewerMatrix newer = {sizeof newer, 7, 2, {0, 0}};
  Matrix value = {};
  EXPECT_EQ(read_sized(known(newer), value), TNR_STATUS_OK);
  EXPECT_EQ(value.batches, 2u);

  newer.ranks[1] = 1;
  const std::string version = std::to_string(TNR_ABI_MAJOR) + "." + std::to_string(TNR_ABI_MINOR);
  expect_refused(read_sized(known(newer), value), TNR_STATUS_INVALID_ARGUMENT,
                 {"options has 0x01 at offset 32", "of ABI " + version, "only 24 bytes"});
}

TEST(Boundary, SizesThatNoVersionHasAreRefused) {
  Matrix matrix = {};
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{15}, std::uint64_t{4097}, UINT64_MAX}) {
    matrix.struct_size = size;
    const std::string is = "->struct_size is " + std::to_string(size);
    Matrix value = {};
    for (const tnr_status answer : {write_sized(&matrix, value), write_report(&matrix, value)}) {
      expect_refused(answer, TNR_STATUS_INVALID_ARGUMENT,
                     {"out" + is, "at least 16", "at most 4096"});
    }
    expect_refused(read_sized(&matrix, value), TNR_STATUS_INVALID_ARGUMENT, {"options" + is});
  }
}

}  // namespace
