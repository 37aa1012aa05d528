#include "operations.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "given_attributes.hpp"
#include "header.hpp"
#include "operands.hpp"

namespace tenure::sweeps {
namespace {

using test::attributes;
using List = std::vector<Operation>;

constexpr std::int64_t kWidths[] = {3, 40};  // columns of dense factors: few, and more than a panel

tnr_scalar scalar(tnr_dtype dtype, std::int64_t number) {
  tnr_scalar value = {};
  value.dtype = dtype;
  put_number(dtype, number, value.bytes);
  return value;
}

std::string short_name(const Constant& constant) {
  return constant.name.substr(std::strlen("TNR_"));
}

// Attributes for a result of this format, with blocks that divide the shape.
template <class Attributes>
Attributes attributes_for(tnr_sparse_format format, const tnr_sparse_view& a) {
  Attributes given = {};
  given.struct_size = sizeof given;
  if (format != TNR_SPARSE_FORMAT_BSR) return given;
  given.block_rows = a.rows % 4 == 0 ? 4 : 1;
  given.block_cols = a.cols % 2 == 0 ? 2 : 1;
  return given;
}

// A copy in the same format, which has the same flags and is held.
Handle held(const Operands& with) {
  const tnr_sparse_convert_attributes blocks = test::blocks_like(with.a);
  return Handle(tnr_sparse_convert(with.context, with.a.format, &with.a, &blocks));
}

// ---- handles, checks ----

tnr_view part_of_blob(const tnr_view& part, tnr_blob* blob) {
  tnr_view view = {};
  const bool is_there =
      tnr_blob_view(blob, 0, part.dtype, part.rank, part.shape, nullptr, &view) == TNR_STATUS_OK;
  return is_there ? view : tnr_view{};
}

void create(const Operands& with, Answer& answer) {
  tnr_sparse_view parts = with.a;
  parts.owner = 0;
  std::vector<tnr_blob*> blobs;
  for (tnr_view* part : {&parts.major, &parts.minor, &parts.values}) {
    const Bytes bytes = elements_of(*part);
    blobs.push_back(tnr_blob_copy(with.context, bytes.data(), bytes.size()));
    *part = part_of_blob(*part, blobs.back());
  }
  answer.take(tnr_sparse_create(&parts));
  for (tnr_blob* const blob : blobs) tnr_blob_release(blob);
}

// Makes all calls of a handle that compute nothing.
void walk_handle(const Operands& with, Answer& answer) {
  Handle first = held(with);
  if (first == nullptr) return (void)answer.succeeds(tnr_last_error()->status);
  tnr_blob* blobs[4] = {};
  if (answer.succeeds(tnr_sparse_parts(first, &blobs[0], &blobs[1], &blobs[2])) &&
      answer.succeeds(tnr_sparse_batch_offsets(first, &blobs[3]))) {
    answer.take(tnr_sparse_retain(first));
  }
  for (tnr_blob* const blob : blobs) tnr_blob_release(blob);
}

void add_checks(List& list) {
  list.push_back({"tnr_sparse_check", "", [](const Operands& with, Answer& answer) {
                    (void)answer.succeeds(tnr_sparse_check(&with.a));
                  }});
  list.push_back({"tnr_sparse_check", "of a batch", [](const Operands& with, Answer& answer) {
                    (void)answer.succeeds(tnr_sparse_check(Batch(with.a)));
                  }});
  list.push_back({"tnr_sparse_check_mut", "", [](const Operands& with, Answer& answer) {
                    const OwnValues a(with.a);
                    (void)answer.succeeds(tnr_sparse_check_mut(a));
                    a.give(answer);
                  }});
  list.push_back({"tnr_sparse_create", "", create});
  for (const char* const function : {"tnr_sparse_retain", "tnr_sparse_view_of", "tnr_sparse_parts",
                                     "tnr_sparse_batch_offsets", "tnr_sparse_release"}) {
    list.push_back({function, "", walk_handle});
  }
  list.push_back({"tnr_sparse_lend", "", [](const Operands& with, Answer& answer) {
                    const tnr_sparse_view& a = with.a;
                    tnr_sparse_view lent = {};
                    lent.struct_size = sizeof lent;
                    const Bytes major = elements_of(a.major);
                    const Bytes minor = elements_of(a.minor);
                    const Bytes values = elements_of(a.values);
                    const tnr_status status =
                        tnr_sparse_lend(a.format, a.rows, a.cols, a.minor.dtype, major.data(),
                                        major.size(), minor.data(), minor.size(), a.values.dtype,
                                        values.data(), values.size(), &lent);
                    if (!answer.succeeds(status)) return;
                    lent.flags = a.flags;
                    (void)answer.succeeds(tnr_sparse_check(&lent));
                  }});
  list.push_back({"tnr_sparse_batch_at", "", [](const Operands& with, Answer& answer) {
                    const Batch batch(with.a);
                    tnr_sparse_view second = {};
                    second.struct_size = sizeof second;
                    if (!answer.succeeds(tnr_sparse_batch_at(batch, 1, &second))) return;
                    answer.add_elements("offsets or rows", second.major);
                    answer.add_elements("indices", second.minor);
                    answer.add_elements("values", second.values);
                  }});
}

// ---- from sparse to sparse ----

// A sorted result says that it is.
void expect_order(std::uint32_t flags, Answer& answer) {
  if (answer.made == nullptr || (flags & TNR_CONVERT_SORT) == 0) return;
  if ((answer.made.view().flags & TNR_SPARSE_SORTED) == 0) answer.fault = "SORT is not SORTED";
}

void add_conversions(List& list) {
  for (const Constant& format : codes_of("tnr_sparse_format")) {
    for (const std::uint32_t flags : {0, TNR_CONVERT_SORT}) {
      const std::string name = "to " + short_name(format) + (flags != 0 ? ", sorted" : "");
      const auto to = static_cast<tnr_sparse_format>(format.value);
      const auto attributes_to = [=](const tnr_sparse_view& a) {
        auto given = attributes_for<tnr_sparse_convert_attributes>(to, a);
        given.flags = flags;
        return given;
      };
      for (const tnr_dtype index :
           {tnr_dtype{0}, tnr_dtype{TNR_DTYPE_I32}, tnr_dtype{TNR_DTYPE_I64}}) {
        list.push_back({"tnr_sparse_convert",
                        name + (index == 0 ? "" : std::string(", ") + tnr_dtype_name(index)),
                        [=](const Operands& with, Answer& answer) {
                          tnr_sparse_convert_attributes given = attributes_to(with.a);
                          given.index_dtype = index;
                          answer.take(tnr_sparse_convert(with.context, to, &with.a, &given));
                          expect_order(flags, answer);
                        }});
      }
      list.push_back(
          {"tnr_sparse_convert", name + ", of a batch", [=](const Operands& with, Answer& answer) {
             const tnr_sparse_convert_attributes given = attributes_to(with.a);
             answer.take(tnr_sparse_convert(with.context, to, Batch(with.a), &given));
             expect_order(flags, answer);
           }});
    }
  }
  // The blocks that there are.
  list.push_back(
      {"tnr_sparse_convert", "to its own format", [](const Operands& with, Answer& answer) {
         Handle copy = held(with);
         if (copy == nullptr) return (void)answer.succeeds(tnr_last_error()->status);
         answer.take(tnr_sparse_retain(copy));
       }});
}

void add_prunings(List& list) {
  for (const Constant& combine : codes_of("tnr_sparse_combine")) {
    list.push_back(
        {"tnr_sparse_coalesce", short_name(combine), [=](const Operands& with, Answer& answer) {
           answer.take(tnr_sparse_coalesce(
               with.context, static_cast<tnr_sparse_combine>(combine.value), &with.a, nullptr));
         }});
  }
  for (const Constant& predicate : codes_of("tnr_sparse_predicate")) {
    const bool is_non_zero = predicate.value == TNR_SPARSE_PREDICATE_NON_ZERO;
    for (const std::uint32_t flags : {0, TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO}) {
      if (flags != 0 && !is_non_zero) continue;
      list.push_back({"tnr_sparse_prune", short_name(predicate) + (flags != 0 ? ", -0.0 kept" : ""),
                      [=](const Operands& with, Answer& answer) {
                        tnr_sparse_prune_attributes keep = {};
                        keep.struct_size = sizeof keep;
                        keep.predicate = static_cast<tnr_sparse_predicate>(predicate.value);
                        keep.flags = flags;
                        if (!is_non_zero) keep.threshold = scalar(with.a.values.dtype, 1);
                        answer.take(tnr_sparse_prune(with.context, &with.a, &keep));
                      }});
    }
  }
  for (const Constant& order : codes_of("tnr_sparse_order")) {
    for (const std::int64_t k : {0, 2, 1000}) {
      list.push_back({"tnr_sparse_top_k", short_name(order) + " " + std::to_string(k),
                      [=](const Operands& with, Answer& answer) {
                        answer.take(tnr_sparse_top_k(with.context,
                                                     static_cast<tnr_sparse_order>(order.value),
                                                     &with.a, std::min(k, with.a.cols), nullptr));
                      }});
    }
  }
}

// Lists of rows or of columns.
struct Choice {
  const char* name;
  std::vector<std::int64_t> (*of)(std::int64_t extent);
};

std::int64_t listed(std::int64_t extent) { return std::min<std::int64_t>(extent, 40'000); }

const Choice kChoices[] = {
    {"all", nullptr},
    {"reversed",
     [](std::int64_t extent) {
       std::vector<std::int64_t> numbers;
       for (std::int64_t i = 1; i <= listed(extent); ++i) numbers.push_back(extent - i);
       return numbers;
     }},
    {"each twice",
     [](std::int64_t extent) {
       std::vector<std::int64_t> numbers;
       for (std::int64_t i = 0; i < 2 * listed(extent); ++i) numbers.push_back(i / 2);
       return numbers;
     }},
    {"every third, and the last",
     [](std::int64_t extent) {
       std::vector<std::int64_t> numbers;
       for (std::int64_t i = 0; i < listed(extent); i += 3) numbers.push_back(i);
       if (extent > 0) numbers.push_back(extent - 1);
       return numbers;
     }},
};

void add_selections(List& list) {
  for (const Choice& rows : kChoices) {
    for (const Choice& cols : kChoices) {
      list.push_back(
          {"tnr_sparse_select", std::string("rows ") + rows.name + ", columns " + cols.name,
           [&rows, &cols](const Operands& with, Answer& answer) {
             const auto numbers = [](const Choice& choice, std::int64_t extent) {
               return choice.of == nullptr ? nullptr : std::make_unique<Numbers>(choice.of(extent));
             };
             const auto of_rows = numbers(rows, with.a.rows);
             const auto of_cols = numbers(cols, with.a.cols);
             const tnr_view* const none = nullptr;
             answer.take(tnr_sparse_select(
                 with.context, &with.a, of_rows ? static_cast<const tnr_view*>(*of_rows) : none,
                 of_cols ? static_cast<const tnr_view*>(*of_cols) : none, nullptr));
           }});
    }
  }
  for (const std::int64_t part : {1, 2, 5}) {
    list.push_back({"tnr_sparse_slice", "1 / " + std::to_string(part),
                    [=](const Operands& with, Answer& answer) {
                      answer.take(tnr_sparse_slice(with.context, &with.a, with.a.rows / part / 2,
                                                   with.a.rows / part, with.a.cols / part / 2,
                                                   with.a.cols / part, nullptr));
                    }});
  }
}

// ---- joined ----

// Products whose result takes a test next to no time.
bool is_small(const tnr_sparse_view& a) {
  constexpr std::int64_t kMost = 1024;
  return a.rows <= kMost && a.cols <= kMost && a.minor.shape[0] <= kMost;
}

void add_joins(List& list) {
  for (const Constant& join : codes_of("tnr_sparse_join")) {
    const auto add = [&](const char* what, const auto& parts_of) {
      list.push_back(
          {"tnr_sparse_concat", short_name(join) + what, [=](const Operands& with, Answer& answer) {
             const auto parts = parts_of(with);
             answer.take(tnr_sparse_concat(with.context, static_cast<tnr_sparse_join>(join.value),
                                           parts.data(), static_cast<std::uint32_t>(parts.size()),
                                           nullptr));
           }});
    };
    add(" of itself", [](const Operands& with) {
      return std::vector<const tnr_sparse_view*>{&with.a, &with.a, &with.a};
    });
    // Another one of as many rows.
    add(" of two", [](const Operands& with) {
      return std::vector<const tnr_sparse_view*>{&with.a, &with.mask};
    });
  }
  list.push_back({"tnr_sparse_kron", "of itself", [](const Operands& with, Answer& answer) {
                    if (!is_small(with.a)) return;
                    answer.take(tnr_sparse_kron(with.context, &with.a, &with.a, nullptr));
                  }});
  list.push_back({"tnr_sparse_kron", "of two", [](const Operands& with, Answer& answer) {
                    if (!is_small(with.a) || with.right.format == 0) return;
                    answer.take(tnr_sparse_kron(with.context, &with.right, &with.a, nullptr));
                  }});
}

void add_triangles(List& list) {
  for (const Constant& part : codes_of("tnr_triangle")) {
    for (const std::int64_t diagonal : {-7, 0, 3}) {
      list.push_back({"tnr_sparse_triangular", short_name(part) + " " + std::to_string(diagonal),
                      [=](const Operands& with, Answer& answer) {
                        const tnr_triangle_attributes ends = {sizeof ends, diagonal};
                        answer.take(tnr_sparse_triangular(
                            with.context, static_cast<tnr_triangle>(part.value), &with.a, &ends));
                      }});
    }
  }
}

// ---- from and to dense ----

// Elements of the matrix's shape, half of them zeros, and a mask of it.
struct DenseMatrix {
  explicit DenseMatrix(const tnr_sparse_view& a)
      : elements(a.values.dtype, {a.rows, a.cols}), mask(TNR_DTYPE_BOOL8, {a.rows, a.cols}) {}
  Input elements;
  Input mask;
};

bool is_huge(const tnr_sparse_view& a) {
  return a.rows != 0 && a.cols > (std::int64_t{1} << 19) / a.rows;
}

void add_from_dense(List& list) {
  // Skips matrices whose dense form is huge.
  const auto add = [&](const char* function, const std::string& variant, const auto& make) {
    list.push_back({function, variant, [=](const Operands& with, Answer& answer) {
                      if (is_huge(with.a)) return;
                      const DenseMatrix dense(with.a);
                      answer.take(make(with, dense));
                    }});
  };
  for (const Constant& format : codes_of("tnr_sparse_format")) {
    for (const Constant& predicate : codes_of("tnr_sparse_predicate")) {
      add("tnr_sparse_from_dense", short_name(format) + " " + short_name(predicate),
          [=](const Operands& with, const DenseMatrix& dense) {
            const auto code = static_cast<tnr_sparse_format>(format.value);
            auto to = attributes_for<tnr_sparse_from_dense_attributes>(code, with.a);
            to.predicate = static_cast<tnr_sparse_predicate>(predicate.value);
            to.index_dtype = with.a.minor.dtype;
            if (to.predicate == TNR_SPARSE_PREDICATE_MASK) {
              to.mask = dense.mask;
            } else if (to.predicate != TNR_SPARSE_PREDICATE_NON_ZERO) {
              to.threshold = scalar(with.a.values.dtype, 1);
            }
            return tnr_sparse_from_dense(with.context, code, dense.elements, &to);
          });
    }
  }
  for (const Constant& order : codes_of("tnr_sparse_order")) {
    add("tnr_sparse_from_dense_top_k", short_name(order),
        [=](const Operands& with, const DenseMatrix& dense) {
          return tnr_sparse_from_dense_top_k(
              with.context, static_cast<tnr_sparse_order>(order.value), dense.elements,
              std::min<std::int64_t>(with.a.cols, 3),
              attributes<tnr_sparse_top_k_attributes>(with.a.minor.dtype));
        });
  }
  for (const std::int64_t columns : {3, 70}) {
    add("tnr_sparse_from_matmul", std::to_string(columns) + " columns",
        [=](const Operands& with, const DenseMatrix& dense) {
          const tnr_dtype dtype = with.a.values.dtype;
          const Input b(dtype, {with.a.cols, columns}, Arrangement::kRowMajor, 2);
          const tnr_scalar one = scalar(dtype, 1);
          tnr_sparse_from_matmul_attributes to = {};
          to.struct_size = sizeof to;
          to.index_dtype = with.a.minor.dtype;
          return tnr_sparse_from_matmul(with.context, &one, dense.elements, b, &to);
        });
  }
  for (const double probability : {0.0, 0.5}) {
    add("tnr_sparse_from_dense_dropout", std::to_string(probability),
        [=](const Operands& with, const DenseMatrix& dense) {
          return tnr_sparse_from_dense_dropout(
              with.context, dense.elements, probability, 7,
              attributes<tnr_sparse_dropout_attributes>(with.a.minor.dtype));
        });
  }
}

struct NamedArrangement {
  const char* name;
  Arrangement arrangement;
};
constexpr NamedArrangement kArrangements[] = {{"row-major", Arrangement::kRowMajor},
                                              {"column-major", Arrangement::kColumnMajor},
                                              {"apart", Arrangement::kApart}};

void add_to_dense(List& list) {
  for (const NamedArrangement& to : kArrangements) {
    list.push_back(
        {"tnr_sparse_to_dense", to.name, [=](const Operands& with, Answer& answer) {
           Output out(with.a.values.dtype, {with.a.rows, with.a.cols}, with.fill, to.arrangement);
           (void)answer.succeeds(tnr_sparse_to_dense(with.context, &with.a, nullptr, out));
           out.give(answer);
         }});
    list.push_back({"tnr_sparse_to_dense", std::string(to.name) + ", a batch",
                    [=](const Operands& with, Answer& answer) {
                      Output out(with.a.values.dtype, {2, with.a.rows, with.a.cols}, with.fill,
                                 to.arrangement);
                      (void)answer.succeeds(
                          tnr_sparse_to_dense(with.context, Batch(with.a), nullptr, out));
                      out.give(answer);
                    }});
    list.push_back(
        {"tnr_sparse_accumulate", to.name, [=](const Operands& with, Answer& answer) {
           Output out(with.a.values.dtype, {with.a.rows, with.a.cols}, with.fill, to.arrangement);
           out.put_numbers();
           (void)answer.succeeds(tnr_sparse_accumulate(with.context, &with.a, nullptr, out));
           out.give(answer);
         }});
  }
}

// ---- products ----

void add_products(List& list) {
  list.push_back({"tnr_sparse_product", "", [](const Operands& with, Answer& answer) {
                    answer.take(tnr_sparse_product(with.context, &with.a, &with.right, nullptr));
                  }});
  list.push_back({"tnr_sparse_product_masked", "", [](const Operands& with, Answer& answer) {
                    answer.take(tnr_sparse_product_masked(with.context, &with.a, &with.right,
                                                          &with.mask, nullptr));
                  }});
  for (const Constant& op : codes_of("tnr_binary_op")) {
    list.push_back({"tnr_sparse_binary", short_name(op) + " of itself",
                    [=](const Operands& with, Answer& answer) {
                      answer.take(tnr_sparse_binary(with.context,
                                                    static_cast<tnr_binary_op>(op.value), &with.a,
                                                    &with.a, nullptr));
                    }});
    // Another one of its shape, where it is square.
    list.push_back({"tnr_sparse_binary", short_name(op) + " of two",
                    [=](const Operands& with, Answer& answer) {
                      answer.take(tnr_sparse_binary(with.context,
                                                    static_cast<tnr_binary_op>(op.value), &with.a,
                                                    &with.mask, nullptr));
                    }});
  }
}

// Arguments of a product with dense factors.
struct Factors {
  const char* name;
  std::int64_t columns;  // 0: a vector
  Arrangement arrangement;
  std::int64_t alpha;
  std::int64_t beta;
};
constexpr Factors kFactors[] = {
    {"a vector", 0, Arrangement::kRowMajor, 1, 0},
    {"a vector that lies apart", 0, Arrangement::kApart, 2, 1},
    {"3 columns", kWidths[0], Arrangement::kRowMajor, 1, 0},
    {"3 columns that lie apart", kWidths[0], Arrangement::kApart, 1, 2},
    {"40 columns", kWidths[1], Arrangement::kRowMajor, 2, 0},
    {"40 columns, column-major", kWidths[1], Arrangement::kColumnMajor, 1, 1},
};

// A dense operand of the factors' width.
template <class Operand, class... More>
Operand dense_of(const Factors& factors, tnr_dtype dtype, std::int64_t rows, More... more) {
  if (factors.columns == 0) return Operand(dtype, {rows}, more...);
  return Operand(dtype, {rows, factors.columns}, more...);
}

// Calls multiply(alpha, b, beta, out) for [m, k] times what the factors say.
template <class Multiply>
void run_product(const Operands& with, const Factors& factors, std::int64_t m, std::int64_t k,
                 Answer& answer, const Multiply& multiply) {
  const tnr_dtype dtype = with.a.values.dtype;
  const tnr_scalar alpha = scalar(dtype, factors.alpha);
  const tnr_scalar beta = scalar(dtype, factors.beta);
  const auto b = dense_of<Input>(factors, dtype, k, factors.arrangement, std::int64_t{3});
  auto out = dense_of<Output>(factors, dtype, m, with.fill, factors.arrangement);
  if (factors.beta != 0) out.put_numbers();
  (void)answer.succeeds(multiply(&alpha, b, &beta, out));
  out.give(answer);
}

void add_matmuls(List& list) {
  for (const Constant& orientation : codes_of("tnr_orientation")) {
    const auto way = static_cast<tnr_orientation>(orientation.value);
    const auto rows = [way](const tnr_sparse_view& a) {
      return way == TNR_ORIENTATION_TRANSPOSED ? a.cols : a.rows;
    };
    const auto cols = [way](const tnr_sparse_view& a) {
      return way == TNR_ORIENTATION_TRANSPOSED ? a.rows : a.cols;
    };
    for (const Factors& factors : kFactors) {
      list.push_back({"tnr_sparse_matmul", short_name(orientation) + " with " + factors.name,
                      [=](const Operands& with, Answer& answer) {
                        run_product(
                            with, factors, rows(with.a), cols(with.a), answer,
                            [&](auto alpha, const tnr_view* b, auto beta, const tnr_view_mut* out) {
                              return tnr_sparse_matmul(with.context, way, alpha, &with.a, b, beta,
                                                       nullptr, out);
                            });
                      }});
    }
    list.push_back({"tnr_sparse_matmul", short_name(orientation) + ", a batch with 3 columns",
                    [=](const Operands& with, Answer& answer) {
                      const tnr_dtype dtype = with.a.values.dtype;
                      const tnr_scalar one = scalar(dtype, 1);
                      const tnr_scalar zero = scalar(dtype, 0);
                      const Input b(dtype, {2, cols(with.a), 3});
                      const Output out(dtype, {2, rows(with.a), 3}, with.fill);
                      (void)answer.succeeds(tnr_sparse_matmul(
                          with.context, way, &one, Batch(with.a), b, &zero, nullptr, out));
                      out.give(answer);
                    }});
  }
}

class Packed {
 public:
  explicit Packed(tnr_packed* handle) : handle_(handle) {}
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  ~Packed() { tnr_packed_release(handle_); }
  operator tnr_packed*() const { return handle_; }

 private:
  tnr_packed* handle_;
};

void describe(const Operands&, tnr_packed* packed, Answer& answer) {
  const Packed again(tnr_packed_retain(packed));
  tnr_packed_info info = {};
  info.struct_size = sizeof info;
  if (answer.succeeds(tnr_packed_describe(again, &info))) answer.add_number("description", info);
}

// A packed matrix shows its content only in its products.
void add_packed(List& list) {
  const auto add = [&](const char* function, const Constant& layout, const std::string& variant,
                       const auto& use) {
    list.push_back(
        {function, short_name(layout) + variant, [=](const Operands& with, Answer& answer) {
           const Packed packed(tnr_packed_create(
               with.context, &with.a,
               attributes<tnr_packed_attributes>(static_cast<tnr_packed_layout>(layout.value))));
           if (packed == nullptr) return (void)answer.succeeds(tnr_last_error()->status);
           use(with, packed, answer);
         }});
  };
  for (const Constant& layout : codes_of("tnr_packed_layout")) {
    for (const char* const function :
         {"tnr_packed_create", "tnr_packed_describe", "tnr_packed_retain", "tnr_packed_release"}) {
      add(function, layout, "", describe);
    }
    for (const Factors& factors : kFactors) {
      if (factors.columns > 3) continue;  // each goes the way of the first
      add("tnr_packed_matmul", layout, std::string(" with ") + factors.name,
          [&factors](const Operands& with, tnr_packed* packed, Answer& answer) {
            run_product(with, factors, with.a.rows, with.a.cols, answer,
                        [&](auto alpha, const tnr_view* b, auto beta, const tnr_view_mut* out) {
                          return tnr_packed_matmul(with.context, alpha, packed, b, beta, nullptr,
                                                   out);
                        });
          });
    }
  }
}

void add_sddmm(List& list) {
  for (const std::uint32_t flags : {0, TNR_SDDMM_TIMES_VALUES}) {
    for (const std::int64_t depth : {1, 20}) {
      list.push_back({"tnr_sparse_sddmm",
                      std::to_string(depth) + " deep" + (flags != 0 ? ", times values" : ""),
                      [=](const Operands& with, Answer& answer) {
                        const tnr_dtype dtype = with.a.values.dtype;
                        const tnr_scalar alpha = scalar(dtype, 2);
                        const Input x(dtype, {with.a.rows, depth});
                        const Input y(dtype, {depth, with.a.cols}, Arrangement::kColumnMajor, 2);
                        // A value for each entry that is the matrix's.
                        const EntryRange own = entries_of(with.a);
                        const std::int64_t count = own.end - own.begin;
                        const Output out =
                            with.a.format == TNR_SPARSE_FORMAT_BSR
                                ? Output(dtype, {count, with.a.block_rows, with.a.block_cols},
                                         with.fill)
                                : Output(dtype, {count}, with.fill);
                        (void)answer.succeeds(
                            tnr_sparse_sddmm(with.context, &alpha, &with.a, x, y,
                                             attributes<tnr_sparse_sddmm_attributes>(flags), out));
                        out.give(answer);
                      }});
    }
  }
}

// ---- values ----

void add_in_place(List& list) {
  for (const std::uint32_t axis : {0u, 1u}) {
    list.push_back(
        {"tnr_sparse_scale", "axis " + std::to_string(axis),
         [=](const Operands& with, Answer& answer) {
           const OwnValues a(with.a);
           const Input factors(with.a.values.dtype, {axis == 0 ? with.a.rows : with.a.cols});
           (void)answer.succeeds(tnr_sparse_scale(with.context, factors, axis, nullptr, a));
           a.give(answer);
         }});
  }
  list.push_back({"tnr_sparse_softmax", "", [](const Operands& with, Answer& answer) {
                    const OwnValues a(with.a);
                    (void)answer.succeeds(tnr_sparse_softmax(with.context, nullptr, a));
                    a.give(answer);
                  }});
  for (const Constant& op : codes_of("tnr_unary_op")) {
    list.push_back({"tnr_sparse_unary", short_name(op), [=](const Operands& with, Answer& answer) {
                      const auto code = static_cast<tnr_unary_op>(op.value);
                      if (with.a.owner != 0) {
                        return answer.take(tnr_sparse_unary(with.context, code, &with.a, nullptr));
                      }
                      const Handle own = held(with);
                      if (own == nullptr) return (void)answer.succeeds(tnr_last_error()->status);
                      const tnr_sparse_view whole = own.view();
                      answer.take(tnr_sparse_unary(with.context, code, &whole, nullptr));
                    }});
  }
}

tnr_dtype reduced_dtype(tnr_reduce_op op, tnr_dtype dtype) {
  if (op == TNR_REDUCE_OP_COUNT) return TNR_DTYPE_I64;
  return op == TNR_REDUCE_OP_SUM && dtype == TNR_DTYPE_I32 ? tnr_dtype{TNR_DTYPE_I64} : dtype;
}

void add_reductions(List& list) {
  for (const Constant& op : codes_of("tnr_reduce_op")) {
    for (const std::uint32_t axes : {1u, 2u, 3u}) {
      list.push_back({"tnr_sparse_reduce", short_name(op) + " over axes " + std::to_string(axes),
                      [=](const Operands& with, Answer& answer) {
                        const auto code = static_cast<tnr_reduce_op>(op.value);
                        const tnr_dtype dtype = reduced_dtype(code, with.a.values.dtype);
                        const std::int64_t extent = axes == 1 ? with.a.cols : with.a.rows;
                        const Output out =
                            axes == 3 ? Output(dtype, {}, with.fill)
                                      : Output(dtype, {extent}, with.fill, Arrangement::kApart);
                        (void)answer.succeeds(
                            tnr_sparse_reduce(with.context, code, &with.a, axes, nullptr, out));
                        out.give(answer);
                      }});
    }
  }
  for (const Constant& kind : codes_of("tnr_sparse_norm_kind")) {
    list.push_back({"tnr_sparse_norm", short_name(kind), [=](const Operands& with, Answer& answer) {
                      double norm = 0;
                      std::memset(&norm, with.fill, sizeof norm);
                      if (answer.succeeds(tnr_sparse_norm(
                              with.context, static_cast<tnr_sparse_norm_kind>(kind.value), &with.a,
                              nullptr, &norm))) {
                        answer.add_number("norm", norm);
                      }
                    }});
  }
  list.push_back({"tnr_sparse_diagonal", "", [](const Operands& with, Answer& answer) {
                    const Output out(with.a.values.dtype, {std::min(with.a.rows, with.a.cols)},
                                     with.fill);
                    (void)answer.succeeds(tnr_sparse_diagonal(with.context, &with.a, nullptr, out));
                    out.give(answer);
                  }});
}

void add_solutions(List& list) {
  constexpr std::uint32_t kAll = TNR_SOLVE_UPPER | TNR_SOLVE_UNIT_DIAGONAL | TNR_SOLVE_TRANSPOSED;
  for (std::uint32_t flags = 0; flags <= kAll; ++flags) {
    for (const Factors& factors : {kFactors[0], kFactors[2]}) {
      list.push_back({"tnr_sparse_solve", "flags " + std::to_string(flags) + ", " + factors.name,
                      [=](const Operands& with, Answer& answer) {
                        const tnr_dtype dtype = with.a.values.dtype;
                        const auto b = dense_of<Input>(factors, dtype, with.a.rows);
                        const auto out = dense_of<Output>(factors, dtype, with.a.cols, with.fill);
                        (void)answer.succeeds(
                            tnr_sparse_solve(with.context, &with.a, b,
                                             attributes<tnr_sparse_solve_attributes>(flags), out));
                        out.give(answer);
                      }});
    }
  }
}

// Whose operands or results have the extents of the matrix.
const char* const kByExtents[] = {
    "tnr_sparse_accumulate",
    "tnr_sparse_convert",
    "tnr_sparse_diagonal",
    "tnr_sparse_from_dense",
    "tnr_sparse_matmul",
    "tnr_sparse_from_dense_dropout",
    "tnr_sparse_from_dense_top_k",
    "tnr_sparse_from_matmul",
    "tnr_sparse_reduce",
    "tnr_sparse_scale",
    "tnr_sparse_sddmm",
    "tnr_sparse_solve",
    "tnr_sparse_to_dense",
};

}  // namespace

bool Operation::is_by_entries() const {
  return std::find(std::begin(kByExtents), std::end(kByExtents), function) == std::end(kByExtents);
}

const std::vector<Operation>& sparse_operations() {
  static const List list = [] {
    List all;
    add_checks(all);
    add_conversions(all);
    add_prunings(all);
    add_selections(all);
    add_joins(all);
    add_triangles(all);
    add_from_dense(all);
    add_to_dense(all);
    add_products(all);
    add_matmuls(all);
    add_packed(all);
    add_sddmm(all);
    add_in_place(all);
    add_reductions(all);
    add_solutions(all);
    return all;
  }();
  return list;
}

}  // namespace tenure::sweeps
