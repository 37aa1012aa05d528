//! Managed tensors as dlpack.h lays them out, which the crate passes on without a look inside.

use std::ffi::c_void;

use tenure::interop::dlpack::DLTensor;

#[repr(C)]
pub struct Versioned {
    pub version: [u32; 2],
    pub manager_context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    pub flags: u64,
    pub tensor: DLTensor,
}

/// The managed tensor of DLPack before version 1.0.
#[repr(C)]
pub struct Legacy {
    pub tensor: DLTensor,
    pub manager_context: *mut c_void,
    pub deleter: Option<unsafe extern "C" fn(*mut Legacy)>,
}
