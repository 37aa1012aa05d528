#include "cuda/libraries/products.hpp"

#include <cstring>
#include <mutex>
#include <optional>

#include "cuda/libraries/cublaslt.hpp"
#include "cuda/libraries/device_state.hpp"
#include "engine/shape_cache.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {
namespace {

using engines::Product;
using engines::ProductMemory;

// The library counts batches in 32 bits, and its kernels count lines so.
constexpr std::int64_t kMostLines = INT32_MAX;
// Beyond it no kernel asks for more.
constexpr std::uint64_t kMostAlignment = 256;

// ---- the table of supported products ----

struct Types {
  int element;
  int result;
  int compute;
  int scale;  // of alpha and beta
  std::size_t scale_bytes;
};
std::optional<Types> types_of(const Product& p) noexcept {
  if (p.a.dtype != p.b.dtype) return std::nullopt;
  switch (p.a.dtype) {
    case TNR_DTYPE_F32: return Types{kLtF32, kLtF32, kLtComputeF32, kLtF32, 4};
    case TNR_DTYPE_F64: return Types{kLtF64, kLtF64, kLtComputeF64, kLtF64, 8};
    case TNR_DTYPE_F16: return Types{kLtF16, kLtF16, kLtComputeF32, kLtF32, 4};
    case TNR_DTYPE_BF16: return Types{kLtBF16, kLtBF16, kLtComputeF32, kLtF32, 4};
    case TNR_DTYPE_I8: return Types{kLtI8, kLtI32, kLtComputeI32, kLtI32, 4};
    default: return std::nullopt;
  }
}

// A matrix by columns, which are whole lines of adjacent elements: the rows of one that lies so.
struct Columns {
  std::uint64_t rows;
  std::uint64_t columns;
  std::int64_t leading_dimension;
  std::int32_t transposition;  // of the lines, which makes it the factor
  std::int64_t batch_step;
  std::uint32_t alignment;  // in bytes, of each matrix of the batch
};

// The library has matrices by columns, and is therefore asked for the transpose of the result: of
// the transpose of b by that of a.
struct LtDescription {
  Types types;
  Columns b;
  Columns a;
  Columns out;
  std::int64_t batch_count;
  std::uint32_t epilogue;
  std::uint32_t bias_alignment;  // 0: none
};

std::uint32_t alignment_of(const void* data, std::int64_t step_bytes) noexcept {
  const std::uint64_t places = reinterpret_cast<std::uintptr_t>(data) |
                               static_cast<std::uint64_t>(step_bytes) | kMostAlignment;
  return static_cast<std::uint32_t>(places & (~places + 1));
}

Columns columns_of(const Product::Matrix& matrix, std::int64_t rows, std::int64_t columns,
                   const void* data) noexcept {
  const auto width = static_cast<std::int64_t>(element_size(matrix.dtype));
  const std::uint32_t alignment = alignment_of(data, matrix.batch_step * width);
  const auto along_rows = static_cast<std::uint64_t>(columns);
  const auto along_columns = static_cast<std::uint64_t>(rows);
  if (matrix.column_step == 1) {
    return {along_rows, along_columns, matrix.row_step, kLtPlain, matrix.batch_step, alignment};
  }
  return {along_columns, along_rows,        matrix.column_step,
          kLtTransposed, matrix.batch_step, alignment};
}

// Products of bytes: of the lines along the depth of both factors, in fours.
bool are_fours(const LtDescription& d) noexcept {
  if (d.b.transposition != kLtTransposed || d.a.transposition != kLtPlain) return false;
  const auto is_of_fours = [](const Columns& matrix) {
    return matrix.rows % 4 == 0 && matrix.leading_dimension % 4 == 0 && matrix.alignment % 4 == 0;
  };
  return is_of_fours(d.b) && is_of_fours(d.a) && is_of_fours(d.out);
}

std::optional<LtDescription> describe(const Product& p, const ProductMemory& memory,
                                      LibraryActivation activation) noexcept {
  const std::optional<Types> types = types_of(p);
  // With an alpha of 0 the library does not read the factors, in which there may be NaN.
  if (!types || p.alpha == 0) return std::nullopt;
  const bool has_epilogue = p.has_bias || activation != LibraryActivation::kNone;
  // The library has epilogues only for sums of f32, and scales sums of bytes only by 0 and 1.
  if (has_epilogue && types->compute != kLtComputeF32) return std::nullopt;
  if (types->compute == kLtComputeI32 && (p.alpha != 1 || p.beta != 0)) return std::nullopt;
  LtDescription d = {};
  d.types = *types;
  d.b = columns_of(p.b, p.depth, p.columns, memory.b);
  d.a = columns_of(p.a, p.rows, p.depth, memory.a);
  d.out = columns_of(p.out, p.rows, p.columns, memory.out);
  d.batch_count = p.batch_count;
  d.epilogue = activation == LibraryActivation::kRelu ? kLtEpilogueRelu : 0;
  if (p.has_bias) d.epilogue |= kLtEpilogueBias;
  if (d.epilogue == 0) d.epilogue = kLtEpilogueDefault;
  d.bias_alignment = p.has_bias ? alignment_of(memory.bias, 0) : 0;
  if (types->compute == kLtComputeI32 && !are_fours(d)) return std::nullopt;
  return d;
}

engines::ShapeKey key_of(const LtDescription& d) noexcept {
  engines::ShapeKey key;
  key.add(d.types.element);
  key.add(d.batch_count);
  for (const Columns* const matrix : {&d.b, &d.a, &d.out}) {
    key.add(static_cast<std::int64_t>(matrix->rows));
    key.add(static_cast<std::int64_t>(matrix->columns));
    key.add(matrix->leading_dimension);
    key.add(matrix->transposition);
    key.add(matrix->batch_step);
    key.add(matrix->alignment);
  }
  key.add(d.epilogue);
  key.add(d.bias_alignment);
  return key;
}

// ---- descriptors ----

template <class Handle, class Value>
void set(LtStatus (*entry)(Handle, int, const void*, std::size_t), Handle handle, int attribute,
         const Value& value, const char* name) {
  require(entry(handle, attribute, &value, sizeof value), name);
}

class Layout {
 public:
  Layout(const CublasLt& library, int type, const Columns& columns, std::int64_t batch_count)
      : layout_(library.layout_destroy) {
    require(library.layout_create(layout_.to_make(), type, columns.rows, columns.columns,
                                  columns.leading_dimension),
            "cublasLtMatrixLayoutCreate");
    if (batch_count == 1) return;
    constexpr const char* kSet = "cublasLtMatrixLayoutSetAttribute";
    set(library.layout_set, layout_.get(), kLtLayoutBatchCount,
        static_cast<std::int32_t>(batch_count), kSet);
    set(library.layout_set, layout_.get(), kLtLayoutBatchStep, columns.batch_step, kSet);
  }
  [[nodiscard]] LtLayout get() const noexcept { return layout_.get(); }

