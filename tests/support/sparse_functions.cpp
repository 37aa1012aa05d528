#include "sparse_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "given_attributes.hpp"
#include "sparse_calls.hpp"

namespace tenure::test {
namespace {

using Context = tnr_context*;
using Matrix = const tnr_sparse_view*;
using With = SparseOperands;
using enum SparseFunction::Trait;

struct Rows {
  // `call` takes the context, the matrix, attributes of the type and the operands. `set` makes the
  // attributes of the variant.
  template <class Attributes, class Call>
  void add(const std::string& function, const std::string& variant, unsigned traits,
           tnr_operation operation, const Call& call, const std::set<std::string>& fields = {},
           const std::function<void(Attributes&)>& set = nullptr) {
    Attributes base{};
    base.struct_size = sizeof base;
    if (set) set(base);
    std::vector<unsigned char> bytes(sizeof base);
    std::memcpy(bytes.data(), &base, sizeof base);
    std::size_t reserved_at = 0;
    if constexpr (requires { base.reserved; }) reserved_at = offsetof(Attributes, reserved);
    using Result = std::invoke_result_t<Call, Context, Matrix, const Attributes*, With&>;
    if (std::is_pointer_v<Result>) traits |= kMakes;
    all.push_back({"tnr_" + function, variant, traits, operation, std::move(bytes), reserved_at,
                   fields, [call](Context context, Matrix a, const void* given, With& with) {
                     return with.status_of(
                         call(context, a, static_cast<const Attributes*>(given), with));
                   }});
  }

  std::vector<SparseFunction> all;
};

// A row whose call is `arguments` of the function. Further operands are fields, and a function that
// sets attributes.
#define TENURE_ROW(function, variant, traits, operation, attributes, arguments, ...)              \
  rows.add<tnr_##attributes>(                                                                     \
      #function, variant, traits, TNR_OPERATION_##operation,                                      \
      [=](Context context, [[maybe_unused]] Matrix a, auto* given, [[maybe_unused]] With& with) { \
        return tnr_##function arguments;                                                          \
      } __VA_OPT__(, ) __VA_ARGS__)

struct Predicate {
  const char* name;
  tnr_sparse_predicate predicate;
  const char* field;
};
constexpr Predicate kPredicates[] = {
    {"not 0", TNR_SPARSE_PREDICATE_NON_ZERO, "flags"},
    {"greater", TNR_SPARSE_PREDICATE_GREATER, "threshold"},
    {"greater magnitude", TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER, "threshold"},
    {"mask", TNR_SPARSE_PREDICATE_MASK, "mask"},
};

void add_from_dense(Rows& rows) {
  static const unsigned char truth[] = {1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 1};
  static const tnr_view mask = flat_view(truth, TNR_DTYPE_BOOL8, {4, 4});
  for (const Predicate& of : kPredicates) {
    const auto set = [of](auto& attributes) {
      attributes.predicate = of.predicate;
      if (of.predicate == TNR_SPARSE_PREDICATE_NON_ZERO) return;
      if (of.predicate != TNR_SPARSE_PREDICATE_MASK) attributes.threshold = f32(0.5f);
    };
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_BSR}) {
      const bool has_blocks = format == TNR_SPARSE_FORMAT_BSR;
      std::set<std::string> fields = {"predicate", of.field, "index_dtype"};
      if (has_blocks) fields.insert({"block_rows", "block_cols"});
      rows.add<tnr_sparse_from_dense_attributes>(
          "sparse_from_dense", of.name + (" to format " + std::to_string(format)),
          has_blocks ? kBlocks : kNone, TNR_OPERATION_SPARSE_FROM_DENSE,
          [=](Context context, Matrix, auto* given, With& with) {
            if (given != nullptr)
              with.read_bytes += given->mask == nullptr ? 0 : given->mask->size_bytes;
            return tnr_sparse_from_dense(context, format, with.dense(), given);
          },
          fields,
          [=](auto& attributes) {
            set(attributes);
            if (has_blocks) attributes.block_rows = attributes.block_cols = 1;
            if (of.predicate == TNR_SPARSE_PREDICATE_MASK) {
              attributes.mask = &mask;
            }
          });
    }
    if (of.predicate == TNR_SPARSE_PREDICATE_MASK) continue;
    const bool is_non_zero = of.predicate == TNR_SPARSE_PREDICATE_NON_ZERO;
    TENURE_ROW(sparse_prune, of.name, kElements | (is_non_zero ? kAnyValues : kNone), SPARSE_PRUNE,
               sparse_prune_attributes, (context, a, given), {"predicate", of.field}, set);
    TENURE_ROW(sparse_from_matmul, of.name, kNone, SPARSE_FROM_MATMUL,
               sparse_from_matmul_attributes,
               (context, with.number(1), with.dense(), with.ones({with.cols(), 3}), given),
               {"predicate", of.field, "bias", "activation", "index_dtype"}, set);
  }
  TENURE_ROW(sparse_from_dense_top_k, "", kNone, SPARSE_FROM_DENSE, sparse_top_k_attributes,
             (context, TNR_SPARSE_ORDER_VALUE, with.dense(), 1, given), {"index_dtype"});
  TENURE_ROW(sparse_from_dense_dropout, "", kNone, SPARSE_FROM_DENSE, sparse_dropout_attributes,
             (context, with.dense(), 0.5, 1, given), {"index_dtype"});
}

