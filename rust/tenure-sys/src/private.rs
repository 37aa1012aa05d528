//! Private functions of the very library that the `tenure` crate was built with. They are no part
//! of the ABI: they are in no header, and the linker script has them in a node that names the exact
//! version, so that the loader refuses another build.

unsafe extern "C" {
    /// The `owner` of a `tnr_sparse_view` whose offsets and indices have been checked, and cannot
    /// have been written since. Whoever marks other views so makes calls read and write anywhere.
    #[doc(hidden)]
    pub safe fn tenure_private_sparse_voucher() -> u64;
}
