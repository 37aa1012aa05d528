// Every function that computes with a sparse matrix or makes one, and each status that it can answer
// with.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "context_options.hpp"
#include "expect_status.hpp"
#include "memory/slot_table.hpp"
#include "sparse_arrays.hpp"
#include "sparse_calls.hpp"
#include "sparse_functions.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::f32;
using tenure::test::flat_view;
using tenure::test::sparse_functions;
using tenure::test::SparseArrays;
using tenure::test::SparseFunction;
using tenure::test::SparseModel;
using tenure::test::SparseOperands;
using tenure::test::status_of;
using tenure::test::thirds;

namespace {

class SparseStatus : public testing::Test {
 protected:
  // Calls test(function) for each function, and for those that take a CSR matrix.
  template <class Test>
  static void for_each(const Test& test) {
    for (const SparseFunction& function : sparse_functions()) {
      SCOPED_TRACE(function.name());
      test(function);
    }
  }
  template <class Test>
  static void for_each_of_csr(const Test& test) {
    for_each([&](const SparseFunction& function) {
      if (function.takes(TNR_SPARSE_FORMAT_CSR)) test(function);
    });
  }

  // A refusal, after which outputs are as they were.
  static void expect_refusal(tnr_status answer, const SparseOperands& with, tnr_status status,
                             std::initializer_list<std::string> words) {
    expect_refused(answer, status, words);
    EXPECT_TRUE(with.is_unwritten());
  }
  void refuses(const SparseFunction& function, const tnr_sparse_view* a, tnr_status status,
               std::initializer_list<std::string> words, tnr_context* context = nullptr) {
    SparseOperands with(valid);
    expect_refusal(function(context, a, with), with, status, words);
  }
  void refuse(const tnr_sparse_view* a, tnr_status status,
              std::initializer_list<std::string> words) {
    for_each_of_csr([&](const SparseFunction& function) { refuses(function, a, status, words); });
  }
  static void answers(const SparseFunction& function, const tnr_sparse_view& a, tnr_status status,
                      tnr_context* context = nullptr) {
    SparseOperands with(a);
    EXPECT_STREQ(tnr_status_name(function(context, &a, with)), tnr_status_name(status))
        << tnr_last_error()->message;
  }
  tnr_sparse_view view() { return valid; }

  // Square, so that every function takes it.
  SparseArrays arrays{thirds(TNR_SPARSE_FORMAT_CSR, 4, 4), TNR_DTYPE_I32};
  const tnr_sparse_view valid = arrays.view();
};

TEST_F(SparseStatus, Ok) {
  for_each([&](const SparseFunction& function) { answers(function, valid, TNR_STATUS_OK); });
}

TEST_F(SparseStatus, WithoutAMatrix) { refuse(nullptr, TNR_STATUS_INVALID_ARGUMENT, {"is NULL"}); }

TEST_F(SparseStatus, WithoutAnotherOperand) {
  for_each([&](const SparseFunction& function) {
    if (function.has(SparseFunction::kBlocks)) {
      SparseOperands with(valid);
      expect_refusal(function.call(nullptr, &valid, nullptr, with), with,
                     TNR_STATUS_INVALID_ARGUMENT, {"attributes->block_rows is 0", "at least 1"});
    }
    SparseOperands all(valid);
    (void)function(nullptr, &valid, all);
    for (int pointer = 0; pointer < all.pointer_count; ++pointer) {
      SparseOperands with(valid);
      with.null_pointer = pointer;
      expect_refusal(function(nullptr, &valid, with), with, TNR_STATUS_INVALID_ARGUMENT,
                     {"is NULL"});
    }
  });
}

TEST_F(SparseStatus, OfAnotherSize) {
  struct Larger {
    tnr_sparse_view view;
    std::uint64_t unknown[1];
  } larger = {view(), {0}};
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{823}, std::uint64_t{4097}}) {
    larger.view.struct_size = size;
    refuse(&larger.view, TNR_STATUS_INVALID_ARGUMENT,
           {"struct_size is " + std::to_string(size), "at least 824"});
  }
}