void add_conversions(Rows& rows) {
  for (const tnr_sparse_format to : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                     TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    for (const std::uint32_t flags : {0, TNR_CONVERT_SORT}) {
      const bool has_blocks = to == TNR_SPARSE_FORMAT_BSR;
      std::set<std::string> fields = {"index_dtype", "flags"};
      if (has_blocks) fields.insert({"block_rows", "block_cols"});
      const auto set = [=](auto& attributes) {
        attributes.flags = flags;
        if (has_blocks) attributes.block_rows = attributes.block_cols = 2;
      };
      TENURE_ROW(sparse_convert, "to format " + std::to_string(to) + (flags != 0 ? ", sorted" : ""),
                 kAll | kAnyValues | kDevices | (has_blocks ? kBlocks : kNone), SPARSE_CONVERT,
                 sparse_convert_attributes, (context, to, a, given), fields, set);
    }
  }
  TENURE_ROW(sparse_to_dense, "row-major", kAll | kAnyValues, SPARSE_TO_DENSE, extension,
             (context, a, given, with.out(with.shape())));
  TENURE_ROW(sparse_to_dense, "column-major", kAll | kAnyValues, SPARSE_TO_DENSE, extension,
             (context, a, given, with.columns_out()));
  TENURE_ROW(sparse_accumulate, "", kCompressed, SPARSE_ACCUMULATE, extension,
             (context, a, given, with.inout(with.shape())));
}

// Some results need few entries of the matrix, so that a function might pass over the others.
void add_parts(Rows& rows) {
  constexpr unsigned kParts = kCompressed | kAnyValues;
  TENURE_ROW(sparse_coalesce, "sum", kElements | kDevices, SPARSE_COALESCE, extension,
             (context, TNR_SPARSE_COMBINE_SUM, a, given));
  TENURE_ROW(sparse_coalesce, "last", kElements | kDevices | kAnyValues, SPARSE_COALESCE, extension,
             (context, TNR_SPARSE_COMBINE_LAST, a, given));
  for (const std::int64_t k : {0, 2}) {
    TENURE_ROW(sparse_top_k, std::to_string(k), kCsr, SPARSE_PRUNE, extension,
               (context, TNR_SPARSE_ORDER_VALUE, a, std::min(k, with.cols()), given));
  }
  TENURE_ROW(sparse_select, "all", kParts, SPARSE_CONVERT, extension,
             (context, a, nullptr, nullptr, given));
  TENURE_ROW(sparse_select, "two rows", kParts, SPARSE_CONVERT, extension,
             (context, a, with.list({with.rows() - 1, 0}), nullptr, given));
  TENURE_ROW(sparse_select, "one element", kParts, SPARSE_CONVERT, extension,
             (context, a, with.list({0}), with.list({0}), given));
  TENURE_ROW(sparse_slice, "of nothing", kParts, SPARSE_CONVERT, extension,
             (context, a, 1, 0, 1, 1, given));
  TENURE_ROW(sparse_slice, "of columns", kParts, SPARSE_CONVERT, extension,
             (context, a, 0, with.rows(), with.cols() / 3, with.cols() / 2, given));
  for (const tnr_triangle part : {TNR_TRIANGLE_LOWER, TNR_TRIANGLE_UPPER}) {
    for (const std::int64_t diagonal : {0, 1}) {
      TENURE_ROW(sparse_triangular,
                 std::to_string(part) + " from diagonal " + std::to_string(diagonal), kParts,
                 SPARSE_TRIANGULAR, triangle_attributes, (context, part, a, given), {"diagonal"},
                 [=](auto& attributes) { attributes.diagonal = diagonal; });
    }
  }
}

