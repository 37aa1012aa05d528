// DLPack through C: imports, refused tensors (which stay the caller's), and the fields of exports.
#include "tenure/dlpack.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include "expect_status.hpp"
#include "release_counter.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::ReleaseCounter;

namespace {

// ---- a producer ----

void set_tensor(tenure::DlTensor& tensor, void* data, std::vector<std::int64_t>& shape,
                std::vector<std::int64_t>* strides) {
  tensor = {.data = data,
            .device = {1, 0},
            .rank = static_cast<std::int32_t>(shape.size()),
            .dtype_code = 2,
            .dtype_bits = 32,
            .dtype_lanes = 1,
            .shape = shape.data(),
            .strides = strides != nullptr ? strides->data() : nullptr,
            .offset_bytes = 0};
}

// A tensor of f32 over `elements` whose deleter counts.
template <class Managed>
struct Producer {
  std::array<float, 12> elements{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<std::int64_t> shape{3, 4};
  std::vector<std::int64_t> strides{4, 1};
  ReleaseCounter deleted;
  Managed managed{};

  Producer() {
    managed.manager_context = deleted.context();
    managed.deleter = [](Managed* self) { ReleaseCounter::callback(self->manager_context); };
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed.major_version = 1;
    set_tensor(managed.tensor, elements.data(), shape, &strides);
  }
  tenure::DlTensor& tensor() { return managed.tensor; }
};
using Versioned = Producer<DLManagedTensorVersioned>;
using Legacy = Producer<DLManagedTensor>;

void expect_untaken(Versioned& producer, tnr_status status,
                    std::initializer_list<std::string> words) {
  tnr_view view{};
  view.rank = 7;
  expect_refused(tnr_blob_import(&producer.managed, &view), status, words);
  EXPECT_EQ(view.rank, 7u);
  EXPECT_EQ(producer.deleted.count(), 0);
}

float element(const tnr_view& view, std::int64_t row, std::int64_t column) {
  return static_cast<const float*>(view.data)[row * view.strides[0] + column * view.strides[1]];
}

tnr_tenure tenure_of(const tnr_blob* blob) {
  tnr_blob_info info{};
  info.struct_size = sizeof info;
  EXPECT_EQ(tnr_blob_describe(blob, &info), TNR_STATUS_OK);
  return info.tenure;
}

// ---- import ----

TEST(CapiDlpack, ImportTakesTheTensorAndItsEndDeletesItOnce) {
  Versioned producer;
  tnr_view view{};
  tnr_blob* const blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.owner, reinterpret_cast<std::uintptr_t>(blob));
  EXPECT_EQ(view.dtype, TNR_DTYPE_F32);
  EXPECT_EQ(view.data, producer.elements.data());
  EXPECT_EQ(view.size_bytes, sizeof producer.elements);
  EXPECT_EQ(element(view, 2, 1), 9);
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  EXPECT_EQ(tenure_of(blob), TNR_TENURE_ADOPTED);
  tnr_view_mut writable{view};
  tnr_scalar seven{TNR_DTYPE_F32, 0, {}};
  const float value = 7;
  std::memcpy(seven.bytes, &value, sizeof value);
  EXPECT_EQ(tnr_fill(nullptr, &seven, nullptr, &writable), TNR_STATUS_OK);
  EXPECT_EQ(producer.elements[11], 7);
  EXPECT_EQ(producer.deleted.count(), 0);
  std::thread([&] { EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK); }).join();
  EXPECT_EQ(producer.deleted.count(), 1);
  expect_refused(tnr_view_check(&view), TNR_STATUS_STALE_VIEW, {});
}

