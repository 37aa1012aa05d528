// Every function that computes with a sparse matrix, and each status that it can answer with.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "context_options.hpp"
#include "expect_status.hpp"
#include "memory/slot_table.hpp"
#include "sparse_arrays.hpp"
#include "sparse_calls.hpp"
#include "tenure/tenure.h"

using tenure::test::csr_model;
using tenure::test::expect_last_error;
using tenure::test::f32;
using tenure::test::flat_view;
using tenure::test::options_of;
using tenure::test::SparseArrays;
using tenure::test::SparseModel;
using tenure::test::status_of;

namespace {

// [[1 0 2], [0 3 0], [4 0 5]]: square, so that every function takes it.
SparseModel square_model() {
  return {.rows = 3,
          .cols = 3,
          .major = {0, 2, 3, 5},
          .minor = {0, 2, 1, 0, 2},
          .values = {1, 2, 3, 4, 5},
          .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE};
}

// Dense operands of all functions, right for square_model(). A test makes one of them wrong.
struct Operands {
  float memory[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  float written[16] = {};
  tnr_scalar alpha = f32(1);
  tnr_scalar beta = f32(0);
  tnr_sparse_options options = options_of(TNR_SPARSE_FORMAT_CSR);
  tnr_sparse_options choice = options_of(0);
  tnr_view line = flat_view(memory, TNR_DTYPE_F32, {3});
  tnr_view table = flat_view(memory, TNR_DTYPE_F32, {3, 3});
  tnr_view_mut out_line = {flat_view(written, TNR_DTYPE_F32, {3})};
  tnr_view_mut out_table = {flat_view(written, TNR_DTYPE_F32, {3, 3})};
  tnr_view_mut out_entries = {flat_view(written, TNR_DTYPE_F32, {5})};
  std::int32_t listed[2] = {2, 0};
  tnr_view numbers = flat_view(listed, TNR_DTYPE_I32, {2});
  double norm = 0;
};

struct Function {
  const char* name;
  std::function<tnr_status(tnr_context*, const tnr_sparse_view*, Operands&)> call;
};

const Function kFunctions[] = {
    {"convert",
     [](auto* context, auto* a, Operands& with) {
       return status_of(tnr_sparse_convert(context, a, &with.options));
     }},
    {"coalesce",
     [](auto* context, auto* a, Operands&) {
       return status_of(tnr_sparse_coalesce(context, TNR_SPARSE_COMBINE_SUM, a, nullptr));
     }},
    {"prune", [](auto* context, auto* a,
                 Operands& with) { return status_of(tnr_sparse_prune(context, a, &with.choice)); }},
    {"top_k",
     [](auto* context, auto* a, Operands&) {
       return status_of(tnr_sparse_top_k(context, TNR_SPARSE_ORDER_VALUE, a, 1, nullptr));
     }},
    {"to_dense",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_to_dense(context, a, nullptr, &with.out_table);
     }},
    {"product", [](auto* context, auto* a,
                   Operands&) { return status_of(tnr_sparse_product(context, a, a, nullptr)); }},
    {"matmul",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_matmul(context, TNR_ORIENTATION_AS_IS, &with.alpha, a, &with.line,
                                &with.beta, nullptr, &with.out_line);
     }},
    {"select",
     [](auto* context, auto* a, Operands& with) {
       return status_of(tnr_sparse_select(context, a, &with.numbers, nullptr, nullptr));
     }},
    {"slice",
     [](auto* context, auto* a, Operands&) {
       return status_of(tnr_sparse_slice(context, a, 0, 2, 1, 2, nullptr));
     }},
    {"concat",
     [](auto* context, auto* a, Operands&) {
       const tnr_sparse_view* const parts[] = {a, a};
       return status_of(tnr_sparse_concat(context, TNR_SPARSE_JOIN_DIAGONAL, parts, 2, nullptr));
     }},
    {"kron", [](auto* context, auto* a,
                Operands&) { return status_of(tnr_sparse_kron(context, a, a, nullptr)); }},
    {"triangular",
     [](auto* context, auto* a, Operands&) {
       return status_of(tnr_sparse_triangular(context, TNR_TRIANGLE_UPPER, a, nullptr));
     }},
    {"product_masked",
     [](auto* context, auto* a, Operands&) {
       return status_of(tnr_sparse_product_masked(context, a, a, a, nullptr));
     }},
    {"pack",
     [](auto* context, auto* a, Operands&) {
       tnr_packed* const packed = tnr_packed_create(context, a, nullptr);
       return packed == nullptr ? tnr_last_error()->status : tnr_packed_release(packed);
     }},
    {"sddmm",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_sddmm(context, &with.alpha, a, &with.table, &with.table, nullptr,
                               &with.out_entries);
     }},
    {"binary",
     [](auto* context, auto* a, Operands&) {
       return status_of(tnr_sparse_binary(context, TNR_BINARY_OP_ADD, a, a, nullptr));
     }},
    {"accumulate",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_accumulate(context, a, nullptr, &with.out_table);
     }},
    {"scale",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_scale(context, &with.line, 0, nullptr,
                               reinterpret_cast<const tnr_sparse_view_mut*>(a));
     }},
    {"softmax",
     [](auto* context, auto* a, Operands&) {
       return tnr_sparse_softmax(context, nullptr, reinterpret_cast<const tnr_sparse_view_mut*>(a));
     }},
    {"reduce",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_reduce(context, TNR_REDUCE_OP_SUM, a, 1, nullptr, &with.out_line);
     }},
    {"norm",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_norm(context, TNR_SPARSE_NORM_KIND_ONE, a, nullptr, &with.norm);
     }},
    {"diagonal",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_diagonal(context, a, nullptr, &with.out_line);
     }},
    {"solve",
     [](auto* context, auto* a, Operands& with) {
       return tnr_sparse_solve(context, a, &with.line, nullptr, &with.out_line);
     }},
};

