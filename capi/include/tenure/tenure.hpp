// C++20 over tenure.h: handles that release themselves, typed views of spans, errors as exceptions.
//
// Optional, and nothing but this file: no name of it is in the library. A view is lent to a call as
// a pointer, so the functions of tenure.h take it as it is:
//
//   std::vector<float> table(6, 1.0f), sums(2);
//   tnr::View<const float> rows(table, {2, 3});
//   tnr::View<float> out(sums, {2});
//   tnr::check(tnr_reduce(nullptr, TNR_REDUCE_OP_SUM, rows, 1u << 1, nullptr, out));
//
//   View<const T>, View<T>   tnr_view, tnr_view_mut   memory of the caller's, to read or to write
//   Tensor<T>                allocated, copied, adopted   the holder may write
//   SharedTensor<T>          shared                       read-only; copies share it
//   Borrow<T>                borrowed, borrowed mutably   the caller's again when it ends
//   SparseView               tnr_sparse_view              a matrix whose arrays are the caller's
//   Handle<tnr_sparse> ...   results of functions; `owned(...)` throws where one is NULL
//
// clang warns where a view outlives the object that it was made of (-Wdangling,
// -Wreturn-stack-address).
#ifndef TENURE_TENURE_HPP
#define TENURE_TENURE_HPP

#include <algorithm>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenure/tenure.h"

#if TNR_WANT_MINOR < TNR_ABI_MINOR
#error "tenure.hpp uses names of every minor version: do not define TNR_WANT_MINOR with it"
#endif

namespace tnr {

// ---- errors ----

/// A call that failed: its status, and as what() the message, which names the value and the bound.
class Error : public std::runtime_error {
 public:
  Error(tnr_status status, const std::string& message)
      : std::runtime_error(message), status_(status) {}

  [[nodiscard]] tnr_status status() const noexcept { return status_; }

 private:
  tnr_status status_;
};

/// Throws the calling thread's last failure.
[[noreturn]] inline void throw_last_error() {
  const tnr_error& error = *tnr_last_error();
  throw Error(error.status, error.message);
}

/// Throws unless a call was OK.
inline void check(tnr_status status) {
  if (status != TNR_STATUS_OK) throw_last_error();
}

// ---- handles ----

/// Gives up a handle.
struct Release {
  void operator()(tnr_blob* blob) const noexcept { tnr_blob_release(blob); }
  void operator()(tnr_context* context) const noexcept { tnr_context_release(context); }
  void operator()(tnr_sparse* matrix) const noexcept { tnr_sparse_release(matrix); }
  void operator()(tnr_packed* matrix) const noexcept { tnr_packed_release(matrix); }
  void operator()(tnr_factor* factor) const noexcept { tnr_factor_release(factor); }
};

/// A handle that is released once: of a `tnr_blob`, `tnr_context`, `tnr_sparse`, `tnr_packed` or
/// `tnr_factor`.
template <class H>
using Handle = std::unique_ptr<H, Release>;

/// Takes the handle that a function has returned; throws if it is NULL.
template <class H>
[[nodiscard]] Handle<H> owned(H* made) {
  if (made == nullptr) throw_last_error();
  return Handle<H>(made);
}

/// Threads that work at a call, the caller among them: 1 to 1024.
[[nodiscard]] inline Handle<tnr_context> make_context(std::uint32_t thread_count) {
  tnr_context_options options{};
  options.struct_size = sizeof options;
  options.thread_count = thread_count;
  return owned(tnr_context_create(&options));
}

// ---- elements ----

/// The dtype of a C++ type. Specialise it for a 16-bit float of your own: its `value` is
/// TNR_DTYPE_F16 or TNR_DTYPE_BF16.
template <class T>
struct DtypeOf {};
template <>
struct DtypeOf<double> : std::integral_constant<tnr_dtype, TNR_DTYPE_F64> {};
template <>
struct DtypeOf<float> : std::integral_constant<tnr_dtype, TNR_DTYPE_F32> {};
template <>
struct DtypeOf<bool> : std::integral_constant<tnr_dtype, TNR_DTYPE_BOOL8> {};
template <>
struct DtypeOf<std::complex<float>> : std::integral_constant<tnr_dtype, TNR_DTYPE_C64> {};
template <>
struct DtypeOf<std::complex<double>> : std::integral_constant<tnr_dtype, TNR_DTYPE_C128> {};
// All integers, `long` and `long long` alike, but not the characters of text.
template <std::integral T>
  requires(!std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
           !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t> &&
           sizeof(T) <= 8)
struct DtypeOf<T>
    : std::integral_constant<
          tnr_dtype, sizeof(T) == 1   ? (std::is_signed_v<T> ? TNR_DTYPE_I8 : TNR_DTYPE_U8)
                     : sizeof(T) == 2 ? (std::is_signed_v<T> ? TNR_DTYPE_I16 : TNR_DTYPE_U16)
                     : sizeof(T) == 4 ? (std::is_signed_v<T> ? TNR_DTYPE_I32 : TNR_DTYPE_U32)
                                      : (std::is_signed_v<T> ? TNR_DTYPE_I64 : TNR_DTYPE_U64)> {};
static_assert(sizeof(bool) == 1);

/// A type that memory can be viewed as.
template <class T>
concept Element = std::is_trivially_copyable_v<T> && requires {
  { DtypeOf<std::remove_const_t<T>>::value } -> std::convertible_to<tnr_dtype>;
};

template <Element T>
inline constexpr tnr_dtype dtype_of = DtypeOf<std::remove_const_t<T>>::value;

/// One element for a call.
template <Element T>
[[nodiscard]] tnr_scalar scalar(T value) noexcept {
  tnr_scalar result{};
  result.dtype = dtype_of<T>;
  std::memcpy(result.bytes, &value, sizeof value);
  return result;
}

/// A list of extents, strides or axes, lent for a call: `{2, 3}`, or any array of them.
template <class Number>
class List {
 public:
  List(std::initializer_list<Number> numbers TNR_LIFETIMEBOUND)
      : numbers_(numbers.begin(), numbers.size()) {}
  template <std::ranges::contiguous_range Range>
    requires std::same_as<std::ranges::range_value_t<Range>, Number>
  List(const Range& range TNR_LIFETIMEBOUND) : numbers_(range) {}