TEST(CapiDlpack, ReadOnlyIsShared) {
  Versioned producer;
  producer.managed.flags = tenure::kDlReadOnly;
  tnr_view view{};
  tnr_blob* const blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(tenure_of(blob), TNR_TENURE_SHARED);
  const tnr_view_mut writable{view};
  expect_refused(tnr_view_check_mut(&writable), TNR_STATUS_INVALID_ARGUMENT, {"nobody may write"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(producer.deleted.count(), 1);
}

TEST(CapiDlpack, LegacyMayBeWritten) {
  Legacy producer;
  tnr_view view{};
  tnr_blob* const blob = tnr_blob_import_legacy(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  const tnr_view_mut writable{view};
  EXPECT_EQ(tnr_view_check_mut(&writable), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(producer.deleted.count(), 1);
}

TEST(CapiDlpack, WithoutADeleterNobodyIsCalled) {
  Versioned producer;
  producer.managed.deleter = nullptr;
  tnr_view view{};
  tnr_blob* const blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(producer.deleted.count(), 0);
}

TEST(CapiDlpack, StridesOfAnySignAndNoneAndAnOffset) {
  Versioned producer;
  // The last row backwards, then the one before it: from element 11 down.
  producer.strides = {-4, -1};
  producer.tensor().offset_bytes = 11 * sizeof(float);
  tnr_view view{};
  tnr_blob* blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.base, producer.elements.data());
  EXPECT_EQ(view.size_bytes, sizeof producer.elements);
  EXPECT_EQ(element(view, 0, 0), 11);
  EXPECT_EQ(element(view, 2, 3), 0);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);

  producer.tensor().strides = nullptr;
  producer.tensor().offset_bytes = 0;
  blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.strides[0], 4);
  EXPECT_EQ(element(view, 1, 2), 6);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);

  // Every row the same one: readable, and nothing to write to.
  producer.strides = {0, 1};
  producer.tensor().strides = producer.strides.data();
  blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.size_bytes, 4 * sizeof(float));
  EXPECT_EQ(element(view, 2, 3), 3);
  const tnr_view_mut writable{view};
  expect_refused(tnr_view_check_mut(&writable), TNR_STATUS_ALIASED, {});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(producer.deleted.count(), 3);
}

