// tenure.hpp: its wrappers of the C functions, and the owner of each object after a refused call.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <tenure/tenure.hpp>
#include <utility>
#include <vector>

namespace {

using Numbers = std::vector<float>;

Numbers counted(std::size_t count) {
  Numbers numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return numbers;
}

// Expects an Error with a status, whose message has some words.
template <class Call>
void expect_error(tnr_status status, const std::string& words, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const tnr::Error& error) {
    EXPECT_EQ(error.status(), status) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

tnr_blob_info described(const tnr_blob* blob) {
  tnr_blob_info info{};
  info.struct_size = sizeof info;
  tnr::check(tnr_blob_describe(blob, &info));
  return info;
}

// ---- types ----

TEST(Cpp, DtypesAreThoseOfTheTypes) {
  static_assert(tnr::dtype_of<double> == TNR_DTYPE_F64);
  static_assert(tnr::dtype_of<const float> == TNR_DTYPE_F32);
  static_assert(tnr::dtype_of<signed char> == TNR_DTYPE_I8);
  static_assert(tnr::dtype_of<std::uint16_t> == TNR_DTYPE_U16);
  static_assert(tnr::dtype_of<long long> == TNR_DTYPE_I64);
  static_assert(tnr::dtype_of<unsigned long> ==
                (sizeof(long) == 8 ? TNR_DTYPE_U64 : TNR_DTYPE_U32));
  static_assert(tnr::dtype_of<bool> == TNR_DTYPE_BOOL8);
  static_assert(tnr::dtype_of<std::complex<double>> == TNR_DTYPE_C128);
  static_assert(!tnr::Element<char>);
  static_assert(!tnr::Element<long double>);
  static_assert(!tnr::Element<std::string>);
}

template <class V>
concept IsWritten = std::convertible_to<V, const tnr_view_mut*>;
template <class Holder>
concept ShowsItsView = requires(Holder&& holder) { std::forward<Holder>(holder).view().rank(); };

TEST(Cpp, ViewsHaveAText) {
  const Numbers numbers = counted(6);
  EXPECT_EQ((tnr::View<const float>(numbers, {2, 3}).text()), "[[0. 1. 2.]\n [3. 4. 5.]]");
  EXPECT_EQ(tnr::View<const double>(std::array<double, 1>{1.0 / 3}).text(2), "[0.33]");
}

TEST(Cpp, MisuseDoesNotCompile) {
  static_assert(IsWritten<tnr::View<float>>);
  static_assert(!IsWritten<tnr::View<const float>>);
  static_assert(std::convertible_to<tnr::View<float>, tnr::View<const float>>);
  static_assert(!std::convertible_to<tnr::View<const float>, tnr::View<float>>);
  static_assert(!std::constructible_from<tnr::View<float>, const Numbers&, tnr::Shape>);
  static_assert(!std::constructible_from<tnr::View<float>, Numbers&&, tnr::Shape>);
  // A view of something that ends with the statement.
  static_assert(ShowsItsView<tnr::Tensor<float>&>);
  static_assert(!ShowsItsView<tnr::Tensor<float>>);
  static_assert(!ShowsItsView<tnr::SharedTensor<float>>);
  static_assert(!std::copyable<tnr::Tensor<float>>);
  static_assert(std::movable<tnr::Tensor<float>>);
  static_assert(std::copyable<tnr::SharedTensor<float>>);
  static_assert(!std::movable<tnr::Borrow<float>>);
}

// ---- views ----

TEST(Cpp, ViewsAreOfTheSameMemory) {
  Numbers numbers = counted(6);
  const tnr::View view(numbers, {2, 3});
  static_assert(std::same_as<decltype(view), const tnr::View<float>>);
  EXPECT_EQ(view.data(), numbers.data());
  EXPECT_EQ(view.size(), 6u);
  EXPECT_EQ(view.at(1, 2), 5);
  view.at(1, 0) = 30;
  EXPECT_EQ(numbers[3], 30);
  const tnr::View<const float> reader = view;
  EXPECT_EQ(reader.data(), numbers.data());
  const std::array<float, 2> fixed{1, 2};
  const tnr::View of_array(fixed, {2});
  static_assert(std::same_as<decltype(of_array), const tnr::View<const float>>);
  EXPECT_EQ(tnr::View<const float>(std::span<const float>(fixed)).at(1), 2);
}

TEST(Cpp, ShapesOverTheSameMemory) {
  Numbers numbers = counted(24);
  const tnr::View view(numbers, {2, 3, 4});
  EXPECT_EQ(view.slice(2, 1, 4, 2).at(1, 2, 1), 23);
  EXPECT_EQ(view.index(0, 1).at(2, 3), 23);
  EXPECT_EQ(view.permute({2, 0, 1}).at(3, 1, 2), 23);
  EXPECT_EQ(view.transpose().at(2, 1, 3), 23);
  EXPECT_EQ(view.reshape({4, 6}).at(3, 5), 23);
  EXPECT_EQ(view.flatten().at(23), 23);
  EXPECT_EQ(view.unsqueeze(1).squeeze(1).at(1, 2, 3), 23);
  EXPECT_EQ(view.flip(0).at(0, 2, 3), 23);
  EXPECT_EQ(view.chunk(2, 2, 1).at(1, 2, 1), 23);
  const auto [low, high] = view.split(1, 1);
  EXPECT_EQ(low.at(1, 0, 3), 15);
  EXPECT_EQ(high.at(1, 1, 3), 23);
  EXPECT_EQ(view.index(0, 0).index(0, 0).broadcast({5, 4}).at(4, 3), 3);
  EXPECT_EQ(view.flatten().windows(0, 4, 4).at(5, 3), 23);
  EXPECT_TRUE(view.as_span().has_value());
  EXPECT_EQ(view.as_span()->data(), numbers.data());
  EXPECT_FALSE(view.transpose().as_span().has_value());
  EXPECT_EQ(view.slice(0, 0, 0).as_span()->size(), 0u);
}

TEST(Cpp, ViewsWithStrides) {
  Numbers numbers = counted(12);
  const tnr::View<float> columns(numbers, {3, 4}, {1, 3});
  EXPECT_EQ(columns.at(2, 3), 11);
  EXPECT_EQ(tnr::View<const float>(numbers, {3}, {4}, 1).at(2), 9);
  EXPECT_EQ(tnr::View<const float>(numbers, {3}, {-4}, 11).at(2), 3);
}

TEST(Cpp, ViewsThatDoNotFitAreRefused) {
  Numbers numbers(6);
  constexpr auto kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  expect_error(kInvalid, "24", [&] { tnr::View<float>(numbers, {2, 4}); });
  expect_error(kInvalid, "shape", [&] { tnr::View<float>(numbers, {-1}); });
  expect_error(kInvalid, "strides", [&] { tnr::View<float>(numbers, {2, 3}, {1}); });
  expect_error(kInvalid, "offset", [&] {
    tnr::View<float>(numbers, {1}, {1}, std::numeric_limits<std::size_t>::max());
  });
  expect_error(kInvalid, "rank", [&] { tnr::View<float>(numbers, {1, 1, 1, 1, 1, 1, 1, 1, 1}); });
  const tnr::View view(numbers, {2, 3});
  expect_error(kInvalid, "index 1 is 3", [&] { static_cast<void>(view.at(0, 3)); });
  expect_error(kInvalid, "index 0 is -1", [&] { static_cast<void>(view.at(-1, 0)); });
  expect_error(kInvalid, "1 indices but must be 2", [&] { static_cast<void>(view.at(0)); });
  expect_error(kInvalid, "axis", [&] { static_cast<void>(view.index(2, 0)); });
  expect_error(kInvalid, "f32 but must be i32",
               [&] { tnr::View<const std::int32_t>(view.plain()); });
}

TEST(Cpp, FunctionsTakeViewsAsTheyAre) {
  const Numbers numbers = counted(6);
  Numbers sums(2);
  tnr::check(tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, tnr::View(numbers, {2, 3}), 1u << 1, nullptr,
                        tnr::View(sums, {2})));
  EXPECT_EQ(sums, (Numbers{3, 12}));
  const tnr::Handle<tnr_context> context = tnr::make_context(2);
  EXPECT_EQ(tnr_context_thread_count(context.get()), 2u);
  tnr::View out(sums, {2});
  tnr::check(tnr_binary(context.get(), TNR_BINARY_OP_ADD, out, out, nullptr, out));
  EXPECT_EQ(sums, (Numbers{6, 24}));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "thread_count",
               [] { static_cast<void>(tnr::make_context(0)); });
}