  [[nodiscard]] std::uint32_t rank() const noexcept {
    return static_cast<std::uint32_t>(std::min<std::size_t>(numbers_.size(), UINT32_MAX));
  }
  [[nodiscard]] const Number* data() const noexcept { return numbers_.data(); }

 private:
  std::span<const Number> numbers_;
};
using Shape = List<std::int64_t>;
using Strides = List<std::int64_t>;
using Axes = List<std::uint32_t>;

// ---- views ----

/// Adjacent elements, lent: those of a span, or of their owner, such as a vector or an array. An
/// owner is marked for compilers as lifetimebound.
template <Element T>
class Elements {
 public:
  Elements(std::span<T> elements) noexcept : elements_(elements) {}
  template <std::ranges::contiguous_range Owner>
    requires(!std::ranges::enable_borrowed_range<std::remove_const_t<Owner>> &&
             std::convertible_to<Owner&, std::span<T>>)
  Elements(Owner& owner TNR_LIFETIMEBOUND) : elements_(owner) {}
  // Binds to temporaries too, which last for the call.
  template <class Owner>
    requires(std::is_const_v<T> && !std::ranges::enable_borrowed_range<Owner> &&
             std::ranges::contiguous_range<const Owner> &&
             std::convertible_to<const Owner&, std::span<T>>)
  Elements(const Owner& owner TNR_LIFETIMEBOUND) : elements_(owner) {}

  [[nodiscard]] std::span<T> span() const noexcept { return elements_; }

 private:
  std::span<T> elements_;
};

/// A shape over memory: `View<const T>` to read, `View<T>` to write as well. A value that owns
/// nothing; it is good while the memory is.
template <Element T>
class View {
 public:
  using value_type = std::remove_const_t<T>;
  static constexpr bool kIsConst = std::is_const_v<T>;
  using Raw = std::conditional_t<kIsConst, tnr_view, tnr_view_mut>;