class SparseStatus : public testing::TestWithParam<Function> {
 protected:
  void refuses(const tnr_sparse_view* a, tnr_status status,
               std::initializer_list<std::string> words, tnr_context* context = nullptr) {
    Operands with;
    EXPECT_STREQ(tnr_status_name(GetParam().call(context, a, with)), tnr_status_name(status));
    expect_last_error(status, words);
  }
  tnr_sparse_view view() { return arrays.view(); }

  SparseArrays arrays{square_model(), TNR_DTYPE_I32};
};

TEST_P(SparseStatus, Ok) {
  Operands with;
  const tnr_sparse_view a = view();
  EXPECT_STREQ(tnr_status_name(GetParam().call(nullptr, &a, with)), "OK")
      << tnr_last_error()->message;
}

TEST_P(SparseStatus, WithoutAMatrix) { refuses(nullptr, TNR_STATUS_INVALID_ARGUMENT, {"is NULL"}); }

TEST_P(SparseStatus, OfAnotherSize) {
  struct Larger {
    tnr_sparse_view view;
    std::uint64_t unknown[1];
  } larger = {view(), {0}};
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{823}, std::uint64_t{4097}}) {
    larger.view.struct_size = size;
    refuses(&larger.view, TNR_STATUS_INVALID_ARGUMENT,
            {"struct_size is " + std::to_string(size), "at least 824"});
  }
}

TEST_P(SparseStatus, ContextOfNobody) {
  const tnr_sparse_view a = view();
  const tnr_context_options options = tenure::test::options(1);
  tnr_context* const context = tnr_context_create(&options);
  tnr_context_release(context);
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 8);
  for (tnr_context* const foreign : {context, reinterpret_cast<tnr_context*>(std::uintptr_t{64}),
                                     reinterpret_cast<tnr_context*>(blob)}) {
    refuses(&a, TNR_STATUS_STALE_HANDLE, {"context"}, foreign);
  }
  tnr_blob_release(blob);
}

TEST_P(SparseStatus, OwnerOfNobody) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 8);
  for (const std::uint64_t foreign : {std::uint64_t{17}, reinterpret_cast<std::uint64_t>(blob)}) {
    tnr_sparse_view a = view();
    a.owner = foreign;
    refuses(&a, TNR_STATUS_STALE_VIEW, {"owner is 0x"});
  }
  tnr_blob_release(blob);
}

