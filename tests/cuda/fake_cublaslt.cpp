// A cuBLASLt with no device behind it, in the fake driver's library: the entry points that
// core/src/cuda/libraries/cublaslt.hpp asks for. It is opened where TENURE_CUBLASLT names that
// library. Every argument is checked as the real library's documentation says; a product is
// computed plainly, when its turn comes on the fake stream, and only by the algorithm that was
// requested for exactly these descriptors. All of the environment is read at each call:
//
//   TENURE_FAKE_CUBLASLT_FAIL=NAME[:CODE]  an entry point fails, with 14 where there is no code
//   TENURE_FAKE_CUBLASLT_VERSION=130100
//   TENURE_FAKE_CUBLASLT_DECLINES=1        there is no algorithm for anything
//   TENURE_FAKE_CUBLASLT_ASKED             (written) how many algorithms were requested
//   TENURE_FAKE_CUBLASLT_COUNT             (written) how many products were enqueued
#include "cuda/kernels/floats.cuh"
#include "cuda/libraries/cublaslt.hpp"
#include "fake_library.hpp"

namespace tenure::cuda {

struct HandleOfCublasLt {
  int device;
};
struct OperationOfCublasLt {
  int compute;
  int scale;
  std::int32_t transposition_a;
  std::int32_t transposition_b;
  std::uint32_t epilogue;
  const void* bias;
};
struct LayoutOfCublasLt {
  int type;
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading_dimension;
  std::int32_t batch_count;
  std::int64_t batch_step;
};
struct PreferenceOfCublasLt {
  std::uint64_t workspace_bytes;
  std::uint32_t reductions;
  std::uint32_t alignments[4];  // of A, B, C and D
};

}  // namespace tenure::cuda

namespace {

using fake::address_of;
using fake::state;
using tenure::cuda::ElementType;
using tenure::cuda::LayoutOfCublasLt;
using tenure::cuda::LtAlgorithm;
using tenure::cuda::LtHandle;
using tenure::cuda::LtHeuristicResult;
using tenure::cuda::LtLayout;
using tenure::cuda::LtOperation;
using tenure::cuda::LtPreference;
using tenure::cuda::LtStatus;
using tenure::cuda::OperationOfCublasLt;
using tenure::cuda::PreferenceOfCublasLt;
using tenure::cuda::Stream;
namespace cuda = tenure::cuda;

// Never destroyed, as the fake driver's state is not.
template <class Object>
fake::Handles<Object>& handles() {
  static auto* const all = new fake::Handles<Object>(
      std::is_same_v<Object, cuda::HandleOfCublasLt> ? nullptr : &state().descriptor_count);
  return *all;
}

LtStatus refusal_of(const char* name) {
  return LtStatus{fake::refusal_of("TENURE_FAKE_CUBLASLT_FAIL", name, 14)};
}

LtStatus invalid(const char* what) {
  std::fprintf(stderr, "fake cuBLASLt: %s\n", what);
  return LtStatus::kInvalidValue;
}

// ---- attributes ----

template <class Value>
LtStatus store(Value& to, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof to) return invalid("an attribute of another size");
  std::memcpy(&to, value, sizeof to);
  return LtStatus::kSuccess;
}

// ---- descriptions ----

std::size_t width_of(int type) {
  switch (type) {
    case cuda::kLtF64: return 8;
    case cuda::kLtF32:
    case cuda::kLtI32: return 4;
    case cuda::kLtF16:
    case cuda::kLtBF16: return 2;
    case cuda::kLtI8: return 1;
    default: return 0;
  }
}

struct Shape {
  std::uint64_t rows;
  std::uint64_t columns;
};
Shape factor_shape(const LayoutOfCublasLt& layout, std::int32_t transposition) {
  if (transposition == cuda::kLtTransposed) return {layout.columns, layout.rows};
  return {layout.rows, layout.columns};
}

struct Problem {
  OperationOfCublasLt operation;
  LayoutOfCublasLt a;
  LayoutOfCublasLt b;
  LayoutOfCublasLt d;
  [[nodiscard]] bool has_bias() const { return (operation.epilogue & cuda::kLtEpilogueBias) != 0; }
};

// Whether the types are a row of the documentation's table.
bool are_types(const Problem& p) {
  const int compute = p.operation.compute;
  if (p.a.type != p.b.type) return false;
  switch (p.a.type) {
    case cuda::kLtF64:
      return compute == cuda::kLtComputeF64 && p.operation.scale == cuda::kLtF64 &&
             p.d.type == cuda::kLtF64;
    case cuda::kLtI8:
      return compute == cuda::kLtComputeI32 && p.operation.scale == cuda::kLtI32 &&
             p.d.type == cuda::kLtI32;
    default:
      return compute == cuda::kLtComputeF32 && p.operation.scale == cuda::kLtF32 &&
             p.d.type == p.a.type;
  }
}