 private:
  Descriptor<LtLayout, LtStatus> layout_;
};

struct LtDescriptors {
  Descriptor<LtOperation, LtStatus> operation;
  Layout b;
  Layout a;
  Layout out;

  LtDescriptors(const CublasLt& library, const LtDescription& d, const void* bias)
      : operation(library.operation_destroy),
        b(library, d.types.element, d.b, d.batch_count),
        a(library, d.types.element, d.a, d.batch_count),
        out(library, d.types.result, d.out, d.batch_count) {
    require(library.operation_create(operation.to_make(), d.types.compute, d.types.scale),
            "cublasLtMatmulDescCreate");
    const auto set_to = [&](int attribute, const auto& value) {
      set(library.operation_set, operation.get(), attribute, value,
          "cublasLtMatmulDescSetAttribute");
    };
    set_to(kLtOperationTransposeA, d.b.transposition);
    set_to(kLtOperationTransposeB, d.a.transposition);
    set_to(kLtOperationEpilogue, d.epilogue);
    if (d.bias_alignment != 0) set_to(kLtOperationBias, bias);
  }
};

// ---- what the library chooses ----

struct LtChoice {
  LtAlgorithm algorithm;
  std::size_t workspace_bytes;
  bool is_taken;
};

struct LtState {
  LtHandle handle = nullptr;
  Mutex mutex;  // guards the choices; the library takes several threads
  engines::ShapeCache<LtChoice> choices;