TEST_P(SparseStatus, PartsOfAnotherOwner) {
  for (const int part : {0, 1, 2}) {
    tnr_sparse_view a = view();
    (part == 0 ? a.major : part == 1 ? a.minor : a.values).owner = 17;
    refuses(&a, TNR_STATUS_STALE_VIEW, {"owner is 0x11"});
  }
}

// Adds kMaxPins pins to the slot, as if that number of calls were in progress.
class ManyCalls {
 public:
  explicit ManyCalls(tenure::BlobSlot& slot) : slot_(slot) {
    slot_.word.fetch_add(tenure::kMaxPins * tenure::kOnePin);
  }
  ManyCalls(const ManyCalls&) = delete;
  ManyCalls& operator=(const ManyCalls&) = delete;
  ~ManyCalls() { slot_.word.fetch_sub(tenure::kMaxPins * tenure::kOnePin); }

 private:
  tenure::BlobSlot& slot_;
};

TEST_P(SparseStatus, OwnersWithAsManyCallsAsCanBeCounted) {
  tnr_sparse_view parts = view();
  tnr_blob* blobs[3];
  tnr_view* const views[] = {&parts.major, &parts.minor, &parts.values};
  for (int i = 0; i < 3; ++i) {
    blobs[i] = tnr_blob_copy(nullptr, views[i]->base, views[i]->size_bytes);
    views[i]->owner = reinterpret_cast<std::uint64_t>(blobs[i]);
    views[i]->data = views[i]->base = tnr_blob_data(blobs[i]);
  }
  tnr_sparse* const matrix = tnr_sparse_create(&parts);
  ASSERT_NE(matrix, nullptr);
  tnr_sparse_view a{};
  a.struct_size = sizeof a;
  ASSERT_EQ(tnr_sparse_view_of(matrix, &a), TNR_STATUS_OK);
  {
    const ManyCalls calls(*tenure::sparse_table.find(a.owner));
    refuses(&a, TNR_STATUS_BUSY, {"owner is in use by 32767 calls"});
  }
  for (const tnr_blob* const blob : blobs) {
    const ManyCalls calls(*tenure::slot_table.find(reinterpret_cast<std::uint64_t>(blob)));
    refuses(&a, TNR_STATUS_BUSY, {"owner is in use by 32767 calls"});
  }
  Operands with;
  EXPECT_EQ(GetParam().call(nullptr, &a, with), TNR_STATUS_OK) << tnr_last_error()->message;
  tnr_sparse_release(matrix);
  for (tnr_blob* const blob : blobs) tnr_blob_release(blob);
}

TEST_P(SparseStatus, MemoryOfADevice) {
  for (const int part : {0, 1, 2}) {
    tnr_sparse_view a = view();
    (part == 0 ? a.major : part == 1 ? a.minor : a.values).device.kind = 2;
    // Operations that devices have need a context on the device of the values. This call has none.
    const std::string_view name = GetParam().name;
    const bool goes_there = part == 2 && (name == "coalesce" || name == "convert");
    refuses(&a, goes_there ? TNR_STATUS_INVALID_ARGUMENT : TNR_STATUS_UNSUPPORTED, {"device"});
  }
}

TEST_P(SparseStatus, ShapesThatDoNotAgree) {
  tnr_sparse_view a = view();
  a.format = 9;
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"format is 9"});
  a = view();
  a.flags = 1 << 20;
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"flags is 0x100000"});
  a = view();
  a.rows = -1;
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"rows is -1"});
  a = view();
  a.major.shape[0] = 3;
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"row_offsets", "3"});
  a = view();
  a.minor.shape[0] = 4;
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"must be 4, as many as indices"});
  a = view();
  a.minor.dtype = TNR_DTYPE_U32;
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"u32"});
}

TEST_P(SparseStatus, OffsetsAndIndicesOutOfRange) {
  const std::int32_t far = 3;
  std::memcpy(arrays.minor() + 8, &far, sizeof far);
  const tnr_sparse_view a = view();
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"col_indices[2] is 3", "below cols, which is 3"});
  const std::int32_t negative = -7;
  std::memcpy(arrays.minor() + 8, &negative, sizeof negative);
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"col_indices[2] is -7"});
  const std::int32_t one = 1;
  std::memcpy(arrays.minor() + 8, &one, sizeof one);
  const std::int32_t falls = 1;
  std::memcpy(arrays.major() + 8, &falls, sizeof falls);
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"row_offsets[2] is 1"});
  const std::int32_t beyond = 6;
  std::memcpy(arrays.major() + 8, &beyond, sizeof beyond);
  refuses(&a, TNR_STATUS_INVALID_ARGUMENT, {"row_offsets[2] is 6"});
}

