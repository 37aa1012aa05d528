// Functions for the Rust crate alone, of the very library that it was built with: they are in no
// header, may change in any build, and are exported in a node of its own.
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
