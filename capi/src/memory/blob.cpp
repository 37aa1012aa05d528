#include "tenure/blob.hpp"

#include "boundary.hpp"
#include "tenure/view.hpp"

using tenure::BlobMemory;
using tenure::BlobToken;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::release_handle;
using tenure::capi::retain_handle;
using tenure::capi::token_of;
using tenure::capi::use_of;
using tenure::capi::write_report;

namespace {

tnr_blob_info describe(BlobToken token) {
  const tenure::BlobInfo info = tenure::blob_describe(token);
  return {
      .struct_size = sizeof(tnr_blob_info),
      .data = info.data,
      .size_bytes = info.size_bytes,
      .device = info.device,
      .tenure = info.tenure,
      .holder_count = info.holder_count,
      .pin_count = info.pin_count,
      .reserved = 0,
  };
}

}  // namespace

tnr_status tnr_blob_release(tnr_blob* blob) noexcept {
  return release_handle(blob, tenure::blob_release);
}

tnr_blob* tnr_blob_alloc(tnr_context* context, size_t size_bytes) noexcept {
  return guarded_pointer(
      [&] { return handle_of<tnr_blob>(tenure::blob_allocate_on(use_of(context), size_bytes)); });
}

tnr_blob* tnr_blob_alloc_pinned(tnr_context* context, size_t size_bytes) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(tenure::blob_allocate_pinned(use_of(context), size_bytes));
  });
}

tnr_blob* tnr_blob_alloc_view(tnr_context* context, tnr_dtype dtype, uint32_t rank,
                              const int64_t* shape, tnr_view_mut* out) noexcept {
  return guarded_pointer([&] {
    tnr_view_mut& target = deref(out, "out");
    const std::size_t size_bytes = tenure::row_major_bytes(dtype, rank, shape);
    const BlobToken token = tenure::blob_allocate_on(use_of(context), size_bytes);
    const BlobMemory memory = tenure::blob_memory_mut(token);
    target = {
        tenure::make_view(memory.data, size_bytes, 0, dtype, rank, shape, nullptr, memory.device)};
    target.view.owner = token;
    return handle_of<tnr_blob>(token);
  });
}

tnr_blob* tnr_blob_copy(tnr_context* context, const void* data, size_t size_bytes) noexcept {
  return guarded_pointer(
      [&] { return handle_of<tnr_blob>(tenure::blob_copy_on(use_of(context), data, size_bytes)); });
}

tnr_blob* tnr_blob_adopt(void* data, size_t size_bytes, tnr_release_fn release,
                         void* release_context) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(tenure::blob_adopt(data, size_bytes, release, release_context));
  });
}

tnr_blob* tnr_blob_share(const void* data, size_t size_bytes, tnr_release_fn release,
                         void* release_context) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(tenure::blob_share(data, size_bytes, release, release_context));
  });
}

tnr_blob* tnr_blob_borrow(const void* data, size_t size_bytes) noexcept {
  return guarded_pointer(
      [&] { return handle_of<tnr_blob>(tenure::blob_borrow(data, size_bytes)); });
}

tnr_blob* tnr_blob_borrow_mut(void* data, size_t size_bytes) noexcept {
  return guarded_pointer(
      [&] { return handle_of<tnr_blob>(tenure::blob_borrow_mut(data, size_bytes)); });
}

tnr_blob* tnr_blob_adopt_on(tnr_context* context, void* data, size_t size_bytes,
                            tnr_release_fn release, void* release_context) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(
        tenure::blob_adopt_on(use_of(context), data, size_bytes, release, release_context));
  });
}

tnr_blob* tnr_blob_share_on(tnr_context* context, const void* data, size_t size_bytes,
                            tnr_release_fn release, void* release_context) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(
        tenure::blob_share_on(use_of(context), data, size_bytes, release, release_context));
  });
}

tnr_blob* tnr_blob_borrow_on(tnr_context* context, const void* data, size_t size_bytes) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(tenure::blob_borrow_on(use_of(context), data, size_bytes));
  });
}

tnr_blob* tnr_blob_borrow_mut_on(tnr_context* context, void* data, size_t size_bytes) noexcept {
  return guarded_pointer([&] {
    return handle_of<tnr_blob>(tenure::blob_borrow_mut_on(use_of(context), data, size_bytes));
  });
}

tnr_blob* tnr_blob_retain(tnr_blob* blob) noexcept {
  return retain_handle(blob, tenure::blob_retain);
}

tnr_status tnr_blob_reclaim(tnr_blob* blob, void* release_context) noexcept {
  return guarded([&] { tenure::blob_reclaim(token_of(blob), release_context); });
}

tnr_status tnr_blob_end_borrow(tnr_blob* blob) noexcept {
  return guarded([&] { tenure::blob_end_borrow(token_of(blob)); });
}

const void* tnr_blob_data(const tnr_blob* blob) noexcept {
  return guarded_pointer([&]() -> const void* { return tenure::blob_memory(token_of(blob)).data; });
}

void* tnr_blob_data_mut(tnr_blob* blob) noexcept {
  return guarded_pointer([&] { return tenure::blob_memory_mut(token_of(blob)).data; });
}

tnr_status tnr_blob_describe(const tnr_blob* blob, tnr_blob_info* info) noexcept {
  return guarded([&] { write_report(info, "info", describe(token_of(blob))); });
}

tnr_status tnr_blob_view(const tnr_blob* blob, size_t offset_bytes, tnr_dtype dtype, uint32_t rank,
                         const int64_t* shape, const int64_t* strides, tnr_view* out) noexcept {
  return guarded([&] {
    tnr_view& target = deref(out, "out");
    const BlobMemory memory = tenure::blob_memory(token_of(blob));
    tnr_view view = tenure::make_view(memory.data, memory.size_bytes, offset_bytes, dtype, rank,
                                      shape, strides, memory.device);
    view.owner = token_of(blob);
    target = view;
  });
}

tnr_status tnr_blob_view_mut(tnr_blob* blob, size_t offset_bytes, tnr_dtype dtype, uint32_t rank,
                             const int64_t* shape, const int64_t* strides,
                             tnr_view_mut* out) noexcept {
  return guarded([&] {
    tnr_view_mut& target = deref(out, "out");
    const BlobMemory memory = tenure::blob_memory_mut(token_of(blob));
    tnr_view_mut view = {tenure::make_view(memory.data, memory.size_bytes, offset_bytes, dtype,
                                           rank, shape, strides, memory.device)};
    view.view.owner = token_of(blob);
    tenure::check_view_mut(view, "out", memory.device);
    target = view;
  });
}