// Functions that select or move entries take values without arithmetic.
TEST_P(SparseStatus, ValuesWithoutArithmetic) {
  const std::string name = GetParam().name;
  tnr_sparse_view a = view();
  a.values = flat_view(arrays.values(), TNR_DTYPE_BOOL8, {5});
  Operands with;
  for (tnr_view* const dense : {&with.line, &with.table, &with.out_line.view, &with.out_table.view,
                                &with.out_entries.view}) {
    dense->dtype = TNR_DTYPE_BOOL8;
  }
  const bool moves = name == "convert" || name == "prune" || name == "to_dense" ||
                     name == "select" || name == "slice" || name == "concat" ||
                     name == "triangular";
  EXPECT_STREQ(tnr_status_name(GetParam().call(nullptr, &a, with)),
               tnr_status_name(moves ? TNR_STATUS_OK : TNR_STATUS_UNSUPPORTED))
      << tnr_last_error()->message;
}

// Results are memory of the context's, and of those that make none the context asks for nothing.
TEST_P(SparseStatus, ContextWithoutMemory) {
  tnr_context_options options = tenure::test::options(1);
  options.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
  options.deallocate = [](void*, void*, std::size_t, std::size_t) {};
  tnr_context* const context = tnr_context_create(&options);
  const tnr_sparse_view a = view();
  Operands with;
  const std::string name = GetParam().name;
  const bool makes = name == "convert" || name == "coalesce" || name == "prune" ||
                     name == "top_k" || name == "product" || name == "product_masked" ||
                     name == "binary" || name == "select" || name == "slice" || name == "concat" ||
                     name == "kron" || name == "triangular" || name == "pack";
  EXPECT_STREQ(tnr_status_name(GetParam().call(context, &a, with)),
               tnr_status_name(makes ? TNR_STATUS_OUT_OF_MEMORY : TNR_STATUS_OK))
      << tnr_last_error()->message;
  tnr_context_release(context);
}

// Which formats a function does not take.
TEST_P(SparseStatus, FormatsThatItDoesNotTake) {
  const std::string name = GetParam().name;
  const bool takes_all =
      name == "convert" || name == "to_dense" || name == "matmul" || name == "sddmm";
  const bool takes_coo = takes_all || name == "coalesce" || name == "prune" || name == "concat";
  const bool is_of_rows = name == "softmax" || name == "solve" || name == "top_k" || name == "pack";
  const struct {
    tnr_sparse_format format;
    bool is_taken;
  } cases[] = {{TNR_SPARSE_FORMAT_COO, takes_coo},
               {TNR_SPARSE_FORMAT_CSC, !is_of_rows},
               {TNR_SPARSE_FORMAT_BSR, takes_all}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.format);
    tnr_sparse_view a = view();
    a.format = one.format;
    if (one.format == TNR_SPARSE_FORMAT_COO) a.major = a.minor;
    if (one.format == TNR_SPARSE_FORMAT_BSR) {
      const std::int64_t shape[] = {5, 1, 1};
      for (const int axis : {0, 1, 2}) a.values.shape[axis] = a.values.strides[axis] = shape[axis];
      a.values.strides[0] = 1;
      a.values.rank = 3;
    }
    a.flags = 0;
    if (name == "binary" || name == "norm") a.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
    Operands with;
    if (one.format == TNR_SPARSE_FORMAT_BSR) with.out_entries.view = a.values;
    float entries[5] = {};
    with.out_entries.view.data = with.out_entries.view.base = entries;
    EXPECT_STREQ(tnr_status_name(GetParam().call(nullptr, &a, with)),
                 tnr_status_name(one.is_taken ? TNR_STATUS_OK : TNR_STATUS_UNSUPPORTED))
        << tnr_last_error()->message;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, SparseStatus, testing::ValuesIn(kFunctions),
                         [](const auto& function) { return std::string(function.param.name); });