TEST(CapiDlpack, NoElementsAndRankZero) {
  Versioned producer;
  producer.shape = {3, 0};
  producer.tensor().data = nullptr;
  producer.tensor().offset_bytes = 64;
  tnr_view view{};
  tnr_blob* blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.size_bytes, 0u);
  EXPECT_EQ(tnr_view_check(&view), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);

  set_tensor(producer.tensor(), producer.elements.data() + 5, producer.shape, nullptr);
  producer.tensor().rank = 0;
  producer.tensor().shape = nullptr;
  blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.rank, 0u);
  EXPECT_EQ(*static_cast<const float*>(view.data), 5);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST(CapiDlpack, DtypesThatHaveNoOperationAreCarried) {
  Versioned producer;
  producer.tensor().dtype_lanes = 4;
  producer.shape = {3};
  producer.tensor().rank = 1;
  producer.strides = {1};
  tnr_view view{};
  tnr_blob* const blob = tnr_blob_import(&producer.managed, &view);
  ASSERT_NE(blob, nullptr);
  EXPECT_EQ(view.size_bytes, sizeof producer.elements);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST(CapiDlpack, RefusedTensorsStayTheCallers) {
  const auto refused = [](auto change, tnr_status status,
                          std::initializer_list<std::string> words) {
    Versioned producer;
    change(producer);
    expect_untaken(producer, status, words);
  };
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  constexpr tnr_status kUnsupported = TNR_STATUS_UNSUPPORTED;
  refused([](auto& p) { p.managed.major_version = 2; }, kUnsupported, {"2.0", "1.x"});
  refused([](auto& p) { p.managed.major_version = 0; }, kUnsupported, {"0.0"});
  refused([](auto& p) { p.tensor().rank = 9; }, kInvalid, {"tensor.ndim is 9", "8"});
  refused([](auto& p) { p.tensor().rank = -1; }, kInvalid, {"tensor.ndim is -1"});
  refused([](auto& p) { p.tensor().shape = nullptr; }, kInvalid, {"tensor.shape is NULL"});
  refused([](auto& p) { p.shape[1] = -4; }, kInvalid, {"shape[1] is -4"});
  refused([](auto& p) { p.shape = {INT64_MAX, 4}; }, kInvalid, {"shape"});
  refused([](auto& p) { p.strides[0] = INT64_MAX; }, kInvalid, {"span more than"});
  refused([](auto& p) { p.strides[0] = INT64_MIN; }, kInvalid, {"span more than"});
  refused([](auto& p) { p.tensor().data = nullptr; }, kInvalid, {"NULL"});
  refused([](auto& p) { p.tensor().offset_bytes = 1; }, kInvalid, {"multiple of 4"});
  refused([](auto& p) { p.tensor().offset_bytes = UINT64_MAX - 3; }, kInvalid,
          {"byte_offset is 18446744073709551612"});
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  refused([&](auto& p) { p.tensor().data = at(UINTPTR_MAX - 31); }, kInvalid,
          {"no memory 48 bytes from it"});
  refused(
      [&](auto& p) {
        p.tensor().data = at(16);
        p.strides = {-4, -1};
      },
      kInvalid, {"tensor.data is 0x10", "no memory -44 bytes from it"});
  refused([](auto& p) { p.tensor().device.kind = 2; }, kUnsupported, {"cuda:", "CPU"});
  refused([](auto& p) { p.tensor().dtype_bits = 4; }, kUnsupported, {"4 bits"});
  refused([](auto& p) { p.tensor().dtype_lanes = 0; }, kUnsupported, {"0 lanes"});
}

TEST(CapiDlpack, NullIsRefused) {
  Versioned producer;
  Legacy legacy;
  tnr_view view{};
  expect_refused(tnr_blob_import(nullptr, &view), TNR_STATUS_INVALID_ARGUMENT, {"tensor is NULL"});
  expect_refused(tnr_blob_import(&producer.managed, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  expect_refused(tnr_blob_import_legacy(nullptr, &view), TNR_STATUS_INVALID_ARGUMENT,
                 {"tensor is NULL"});
  expect_refused(tnr_blob_import_legacy(&legacy.managed, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  DLManagedTensorVersioned* versioned = nullptr;
  DLManagedTensor* old = nullptr;
  const tnr_view_mut writable{};
  expect_refused(tnr_view_export(nullptr, 0, &versioned), TNR_STATUS_INVALID_ARGUMENT,
                 {"view is NULL"});
  expect_refused(tnr_view_export(&view, 0, nullptr), TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  expect_refused(tnr_view_export_legacy(nullptr, &old), TNR_STATUS_INVALID_ARGUMENT,
                 {"view is NULL"});
  expect_refused(tnr_view_export_legacy(&writable, nullptr), TNR_STATUS_INVALID_ARGUMENT,
                 {"out is NULL"});
  EXPECT_EQ(producer.deleted.count() + legacy.deleted.count(), 0);
}

// ---- export ----

tnr_view view_of(const tnr_blob* blob) {
  const std::int64_t shape[] = {3, 1, 4};
  tnr_view view{};
  EXPECT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 3, shape, nullptr, &view), TNR_STATUS_OK);
  return view;
}

TEST(CapiDlpack, ExportHoldsOnToTheBlob) {
  std::array<float, 12> memory{};
  ReleaseCounter counter;
  tnr_blob* const blob =
      tnr_blob_adopt(memory.data(), sizeof memory, counter.callback, counter.context());
  tnr_view view = view_of(blob);
  ASSERT_EQ(tnr_view_transpose(&view, 0, 2, &view), TNR_STATUS_OK);
  DLManagedTensorVersioned* managed = nullptr;
  ASSERT_EQ(tnr_view_export(&view, 0, &managed), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(counter.count(), 0);
  EXPECT_EQ(managed->major_version, 1u);
  EXPECT_EQ(managed->flags, 0u);
  const tenure::DlTensor& tensor = managed->tensor;
  EXPECT_EQ(tensor.data, memory.data());
  EXPECT_EQ(tensor.device.kind, 1);
  EXPECT_EQ(tensor.rank, 3);
  EXPECT_EQ(tensor.dtype_code, 2);
  EXPECT_EQ(tensor.dtype_bits, 32);
  EXPECT_EQ(tensor.dtype_lanes, 1);
  EXPECT_EQ(tensor.offset_bytes, 0u);
  EXPECT_EQ(std::vector<std::int64_t>(tensor.shape, tensor.shape + 3),
            (std::vector<std::int64_t>{4, 1, 3}));
  EXPECT_EQ(std::vector<std::int64_t>(tensor.strides, tensor.strides + 3),
            (std::vector<std::int64_t>{1, 12, 4}));
  managed->deleter(managed);
  EXPECT_EQ(counter.count(), 1);
}

TEST(CapiDlpack, ExportSaysWhoMayWriteAndWhatWasCopied) {
  std::array<float, 12> memory{};
  struct Case {
    tnr_blob* blob;
    std::uint32_t asked;
    std::uint64_t flags;
  };
  const Case cases[] = {
      {tnr_blob_alloc(nullptr, 48), 0, 0},
      {tnr_blob_alloc(nullptr, 48), TNR_EXPORT_READ_ONLY, tenure::kDlReadOnly},
      {tnr_blob_copy(nullptr, memory.data(), 48), 0, tenure::kDlIsCopied},
      {tnr_blob_share(memory.data(), 48, nullptr, nullptr), 0, tenure::kDlReadOnly},
      {tnr_blob_adopt(memory.data(), 48, nullptr, nullptr), 0, 0},
  };
  for (const Case& c : cases) {
    const tnr_view view = view_of(c.blob);
    DLManagedTensorVersioned* managed = nullptr;
    ASSERT_EQ(tnr_view_export(&view, c.asked, &managed), TNR_STATUS_OK);
    EXPECT_EQ(managed->flags, c.flags);
    // And back: the tensor is taken again, by a blob of its own.
    tnr_view back{};
    tnr_blob* const imported = tnr_blob_import(managed, &back);
    ASSERT_NE(imported, nullptr);
    EXPECT_EQ(back.data, view.data);
    EXPECT_EQ(tenure_of(imported) == TNR_TENURE_SHARED, (c.flags & tenure::kDlReadOnly) != 0);
    EXPECT_EQ(tnr_blob_release(c.blob), TNR_STATUS_OK);
    EXPECT_EQ(tnr_view_check(&back), TNR_STATUS_OK);
    EXPECT_EQ(tnr_blob_release(imported), TNR_STATUS_OK);
    expect_refused(tnr_view_check(&view), TNR_STATUS_STALE_VIEW, {});
  }
}

TEST(CapiDlpack, LegacyExportOfWhatMayBeWritten) {
  std::array<float, 12> memory{};
  tnr_blob* const blob = tnr_blob_adopt(memory.data(), sizeof memory, nullptr, nullptr);
  const tnr_view_mut view{view_of(blob)};
  DLManagedTensor* managed = nullptr;
  ASSERT_EQ(tnr_view_export_legacy(&view, &managed), TNR_STATUS_OK);
  EXPECT_EQ(managed->tensor.data, memory.data());
  managed->deleter(managed);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);

  tnr_blob* const shared = tnr_blob_share(memory.data(), sizeof memory, nullptr, nullptr);
  const tnr_view_mut read_only{view_of(shared)};
  DLManagedTensor* untouched = nullptr;
  expect_refused(tnr_view_export_legacy(&read_only, &untouched), TNR_STATUS_INVALID_ARGUMENT,
                 {"nobody may write"});
  EXPECT_EQ(untouched, nullptr);
  EXPECT_EQ(tnr_blob_release(shared), TNR_STATUS_OK);
}

TEST(CapiDlpack, ExportIsOfMemoryThatIsHeld) {
  std::array<float, 12> memory{};
  DLManagedTensorVersioned* managed = nullptr;
  const std::int64_t shape[] = {12};
  tnr_view lent{};
  ASSERT_EQ(tnr_view_lend(memory.data(), sizeof memory, 0, TNR_DTYPE_F32, 1, shape, nullptr, &lent),
            TNR_STATUS_OK);
  expect_refused(tnr_view_export(&lent, 0, &managed), TNR_STATUS_INVALID_ARGUMENT, {"owner is 0"});

  tnr_blob* const borrowed = tnr_blob_borrow(memory.data(), sizeof memory);
  const tnr_view view = view_of(borrowed);
  expect_refused(tnr_view_export(&view, 0, &managed), TNR_STATUS_INVALID_ARGUMENT, {"borrowed"});
  EXPECT_EQ(tnr_blob_end_borrow(borrowed), TNR_STATUS_OK);
  EXPECT_EQ(tnr_blob_release(borrowed), TNR_STATUS_OK);
  expect_refused(tnr_view_export(&view, 0, &managed), TNR_STATUS_STALE_VIEW, {});

  tnr_blob* const blob = tnr_blob_alloc(nullptr, 48);
  const tnr_view held = view_of(blob);
  expect_refused(tnr_view_export(&held, 2, &managed), TNR_STATUS_INVALID_ARGUMENT,
                 {"flags is 0x2", "0x1"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(managed, nullptr);
}

}  // namespace
