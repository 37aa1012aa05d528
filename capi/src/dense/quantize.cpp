// Quantized numbers in C: unwrap, call, answer.
#include "tenure/quantize.hpp"

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::attributes_of;
using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::run;
using tenure::capi::sized_attributes_of;
using tenure::capi::token_of;

tnr_status tnr_quantize(tnr_context* context, const tnr_view* a, const tnr_view* scales,
                        const tnr_view* zeros, const tnr_extension* attributes,
                        const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_QUANTIZE, [=] {
    check_attributes(attributes);
    tenure::quantize(context_of(context), deref(a, "a"), deref(scales, "scales"), zeros,
                     deref(out, "out"));
  });
}

tnr_status tnr_quantize_dynamic(tnr_context* context, const tnr_view* a,
                                const tnr_quantize_dynamic_attributes* attributes,
                                const tnr_view_mut* scales, const tnr_view_mut* zeros,
                                const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_QUANTIZE, [=] {
    const std::uint32_t bits = attributes_of(attributes).bits;
    tenure::quantize_dynamic(context_of(context), deref(a, "a"), deref(scales, "scales"), zeros,
                             deref(out, "out"), bits);
  });
}

tnr_status tnr_dequantize(tnr_context* context, const tnr_view* a, const tnr_view* scales,
                          const tnr_view* zeros, const tnr_extension* attributes,
                          const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_DEQUANTIZE, [=] {
    check_attributes(attributes);
    tenure::dequantize(context_of(context), deref(a, "a"), deref(scales, "scales"), zeros,
                       deref(out, "out"));
  });
}

tnr_status tnr_quantized_matmul(tnr_context* context, const tnr_view* a, const tnr_view* a_scales,
                                const tnr_view* a_zeros, const tnr_view* b,
                                const tnr_view* b_scales, const tnr_view* b_zeros,
                                const tnr_quantized_matmul_attributes* attributes,
                                const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_QUANTIZED_MATMUL, [=] {
    tenure::quantized_matmul(context_of(context), {deref(a, "a"), a_scales, a_zeros},
                             {deref(b, "b"), &deref(b_scales, "b_scales"), b_zeros},
                             sized_attributes_of(attributes), deref(out, "out"));
  });
}

tnr_status tnr_quantized_conv2d(tnr_context* context, const tnr_view* a, const tnr_view* a_scale,
                                const tnr_view* a_zero, const tnr_view* weight,
                                const tnr_view* weight_scales, const tnr_view* weight_zeros,
                                const tnr_quantized_conv2d_attributes* attributes,
                                const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_QUANTIZED_CONV2D, [=] {
    tenure::quantized_conv2d(
        context_of(context), {deref(a, "a"), &deref(a_scale, "a_scale"), a_zero},
        {deref(weight, "weight"), &deref(weight_scales, "weight_scales"), weight_zeros},
        sized_attributes_of(attributes), deref(out, "out"));
  });
}

tnr_status tnr_factor_quantized_matmul(tnr_context* context, const tnr_view* a,
                                       const tnr_view* a_scales, const tnr_view* a_zeros,
                                       const tnr_factor* b, const tnr_view* b_scales,
                                       const tnr_view* b_zeros,
                                       const tnr_quantized_matmul_attributes* attributes,
                                       const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_QUANTIZED_MATMUL, [=] {
    tenure::factor_quantized_matmul(context_of(context), {deref(a, "a"), a_scales, a_zeros},
                                    token_of(b), b_scales, b_zeros, sized_attributes_of(attributes),
                                    deref(out, "out"));
  });
}
