/* What the ownership tags of the ABI mean to a compiler. */
#ifndef TENURE_ANNOTATIONS_H
#define TENURE_ANNOTATIONS_H
#define TNR_API
#define TNR_NODISCARD __attribute__((warn_unused_result))
#ifdef __cplusplus
#define TNR_NOEXCEPT noexcept
#else
#define TNR_NOEXCEPT
#endif
#endif
