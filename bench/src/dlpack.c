/* The cost of importing and exporting a DLPack tensor: a small matrix of this file, with a deleter
 * that does nothing, and an export by the library. */
#include <tenure/tenure.h>

/* These types have the layout that dlpack.h defines. */
typedef struct {
  void* data;
  struct {
    int32_t kind, index;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} tensor;

struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned*);
  uint64_t flags;
  tensor tensor;
};

static void keep(struct DLManagedTensorVersioned* self) { (void)self; }

/* Imports a tensor and releases the blob, `count` times. */
tnr_status tenure_bench_dlpack_import(uint64_t count) {
  static float elements[12];
  static int64_t shape[] = {3, 4}, strides[] = {4, 1};
  DLManagedTensorVersioned managed = {
      {1, 0}, NULL, keep, 0, {elements, {1, 0}, 2, {2, 32, 1}, shape, strides, 0}};
  tnr_status status = TNR_STATUS_OK;
  for (uint64_t i = 0; i < count && status == TNR_STATUS_OK; ++i) {
    tnr_view view;
    tnr_blob* blob = tnr_blob_import(&managed, &view);
    if (blob == NULL) return tnr_last_error()->status;
    status = tnr_blob_release(blob);
  }
  return status;
}

/* Exports a view of a blob and has the tensor deleted, `count` times. */
tnr_status tenure_bench_dlpack_export(const tnr_view* view, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    DLManagedTensorVersioned* managed;
    const tnr_status status = tnr_view_export(view, 0, &managed);
    if (status != TNR_STATUS_OK) return status;
    managed->deleter(managed);
  }
  return TNR_STATUS_OK;
}
