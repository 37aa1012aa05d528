#include "tenure/dlpack.hpp"

#include "boundary.hpp"

using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::wrap;

namespace {

template <class Tensor>
tnr_blob* import_tensor(Tensor* tensor, tnr_view* out) {
  tnr_view& written = deref(out, "out");
  written = tenure::dlpack_import(deref(tensor, "tensor"));
  return wrap(written.owner);
}

}  // namespace

tnr_blob* tnr_blob_import(DLManagedTensorVersioned* tensor, tnr_view* out) noexcept {
  return guarded_pointer([&] { return import_tensor(tensor, out); });
}

tnr_blob* tnr_blob_import_legacy(DLManagedTensor* tensor, tnr_view* out) noexcept {
  return guarded_pointer([&] { return import_tensor(tensor, out); });
}

tnr_status tnr_view_export(const tnr_view* view, uint32_t flags,
                           DLManagedTensorVersioned** out) noexcept {
  return guarded([&] {
    DLManagedTensorVersioned*& written = deref(out, "out");
    written = tenure::dlpack_export(deref(view, "view"), flags);
  });
}

tnr_status tnr_view_export_legacy(const tnr_view_mut* view, DLManagedTensor** out) noexcept {
  return guarded([&] {
    DLManagedTensor*& written = deref(out, "out");
    written = tenure::dlpack_export_legacy(deref(view, "view"));
  });
}