  /// All of them, along one axis.
  explicit View(Elements<T> elements TNR_LIFETIMEBOUND)
      : View(elements, Shape{static_cast<std::int64_t>(elements.span().size())}) {}
  /// The first of them, row-major.
  View(Elements<T> elements TNR_LIFETIMEBOUND, Shape shape)
      : View(elements.span(), shape, nullptr, 0) {}
  /// With strides, in elements, from element `offset` on.
  View(Elements<T> elements TNR_LIFETIMEBOUND, Shape shape, Strides strides, std::size_t offset = 0)
      : View(elements.span(), shape, one_an_axis(strides, shape), offset) {}
  /// A view that C has made. Throws INVALID_ARGUMENT where it has other elements.
  explicit View(const Raw& raw) : raw_(raw) {
    if (plain().dtype != dtype_of<T>) {
      throw Error(TNR_STATUS_INVALID_ARGUMENT, std::string("view.dtype is ") +
                                                   tnr_dtype_name(plain().dtype) + " but must be " +
                                                   tnr_dtype_name(dtype_of<T>));
    }
  }
  /// A writable view may be read.
  template <std::same_as<value_type> U>
    requires(kIsConst)
  View(const View<U>& writable) : raw_(writable.plain()) {}

  /// For the functions of tenure.h.
  operator const tnr_view*() const noexcept TNR_LIFETIMEBOUND_THIS { return &plain(); }
  operator const tnr_view_mut*() const noexcept TNR_LIFETIMEBOUND_THIS
    requires(!kIsConst)
  {
    return &raw_;
  }
  [[nodiscard]] const tnr_view& plain() const noexcept TNR_LIFETIMEBOUND_THIS {
    if constexpr (kIsConst) {
      return raw_;
    } else {
      return raw_.view;
    }
  }

  [[nodiscard]] std::uint32_t rank() const noexcept { return plain().rank; }
  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept TNR_LIFETIMEBOUND_THIS {
    return {plain().shape, rank()};
  }
  [[nodiscard]] std::span<const std::int64_t> strides() const noexcept TNR_LIFETIMEBOUND_THIS {
    return {plain().strides, rank()};
  }
  /// Elements.
  [[nodiscard]] std::size_t size() const noexcept {
    std::size_t count = 1;
    for (const std::int64_t extent : shape()) count *= static_cast<std::size_t>(extent);
    return count;
  }
  /// The elements as text, as NumPy's `str` has them: see `tnr_view_format`.
  [[nodiscard]] std::string text(std::uint32_t precision = 8) const {
    std::size_t needed = 0;
    check(tnr_view_format(*this, precision, 0, nullptr, &needed));
    std::string text(needed, '\0');
    check(tnr_view_format(*this, precision, text.size(), text.data(), &needed));
    text.resize(needed - 1);  // without the 0
    return text;
  }
  /// The element at index 0 on every axis.
  [[nodiscard]] T* data() const noexcept {
    return static_cast<T*>(const_cast<void*>(plain().data));
  }
  /// The elements as a span, if they are adjacent in row-major order; else nothing.
  [[nodiscard]] std::optional<std::span<T>> as_span() const noexcept {
    std::int64_t expected = 1;
    for (std::uint32_t axis = rank(); axis-- > 0;) {
      if (shape()[axis] == 0) return std::span<T>();
      if (shape()[axis] != 1 && strides()[axis] != expected) return std::nullopt;
      expected *= shape()[axis];
    }
    return std::span<T>(data(), size());
  }
  /// One element. Throws INVALID_ARGUMENT for other than an index an axis, or one out of range.
  template <std::integral... Index>
  [[nodiscard]] T& at(Index... index) const {
    const std::int64_t indices[] = {static_cast<std::int64_t>(index)..., 0};
    if (sizeof...(Index) != rank()) {
      throw Error(TNR_STATUS_INVALID_ARGUMENT, "there are " + std::to_string(sizeof...(Index)) +
                                                   " indices but must be " +
                                                   std::to_string(rank()) + ", one an axis");
    }
    T* element = data();
    for (std::uint32_t axis = 0; axis < rank(); ++axis) {
      if (indices[axis] < 0 || indices[axis] >= shape()[axis]) {
        throw Error(TNR_STATUS_INVALID_ARGUMENT,
                    "index " + std::to_string(axis) + " is " + std::to_string(indices[axis]) +
                        " but must be at least 0 and below " + std::to_string(shape()[axis]));
      }
      element += indices[axis] * strides()[axis];
    }
    return *element;
  }