TEST_F(SparseStatus, AttributesOfAnotherSize) {
  for_each([&](const SparseFunction& function) {
    const std::uint64_t least = function.attributes.size();
    for (const std::uint64_t size : {std::uint64_t{0}, least - 1, std::uint64_t{4097}}) {
      std::vector<unsigned char> attributes = function.attributes;
      std::memcpy(attributes.data(), &size, sizeof size);
      SparseOperands with(valid);
      expect_refusal(function.call(nullptr, &valid, attributes.data(), with), with,
                     TNR_STATUS_INVALID_ARGUMENT,
                     {"attributes->struct_size is " + std::to_string(size),
                      "at least " + std::to_string(least)});
    }
  });
}

TEST_F(SparseStatus, ContextOfNobody) {
  const tnr_context_options options = tenure::test::options(1);
  tnr_context* const context = tnr_context_create(&options);
  tnr_context_release(context);
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 8);
  for_each([&](const SparseFunction& function) {
    for (tnr_context* const foreign : {context, reinterpret_cast<tnr_context*>(std::uintptr_t{64}),
                                       reinterpret_cast<tnr_context*>(blob)}) {
      refuses(function, &valid, TNR_STATUS_STALE_HANDLE, {"context"}, foreign);
    }
  });
  tnr_blob_release(blob);
}

TEST_F(SparseStatus, OwnerOfNobody) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 8);
  for (const std::uint64_t foreign : {std::uint64_t{17}, reinterpret_cast<std::uint64_t>(blob)}) {
    tnr_sparse_view a = view();
    a.owner = foreign;
    refuse(&a, TNR_STATUS_STALE_VIEW, {"owner is 0x"});
  }
  tnr_blob_release(blob);
}