// ---- the other operands ----

TEST(SparseOperands, NoneMayBeNull) {
  SparseArrays arrays(square_model(), TNR_DTYPE_I32);
  const tnr_sparse_view& a = arrays.view();
  const auto* const values = reinterpret_cast<const tnr_sparse_view_mut*>(&a);
  Operands with;
  const tnr_orientation as_is = TNR_ORIENTATION_AS_IS;
  const struct {
    const char* name;
    tnr_status answer;
  } cases[] = {
      {"options", status_of(tnr_sparse_convert(nullptr, &a, nullptr))},
      {"options", status_of(tnr_sparse_prune(nullptr, &a, nullptr))},
      {"options", status_of(tnr_sparse_from_dense(nullptr, &with.table, nullptr))},
      {"dense", status_of(tnr_sparse_from_dense(nullptr, nullptr, &with.options))},
      {"b", status_of(tnr_sparse_product(nullptr, &a, nullptr, nullptr))},
      {"b", status_of(tnr_sparse_binary(nullptr, TNR_BINARY_OP_ADD, &a, nullptr, nullptr))},
      {"b", status_of(tnr_sparse_kron(nullptr, &a, nullptr, nullptr))},
      {"parts", status_of(tnr_sparse_concat(nullptr, TNR_SPARSE_JOIN_ROWS, nullptr, 1, nullptr))},
      {"parts", status_of(tnr_sparse_concat(nullptr, TNR_SPARSE_JOIN_ROWS, nullptr, 0, nullptr))},
      {"a", status_of(tnr_sparse_unary(nullptr, TNR_UNARY_OP_NEG, nullptr, nullptr))},
      {"out", tnr_sparse_to_dense(nullptr, &a, nullptr, nullptr)},
      {"out", tnr_sparse_accumulate(nullptr, &a, nullptr, nullptr)},
      {"out", tnr_sparse_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, nullptr)},
      {"out", tnr_sparse_norm(nullptr, TNR_SPARSE_NORM_KIND_ONE, &a, nullptr, nullptr)},
      {"out", tnr_sparse_diagonal(nullptr, &a, nullptr, nullptr)},
      {"out", tnr_sparse_solve(nullptr, &a, &with.line, nullptr, nullptr)},
      {"b", tnr_sparse_solve(nullptr, &a, nullptr, nullptr, &with.out_line)},
      {"factors", tnr_sparse_scale(nullptr, nullptr, 0, nullptr, values)},
      {"alpha", tnr_sparse_matmul(nullptr, as_is, nullptr, &a, &with.line, &with.beta, nullptr,
                                  &with.out_line)},
      {"b", tnr_sparse_matmul(nullptr, as_is, &with.alpha, &a, nullptr, &with.beta, nullptr,
                              &with.out_line)},
      {"beta", tnr_sparse_matmul(nullptr, as_is, &with.alpha, &a, &with.line, nullptr, nullptr,
                                 &with.out_line)},
      {"out", tnr_sparse_matmul(nullptr, as_is, &with.alpha, &a, &with.line, &with.beta, nullptr,
                                nullptr)},
      {"alpha", tnr_sparse_sddmm(nullptr, nullptr, &a, &with.table, &with.table, nullptr,
                                 &with.out_entries)},
      {"x", tnr_sparse_sddmm(nullptr, &with.alpha, &a, nullptr, &with.table, nullptr,
                             &with.out_entries)},
      {"y", tnr_sparse_sddmm(nullptr, &with.alpha, &a, &with.table, nullptr, nullptr,
                             &with.out_entries)},
      {"out",
       tnr_sparse_sddmm(nullptr, &with.alpha, &a, &with.table, &with.table, nullptr, nullptr)},
  };
  for (const auto& one : cases) {
    EXPECT_STREQ(tnr_status_name(one.answer), "INVALID_ARGUMENT") << one.name;
  }
}