  // Other shapes over the same memory. The function of tenure.h with the same name describes the
  // arguments.
  [[nodiscard]] View slice(std::uint32_t axis, std::int64_t start, std::int64_t stop,
                           std::int64_t step = 1) const {
    return derived(
        [&](auto* a, auto* out) { return tnr_view_slice(a, axis, start, stop, step, out); });
  }
  [[nodiscard]] View index(std::uint32_t axis, std::int64_t index) const {
    return derived([&](auto* a, auto* out) { return tnr_view_index(a, axis, index, out); });
  }
  [[nodiscard]] View permute(Axes axes) const {
    return derived(
        [&](auto* a, auto* out) { return tnr_view_permute(a, axes.rank(), axes.data(), out); });
  }
  [[nodiscard]] View transpose(std::uint32_t axis_a = 0, std::uint32_t axis_b = 1) const {
    return derived([&](auto* a, auto* out) { return tnr_view_transpose(a, axis_a, axis_b, out); });
  }
  [[nodiscard]] View reshape(Shape shape) const {
    return derived(
        [&](auto* a, auto* out) { return tnr_view_reshape(a, shape.rank(), shape.data(), out); });
  }
  [[nodiscard]] View flatten() const {
    return derived([](auto* a, auto* out) { return tnr_view_flatten(a, out); });
  }
  [[nodiscard]] View squeeze(std::uint32_t axis) const {
    return derived([&](auto* a, auto* out) { return tnr_view_squeeze(a, axis, out); });
  }
  [[nodiscard]] View unsqueeze(std::uint32_t axis) const {
    return derived([&](auto* a, auto* out) { return tnr_view_unsqueeze(a, axis, out); });
  }
  [[nodiscard]] View flip(std::uint32_t axis) const {
    return derived([&](auto* a, auto* out) { return tnr_view_flip(a, axis, out); });
  }
  [[nodiscard]] View chunk(std::uint32_t axis, std::int64_t count, std::int64_t index) const {
    return derived([&](auto* a, auto* out) { return tnr_view_chunk(a, axis, count, index, out); });
  }
  [[nodiscard]] std::pair<View, View> split(std::uint32_t axis, std::int64_t index) const {
    std::pair<View, View> parts(*this, *this);
    check(tnr_view_split(*this, axis, index, &parts.first.plain_mut(), &parts.second.plain_mut()));
    return parts;
  }
  // In these views an element may appear more than once, so they are read-only.
  [[nodiscard]] View<const T> broadcast(Shape shape) const {
    return View<const T>(*this).derived(
        [&](auto* a, auto* out) { return tnr_view_broadcast(a, shape.rank(), shape.data(), out); });
  }
  [[nodiscard]] View<const T> windows(std::uint32_t axis, std::int64_t size,
                                      std::int64_t step = 1) const {
    return View<const T>(*this).derived(
        [&](auto* a, auto* out) { return tnr_view_windows(a, axis, size, step, out); });
  }

 private:
  template <Element>
  friend class View;

  View(std::span<T> elements, Shape shape, const std::int64_t* strides, std::size_t offset) {
    // An offset that overflows becomes a negative number of bytes, which no span has.
    const std::size_t offset_bytes = offset > SIZE_MAX / sizeof(T) ? SIZE_MAX : offset * sizeof(T);
    const auto lend = [&] {
      if constexpr (kIsConst)
        return tnr_view_lend;
      else
        return tnr_view_lend_mut;
    }();
    check(lend(elements.data(), elements.size_bytes(), offset_bytes, dtype_of<T>, shape.rank(),
               shape.data(), strides, &raw_));
  }

  static const std::int64_t* one_an_axis(Strides strides, Shape shape) {
    if (strides.rank() == shape.rank()) return strides.data();
    throw Error(TNR_STATUS_INVALID_ARGUMENT, "there are " + std::to_string(strides.rank()) +
                                                 " strides but must be " +
                                                 std::to_string(shape.rank()) + ", one an axis");
  }
  [[nodiscard]] tnr_view& plain_mut() noexcept { return const_cast<tnr_view&>(plain()); }
  template <class Step>
  [[nodiscard]] View derived(const Step& step) const {
    View result = *this;
    check(step(&plain(), &result.plain_mut()));
    return result;
  }