// ---- memory that is held ----

TEST(Cpp, TensorsOfTheLibrarysMemory) {
  auto ones = tnr::Tensor<double>::full({2, 2}, 1);
  EXPECT_EQ(ones.view().at(1, 1), 1);
  EXPECT_EQ(described(ones.blob()).tenure, TNR_TENURE_ALLOCATED);
  EXPECT_EQ(tnr::Tensor<bool>::zeros({3}).blob() == nullptr, false);
  const Numbers numbers = counted(3);
  const auto copy = tnr::Tensor<float>::copy(numbers, {3});
  EXPECT_EQ(described(copy.blob()).tenure, TNR_TENURE_COPIED);
  EXPECT_NE(copy.view().data(), numbers.data());
  EXPECT_EQ(copy.view().at(2), 2);
  auto moved = std::move(ones);
  EXPECT_EQ(moved.view().at(0, 1), 1);
  expect_error(TNR_STATUS_OUT_OF_MEMORY, "", [] {
    static_cast<void>(tnr::Tensor<float>::zeros({std::int64_t{1} << 40, std::int64_t{1} << 40}));
  });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "shape",
               [] { static_cast<void>(tnr::Tensor<float>::zeros({2, -1})); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "needs 4 elements",
               [&] { static_cast<void>(tnr::Tensor<float>::copy(numbers, {4})); });
}