// Throws nothing. Gives kInvalidValue for a malformed problem, kNotSupported for one without code.
LtStatus check(const Problem& p) {
  for (const LayoutOfCublasLt* const layout : {&p.a, &p.b, &p.d}) {
    if (layout->rows == 0 || layout->columns == 0) return invalid("an empty matrix");
    if (layout->leading_dimension < static_cast<std::int64_t>(layout->rows)) {
      return invalid("a leading dimension below the rows");
    }
    if (layout->batch_count != p.d.batch_count) return invalid("batches of different counts");
    if (layout->batch_step < 0) return invalid("a batch that goes down");
  }
  const std::int64_t matrix_reach =
      p.d.leading_dimension * (static_cast<std::int64_t>(p.d.columns) - 1) +
      static_cast<std::int64_t>(p.d.rows);
  if (p.d.batch_count > 1 && p.d.batch_step < matrix_reach &&
      // Rows of a batch may lie between those of another.
      p.d.batch_step < static_cast<std::int64_t>(p.d.rows)) {
    return invalid("results of a batch that overlap");
  }
  const Shape a = factor_shape(p.a, p.operation.transposition_a);
  const Shape b = factor_shape(p.b, p.operation.transposition_b);
  if (a.columns != b.rows || a.rows != p.d.rows || b.columns != p.d.columns) {
    return invalid("extents that do not agree");
  }
  if (p.has_bias() != (p.operation.bias != nullptr)) return invalid("a bias without its epilogue");
  if (!are_types(p)) return invalid("types that are no row of the table");
  const bool has_epilogue = p.operation.epilogue != cuda::kLtEpilogueDefault;
  if (has_epilogue && p.operation.compute != cuda::kLtComputeF32) return LtStatus::kNotSupported;
  if (p.a.type == cuda::kLtI8) {
    const bool are_fours = p.a.rows % 4 == 0 && p.d.rows % 4 == 0 &&
                           p.a.leading_dimension % 4 == 0 && p.b.leading_dimension % 4 == 0 &&
                           p.d.leading_dimension % 4 == 0;
    if (p.operation.transposition_a != cuda::kLtTransposed ||
        p.operation.transposition_b != cuda::kLtPlain || !are_fours) {
      return invalid("bytes that are no lines of fours along the depth");
    }
  }
  return LtStatus::kSuccess;
}

// ---- algorithms ----

class Digest {
 public:
  void add(std::uint64_t number) { sum_ = (sum_ ^ number) * 0x100000001b3u; }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325u;
};

std::uint64_t alignment_of(const void* data) {
  const std::uint64_t places = address_of(data) | 256;
  return places & (~places + 1);
}

// A digest of everything that an algorithm may depend on.
std::uint64_t digest_of(const Problem& p) {
  Digest digest;
  for (const LayoutOfCublasLt* const layout : {&p.a, &p.b, &p.d}) {
    digest.add(static_cast<std::uint64_t>(layout->type));
    digest.add(layout->rows);
    digest.add(layout->columns);
    digest.add(static_cast<std::uint64_t>(layout->leading_dimension));
    digest.add(static_cast<std::uint64_t>(layout->batch_count));
    digest.add(static_cast<std::uint64_t>(layout->batch_step));
  }
  digest.add(static_cast<std::uint64_t>(p.operation.transposition_a));
  digest.add(static_cast<std::uint64_t>(p.operation.transposition_b));
  digest.add(p.operation.epilogue);
  digest.add(p.has_bias() ? alignment_of(p.operation.bias) : 0);
  return digest.sum();
}

// ---- numbers ----

double number_at(int type, const unsigned char* at) {
  switch (type) {
    case cuda::kLtF64: return cuda::read_number<double>(ElementType::kF64, at);
    case cuda::kLtF32: return cuda::read_number<float>(ElementType::kF32, at);
    case cuda::kLtF16: return cuda::read_number<float>(ElementType::kF16, at);
    case cuda::kLtBF16: return cuda::read_number<float>(ElementType::kBF16, at);
    case cuda::kLtI8: return static_cast<signed char>(*at);
    default: {
      std::int32_t number;
      std::memcpy(&number, at, sizeof number);
      return number;
    }
  }
}
void write_at(int type, unsigned char* at, double number) {
  switch (type) {
    case cuda::kLtF64: return cuda::write_number(ElementType::kF64, at, number);
    case cuda::kLtF32: return cuda::write_number(ElementType::kF32, at, static_cast<float>(number));
    case cuda::kLtF16: return cuda::write_number(ElementType::kF16, at, static_cast<float>(number));
    case cuda::kLtBF16:
      return cuda::write_number(ElementType::kBF16, at, static_cast<float>(number));
    default: {
      // An i32: sums wrap.
      const auto whole = static_cast<std::int32_t>(static_cast<std::int64_t>(number));
      std::memcpy(at, &whole, sizeof whole);
    }
  }
}