void add_joins(Rows& rows) {
  for (const tnr_sparse_join join :
       {TNR_SPARSE_JOIN_ROWS, TNR_SPARSE_JOIN_COLS, TNR_SPARSE_JOIN_DIAGONAL}) {
    TENURE_ROW(sparse_concat, std::to_string(join), kElements | kAnyValues, SPARSE_CONCAT,
               extension, (context, join, with.pair(with.alike(), a), 2, given));
  }
  TENURE_ROW(sparse_kron, "left", kCompressed, SPARSE_KRON, extension,
             (context, a, with.beside(2, 4), given));
  TENURE_ROW(sparse_kron, "right", kCompressed, SPARSE_KRON, extension,
             (context, with.beside(2, 4), a, given));
  for (const tnr_binary_op op : {TNR_BINARY_OP_ADD, TNR_BINARY_OP_MUL}) {
    TENURE_ROW(sparse_binary, std::to_string(op) + " left", kCompressed | kOrdered, SPARSE_BINARY,
               extension, (context, op, a, with.alike(), given));
    TENURE_ROW(sparse_binary, std::to_string(op) + " right", kCompressed | kOrdered, SPARSE_BINARY,
               extension, (context, op, with.alike(), a, given));
  }
}

// In most the mask, or the other factor, has few entries, so that not all of the matrix is needed.
void add_products(Rows& rows) {
  TENURE_ROW(sparse_product, "left", kCompressed, SPARSE_PRODUCT, extension,
             (context, a, with.beside(with.cols(), 2), given));
  TENURE_ROW(sparse_product, "right", kCompressed, SPARSE_PRODUCT, extension,
             (context, with.beside(2, with.rows()), a, given));
  TENURE_ROW(sparse_product, "square", kCompressed, SPARSE_PRODUCT, extension,
             (context, a, with.beside(with.cols(), with.cols()), given));
  TENURE_ROW(
      sparse_product_masked, "left", kCompressed, SPARSE_PRODUCT, extension,
      (context, a, with.beside(with.cols(), 2), with.mask(with.beside(with.rows(), 2)), given));
  TENURE_ROW(
      sparse_product_masked, "right", kCompressed, SPARSE_PRODUCT, extension,
      (context, with.beside(2, with.rows()), a, with.mask(with.beside(2, with.cols())), given));
  TENURE_ROW(
      sparse_product_masked, "mask", kCompressed, SPARSE_PRODUCT, extension,
      (context, with.beside(with.rows(), 2), with.beside(2, with.cols()), with.mask(a), given));
  TENURE_ROW(sparse_product_masked, "square", kCompressed, SPARSE_PRODUCT, extension,
             (context, a, with.beside(with.cols(), with.cols()), with.mask(with.alike()), given));
}

void add_dense_products(Rows& rows) {
  for (const tnr_orientation way : {TNR_ORIENTATION_AS_IS, TNR_ORIENTATION_TRANSPOSED}) {
    for (const std::int64_t columns : {-1, 0, 1, 5}) {
      // -1: vectors.
      const auto shape = [=](With& with, tnr_orientation of_rows) {
        const std::int64_t extent = way == of_rows ? with.rows() : with.cols();
        return columns < 0 ? With::Shape{extent} : With::Shape{extent, columns};
      };
      const std::string name = std::to_string(way) + ", " + std::to_string(columns) + " columns";
      TENURE_ROW(
          sparse_matmul, name, kAll, SPARSE_MATMUL, extension,
          (context, way, with.number(1), a, with.ones(shape(with, TNR_ORIENTATION_TRANSPOSED)),
           with.number(0), given, with.out(shape(with, TNR_ORIENTATION_AS_IS))));
      TENURE_ROW(
          sparse_matmul, name + ", added", kAll, SPARSE_MATMUL, extension,
          (context, way, with.number(1), a, with.ones(shape(with, TNR_ORIENTATION_TRANSPOSED)),
           with.number(1), given, with.inout(shape(with, TNR_ORIENTATION_AS_IS))));
    }
  }
  // The layout of blocks takes few matrices.
  for (const tnr_packed_layout layout :
       {TNR_PACKED_LAYOUT_AUTO, TNR_PACKED_LAYOUT_BITMAP, TNR_PACKED_LAYOUT_WIDE}) {
    TENURE_ROW(packed_create, std::to_string(layout), kCsr, SPARSE_PACK, packed_attributes,
               (context, a, given), {"layout"},
               [=](auto& attributes) { attributes.layout = layout; });
    rows.add<tnr_extension>(
        "packed_matmul", std::to_string(layout), kCsr | kMakes, TNR_OPERATION_SPARSE_PACKED_MATMUL,
        [=](Context context, Matrix a, auto* given, With& with) {
          const auto of = attributes<tnr_packed_attributes>(layout);
          tnr_packed* const packed = with.packed(tnr_packed_create(context, a, of));
          if (packed == nullptr) return tnr_last_error()->status;
          return tnr_packed_matmul(context, with.number(1), packed, with.ones({with.cols()}),
                                   with.number(0), given, with.out({with.rows()}));
        });
  }
  for (const std::int64_t inner : {0, 3}) {
    for (const std::uint32_t flags : {0, TNR_SDDMM_TIMES_VALUES}) {
      TENURE_ROW(sparse_sddmm, std::to_string(inner) + (flags != 0 ? ", times values" : ""), kAll,
                 SPARSE_SDDMM, sparse_sddmm_attributes,
                 (context, with.number(1), a, with.ones({with.rows(), inner}),
                  with.ones({inner, with.cols()}), given, with.entries()),
                 {"flags"}, [=](auto& attributes) { attributes.flags = flags; });
    }
  }
}

