// Movement of elements, with operands that lie in every order.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "header.hpp"
#include "operands.hpp"
#include "operations.hpp"

namespace tenure::sweeps {
namespace {

// Where the input and the output lie.
struct Lies {
  const char* name;
  Arrangement a;
  Arrangement out;
};
constexpr Lies kArrangements[] = {
    {"side by side", Arrangement::kRowMajor, Arrangement::kRowMajor},
    {"across", Arrangement::kColumnMajor, Arrangement::kRowMajor},
    {"apart", Arrangement::kApart, Arrangement::kApart},
};

// One call: its operands and its output.
struct Call {
  const Operands& with;
  const Lies& lies;
  tnr_dtype dtype;
  std::int64_t rows;
  std::int64_t cols;
  Answer& answer;

  [[nodiscard]] Input input(std::initializer_list<std::int64_t> shape) const {
    return {dtype, shape, lies.a, 0};
  }
  [[nodiscard]] Output output(std::initializer_list<std::int64_t> shape) const {
    return {dtype, shape, with.fill, lies.out};
  }
};

template <class Run>
void add(std::vector<Operation>& list, const char* function, const std::string& variant,
         const Run& run) {
  for (const Lies& lies : kArrangements) {
    list.push_back(
        {function, variant + ", " + lies.name, [=, &lies](const Operands& with, Answer& answer) {
           run(Call{with, lies, with.a.values.dtype, with.a.rows, with.a.cols, answer});
         }});
  }
}

void add_boxes(std::vector<Operation>& list) {
  for (const std::uint32_t axis : {0u, 1u}) {
    add(list, "tnr_concat", "along " + std::to_string(axis), [axis](const Call& call) {
      const Input a = call.input({call.rows, call.cols});
      const tnr_view* const one = a;
      const tnr_view parts[] = {*one, *one};
      const Output out = axis == 0 ? call.output({2 * call.rows, call.cols})
                                   : call.output({call.rows, 2 * call.cols});
      (void)call.answer.succeeds(tnr_concat(call.with.context, parts, 2, axis, nullptr, out));
      out.give(call.answer);
    });
  }
  for (const Constant& mode : codes_of("tnr_pad_mode")) {
    add(list, "tnr_pad", mode.name, [code = mode.value](const Call& call) {
      tnr_pad_attributes around = {};
      around.struct_size = sizeof around;
      around.before[0] = 2;
      around.before[1] = 3;
      const Input a = call.input({call.rows, call.cols});
      const Output out = call.output({call.rows + 3, call.cols + 9});
      (void)call.answer.succeeds(
          tnr_pad(call.with.context, static_cast<tnr_pad_mode>(code), a, &around, out));
      out.give(call.answer);
    });
  }
  for (const Constant& part : codes_of("tnr_triangle")) {
    add(list, "tnr_triangular", part.name, [code = part.value](const Call& call) {
      const Input a = call.input({call.rows, call.cols});
      const Output out = call.output({call.rows, call.cols});
      (void)call.answer.succeeds(
          tnr_triangular(call.with.context, static_cast<tnr_triangle>(code), a, nullptr, out));
      out.give(call.answer);
    });
  }
}

// Indices along the columns. The first column is among them, if the extent is not 0.
std::vector<std::int64_t> some_of(std::int64_t extent) {
  return {0, extent / 2, extent > 0 ? extent - 1 : 0, 0, extent / 3};
}

void add_indexed(std::vector<Operation>& list) {
  add(list, "tnr_take", "columns", [](const Call& call) {
    const Input a = call.input({call.rows, call.cols});
    const Output out = call.output({call.rows, 5});
    (void)call.answer.succeeds(
        tnr_take(call.with.context, a, 1, Numbers(some_of(call.cols)), nullptr, out));
    out.give(call.answer);
  });
  add(list, "tnr_take", "rows", [](const Call& call) {
    const Input a = call.input({call.rows, call.cols});
    const Output out = call.output({5, call.cols});
    (void)call.answer.succeeds(
        tnr_take(call.with.context, a, 0, Numbers(some_of(call.rows)), nullptr, out));
    out.give(call.answer);
  });
  add(list, "tnr_gather", "", [](const Call& call) {
    const Input a = call.input({call.cols});
    const Output out = call.output({5});
    (void)call.answer.succeeds(
        tnr_gather(call.with.context, a, 0, Numbers(some_of(call.cols)), nullptr, out));
    out.give(call.answer);
  });
  std::vector<std::pair<tnr_binary_op, std::string>> writes = {{0, "plain"}};
  for (const Constant& op : codes_of("tnr_binary_op")) {
    if (op.value > TNR_BINARY_OP_MAX) continue;
    writes.emplace_back(static_cast<tnr_binary_op>(op.value), op.name.substr(std::strlen("TNR_")));
  }
  for (const auto& [op, name] : writes) {
    add(list, "tnr_put", name + " of rows", [op = op](const Call& call) {
      const Input a = call.input({5, call.cols});
      Output out = call.output({call.rows, call.cols});
      out.put_numbers();
      (void)call.answer.succeeds(
          tnr_put(call.with.context, op, a, 0, Numbers(some_of(call.rows)), nullptr, out));
      out.give(call.answer);
    });
    add(list, "tnr_scatter", name, [op = op](const Call& call) {
      const Input a = call.input({5});
      Output out = call.output({call.cols});
      out.put_numbers();
      (void)call.answer.succeeds(
          tnr_scatter(call.with.context, op, a, 0, Numbers(some_of(call.cols)), nullptr, out));
      out.give(call.answer);
    });
  }
}

void add_found(std::vector<Operation>& list) {
  const auto give = [](const Call& call, tnr_blob* blob, const tnr_view_mut& found) {
    if (call.answer.succeeds(blob != nullptr ? TNR_STATUS_OK : tnr_last_error()->status)) {
      call.answer.add_elements("out", found.view);
    }
    (void)tnr_blob_release(blob);
  };
  add(list, "tnr_nonzero", "", [give](const Call& call) {
    const Input a = call.input({call.rows, call.cols});
    tnr_view_mut found = {};
    tnr_blob* const blob = tnr_nonzero(call.with.context, a, nullptr, &found);
    give(call, blob, found);
  });
  add(list, "tnr_masked_select", "", [give](const Call& call) {
    const Input a = call.input({call.rows, call.cols});
    const Input mask(TNR_DTYPE_BOOL8, {call.cols}, call.lies.a, 1);
    tnr_view_mut found = {};
    tnr_blob* const blob = tnr_masked_select(call.with.context, a, mask, nullptr, &found);
    give(call, blob, found);
  });
}

}  // namespace

void add_movement_operations(std::vector<Operation>& list) {
  add_boxes(list);
  add_indexed(list);
  add_found(list);
}

}  // namespace tenure::sweeps