std::size_t reach_of(const LayoutOfCublasLt& layout) {
  const auto last = static_cast<std::int64_t>(layout.columns) - 1;
  const std::int64_t elements = (layout.batch_count - 1) * layout.batch_step +
                                last * layout.leading_dimension +
                                static_cast<std::int64_t>(layout.rows);
  return static_cast<std::size_t>(elements) * width_of(layout.type);
}

const unsigned char* element_of(const LayoutOfCublasLt& layout, const void* data,
                                std::int64_t batch, std::uint64_t row, std::uint64_t column) {
  const std::int64_t index = batch * layout.batch_step +
                             static_cast<std::int64_t>(column) * layout.leading_dimension +
                             static_cast<std::int64_t>(row);
  return static_cast<const unsigned char*>(data) +
         static_cast<std::size_t>(index) * width_of(layout.type);
}

struct Product {
  Problem problem;
  double alpha;
  double beta;
  const void* a;
  const void* b;
  void* d;

  void run() const {
    for (std::int64_t batch = 0; batch < problem.d.batch_count; ++batch) {
      for (std::uint64_t column = 0; column < problem.d.columns; ++column) {
        for (std::uint64_t row = 0; row < problem.d.rows; ++row) compute(batch, row, column);
      }
    }
  }

 private:
  void compute(std::int64_t batch, std::uint64_t row, std::uint64_t column) const {
    const OperationOfCublasLt& of = problem.operation;
    const bool turns_a = of.transposition_a == cuda::kLtTransposed;
    const bool turns_b = of.transposition_b == cuda::kLtTransposed;
    const std::uint64_t depth = factor_shape(problem.a, of.transposition_a).columns;
    double sum = 0;
    for (std::uint64_t k = 0; k < depth; ++k) {
      const double x = number_at(
          problem.a.type, element_of(problem.a, a, batch, turns_a ? k : row, turns_a ? row : k));
      const double y =
          number_at(problem.b.type,
                    element_of(problem.b, b, batch, turns_b ? column : k, turns_b ? k : column));
      sum += x * y;
    }
    auto* const to = const_cast<unsigned char*>(element_of(problem.d, d, batch, row, column));
    double result = alpha * sum;
    if (beta != 0) result += beta * number_at(problem.d.type, to);
    if (problem.has_bias()) {
      result += number_at(problem.d.type, static_cast<const unsigned char*>(of.bias) +
                                              row * width_of(problem.d.type));
    }
    // The maximum of NaN and 0 is 0.
    if ((of.epilogue & cuda::kLtEpilogueRelu) != 0) result = result > 0 ? result : 0;
    write_at(problem.d.type, to, result);
  }
};

bool are_known(LtHandle handle, LtOperation operation, std::initializer_list<LtLayout> layouts) {
  bool are = handles<cuda::HandleOfCublasLt>().has(handle) &&
             handles<OperationOfCublasLt>().has(operation);
  for (const LtLayout layout : layouts) are = are && handles<LayoutOfCublasLt>().has(layout);
  return are && fake::current() != nullptr && fake::current()->device == handle->device;
}

bool is_same(const LayoutOfCublasLt& a, const LayoutOfCublasLt& b) {
  return a.type == b.type && a.rows == b.rows && a.columns == b.columns &&
         a.leading_dimension == b.leading_dimension && a.batch_count == b.batch_count &&
         a.batch_step == b.batch_step;
}

double scale_at(int type, const void* number) {
  return number_at(type, static_cast<const unsigned char*>(number));
}

}  // namespace

#define TENURE_FAKE_CUBLASLT(name, parameters)                                      \
  extern "C" [[gnu::visibility("default")]] tenure::cuda::LtStatus name parameters; \
  tenure::cuda::LtStatus name parameters
#define TENURE_FAKE_BEGIN(name)              \
  const std::lock_guard lock(state().mutex); \
  if (const LtStatus refusal = refusal_of(name); refusal != LtStatus::kSuccess) return refusal