TEST_F(SparseStatus, PartsOfAnotherOwner) {
  for (const int part : {0, 1, 2}) {
    tnr_sparse_view a = view();
    (part == 0 ? a.major : part == 1 ? a.minor : a.values).owner = 17;
    refuse(&a, TNR_STATUS_STALE_VIEW, {"owner is 0x11"});
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

TEST_F(SparseStatus, OwnersWithAsManyCallsAsCanBeCounted) {
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
    refuse(&a, TNR_STATUS_BUSY, {"owner is in use by 32767 calls"});
  }
  for (const tnr_blob* const blob : blobs) {
    const ManyCalls calls(*tenure::slot_table.find(reinterpret_cast<std::uint64_t>(blob)));
    for_each_of_csr([&](const SparseFunction& function) {
      if (function.function == "tnr_sparse_unary") return;  // it reads the values alone
      refuses(function, &a, TNR_STATUS_BUSY, {"owner is in use by 32767 calls"});
    });
  }
  for_each_of_csr([&](const SparseFunction& function) { answers(function, a, TNR_STATUS_OK); });
  tnr_sparse_release(matrix);
  for (tnr_blob* const blob : blobs) tnr_blob_release(blob);
}

TEST_F(SparseStatus, MemoryOfADevice) {
  for (const int part : {0, 1, 2}) {
    tnr_sparse_view a = view();
    (part == 0 ? a.major : part == 1 ? a.minor : a.values).device.kind = 2;
    for_each_of_csr([&](const SparseFunction& function) {
      // Operations that devices have need a context on the device of the values. This call has
      // none.
      const bool goes_there = part == 2 && function.has(SparseFunction::kDevices);
      refuses(function, &a, goes_there ? TNR_STATUS_INVALID_ARGUMENT : TNR_STATUS_UNSUPPORTED,
              {"device"});
    });
  }
}

TEST_F(SparseStatus, ShapesThatDoNotAgree) {
  tnr_sparse_view a = view();
  a.format = 9;
  refuse(&a, TNR_STATUS_INVALID_ARGUMENT, {"format is 9"});
  a = view();
  a.flags = 1 << 20;
  refuse(&a, TNR_STATUS_INVALID_ARGUMENT, {"flags is 0x100000"});
  a = view();
  a.rows = -1;
  refuse(&a, TNR_STATUS_INVALID_ARGUMENT, {"rows is -1"});
  a = view();
  a.major.shape[0] = 4;
  refuse(&a, TNR_STATUS_INVALID_ARGUMENT, {"row_offsets", "4"});
  a = view();
  a.minor.shape[0] = 7;
  refuse(&a, TNR_STATUS_INVALID_ARGUMENT, {"must be 7, as many as indices"});
  a = view();
  a.minor.dtype = TNR_DTYPE_U32;
  refuse(&a, TNR_STATUS_INVALID_ARGUMENT, {"u32"});
}

TEST_F(SparseStatus, OffsetsAndIndicesOutOfRange) {
  const struct {
    unsigned char* place;
    std::int32_t value;
    std::initializer_list<std::string> words;
  } faults[] = {{arrays.minor() + 8, 4, {"col_indices[2] is 4", "below cols, which is 4"}},
                {arrays.minor() + 8, -7, {"col_indices[2] is -7"}},
                {arrays.major() + 8, 1, {"row_offsets[2] is 1"}},
                {arrays.major() + 8, 9, {"row_offsets[2] is 9"}}};
  for (const auto& fault : faults) {
    std::int32_t before;
    std::memcpy(&before, fault.place, sizeof before);
    std::memcpy(fault.place, &fault.value, sizeof fault.value);
    for_each_of_csr([&](const SparseFunction& function) {
      SparseOperands with(valid);  // outputs may be written in part
      expect_refused(function(nullptr, &valid, with), TNR_STATUS_INVALID_ARGUMENT, fault.words);
    });
    std::memcpy(fault.place, &before, sizeof before);
  }
}

// Functions that select or move entries take values without arithmetic.
TEST_F(SparseStatus, ValuesWithoutArithmetic) {
  tnr_sparse_view a = view();
  a.values = flat_view(arrays.values(), TNR_DTYPE_BOOL8, {8});
  for_each_of_csr([&](const SparseFunction& function) {
    answers(function, a,
            function.has(SparseFunction::kAnyValues) ? TNR_STATUS_OK : TNR_STATUS_UNSUPPORTED);
  });
}

// Results are memory of the context's, and of those that make none the context asks for nothing.
TEST_F(SparseStatus, ContextWithoutMemory) {
  tnr_context_options options = tenure::test::options(1);
  options.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
  options.deallocate = [](void*, void*, std::size_t, std::size_t) {};
  tnr_context* const context = tnr_context_create(&options);
  for_each([&](const SparseFunction& function) {
    answers(function, valid,
            function.has(SparseFunction::kMakes) ? TNR_STATUS_OUT_OF_MEMORY : TNR_STATUS_OK,
            context);
  });
  tnr_context_release(context);
}

// Formats that a function does not take, and matrices without flags.
TEST_F(SparseStatus, FormatsThatItDoesNotTake) {
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    SparseArrays of_format(thirds(format, 4, 4), TNR_DTYPE_I32);
    for (const bool is_flagged : {true, false}) {
      if (!is_flagged) of_format.view().flags = 0;
      for_each_of_csr([&](const SparseFunction& function) {
        SCOPED_TRACE(format);
        const bool is_taken = is_flagged || !function.has(SparseFunction::kOrdered);
        answers(function, of_format.view(),
                !function.takes(format) ? TNR_STATUS_UNSUPPORTED
                : is_taken              ? TNR_STATUS_OK
                                        : TNR_STATUS_INVALID_ARGUMENT);
      });
    }
  }
}