  Raw raw_{};
};

template <std::ranges::contiguous_range Range>
View(Range&&) -> View<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;
template <std::ranges::contiguous_range Range, class... More>
View(Range&&, Shape, More...)
    -> View<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// ---- memory that is held ----

/// Memory with one holder, who may write it. Row-major.
template <Element T>
  requires(!std::is_const_v<T>)
class Tensor {
 public:
  /// From the context's allocator; NULL: from the library's. Throws OUT_OF_MEMORY.
  [[nodiscard]] static Tensor full(Shape shape, T value, tnr_context* context = nullptr) {
    Tensor result(owned(tnr_blob_alloc(context, size_bytes(shape))), shape);
    const tnr_scalar element = scalar(value);
    check(tnr_fill(context, &element, nullptr, result.view_));
    return result;
  }
  [[nodiscard]] static Tensor zeros(Shape shape, tnr_context* context = nullptr) {
    return full(shape, T{}, context);
  }
  [[nodiscard]] static Tensor copy(std::span<const T> elements, Shape shape,
                                   tnr_context* context = nullptr) {
    return Tensor(owned(tnr_blob_copy(context, elements.data(), elements.size_bytes())), shape);
  }
  /// Takes over a vector: no element is copied or moved. Where this throws, the vector is as it
  /// was.
  [[nodiscard]] static Tensor adopt(std::vector<T>&& elements, Shape shape)
    requires(!std::same_as<T, bool>)
  {
    static_cast<void>(View<T>(elements, shape));  // refuses a shape before anything is taken
    auto source = std::make_unique<std::vector<T>>();
    source->swap(elements);
    const auto give_back = [](void* vector) { delete static_cast<std::vector<T>*>(vector); };
    Handle<tnr_blob> blob(
        tnr_blob_adopt(source->data(), source->size() * sizeof(T), give_back, source.get()));
    if (blob == nullptr) {
      source->swap(elements);
      throw_last_error();
    }
    std::vector<T>* const adopted = source.release();
    Tensor result(std::move(blob), shape);
    result.source_ = adopted;
    return result;
  }

  [[nodiscard]] View<T> view() & noexcept TNR_LIFETIMEBOUND_THIS { return view_; }
  [[nodiscard]] View<const T> view() const& noexcept TNR_LIFETIMEBOUND_THIS { return view_; }
  void view() const&& = delete;  // what it would show ends with the statement

  /// The vector that was adopted, with the same elements at the same address. Throws
  /// INVALID_ARGUMENT if no vector was adopted, and BUSY if others hold the memory: it stays
  /// theirs.
  [[nodiscard]] std::vector<T> into_vector() && {
    check(tnr_blob_reclaim(blob_.get(), source_));
    static_cast<void>(blob_.release());
    const std::unique_ptr<std::vector<T>> source(std::exchange(source_, nullptr));
    return std::move(*source);
  }

  [[nodiscard]] tnr_blob* blob() const noexcept { return blob_.get(); }

 private:
  Tensor(Handle<tnr_blob> blob, Shape shape)
      : blob_(std::move(blob)), view_(view_of(blob_.get(), shape)) {}
  static View<T> view_of(tnr_blob* blob, Shape shape) {
    tnr_view_mut raw{};
    check(tnr_blob_view_mut(blob, 0, dtype_of<T>, shape.rank(), shape.data(), nullptr, &raw));
    return View<T>(raw);
  }
  // Too many: more than can be had. A negative extent: none, and view_of() refuses it.
  static std::size_t size_bytes(Shape shape) {
    std::size_t bytes = sizeof(T);
    for (std::uint32_t axis = 0; axis < shape.rank(); ++axis) {
      const std::int64_t extent = shape.data()[axis];
      if (extent <= 0) return 0;
      const auto count = static_cast<std::size_t>(extent);
      bytes = bytes > SIZE_MAX / count ? SIZE_MAX : bytes * count;
    }
    return bytes;
  }

  Handle<tnr_blob> blob_;
  View<T> view_;
  std::vector<T>* source_ = nullptr;  // the blob's, while there is one
};

/// Memory that is not written while it is shared. Each copy of this object holds it. Row-major.
template <Element T>
  requires(!std::is_const_v<T>)
class SharedTensor {
 public:
  /// A share in a vector, a std::array, a mapped file's object: anything contiguous. No element is
  /// copied.
  template <std::ranges::contiguous_range Owner>
    requires std::same_as<std::ranges::range_value_t<Owner>, T>
  SharedTensor(std::shared_ptr<const Owner> owner, Shape shape)
      : blob_(share(std::move(owner))), view_(view_of(blob_.get(), shape)) {}

  SharedTensor(const SharedTensor& other)
      : blob_(owned(tnr_blob_retain(other.blob_.get()))), view_(other.view_) {}
  SharedTensor(SharedTensor&&) noexcept = default;
  SharedTensor& operator=(SharedTensor other) noexcept {
    std::swap(blob_, other.blob_);
    std::swap(view_, other.view_);
    return *this;
  }
  ~SharedTensor() = default;