extern "C" [[gnu::visibility("default")]] std::size_t cublasLtGetVersion();
std::size_t cublasLtGetVersion() {
  return static_cast<std::size_t>(fake::number_of("TENURE_FAKE_CUBLASLT_VERSION", 130100));
}

TENURE_FAKE_CUBLASLT(cublasLtCreate, (LtHandle * handle)) {
  TENURE_FAKE_BEGIN("cublasLtCreate");
  if (fake::current() == nullptr || !fake::may_call_driver()) return LtStatus::kNotInitialized;
  auto& all = handles<cuda::HandleOfCublasLt>();
  for (const auto& known : all.all()) {
    if (known->device == fake::current()->device) return invalid("a second handle of a device");
  }
  *handle = all.add({fake::current()->device});
  return LtStatus::kSuccess;
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulDescCreate, (LtOperation * operation, int compute, int scale)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulDescCreate");
  *operation = handles<OperationOfCublasLt>().add(
      {compute, scale, cuda::kLtPlain, cuda::kLtPlain, cuda::kLtEpilogueDefault, nullptr});
  return LtStatus::kSuccess;
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulDescSetAttribute,
                     (LtOperation operation, int attribute, const void* value, std::size_t bytes)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulDescSetAttribute");
  if (!handles<OperationOfCublasLt>().has(operation)) return invalid("no operation");
  switch (attribute) {
    case cuda::kLtOperationTransposeA: return store(operation->transposition_a, value, bytes);
    case cuda::kLtOperationTransposeB: return store(operation->transposition_b, value, bytes);
    case cuda::kLtOperationEpilogue: return store(operation->epilogue, value, bytes);
    case cuda::kLtOperationBias: return store(operation->bias, value, bytes);
    default: return invalid("an attribute of operations that is none");
  }
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulDescDestroy, (LtOperation operation)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulDescDestroy");
  return handles<OperationOfCublasLt>().remove(operation) ? LtStatus::kSuccess
                                                          : invalid("no operation");
}

TENURE_FAKE_CUBLASLT(cublasLtMatrixLayoutCreate,
                     (LtLayout * layout, int type, std::uint64_t rows, std::uint64_t columns,
                      std::int64_t leading_dimension)) {
  TENURE_FAKE_BEGIN("cublasLtMatrixLayoutCreate");
  if (width_of(type) == 0) return invalid("a type that is none");
  *layout = handles<LayoutOfCublasLt>().add({type, rows, columns, leading_dimension, 1, 0});
  return LtStatus::kSuccess;
}

TENURE_FAKE_CUBLASLT(cublasLtMatrixLayoutSetAttribute,
                     (LtLayout layout, int attribute, const void* value, std::size_t bytes)) {
  TENURE_FAKE_BEGIN("cublasLtMatrixLayoutSetAttribute");
  if (!handles<LayoutOfCublasLt>().has(layout)) return invalid("no layout");
  switch (attribute) {
    case cuda::kLtLayoutBatchCount: return store(layout->batch_count, value, bytes);
    case cuda::kLtLayoutBatchStep: return store(layout->batch_step, value, bytes);
    default: return invalid("an attribute of layouts that is none");
  }
}

TENURE_FAKE_CUBLASLT(cublasLtMatrixLayoutDestroy, (LtLayout layout)) {
  TENURE_FAKE_BEGIN("cublasLtMatrixLayoutDestroy");
  return handles<LayoutOfCublasLt>().remove(layout) ? LtStatus::kSuccess : invalid("no layout");
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulPreferenceCreate, (LtPreference * preference)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulPreferenceCreate");
  *preference = handles<PreferenceOfCublasLt>().add({0, 7, {256, 256, 256, 256}});
  return LtStatus::kSuccess;
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulPreferenceSetAttribute, (LtPreference preference, int attribute,
                                                            const void* value, std::size_t bytes)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulPreferenceSetAttribute");
  if (!handles<PreferenceOfCublasLt>().has(preference)) return invalid("no preference");
  switch (attribute) {
    case cuda::kLtPreferenceWorkspace: return store(preference->workspace_bytes, value, bytes);
    case cuda::kLtPreferenceReductions: return store(preference->reductions, value, bytes);
    case cuda::kLtPreferenceAlignmentA: return store(preference->alignments[0], value, bytes);
    case cuda::kLtPreferenceAlignmentB: return store(preference->alignments[1], value, bytes);
    case cuda::kLtPreferenceAlignmentC: return store(preference->alignments[2], value, bytes);
    case cuda::kLtPreferenceAlignmentD: return store(preference->alignments[3], value, bytes);
    default: return invalid("an attribute of preferences that is none");
  }
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulPreferenceDestroy, (LtPreference preference)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulPreferenceDestroy");
  return handles<PreferenceOfCublasLt>().remove(preference) ? LtStatus::kSuccess
                                                            : invalid("no preference");
}