// sddmm may replace the values of its matrix.
TEST_F(SparseStatus, OutputsShareNoByteWithTheMatrix) {
  SparseModel model{.format = TNR_SPARSE_FORMAT_CSR, .rows = 4, .cols = 4, .major = {0}};
  for (std::int64_t entry = 0; entry < 16; ++entry) {
    model.minor.push_back(entry % 4);
    if (entry % 4 == 3) model.major.push_back(entry + 1);
  }
  model.values.assign(32, 1);  // as long as any output
  model.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  SparseArrays full(model, TNR_DTYPE_I32);
  tnr_sparse_view& a = full.view();
  a.values.shape[0] = 16;
  for_each_of_csr([&](const SparseFunction& function) {
    SparseOperands with(a);
    with.output_memory = full.values();
    const tnr_status answer = function(nullptr, &a, with);
    if (with.output_count == 0 || function.function == "tnr_packed_matmul") return;
    EXPECT_STREQ(tnr_status_name(answer),
                 function.function == "tnr_sparse_sddmm" ? "OK" : "ALIASED");
  });
}

// ---- the other operands ----

TEST_F(SparseStatus, OutputsShareNoByteWithOtherOperands) {
  const tnr_sparse_view_mut a = {valid};
  const tnr_view factors = flat_view(arrays.values(), TNR_DTYPE_F32, {4});
  EXPECT_EQ(tnr_sparse_scale(nullptr, &factors, 0, nullptr, &a), TNR_STATUS_ALIASED);
  const tnr_view x = flat_view(arrays.values(), TNR_DTYPE_F32, {4, 1});
  const float ones[4] = {1, 1, 1, 1};
  const tnr_view y = flat_view(ones, TNR_DTYPE_F32, {1, 4});
  const tnr_view_mut entries = {a.view.values};
  const tnr_scalar one = f32(1);
  EXPECT_EQ(tnr_sparse_sddmm(nullptr, &one, &valid, &x, &y, nullptr, &entries), TNR_STATUS_ALIASED);
}

TEST_F(SparseStatus, NoMatricesCannotBeJoined) {
  const auto answer =
      status_of(tnr_sparse_concat(nullptr, TNR_SPARSE_JOIN_ROWS, nullptr, 0, nullptr));
  EXPECT_EQ(answer, TNR_STATUS_INVALID_ARGUMENT);
}

TEST_F(SparseStatus, UnaryIsOfAllOfAHeldMatrix) {
  tnr_sparse* const held = tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSR, &valid, nullptr);
  tnr_sparse_view whole{};
  whole.struct_size = sizeof whole;
  ASSERT_EQ(tnr_sparse_view_of(held, &whole), TNR_STATUS_OK);
  const auto unary = [](const tnr_sparse_view* a, tnr_unary_op op, tnr_status status,
                        std::initializer_list<std::string> words) {
    expect_refused(tnr_sparse_unary(nullptr, op, a, nullptr), status, words);
  };
  unary(nullptr, TNR_UNARY_OP_NEG, TNR_STATUS_INVALID_ARGUMENT, {"a is NULL"});
  unary(&valid, TNR_UNARY_OP_NEG, TNR_STATUS_INVALID_ARGUMENT, {"a.owner is 0"});
  unary(&whole, TNR_UNARY_OP_EXP, TNR_STATUS_UNSUPPORTED, {"exp"});
  unary(&whole, 77, TNR_STATUS_INVALID_ARGUMENT, {"77"});
  tnr_sparse_view part = whole;
  part.rows = 2;
  part.major.shape[0] = 3;
  unary(&part, TNR_UNARY_OP_NEG, TNR_STATUS_INVALID_ARGUMENT, {"rows of its owner"});
  tnr_sparse_release(held);
  unary(&whole, TNR_UNARY_OP_NEG, TNR_STATUS_STALE_VIEW, {"a.owner"});
}

}  // namespace
