/* The library as a whole, its statistics, and contexts. */
#include "client.h"

static int spawned, given_back, released;

static void spawn(void* user_context, uint64_t task) {
  (void)user_context;
  ++spawned;
  tnr_task_run(task);
}

static unsigned char arena[1 << 16];
static size_t arena_used;

static void* allocate(void* user_context, size_t size_bytes, size_t alignment) {
  const size_t past = ((uintptr_t)arena + arena_used) & (alignment - 1);
  const size_t start = arena_used + (past == 0 ? 0 : alignment - past);
  (void)user_context;
  if (start > sizeof arena || size_bytes > sizeof arena - start) return NULL;
  arena_used = start + size_bytes;
  return arena + start;
}

static void deallocate(void* user_context, void* data, size_t size_bytes, size_t alignment) {
  (void)user_context, (void)data, (void)size_bytes, (void)alignment;
  ++given_back;
}

static void release(void* user_context) { *(int*)user_context += 1; }

int check_library(void) {
  tnr_stats stats;
  tnr_operation_stats copies;
  tnr_view a;
  tnr_view_mut out;
  float from = 1, to = 0;
  CHECK(tnr_abi_version() >> 16 == TNR_ABI_MAJOR);
  CHECK((tnr_abi_version() & 0xffff) >= TNR_ABI_MINOR);
  CHECK(strncmp(tnr_build_info(), "tenure ", 7) == 0);
  CHECK(strcmp(tnr_status_name(TNR_STATUS_BORROW_ESCAPED), "BORROW_ESCAPED") == 0);
  CHECK(tnr_dtype_size_bytes(TNR_DTYPE_C128) == 16);
  CHECK(strcmp(tnr_dtype_name(TNR_DTYPE_BF16), "bf16") == 0);

  memset(&stats, 0, sizeof stats);
  memset(&copies, 0, sizeof copies);
  stats.struct_size = sizeof stats;
  copies.struct_size = sizeof copies;
  tnr_stats_time_start();
  OK(lend(&from, 1, 0, &a));
  OK(lend_mut(&to, 1, 0, &out));
  OK(tnr_copy(NULL, &a, NULL, &out));
  tnr_stats_time_stop();
  OK(tnr_stats_read(&stats));
  OK(tnr_operation_stats_read(TNR_OPERATION_COPY, &copies));
  CHECK(copies.calls == 1 && copies.read_bytes == 4 && copies.written_bytes == 4);
  CHECK(stats.struct_size == sizeof stats && stats.blobs_finished <= stats.blobs_made);
  CHECK(stats.calls >= 1 && stats.read_bytes >= 4 && stats.written_bytes >= 4);
  (void)tnr_memory_trim();

  CHECK(tnr_view_check(NULL) == TNR_STATUS_INVALID_ARGUMENT);
  CHECK(tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT);
  CHECK(tnr_last_error()->message[0] != 0);
  return 0;
}

int check_contexts(void) {
  static float large[1 << 20];
  tnr_context_options options;
  tnr_context* context;
  tnr_blob* blob;
  tnr_view_mut out;
  const tnr_scalar two = scalar(2);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.thread_count = 2;
  options.spawn = spawn;
  options.allocate = allocate;
  options.deallocate = deallocate;
  options.user_context = &released;
  options.release = release;
  context = tnr_context_create(&options);
  CHECK(context != NULL);
  CHECK(tnr_context_thread_count(context) == 2);
  OK(lend_mut(large, 1 << 20, 0, &out));
  OK(tnr_fill(context, &two, NULL, &out));
  CHECK(spawned > 0);
  CHECK(large[0] == 2 && large[(1 << 20) - 1] == 2);
  blob = tnr_blob_alloc(context, 64);
  CHECK(blob != NULL && arena_used >= 64);
  OK(tnr_blob_release(blob));
  OK(tnr_context_release(context));
  CHECK(given_back == 1 && released == 1);
  return 0;
}