void add_values(Rows& rows) {
  TENURE_ROW(sparse_scale, "rows", kCompressed, SPARSE_SCALE, extension,
             (context, with.ones({with.rows()}), 0, given, with.values_of(a)));
  TENURE_ROW(sparse_scale, "columns", kCompressed, SPARSE_SCALE, extension,
             (context, with.ones({with.cols()}), 1, given, with.values_of(a)));
  TENURE_ROW(sparse_softmax, "", kCsr, SPARSE_SOFTMAX, extension,
             (context, given, with.values_of(a)));
  rows.add<tnr_extension>("sparse_unary", "of a copy that is held", kAll | kDevices,
                          TNR_OPERATION_UNARY,
                          [](Context context, Matrix a, auto* given, With& with) -> tnr_sparse* {
                            const tnr_sparse_view* const own = with.held(context, a);
                            if (own == nullptr) return nullptr;
                            return tnr_sparse_unary(context, TNR_UNARY_OP_NEG, own, given);
                          });
}

void add_reductions(Rows& rows) {
  for (const tnr_reduce_op op :
       {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX, TNR_REDUCE_OP_COUNT}) {
    const unsigned traits = kCompressed | (op == TNR_REDUCE_OP_SUM ? kNone : kOrdered);
    const tnr_dtype dtype = op == TNR_REDUCE_OP_COUNT ? TNR_DTYPE_I64 : 0;
    const std::string name = std::to_string(op) + " over ";
    TENURE_ROW(sparse_reduce, name + "rows", traits, SPARSE_REDUCE, reduce_attributes,
               (context, op, a, 1, given, with.out({with.cols()}, dtype)));
    TENURE_ROW(sparse_reduce, name + "columns", traits, SPARSE_REDUCE, reduce_attributes,
               (context, op, a, 2, given, with.out({with.rows()}, dtype)));
    TENURE_ROW(sparse_reduce, name + "all", traits, SPARSE_REDUCE, reduce_attributes,
               (context, op, a, 3, given, with.out({}, dtype)));
  }
  for (const tnr_sparse_norm_kind kind :
       {TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_NORM_KIND_INFINITY, TNR_SPARSE_NORM_KIND_FROBENIUS}) {
    TENURE_ROW(sparse_norm, std::to_string(kind), kCompressed | kOrdered, SPARSE_REDUCE, extension,
               (context, kind, a, given, with.norm()));
  }
  TENURE_ROW(sparse_diagonal, "", kCompressed, SPARSE_REDUCE, extension,
             (context, a, given, with.out({std::min(with.rows(), with.cols())})));
  for (const std::uint32_t flags : {0, TNR_SOLVE_UPPER, TNR_SOLVE_TRANSPOSED}) {
    TENURE_ROW(sparse_solve, std::to_string(flags), kCsr | kSquare, SPARSE_SOLVE,
               sparse_solve_attributes,
               (context, a, with.ones({with.rows()}), given, with.out({with.rows()})), {"flags"},
               [=](auto& attributes) { attributes.flags = flags; });
  }
}

}  // namespace

tnr_status SparseFunction::operator()(tnr_context* context, const tnr_sparse_view* a,
                                      SparseOperands& with) const {
  constexpr std::size_t kSizeBytes = sizeof(std::uint64_t);
  const bool are_given = attributes.size() > kSizeBytes &&
                         std::any_of(attributes.begin() + kSizeBytes, attributes.end(),
                                     [](unsigned char byte) { return byte != 0; });
  return call(context, a, are_given ? attributes.data() : nullptr, with);
}

const std::vector<SparseFunction>& sparse_functions() {
  static const std::vector<SparseFunction> all = [] {
    Rows rows;
    add_from_dense(rows);
    add_conversions(rows);
    add_parts(rows);
    add_joins(rows);
    add_products(rows);
    add_dense_products(rows);
    add_values(rows);
    add_reductions(rows);
    return std::move(rows.all);
  }();
  return all;
}

}  // namespace tenure::test