TEST(SparseOperands, OptionsOfAnotherSize) {
  SparseArrays arrays(square_model(), TNR_DTYPE_I32);
  Operands with;
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{255}, std::uint64_t{4097}}) {
    with.options.struct_size = with.choice.struct_size = size;
    for (tnr_sparse* const made : {tnr_sparse_convert(nullptr, &arrays.view(), &with.options),
                                   tnr_sparse_prune(nullptr, &arrays.view(), &with.choice),
                                   tnr_sparse_from_dense(nullptr, &with.table, &with.options)}) {
      EXPECT_EQ(made, nullptr);
      expect_last_error(TNR_STATUS_INVALID_ARGUMENT,
                        {"options->struct_size is " + std::to_string(size), "at least 256"});
    }
  }
}

TEST(SparseOperands, OutputsShareNoByteWithAMatrix) {
  SparseArrays arrays(square_model(), TNR_DTYPE_I32);
  const tnr_sparse_view& a = arrays.view();
  Operands with;
  // Three of the matrix's values, where a result of three would go.
  tnr_view_mut line = with.out_line;
  line.view.data = line.view.base = a.values.data;
  tnr_view_mut point = {flat_view(a.values.data, TNR_DTYPE_F32, {1, 1})};
  tnr_sparse_view small = a;
  small.rows = small.cols = 1;
  small.major.shape[0] = 2;
  const std::int32_t none[2] = {0, 0};
  small.major.data = small.major.base = none;
  const struct {
    const char* name;
    tnr_status answer;
  } cases[] = {
      {"matmul", tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &with.alpha, &a, &with.line,
                                   &with.beta, nullptr, &line)},
      {"reduce", tnr_sparse_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, &line)},
      {"diagonal", tnr_sparse_diagonal(nullptr, &a, nullptr, &line)},
      {"solve", tnr_sparse_solve(nullptr, &a, &with.line, nullptr, &line)},
      {"to_dense", tnr_sparse_to_dense(nullptr, &small, nullptr, &point)},
      {"accumulate", tnr_sparse_accumulate(nullptr, &small, nullptr, &point)},
      {"scale", tnr_sparse_scale(nullptr, &line.view, 0, nullptr,
                                 reinterpret_cast<const tnr_sparse_view_mut*>(&a))},
      {"sddmm",
       [&] {
         tnr_view_mut x = {with.table};
         x.view.data = x.view.base = arrays.values();
         x.view.shape[1] = 1;
         x.view.strides[0] = 1;
         tnr_view y = with.table;
         y.shape[0] = 1;
         const tnr_view_mut entries = {a.values};
         return tnr_sparse_sddmm(nullptr, &with.alpha, &a, &x.view, &y, nullptr, &entries);
       }()},
  };
  for (const auto& one : cases) {
    EXPECT_STREQ(tnr_status_name(one.answer), "ALIASED") << one.name;
  }
}

TEST(SparseOperands, UnaryIsOfAllOfAHeldMatrix) {
  SparseArrays arrays(square_model(), TNR_DTYPE_I32);
  Operands with;
  tnr_sparse* const held = tnr_sparse_convert(nullptr, &arrays.view(), &with.options);
  tnr_sparse_view view{};
  view.struct_size = sizeof view;
  ASSERT_EQ(tnr_sparse_view_of(held, &view), TNR_STATUS_OK);
  const auto refuses = [](const tnr_sparse_view& a, tnr_unary_op op, tnr_status status,
                          std::initializer_list<std::string> words) {
    EXPECT_EQ(tnr_sparse_unary(nullptr, op, &a, nullptr), nullptr);
    expect_last_error(status, words);
  };
  refuses(arrays.view(), TNR_UNARY_OP_NEG, TNR_STATUS_INVALID_ARGUMENT, {"a.owner is 0"});
  refuses(view, TNR_UNARY_OP_EXP, TNR_STATUS_UNSUPPORTED, {"exp"});
  refuses(view, 77, TNR_STATUS_INVALID_ARGUMENT, {"77"});
  tnr_sparse_view part = view;
  part.rows = 2;
  part.major.shape[0] = 3;
  refuses(part, TNR_UNARY_OP_NEG, TNR_STATUS_INVALID_ARGUMENT, {"rows of its owner"});
  tnr_sparse_release(held);
  refuses(view, TNR_UNARY_OP_NEG, TNR_STATUS_STALE_VIEW, {"a.owner"});
}

}  // namespace
