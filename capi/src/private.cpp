// Functions only for the Rust crate that was built with this very library: they are in no header,
// may change in any build, and are exported in a version node of their own.
#include <cstdint>

#include "tenure/sparse_voucher.hpp"

#if defined(_WIN32)
#define TENURE_EXPORTED
#else
#define TENURE_EXPORTED __attribute__((visibility("default")))
#endif

extern "C" {

TENURE_EXPORTED std::uint64_t tenure_private_sparse_voucher() noexcept;

// The `owner` of a sparse view whose offsets and indices have been checked, and cannot have been
// written since.
std::uint64_t tenure_private_sparse_voucher() noexcept { return tenure::sparse_voucher(); }

}  // extern "C"