  [[nodiscard]] View<const T> view() const& noexcept TNR_LIFETIMEBOUND_THIS { return view_; }
  void view() const&& = delete;

  [[nodiscard]] tnr_blob* blob() const noexcept { return blob_.get(); }

 private:
  template <class Owner>
  static Handle<tnr_blob> share(std::shared_ptr<const Owner> owner) {
    const std::span<const T> elements(*owner);
    auto held = std::make_unique<std::shared_ptr<const Owner>>(std::move(owner));
    const auto give_back = [](void* share) {
      delete static_cast<std::shared_ptr<const Owner>*>(share);
    };
    Handle<tnr_blob> blob =
        owned(tnr_blob_share(elements.data(), elements.size_bytes(), give_back, held.get()));
    static_cast<void>(held.release());
    return blob;
  }
  static View<const T> view_of(tnr_blob* blob, Shape shape) {
    tnr_view raw{};
    check(tnr_blob_view(blob, 0, dtype_of<T>, shape.rank(), shape.data(), nullptr, &raw));
    return View<const T>(raw);
  }

  Handle<tnr_blob> blob_;
  View<const T> view_;
};

template <class Owner>
SharedTensor(std::shared_ptr<const Owner>, Shape)
    -> SharedTensor<std::ranges::range_value_t<const Owner>>;

/// Memory of the caller's that the library may hold for longer than a call: `Borrow<const T>` to
/// read, `Borrow<T>` where only the borrower reads and writes. The memory is the caller's again
/// when the borrow has ended.
template <Element T>
class Borrow {
 public:
  explicit Borrow(Elements<T> elements TNR_LIFETIMEBOUND) : blob_(borrow(elements.span())) {}
  Borrow(const Borrow&) = delete;
  Borrow& operator=(const Borrow&) = delete;
  /// Waits for calls that use the memory. Ends the program if another handle is not released,
  /// because its holder would use memory that is gone. end() throws instead.
  ~Borrow() {
    if (is_ended_) return;
    for (;;) {
      const tnr_status status = tnr_blob_end_borrow(blob_.get());
      if (status == TNR_STATUS_OK) return;
      if (status != TNR_STATUS_BUSY) std::terminate();
      std::this_thread::yield();
    }
  }

  /// Ends it. Throws BUSY while a call uses the memory, and BORROW_ESCAPED while another handle is
  /// not released; no new use starts, and it is to be called again.
  void end() {
    check(tnr_blob_end_borrow(blob_.get()));
    is_ended_ = true;
  }
  /// Row-major.
  [[nodiscard]] View<T> view(Shape shape) const TNR_LIFETIMEBOUND_THIS {
    typename View<T>::Raw raw{};
    const auto view_of = [] {
      if constexpr (std::is_const_v<T>)
        return tnr_blob_view;
      else
        return tnr_blob_view_mut;
    }();
    check(view_of(blob_.get(), 0, dtype_of<T>, shape.rank(), shape.data(), nullptr, &raw));
    return View<T>(raw);
  }
  [[nodiscard]] tnr_blob* blob() const noexcept { return blob_.get(); }

 private:
  static Handle<tnr_blob> borrow(std::span<T> elements) {
    if constexpr (std::is_const_v<T>) {
      return owned(tnr_blob_borrow(elements.data(), elements.size_bytes()));
    } else {
      return owned(tnr_blob_borrow_mut(elements.data(), elements.size_bytes()));
    }
  }