TEST(Cpp, AdoptedVectorsComeBack) {
  Numbers numbers = counted(6);
  const float* const before = numbers.data();
  auto tensor = tnr::Tensor<float>::adopt(std::move(numbers), {2, 3});
  EXPECT_EQ(described(tensor.blob()).tenure, TNR_TENURE_ADOPTED);
  EXPECT_EQ(tensor.view().data(), before);
  tensor.view().at(0, 0) = 7;
  {
    const auto second = tnr::owned(tnr_blob_retain(tensor.blob()));
    expect_error(TNR_STATUS_BUSY, "", [&] { static_cast<void>(std::move(tensor).into_vector()); });
  }
  numbers = std::move(tensor).into_vector();
  EXPECT_EQ(numbers.data(), before);
  EXPECT_EQ(numbers[0], 7);
  auto allocated = tnr::Tensor<float>::zeros({2});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "adopted",
               [&] { static_cast<void>(std::move(allocated).into_vector()); });
}

TEST(Cpp, RefusedAdoptionsLeaveTheVector) {
  Numbers numbers = counted(6);
  const float* const before = numbers.data();
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "needs 7 elements",
               [&] { static_cast<void>(tnr::Tensor<float>::adopt(std::move(numbers), {7})); });
  EXPECT_EQ(numbers.data(), before);
  EXPECT_EQ(numbers.size(), 6u);
}

// Tells when it goes.
struct Mapping : Numbers {
  explicit Mapping(int* ends) : Numbers(counted(4)), ends_(ends) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { ++*ends_; }

 private:
  int* ends_;
};

TEST(Cpp, SharesKeepTheirOwner) {
  int ends = 0;
  {
    auto owner = std::make_shared<const Mapping>(&ends);
    const float* const before = owner->data();
    tnr::SharedTensor first(std::move(owner), {2, 2});
    static_assert(std::same_as<decltype(first), tnr::SharedTensor<float>>);
    EXPECT_EQ(described(first.blob()).tenure, TNR_TENURE_SHARED);
    tnr::SharedTensor second = first;
    EXPECT_EQ(described(first.blob()).holder_count, 2u);
    {
      const tnr::SharedTensor third = std::move(first);
    }
    EXPECT_EQ(ends, 0);
    EXPECT_EQ(second.view().data(), before);
    EXPECT_EQ(second.view().at(1, 1), 3);
  }
  EXPECT_EQ(ends, 1);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "needs 5 elements",
               [&] { tnr::SharedTensor<float>(std::make_shared<const Mapping>(&ends), {5}); });
  EXPECT_EQ(ends, 2);
}