TENURE_FAKE_CUBLASLT(cublasLtMatmulAlgoGetHeuristic,
                     (LtHandle handle, LtOperation operation, LtLayout a, LtLayout b, LtLayout c,
                      LtLayout d, LtPreference preference, int asked, LtHeuristicResult* results,
                      int* count)) {
  TENURE_FAKE_BEGIN("cublasLtMatmulAlgoGetHeuristic");
  *count = 0;
  if (!are_known(handle, operation, {a, b, c, d}) || asked != 1 ||
      !handles<PreferenceOfCublasLt>().has(preference) || !is_same(*c, *d)) {
    return invalid("a question about what is unknown");
  }
  fake::count_in("TENURE_FAKE_CUBLASLT_ASKED");
  const Problem problem = {*operation, *a, *b, *d};
  if (const LtStatus status = check(problem); status != LtStatus::kSuccess) return status;
  if (preference->workspace_bytes != std::uint64_t{32} << 20 || preference->reductions != 2) {
    return invalid("other preferences than the documented");
  }
  if (fake::number_of("TENURE_FAKE_CUBLASLT_DECLINES", 0) != 0) return LtStatus::kNotSupported;
  LtHeuristicResult result = {};
  result.algorithm.data[0] = digest_of(problem);
  for (unsigned i = 0; i < 4; ++i) result.algorithm.data[1 + i] = preference->alignments[i];
  result.workspace_bytes = (d->rows + d->columns) % 3 * 1000;
  result.algorithm.data[5] = result.workspace_bytes;
  results[0] = result;
  *count = 1;
  return LtStatus::kSuccess;
}

TENURE_FAKE_CUBLASLT(cublasLtMatmul,
                     (LtHandle handle, LtOperation operation, const void* alpha, const void* a,
                      LtLayout a_layout, const void* b, LtLayout b_layout, const void* beta,
                      const void* c, LtLayout c_layout, void* d, LtLayout d_layout,
                      const LtAlgorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                      Stream stream)) {
  TENURE_FAKE_BEGIN("cublasLtMatmul");
  if (!are_known(handle, operation, {a_layout, b_layout, c_layout, d_layout}) || c != d ||
      !is_same(*c_layout, *d_layout)) {
    return invalid("a product of what is unknown");
  }
  const Problem problem = {*operation, *a_layout, *b_layout, *d_layout};
  if (const LtStatus status = check(problem); status != LtStatus::kSuccess) return status;
  if (algorithm == nullptr || algorithm->data[0] != digest_of(problem)) {
    return invalid("an algorithm of other descriptors");
  }
  const void* const data[] = {a, b, c, d};
  for (unsigned i = 0; i < 4; ++i) {
    if (address_of(data[i]) % algorithm->data[1 + i] != 0) {
      return invalid("an operand that is aligned less than was said");
    }
  }
  if (workspace_bytes != algorithm->data[5] || (workspace == nullptr) != (workspace_bytes == 0) ||
      address_of(workspace) % 256 != 0) {
    return invalid("other scratch memory than the algorithm's");
  }
  Product product = {
      problem, scale_at(operation->scale, alpha), scale_at(operation->scale, beta), a, b, d};
  if (problem.a.type == cuda::kLtI8 && (product.alpha != 1 || product.beta != 0)) {
    return LtStatus::kNotSupported;
  }
  std::vector<fake::Reach> operands = {{address_of(a), reach_of(*a_layout)},
                                       {address_of(b), reach_of(*b_layout)},
                                       {address_of(d), reach_of(*d_layout)}};
  if (problem.has_bias()) {
    operands.push_back({address_of(operation->bias), d_layout->rows * width_of(d_layout->type)});
  }
  if (workspace != nullptr) operands.push_back({address_of(workspace), workspace_bytes});
  const tenure::cuda::Result result =
      fake::enqueue_call(stream, std::move(operands), [product, workspace, workspace_bytes] {
        if (workspace != nullptr) std::memset(workspace, 0xee, workspace_bytes);
        product.run();
      });
  if (result != tenure::cuda::Result::kSuccess) return LtStatus::kExecutionFailed;
  fake::count_in("TENURE_FAKE_CUBLASLT_COUNT");
  return LtStatus::kSuccess;
}