  explicit LtState(const Device&) { require(cublaslt().create(&handle), "cublasLtCreate"); }
};

constinit DeviceStates<LtState> g_lt_states;

LtChoice ask(const CublasLt& library, LtHandle handle, const LtDescription& d,
             const LtDescriptors& descriptors) {
  Descriptor<LtPreference, LtStatus> preference(library.preference_destroy);
  require(library.preference_create(preference.to_make()), "cublasLtMatmulPreferenceCreate");
  const auto set_to = [&](int attribute, const auto& value) {
    set(library.preference_set, preference.get(), attribute, value,
        "cublasLtMatmulPreferenceSetAttribute");
  };
  set_to(kLtPreferenceWorkspace, kMostWorkspaceBytes);
  // Sums of f32 are rounded to 16 bits once.
  set_to(kLtPreferenceReductions, kLtReductionComputeType);
  set_to(kLtPreferenceAlignmentA, d.b.alignment);
  set_to(kLtPreferenceAlignmentB, d.a.alignment);
  set_to(kLtPreferenceAlignmentC, d.out.alignment);
  set_to(kLtPreferenceAlignmentD, d.out.alignment);
  LtHeuristicResult result = {};
  int count = 0;
  const LtStatus status = library.heuristic(
      handle, descriptors.operation.get(), descriptors.b.get(), descriptors.a.get(),
      descriptors.out.get(), descriptors.out.get(), preference.get(), 1, &result, &count);
  if (status == LtStatus::kNotSupported || status == LtStatus::kArchitectureMismatch) return {};
  require(status, "cublasLtMatmulAlgoGetHeuristic");
  const bool is_taken = count == 1 && result.state == LtStatus::kSuccess &&
                        result.workspace_bytes <= kMostWorkspaceBytes;
  return {result.algorithm, result.workspace_bytes, is_taken};
}

LtChoice choice_of(const CublasLt& library, LtState& state, const LtDescription& d,
                   const LtDescriptors& descriptors) {
  const engines::ShapeKey key = key_of(d);
  const std::lock_guard lock(state.mutex);
  if (const LtChoice* const known = state.choices.find(key)) return *known;
  return state.choices.keep(key, ask(library, state.handle, d, descriptors));
}

// ---- a call ----

// alpha or beta as the library reads it.
struct Scale {
  alignas(8) unsigned char bytes[8] = {};

  Scale(double number, int type) noexcept {
    if (type == kLtF64) {
      store(number);
    } else if (type == kLtI32) {
      store(static_cast<std::int32_t>(number));
    } else {
      store(static_cast<float>(number));
    }
  }

 private:
  template <class T>
  void store(T number) noexcept {
    std::memcpy(bytes, &number, sizeof number);
  }
};

}  // namespace

void require_products() { static_cast<void>(cublaslt()); }

bool multiply(const Queue& queue, const Product& product, const ProductMemory& memory,
              LibraryActivation activation) {
  const CublasLt& library = cublaslt();
  const std::optional<engines::PlainProduct> plain = engines::plain_product(product, kMostLines);
  if (!plain) return false;
  const ProductMemory at = engines::plain_memory(*plain, memory);
  const std::optional<LtDescription> d = describe(plain->product, at, activation);
  if (!d) return false;
  const Current current(queue.opened_device());
  LtState& state = g_lt_states.of(queue.opened_device());
  const LtDescriptors descriptors(library, *d, at.bias);
  const LtChoice choice = choice_of(library, state, *d, descriptors);
  if (!choice.is_taken) return false;
  std::optional<Queue::Scratch> workspace;
  if (choice.workspace_bytes != 0) workspace.emplace(queue, choice.workspace_bytes);
  const Scale alpha(product.alpha, d->types.scale);
  const Scale beta(product.beta, d->types.scale);
  queue.launch_by([&](Stream stream) {
    // With a beta of 0 the library does not read the result.
    require(library.matmul(state.handle, descriptors.operation.get(), alpha.bytes, at.b,
                           descriptors.b.get(), at.a, descriptors.a.get(), beta.bytes, at.out,
                           descriptors.out.get(), at.out, descriptors.out.get(), &choice.algorithm,
                           workspace ? workspace->data() : nullptr, choice.workspace_bytes, stream),
            "cublasLtMatmul");
  });
  return true;
}

}  // namespace tenure::cuda