TEST(Cpp, BorrowsEnd) {
  Numbers numbers = counted(4);
  {
    const tnr::Borrow borrow(numbers);
    static_assert(std::same_as<decltype(borrow), const tnr::Borrow<float>>);
    borrow.view({2, 2}).at(1, 1) = 9;
    EXPECT_EQ(described(borrow.blob()).tenure, TNR_TENURE_BORROWED_MUT);
  }
  EXPECT_EQ(numbers[3], 9);
  tnr::Borrow reader(std::as_const(numbers));
  EXPECT_EQ(described(reader.blob()).tenure, TNR_TENURE_BORROWED);
  auto escaped = tnr::owned(tnr_blob_retain(reader.blob()));
  const tnr::View<const float> view = reader.view({4});
  expect_error(TNR_STATUS_BORROW_ESCAPED, "", [&] { reader.end(); });
  expect_error(TNR_STATUS_STALE_VIEW, "", [&] { tnr::check(tnr_view_check(view)); });
  escaped.reset();
  reader.end();
}

TEST(CppDeathTest, AnEscapedBorrowEndsTheProgram) {
  Numbers numbers = counted(4);
  EXPECT_DEATH(
      {
        tnr::Handle<tnr_blob> escaped;
        const tnr::Borrow borrow(numbers);
        escaped = tnr::owned(tnr_blob_retain(borrow.blob()));
      },
      "");
}

// ---- sparse matrices ----

TEST(Cpp, SparseMatrices) {
  const std::vector<std::int32_t> offsets{0, 2, 3}, columns{0, 2, 1}, rows{0, 0, 1};
  const Numbers values{1, 2, 3};
  constexpr std::uint32_t kFlags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  const auto csr =
      tnr::SparseView::csr<std::int32_t, float>(2, 3, offsets, columns, values, kFlags);
  const auto coo = tnr::SparseView::coo<std::int32_t, float>(2, 3, rows, columns, values, kFlags);
  const std::vector<std::int32_t> col_offsets{0, 1, 2, 3}, row_indices{0, 1, 0};
  const Numbers by_column{1, 3, 2};
  const auto csc =
      tnr::SparseView::csc<std::int32_t, float>(2, 3, col_offsets, row_indices, by_column, kFlags);
  for (const tnr::SparseView& view : {csr, coo, csc}) {
    const tnr::Handle<tnr_sparse> made =
        tnr::owned(tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSR, view, nullptr));
    const tnr::SparseView held(made);
    EXPECT_EQ(held.rows(), 2);
    EXPECT_EQ(held.cols(), 3);
    EXPECT_TRUE(std::ranges::equal(held.major<std::int32_t>(), offsets));
    EXPECT_TRUE(std::ranges::equal(held.minor<std::int32_t>(), columns));
    EXPECT_TRUE(std::ranges::equal(held.values<float>(), values));
    expect_error(TNR_STATUS_INVALID_ARGUMENT, "i32 but must be i64",
                 [&] { static_cast<void>(held.major<std::int64_t>()); });
  }
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "col_indices[1] is 2", [&] {
    tnr::check(tnr_sparse_check(
        tnr::SparseView::csr<std::int32_t, float>(2, 2, offsets, columns, values)));
  });
}

TEST(Cpp, SparseBlocks) {
  const std::vector<std::int64_t> offsets{0, 1}, columns{1};
  const Numbers values{1, 2, 3, 4};
  const auto blocks =
      tnr::SparseView::bsr<std::int64_t, float>(2, 4, 2, 2, offsets, columns, values);
  Numbers dense(8, -1);
  tnr::check(tnr_sparse_to_dense(nullptr, blocks, nullptr, tnr::View(dense, {2, 4})));
  EXPECT_EQ(dense, (Numbers{0, 0, 1, 2, 0, 0, 3, 4}));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, "needs 9 elements", [&] {
    static_cast<void>(
        tnr::SparseView::bsr<std::int64_t, float>(3, 3, 3, 3, offsets, columns, values));
  });
}

}  // namespace
