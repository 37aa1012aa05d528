// Operands that lie across each other give what dense ones do, and no other byte changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "memory/traffic.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

struct Extents {
  std::int64_t batches;
  std::int64_t rows;
  std::int64_t columns;
  [[nodiscard]] std::int64_t count() const { return batches * rows * columns; }
};

// Elements of a batch of matrices in one of many layouts, most of them without an axis of unit
// steps where another operand has one.
class Placed {
 public:
  Placed(tnr_dtype dtype, const Extents& extents, Random& random)
      : extents_(extents), width_(static_cast<std::int64_t>(element_size(dtype))) {
    std::int64_t steps[3];
    std::int64_t size = 1;
    const bool dense = random() % 2 == 0;
    const std::int64_t step = random() % 8 == 0 ? 3 : 1;
    unsigned order[] = {2, 1, 0};
    if (random() % 3 != 0) std::shuffle(std::begin(order), std::end(order), random);
    const std::int64_t all[3] = {extents.batches, extents.rows, extents.columns};
    size *= step;
    for (const unsigned axis : order) {
      steps[axis] = size;
      size *= all[axis];
      if (dense) continue;
      if (random() % 2 == 0) size += static_cast<std::int64_t>(random() % 40);
      if (random() % 4 == 0) size = (size * width_ + 63) / 64 * 64 / width_;
    }
    const auto offset = static_cast<std::int64_t>(random() % 20);
    memory_.assign(static_cast<std::size_t>((size + offset) * width_), kCanary);
    std::int64_t first = offset;
    for (unsigned axis = 0; axis < 3; ++axis) {
      if (random() % 6 != 0) continue;
      first += (all[axis] - 1) * steps[axis];
      steps[axis] = -steps[axis];
    }
    view_ = view_of(memory_.data(), memory_.size(), first * width_, dtype,
                    {{all[0], steps[0]}, {all[1], steps[1]}, {all[2], steps[2]}});
  }

  // Writes dense elements to their places.
  void fill(const std::vector<Byte>& dense) {
    switch (width_) {
      case 1: return fill_with<std::array<Byte, 1>>(dense);
      case 2: return fill_with<std::array<Byte, 2>>(dense);
      case 4: return fill_with<std::array<Byte, 4>>(dense);
      case 8: return fill_with<std::array<Byte, 8>>(dense);
      default: return fill_with<std::array<Byte, 16>>(dense);
    }
  }

  [[nodiscard]] const tnr_view& view() const { return view_; }
  [[nodiscard]] const std::vector<Byte>& memory() const { return memory_; }
  [[nodiscard]] std::vector<Byte>& memory() { return memory_; }

 private:
  static constexpr Byte kCanary = 0xa5;

  template <class Element>
  void fill_with(const std::vector<Byte>& dense) {
    Byte* const first = memory_.data() + byte_of(view_, {});
    const std::int64_t step = view_.strides[2] * width_;
    const Byte* from = dense.data();
    for (std::int64_t i = 0; i < extents_.batches; ++i) {
      for (std::int64_t j = 0; j < extents_.rows; ++j) {
        Byte* to = first + (i * view_.strides[0] + j * view_.strides[1]) * width_;
        for (std::int64_t k = 0; k < extents_.columns; ++k, to += step, from += width_) {
          std::memcpy(to, from, sizeof(Element));
        }
      }
    }
  }

  Extents extents_;
  std::int64_t width_;
  std::vector<Byte> memory_;
  tnr_view view_;
};

struct Subject {
  std::string name;
  std::vector<tnr_dtype> inputs;
  tnr_dtype output;
  std::function<void(const Context&, const tnr_view*, const tnr_view_mut&)> call;
};

// Numbers of every dtype, none of them 0, but no NaN: which of two NaNs comes out may differ.
std::vector<Byte> elements_of(tnr_dtype dtype, std::int64_t count, Random& random) {
  std::vector<Byte> bytes(element_size(dtype) * static_cast<std::size_t>(count));
  const unsigned mask = dtype == TNR_DTYPE_BOOL8 ? 1 : 0x3f;
  for (Byte& byte : bytes) byte = static_cast<Byte>((random() & mask) | (mask & 0x20));
  return bytes;
}

void expect_as_dense(const Subject& subject, const Context& context, const Extents& extents,
                     Random& random) {
  const std::int64_t count = extents.count();
  std::vector<std::vector<Byte>> dense;
  std::vector<Placed> placed;
  std::vector<tnr_view> flat;
  std::vector<tnr_view> views;
  for (const tnr_dtype dtype : subject.inputs) {
    dense.push_back(elements_of(dtype, count, random));
    placed.emplace_back(dtype, extents, random).fill(dense.back());
  }
  for (std::size_t i = 0; i < placed.size(); ++i) {
    flat.push_back(view_of(dense[i].data(), dense[i].size(), 0, subject.inputs[i], {{count, 1}}));
    views.push_back(placed[i].view());
  }
  std::vector<Byte> results(element_size(subject.output) * static_cast<std::size_t>(count));
  subject.call(Context{}, flat.data(),
               {view_of(results.data(), results.size(), 0, subject.output, {{count, 1}})});
  Placed out(subject.output, extents, random);
  const std::vector<Byte> canaries = out.memory();
  out.fill(results);
  const std::vector<Byte> expected = out.memory();
  out.memory().assign(canaries.begin(), canaries.end());
  subject.call(context, views.data(), {out.view()});
  EXPECT_TRUE(out.memory() == expected) << subject.name << " into " << describe(out.view());
}

