#include "tenure/view.hpp"

#include "boundary.hpp"
#include "tenure/blob.hpp"
#include "tenure/shape.hpp"

using tenure::capi::deref;
using tenure::capi::guarded;

namespace {

// The form of all that turns one view into another. The result is a value until it is complete, so
// that out may be the view itself and stays untouched on failure.
template <class Manipulate>
tnr_status derive(const tnr_view* view, tnr_view* out, Manipulate manipulate) noexcept {
  return guarded([&] {
    const tnr_view& input = deref(view, "view");
    tnr_view& result = deref(out, "out");
    tenure::check_view(input, "view", tenure::named_device(input));
    result = manipulate(input);
  });
}

}  // namespace

extern "C" {

tnr_status tnr_view_lend(const void* base, size_t size_bytes, size_t offset_bytes, tnr_dtype dtype,
                         uint32_t rank, const int64_t* shape, const int64_t* strides,
                         tnr_view* out) noexcept {
  return guarded([&] {
    tenure::lend_view(deref(out, "out"), base, size_bytes, offset_bytes, dtype, rank, shape,
                      strides);
  });
}

tnr_status tnr_view_lend_mut(void* base, size_t size_bytes, size_t offset_bytes, tnr_dtype dtype,
                             uint32_t rank, const int64_t* shape, const int64_t* strides,
                             tnr_view_mut* out) noexcept {
  return guarded([&] {
    tnr_view_mut& result = deref(out, "out");
    const tnr_view_mut lent{
        tenure::make_view(base, size_bytes, offset_bytes, dtype, rank, shape, strides)};
    tenure::check_view_mut(lent, "");
    result = lent;
  });
}

int64_t tnr_view_count(const tnr_view* view) noexcept {
  int64_t count = -1;
  (void)guarded([&] {
    const tnr_view& input = deref(view, "view");
    tenure::check_view(input, "view", tenure::named_device(input));
    count = tenure::element_count(input);
  });
  return count;
}

tnr_status tnr_view_check(const tnr_view* view) noexcept {
  return guarded([&] {
    const tnr_view& input = deref(view, "view");
    tenure::check_view(input, "view", tenure::named_device(input));
    tenure::Pins pins;
    pins.add(input, "view");
  });
}

tnr_status tnr_view_check_mut(const tnr_view_mut* view) noexcept {
  return guarded([&] {
    const tnr_view_mut& output = deref(view, "view");
    tenure::check_view_mut(output, "view");
    tenure::Pins pins;
    pins.add_mut(output, "view");
  });
}

tnr_status tnr_view_slice(const tnr_view* view, uint32_t axis, int64_t start, int64_t stop,
                          int64_t step, tnr_view* out) noexcept {
  return derive(view, out,
                [&](const tnr_view& v) { return tenure::slice(v, axis, start, stop, step); });
}

tnr_status tnr_view_index(const tnr_view* view, uint32_t axis, int64_t index,
                          tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::index(v, axis, index); });
}

tnr_status tnr_view_permute(const tnr_view* view, uint32_t rank, const uint32_t* axes,
                            tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::permute(v, rank, axes); });
}

tnr_status tnr_view_transpose(const tnr_view* view, uint32_t axis_a, uint32_t axis_b,
                              tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::transpose(v, axis_a, axis_b); });
}

tnr_status tnr_view_reshape(const tnr_view* view, uint32_t rank, const int64_t* shape,
                            tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::reshape(v, rank, shape); });
}

tnr_status tnr_view_flatten(const tnr_view* view, tnr_view* out) noexcept {
  return derive(view, out, [](const tnr_view& v) { return tenure::flatten(v); });
}

tnr_status tnr_view_squeeze(const tnr_view* view, uint32_t axis, tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::squeeze(v, axis); });
}

tnr_status tnr_view_unsqueeze(const tnr_view* view, uint32_t axis, tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::unsqueeze(v, axis); });
}

tnr_status tnr_view_broadcast(const tnr_view* view, uint32_t rank, const int64_t* shape,
                              tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::broadcast(v, rank, shape); });
}

tnr_status tnr_view_flip(const tnr_view* view, uint32_t axis, tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::flip(v, axis); });
}

tnr_status tnr_view_split(const tnr_view* view, uint32_t axis, int64_t index, tnr_view* out_low,
                          tnr_view* out_high) noexcept {
  return guarded([&] {
    const tnr_view& input = deref(view, "view");
    tnr_view& low = deref(out_low, "out_low");
    tnr_view& high = deref(out_high, "out_high");
    tenure::check_view(input, "view", tenure::named_device(input));
    const tenure::SplitViews parts = tenure::split(input, axis, index);
    low = parts.low;
    high = parts.high;
  });
}

tnr_status tnr_view_chunk(const tnr_view* view, uint32_t axis, int64_t chunk_count, int64_t index,
                          tnr_view* out) noexcept {
  return derive(view, out,
                [&](const tnr_view& v) { return tenure::chunk(v, axis, chunk_count, index); });
}

tnr_status tnr_view_windows(const tnr_view* view, uint32_t axis, int64_t size, int64_t step,
                            tnr_view* out) noexcept {
  return derive(view, out, [&](const tnr_view& v) { return tenure::windows(v, axis, size, step); });
}

}  // extern "C"
