/* Memory in each of its tenures, lent and handed to another library. */
#include "client.h"

static void count(void* context) { *(int*)context += 1; }

static int check_tenure(const tnr_blob* blob, tnr_tenure tenure, const void* data) {
  tnr_blob_info info;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(tnr_blob_describe(blob, &info));
  CHECK(info.struct_size == sizeof info && info.tenure == tenure);
  CHECK(info.size_bytes == 16 && (data == NULL || info.data == data));
  CHECK(info.device.kind == TNR_DEVICE_KIND_CPU && info.device.index == 0);
  CHECK(info.holder_count == 1 && info.pin_count == 0);
  CHECK(tnr_blob_data(blob) == info.data);
  return 0;
}

int check_blobs(void) {
  float memory[4] = {1, 2, 3, 4};
  const int64_t four = 4;
  int released = 0;
  tnr_view view;
  tnr_view_mut view_mut;
  tnr_blob *blob, *again;

  blob = tnr_blob_alloc(NULL, 16);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_ALLOCATED, NULL) == 0);
  again = tnr_blob_retain(blob);
  CHECK(again != NULL);
  OK(tnr_blob_release(again));
  OK(tnr_blob_release(blob));

  blob = tnr_blob_copy(NULL, memory, 16);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_COPIED, NULL) == 0);
  CHECK(memcmp(tnr_blob_data_mut(blob), memory, 16) == 0);
  OK(tnr_blob_release(blob));

  blob = tnr_blob_adopt(memory, 16, count, &released);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_ADOPTED, memory) == 0);
  OK(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, &four, NULL, &view_mut));
  OK(tnr_view_check_mut(&view_mut));
  OK(tnr_blob_reclaim(blob, &released));
  CHECK(released == 0 && tnr_view_check_mut(&view_mut) == TNR_STATUS_STALE_VIEW);

  blob = tnr_blob_share(memory, 16, count, &released);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_SHARED, memory) == 0);
  OK(tnr_blob_view(blob, 4, TNR_DTYPE_F32, 0, NULL, NULL, &view));
  CHECK(view.data == &memory[1] && view.owner != 0);
  OK(tnr_blob_release(blob));
  CHECK(released == 1);

  blob = tnr_blob_borrow(memory, 16);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_BORROWED, memory) == 0);
  OK(tnr_blob_end_borrow(blob));
  OK(tnr_blob_release(blob));
  blob = tnr_blob_borrow_mut(memory, 16);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_BORROWED_MUT, memory) == 0);
  OK(tnr_blob_end_borrow(blob));
  OK(tnr_blob_release(blob));
  return 0;
}

/* Events of the CPU: all work is complete at once. */
static int check_events(void) {
  const int64_t shape[] = {4};
  float memory[4] = {1, 2, 3, 4};
  float copied[4] = {0};
  uint32_t is_done = 0;
  tnr_view from;
  tnr_view_mut to;
  tnr_event* event = tnr_event_create(NULL);
  CHECK(event != NULL);
  OK(tnr_event_wait(event));
  OK(tnr_event_query(event, &is_done));
  CHECK(is_done == 1);
  OK(tnr_context_follow_event(NULL, event));
  OK(tnr_event_release(event));
  CHECK(tnr_blob_alloc_pinned(NULL, 16) == NULL);
  CHECK(tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT);
  OK(tnr_view_lend(memory, sizeof memory, 0, TNR_DTYPE_F32, 1, shape, NULL, &from));
  OK(tnr_view_lend_mut(copied, sizeof copied, 0, TNR_DTYPE_F32, 1, shape, NULL, &to));
  OK(tnr_copy_async(NULL, &from, NULL, &to));
  CHECK(copied[3] == 4);
  return 0;
}

/* Kernels run on devices, which few machines have. */
static int check_kernels(void) {
  const tnr_kernel_parameter number = {TNR_KERNEL_ARGUMENT_KIND_SCALAR, TNR_DTYPE_F32, 0, 0, 0, 0};
  const char image[] = ".version 9.0";
  tnr_kernel_options options;
  tnr_kernel_argument argument;
  tnr_kernel_grid grid;
  tnr_scalar one = tnr_scalar_f64(1);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.name = "nothing";
  options.image = image;
  options.image_bytes = sizeof image;
  options.parameters = &number;
  options.parameter_count = 1;
  CHECK(tnr_kernel_create(NULL, &options) == NULL);
  CHECK(tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT);
  memset(&grid, 0, sizeof grid);
  grid.struct_size = sizeof grid;
  memset(&argument, 0, sizeof argument);
  argument.scalar = &one;
  CHECK(tnr_kernel_launch(NULL, NULL, &grid, &argument, 1) == TNR_STATUS_STALE_HANDLE);
  CHECK(tnr_kernel_retain(NULL) == NULL);
  OK(tnr_kernel_release(NULL));
  return 0;
}

/* Without a device, which few machines have: the CPU is one too. */
int check_devices(void) {
  float memory[4] = {1, 2, 3, 4};
  const tnr_device cpu = {TNR_DEVICE_KIND_CPU, 0};
  tnr_device_info info;
  uint32_t device_count = 0;
  int released = 0;
  tnr_blob* blob;
  OK(tnr_context_wait(NULL));
  OK(tnr_context_follow(NULL, NULL));
  OK(tnr_device_count(TNR_DEVICE_KIND_CPU, &device_count));
  CHECK(device_count == 1);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(tnr_device_describe(cpu, &info));
  CHECK(strcmp(info.name, "CPU") == 0);
  CHECK(check_events() == 0);
  CHECK(check_kernels() == 0);

  blob = tnr_blob_adopt_on(NULL, memory, 16, count, &released);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_ADOPTED, memory) == 0);
  OK(tnr_blob_release(blob));
  blob = tnr_blob_share_on(NULL, memory, 16, count, &released);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_SHARED, memory) == 0);
  OK(tnr_blob_release(blob));
  CHECK(released == 2);
  blob = tnr_blob_borrow_on(NULL, memory, 16);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_BORROWED, memory) == 0);
  OK(tnr_blob_end_borrow(blob));
  OK(tnr_blob_release(blob));
  blob = tnr_blob_borrow_mut_on(NULL, memory, 16);
  CHECK(blob != NULL && check_tenure(blob, TNR_TENURE_BORROWED_MUT, memory) == 0);
  OK(tnr_blob_end_borrow(blob));
  OK(tnr_blob_release(blob));
  return 0;
}

