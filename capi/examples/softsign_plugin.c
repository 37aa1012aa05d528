/* A plug-in: an operation that programs load while they run, here x / (1 + |x|) of floats.
 *
 * tenure_add_plugin(softsign softsign_plugin.c) builds it. It calls no function of the library, so
 * that programs that have linked the library statically can load it too. */
#include <math.h>
#include <tenure/tenure.h>

/* The result has the dtype and shape of its operand. */
static tnr_status infer(void* user_context, const tnr_view* operands, uint32_t operand_count,
                        const int64_t* numbers, uint32_t number_count, tnr_dtype* dtype,
                        uint32_t* rank, int64_t* shape) {
  uint32_t axis;
  (void)user_context, (void)operand_count, (void)numbers, (void)number_count;
  if (operands->dtype != TNR_DTYPE_F32) return TNR_STATUS_UNSUPPORTED;
  *dtype = operands->dtype;
  *rank = operands->rank;
  for (axis = 0; axis < operands->rank; ++axis) shape[axis] = operands->shape[axis];
  return TNR_STATUS_OK;
}

/* Over all axes but those before `axis`; strides may be any, and are in elements. */
static void write_softsign(const tnr_view* x, const tnr_view* out, uint32_t axis, int64_t x_at,
                           int64_t out_at) {
  int64_t i;
  if (axis == x->rank) {
    const float element = ((const float*)x->data)[x_at];
    ((float*)out->data)[out_at] = element / (1 + fabsf(element));
    return;
  }
  for (i = 0; i < x->shape[axis]; ++i) {
    write_softsign(x, out, axis + 1, x_at + i * x->strides[axis], out_at + i * out->strides[axis]);
  }
}

static tnr_status compute(void* user_context, const tnr_view* operands, uint32_t operand_count,
                          const int64_t* numbers, uint32_t number_count, const tnr_view_mut* out) {
  (void)user_context, (void)operand_count, (void)numbers, (void)number_count;
  write_softsign(operands, &out->view, 0, 0, 0);
  return TNR_STATUS_OK;
}

static const tnr_custom_operation kSoftsign = {
    .struct_size = sizeof kSoftsign,
    .name = "softsign",
    .infer = infer,
    .compute = compute,
    .operand_count = 1,
    .flags = TNR_CUSTOM_IN_PLACE,
};
static const tnr_custom_operation* const kOperations[] = {&kSoftsign};
static const tnr_plugin kPlugin = {
    .struct_size = sizeof kPlugin,
    .abi_major = TNR_ABI_MAJOR,
    .abi_minor = TNR_ABI_MINOR,
    .name = "softsign",
    .operations = kOperations,
    .operation_count = sizeof kOperations / sizeof *kOperations,
};

/* Asked for by its name; the header declares its type alone. */
const tnr_plugin* tnr_plugin_entry(void);
const tnr_plugin* tnr_plugin_entry(void) { return &kPlugin; }
