// Exchange with other libraries through DLPack's managed tensors, whose layout stands here.
//
//   tensor                    way     what holds the memory afterwards         who may write
//   ------------------------  ------  ---------------------------------------  -------------------
//   DLManagedTensorVersioned  import  a blob; its end calls the deleter        the holder, unless
//                                                                              READ_ONLY is set
//   DLManagedTensor (legacy)  import  a blob; its end calls the deleter        the holder
//   DLManagedTensorVersioned  export  the tensor has a reference to the blob,  the consumer, unless
//                                     which its deleter gives up               READ_ONLY is set
//   DLManagedTensor (legacy)  export  the same                                 the consumer
//
// The layout is that of DLPack 1.0 (dmlc/dlpack, include/dlpack/dlpack.h): all that lies before the
// tensor in the versioned struct stays as it is in every later version.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"

namespace tenure {

struct DlDevice {
  std::int32_t kind;
  std::int32_t index;
};

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t rank;
  std::uint8_t dtype_code;
  std::uint8_t dtype_bits;
  std::uint16_t dtype_lanes;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; NULL means row-major
  std::uint64_t offset_bytes;
};
static_assert(sizeof(DlTensor) == 48);

inline constexpr std::uint64_t kDlReadOnly = 1;
inline constexpr std::uint64_t kDlIsCopied = 2;
inline constexpr std::uint32_t kDlMajorVersion = 1;

}  // namespace tenure

// The names that tenure.h declares.
struct DLManagedTensor {
  tenure::DlTensor tensor;
  void* manager_context;
  void (*deleter)(DLManagedTensor* self);
};
static_assert(sizeof(DLManagedTensor) == 64);

struct DLManagedTensorVersioned {
  std::uint32_t major_version;
  std::uint32_t minor_version;
  void* manager_context;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  tenure::DlTensor tensor;
};
static_assert(sizeof(DLManagedTensorVersioned) == 80);

namespace tenure {

// DLPack's table of a library's functions, since version 1.3; older ones in a chain.
struct DlExchangeHeader {
  std::uint32_t major_version;
  std::uint32_t minor_version;
  const DlExchangeHeader* older;
};

}  // namespace tenure

struct DLPackExchangeAPI {
  tenure::DlExchangeHeader header;
  void* allocate;
  int (*tensor_from_object)(void* object, DLManagedTensorVersioned** out);
  int (*object_from_tensor)(DLManagedTensorVersioned* tensor, void** out);
  int (*fill_tensor)(void* object, tenure::DlTensor* out);
  int (*current_work_stream)(std::int32_t device_kind, std::int32_t device_index, void** out);
};
static_assert(sizeof(DLPackExchangeAPI) == 56);

namespace tenure {

// A view of the imported memory, on the context's device where it has one; the view's owner is a
// blob with one reference. On failure the tensor stays the caller's.
// Throw INVALID_ARGUMENT and UNSUPPORTED as check_view() does, with the tensor's fields; also
// UNSUPPORTED for another major version; std::bad_alloc.
tnr_view dlpack_import(const Context& context, DLManagedTensorVersioned& tensor);
tnr_view dlpack_import(const Context& context, DLManagedTensor& tensor);
// Imports an object that the table knows, after the work that its library has enqueued so far. Also
// throws INVALID_ARGUMENT where the table refuses the object, UNSUPPORTED for a table of another
// major version, and DEVICE_ERROR.
tnr_view dlpack_import_object(const Context& context, const DLPackExchangeAPI& newest,
                              void* object);

// A tensor over the view's elements, on the context's device where it has one: then for a consumer
// that works on the context's stream, until the deleter is called. Throw as Pins do;
// INVALID_ARGUMENT for a view without a blob, of a borrowed one, and of a flag that is not known;
// std::bad_alloc. A legacy tensor has no read-only flag, so it is made only from views for writing.
DLManagedTensorVersioned* dlpack_export(const Context& context, const tnr_view& view,
                                        std::uint32_t flags);
DLManagedTensor* dlpack_export_legacy(const Context& context, const tnr_view_mut& view);

}  // namespace tenure