  Handle<tnr_blob> blob_;
  bool is_ended_ = false;
};

template <std::ranges::contiguous_range Range>
Borrow(Range&&) -> Borrow<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

// ---- sparse matrices ----

/// The integers that offsets and indices can be.
template <class I>
concept Index = std::same_as<I, std::int32_t> || std::same_as<I, std::int64_t>;

/// A sparse matrix whose arrays are the caller's; each call checks them. docs/sparse.md describes
/// them.
class SparseView {
 public:
  /// `row_offsets` has `rows + 1` numbers. `flags`: TNR_SPARSE_SORTED, TNR_SPARSE_UNIQUE.
  template <Index I, Element T>
  [[nodiscard]] static SparseView csr(std::int64_t rows, std::int64_t cols,
                                      Elements<const I> row_offsets TNR_LIFETIMEBOUND,
                                      Elements<const I> col_indices TNR_LIFETIMEBOUND,
                                      Elements<const T> values TNR_LIFETIMEBOUND,
                                      std::uint32_t flags = 0) {
    return {
        TNR_SPARSE_FORMAT_CSR, rows, cols, View<const I>(row_offsets), View<const I>(col_indices),
        View<const T>(values), flags};
  }
  /// `col_offsets` has `cols + 1` numbers.
  template <Index I, Element T>
  [[nodiscard]] static SparseView csc(std::int64_t rows, std::int64_t cols,
                                      Elements<const I> col_offsets TNR_LIFETIMEBOUND,
                                      Elements<const I> row_indices TNR_LIFETIMEBOUND,
                                      Elements<const T> values TNR_LIFETIMEBOUND,
                                      std::uint32_t flags = 0) {
    return {
        TNR_SPARSE_FORMAT_CSC, rows, cols, View<const I>(col_offsets), View<const I>(row_indices),
        View<const T>(values), flags};
  }
  template <Index I, Element T>
  [[nodiscard]] static SparseView coo(std::int64_t rows, std::int64_t cols,
                                      Elements<const I> row_indices TNR_LIFETIMEBOUND,
                                      Elements<const I> col_indices TNR_LIFETIMEBOUND,
                                      Elements<const T> values TNR_LIFETIMEBOUND,
                                      std::uint32_t flags = 0) {
    return {
        TNR_SPARSE_FORMAT_COO, rows, cols, View<const I>(row_indices), View<const I>(col_indices),
        View<const T>(values), flags};
  }
  /// `values` has the blocks one after the other, each row-major.
  template <Index I, Element T>
  [[nodiscard]] static SparseView bsr(std::int64_t rows, std::int64_t cols, std::int64_t block_rows,
                                      std::int64_t block_cols,
                                      Elements<const I> row_offsets TNR_LIFETIMEBOUND,
                                      Elements<const I> col_indices TNR_LIFETIMEBOUND,
                                      Elements<const T> values TNR_LIFETIMEBOUND,
                                      std::uint32_t flags = 0) {
    const auto blocks = static_cast<std::int64_t>(col_indices.span().size());
    SparseView result(TNR_SPARSE_FORMAT_BSR, rows, cols, View<const I>(row_offsets),
                      View<const I>(col_indices),
                      View<const T>(values, {blocks, block_rows, block_cols}), flags);
    result.raw_.block_rows = block_rows;
    result.raw_.block_cols = block_cols;
    return result;
  }
  /// The matrix of a handle; the library knows that it has been checked.
  explicit SparseView(const Handle<tnr_sparse>& matrix TNR_LIFETIMEBOUND) {
    raw_.struct_size = sizeof raw_;
    check(tnr_sparse_view_of(matrix.get(), &raw_));
  }

  operator const tnr_sparse_view*() const noexcept TNR_LIFETIMEBOUND_THIS { return &raw_; }
  [[nodiscard]] const tnr_sparse_view& raw() const noexcept TNR_LIFETIMEBOUND_THIS { return raw_; }

  [[nodiscard]] std::int64_t rows() const noexcept { return raw_.rows; }
  [[nodiscard]] std::int64_t cols() const noexcept { return raw_.cols; }
  // The three arrays. They throw INVALID_ARGUMENT where the elements are others.
  template <Index I>
  [[nodiscard]] std::span<const I> major() const {
    return elements<I>(raw_.major);
  }
  template <Index I>
  [[nodiscard]] std::span<const I> minor() const {
    return elements<I>(raw_.minor);
  }
  template <Element T>
  [[nodiscard]] std::span<const T> values() const {
    return elements<T>(raw_.values);
  }

 private:
  SparseView(tnr_sparse_format format, std::int64_t rows, std::int64_t cols, const tnr_view* major,
             const tnr_view* minor, const tnr_view* values, std::uint32_t flags) {
    raw_.struct_size = sizeof raw_;
    raw_.format = format;
    raw_.flags = flags;
    raw_.rows = rows;
    raw_.cols = cols;
    raw_.block_rows = raw_.block_cols = 1;
    raw_.major = *major;
    raw_.minor = *minor;
    raw_.values = *values;
  }
  template <class X>
  static std::span<const X> elements(const tnr_view& view) {
    return *View<const X>(view).as_span();  // they are contiguous in each matrix
  }

  tnr_sparse_view raw_{};
};

}  // namespace tnr

#endif  // TENURE_TENURE_HPP