int check_arrays(void) {
  const tnr_scalar numbers[] = {tnr_scalar_f64(1.5), tnr_scalar_i64(-2), tnr_scalar_u64(3)};
  const double expected[] = {1.5, -2, 3};
  const tnr_scalar complex = tnr_scalar_c128(1, -1);
  const int64_t shape[] = {2, 3};
  double element[2];
  char text[64];
  size_t needed;
  tnr_view_mut view;
  tnr_blob* blob = tnr_blob_alloc_view(NULL, TNR_DTYPE_F64, 2, shape, &view);
  size_t i;
  CHECK(blob != NULL && tnr_view_count(&view.view) == 6);
  for (i = 0; i < 3; ++i) {
    OK(tnr_fill(NULL, &numbers[i], NULL, &view));
    memcpy(element, (const double*)view.view.data + 5, sizeof *element);
    CHECK(element[0] == expected[i]);
  }
  OK(tnr_view_format(&view.view, 8, sizeof text, text, &needed));
  CHECK(strcmp(text, "[[3. 3. 3.]\n [3. 3. 3.]]") == 0 && needed == strlen(text) + 1);
  OK(tnr_blob_release(blob));
  blob = tnr_blob_alloc_view(NULL, TNR_DTYPE_C128, 0, NULL, &view);
  CHECK(blob != NULL);
  OK(tnr_fill(NULL, &complex, NULL, &view));
  memcpy(element, view.view.data, sizeof element);
  CHECK(element[0] == 1 && element[1] == -1);
  OK(tnr_blob_release(blob));
  return 0;
}

/* DLPack's table of a library that has one object, a pointer to a managed tensor. */
struct exchange_table {
  uint32_t version[2];
  const void* older;
  void* allocate;
  int (*tensor_from_object)(void* object, DLManagedTensorVersioned** out);
  void* others[3];
};
static int tensor_from_object(void* object, DLManagedTensorVersioned** out) {
  *out = *(DLManagedTensorVersioned**)object;
  return *out == NULL;
}

/* `tensor` is taken. */
static int check_objects(DLManagedTensorVersioned* tensor) {
  const struct exchange_table table = {{1, 3}, NULL, NULL, tensor_from_object, {NULL, NULL, NULL}};
  const DLPackExchangeAPI* exchange = (const DLPackExchangeAPI*)&table;
  DLManagedTensorVersioned* none = NULL;
  tnr_cuda_array array;
  tnr_view view;
  tnr_blob* taken = tnr_blob_import_object(NULL, exchange, &tensor, &view);
  CHECK(taken != NULL && view.shape[0] == 4);
  CHECK(tnr_blob_import_object(NULL, exchange, &none, &view) == NULL);
  /* Arrays of CUDA's interface are on a GPU. */
  memset(&array, 0, sizeof array);
  array.struct_size = sizeof array;
  CHECK(tnr_view_describe_array(NULL, &view, &array) == TNR_STATUS_INVALID_ARGUMENT);
  CHECK(tnr_blob_import_array(NULL, &array, NULL, NULL, &view) == NULL);
  CHECK(tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT);
  OK(tnr_blob_release(taken));
  return 0;
}

int check_exchange(void) {
  const float memory[4] = {1, 2, 3, 4};
  const int64_t four = 4;
  DLManagedTensorVersioned* tensor = NULL;
  DLManagedTensor* legacy = NULL;
  tnr_view_mut view_mut;
  tnr_view view;
  tnr_blob *taken, *blob = tnr_blob_copy(NULL, memory, 16);
  CHECK(blob != NULL);
  OK(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 1, &four, NULL, &view_mut));

  OK(tnr_view_export(&view_mut.view, TNR_EXPORT_READ_ONLY, &tensor));
  taken = tnr_blob_import(tensor, &view);
  CHECK(taken != NULL && view.data == view_mut.view.data && view.shape[0] == 4);
  OK(tnr_blob_release(taken));
  OK(tnr_view_export_on(NULL, &view_mut.view, 0, &tensor));
  taken = tnr_blob_import_on(NULL, tensor, &view);
  CHECK(taken != NULL && view.data == view_mut.view.data);
  OK(tnr_blob_release(taken));
  OK(tnr_view_export(&view_mut.view, 0, &tensor));
  CHECK(check_objects(tensor) == 0);
  OK(tnr_view_export_legacy_on(NULL, &view_mut, &legacy));
  taken = tnr_blob_import_legacy_on(NULL, legacy, &view);
  CHECK(taken != NULL && view.data == view_mut.view.data);
  OK(tnr_blob_release(taken));

  OK(tnr_view_export_legacy(&view_mut, &legacy));
  taken = tnr_blob_import_legacy(legacy, &view);
  CHECK(taken != NULL && view.data == view_mut.view.data && view.dtype == TNR_DTYPE_F32);
  OK(tnr_blob_release(taken));
  OK(tnr_blob_release(blob));
  return 0;
}
