//! What the `tenure` crate asks of the very library that it was built with. It is no part of the ABI:
//! it is in no header, and the linker script has it in a node that names the exact version, so that
//! the loader refuses another build.

unsafe extern "C" {
    /// What stands in the `owner` of a `tnr_sparse_view` to say that its offsets and indices have been
    /// checked, and that nobody can have written them since. Whoever says so of others makes calls
    /// read and write anywhere.
    #[doc(hidden)]
    pub safe fn tenure_private_sparse_voucher() -> u64;
}