std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const tnr_dtype dtype : {TNR_DTYPE_U8, TNR_DTYPE_F16, TNR_DTYPE_F32, TNR_DTYPE_F64}) {
    all.push_back({"add", {dtype, dtype}, dtype, [](auto& context, auto* in, auto& out) {
                     binary(context, TNR_BINARY_OP_ADD, in[0], in[1], out);
                   }});
    all.push_back({"lt", {dtype, dtype}, TNR_DTYPE_BOOL8, [](auto& context, auto* in, auto& out) {
                     compare(context, TNR_COMPARE_OP_LT, in[0], in[1], out);
                   }});
  }
  for (const tnr_dtype dtype : {TNR_DTYPE_I16, TNR_DTYPE_F64, TNR_DTYPE_C128}) {
    all.push_back(
        {"select", {TNR_DTYPE_BOOL8, dtype, dtype}, dtype, [](auto& context, auto* in, auto& out) {
           select(context, in[0], in[1], in[2], out);
         }});
  }
  all.push_back({"cast", {TNR_DTYPE_F64}, TNR_DTYPE_I8, [](auto& context, auto* in, auto& out) {
                   cast(context, in[0], out);
                 }});
  return all;
}

TEST(OperandsAcross, GiveWhatDenseOnesDo) {
  Random random(91);
  for (const Subject& subject : subjects()) {
    for (int round = 0; round < 36; ++round) {
      const auto extent = [&](std::uint64_t most) {
        return static_cast<std::int64_t>(1 + random() % most);
      };
      const Extents shapes[] = {{extent(3), extent(300), extent(300)},
                                {extent(70), extent(40), extent(90)},
                                {extent(300), extent(20), extent(20)}};
      expect_as_dense(subject, Context{}, shapes[round % 3], random);
      if (HasFailure()) return;
    }
  }
}

TEST(OperandsAcross, GiveWhatDenseOnesDoPastTheCaches) {
  Random random(92);
  const TestContext shared(2);
  const Context& two = shared;
  const Context one{};
  for (const Subject& subject : subjects()) {
    if (subject.output == TNR_DTYPE_C128 || subject.name == "lt") continue;  // as select and add
    std::int64_t bytes = static_cast<std::int64_t>(element_size(subject.output));
    for (const tnr_dtype dtype : subject.inputs) {
      bytes += static_cast<std::int64_t>(element_size(dtype));
    }
    const auto rows = static_cast<std::int64_t>(900 + random() % 1000);
    const std::int64_t columns = kStreamedBytes / bytes / rows + 1;
    const Context& context = subject.inputs.size() == 2 ? two : one;
    for (const Extents& extents : {Extents{1, rows, columns}, Extents{columns / 7 + 1, rows, 7},
                                   Extents{7, columns / 7 + 1, rows}}) {
      expect_as_dense(subject, context, extents, random);
      if (HasFailure()) return;
    }
  }
}

TEST(OperandsAcross, AddInPlaceTheTransposedOfAnother) {
  Random random(93);
  const TestContext two(2);
  for (const std::int64_t side : {std::int64_t{65}, std::int64_t{2100}}) {
    const auto cells = static_cast<std::size_t>(side * side);
    std::vector<float> a(cells);
    std::vector<float> b(cells);
    for (float& element : a) element = static_cast<float>(random() % 1000);
    for (float& element : b) element = static_cast<float>(random() % 1000);
    std::vector<float> expected = a;
    for (std::size_t i = 0; i < cells; ++i) {
      expected[i] += b[i % static_cast<std::size_t>(side) * static_cast<std::size_t>(side) +
                       i / static_cast<std::size_t>(side)];
    }
    const tnr_view out =
        view_of(a.data(), cells * sizeof(float), 0, TNR_DTYPE_F32, {{side, side}, {side, 1}});
    const tnr_view turned =
        view_of(b.data(), cells * sizeof(float), 0, TNR_DTYPE_F32, {{side, 1}, {side, side}});
    binary(two, TNR_BINARY_OP_ADD, out, turned, {out});
    EXPECT_TRUE(a == expected) << side;
    const tnr_view itself =
        view_of(a.data(), cells * sizeof(float), 0, TNR_DTYPE_F32, {{side, 1}, {side, side}});
    expect_error(TNR_STATUS_ALIASED, {"out shares bytes with b"},
                 [&] { binary(two, TNR_BINARY_OP_ADD, out, itself, {out}); });
  }
}

}  // namespace
}  // namespace tenure::test
