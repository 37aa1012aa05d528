#include "tenure/dlpack.hpp"

#include "boundary.hpp"
#include "tenure/cuda_array.hpp"

using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::read_sized;
using tenure::capi::use_of;
using tenure::capi::write_sized;

namespace {

template <class Tensor>
tnr_blob* import_tensor(const tnr_context* context, Tensor* tensor, tnr_view* out) noexcept {
  return guarded_pointer([&] {
    tnr_view& written = deref(out, "out");
    written = tenure::dlpack_import(use_of(context), deref(tensor, "tensor"));
    return handle_of<tnr_blob>(written.owner);
  });
}

}  // namespace

tnr_blob* tnr_blob_import(DLManagedTensorVersioned* tensor, tnr_view* out) noexcept {
  return import_tensor(nullptr, tensor, out);
}

tnr_blob* tnr_blob_import_on(tnr_context* context, DLManagedTensorVersioned* tensor,
                             tnr_view* out) noexcept {
  return import_tensor(context, tensor, out);
}

tnr_blob* tnr_blob_import_legacy(DLManagedTensor* tensor, tnr_view* out) noexcept {
  return import_tensor(nullptr, tensor, out);
}

tnr_blob* tnr_blob_import_legacy_on(tnr_context* context, DLManagedTensor* tensor,
                                    tnr_view* out) noexcept {
  return import_tensor(context, tensor, out);
}

tnr_blob* tnr_blob_import_object(tnr_context* context, const DLPackExchangeAPI* exchange,
                                 void* object_context, tnr_view* out) noexcept {
  return guarded_pointer([&] {
    tnr_view& written = deref(out, "out");
    written =
        tenure::dlpack_import_object(use_of(context), deref(exchange, "exchange"), object_context);
    return handle_of<tnr_blob>(written.owner);
  });
}

tnr_blob* tnr_blob_import_array(tnr_context* context, const tnr_cuda_array* array,
                                tnr_release_fn release, void* release_context,
                                tnr_view* out) noexcept {
  return guarded_pointer([&] {
    tnr_view& written = deref(out, "out");
    written = tenure::cuda_array_import(use_of(context), read_sized(array, "array"), release,
                                        release_context);
    return handle_of<tnr_blob>(written.owner);
  });
}

tnr_status tnr_view_describe_array(tnr_context* context, const tnr_view* view,
                                   tnr_cuda_array* out) noexcept {
  return guarded([&] {
    write_sized(out, "out", tenure::cuda_array_of(use_of(context), deref(view, "view")));
  });
}

tnr_status tnr_view_export_on(tnr_context* context, const tnr_view* view, uint32_t flags,
                              DLManagedTensorVersioned** out) noexcept {
  return guarded([&] {
    DLManagedTensorVersioned*& written = deref(out, "out");
    written = tenure::dlpack_export(use_of(context), deref(view, "view"), flags);
  });
}

tnr_status tnr_view_export(const tnr_view* view, uint32_t flags,
                           DLManagedTensorVersioned** out) noexcept {
  return tnr_view_export_on(nullptr, view, flags, out);
}

tnr_status tnr_view_export_legacy_on(tnr_context* context, const tnr_view_mut* view,
                                     DLManagedTensor** out) noexcept {
  return guarded([&] {
    DLManagedTensor*& written = deref(out, "out");
    written = tenure::dlpack_export_legacy(use_of(context), deref(view, "view"));
  });
}

tnr_status tnr_view_export_legacy(const tnr_view_mut* view, DLManagedTensor** out) noexcept {
  return tnr_view_export_legacy_on(nullptr, view, out);
}
