//@ error: E0597
//! Bytes are taken from an owner for good, not from a local that will be gone.
use tenure::SharedTensor;

fn main() {
    let bytes = vec![0_u8; 16];
    #[cfg(bad)]
    let owner: &[u8] = &bytes;
    #[cfg(not(bad))]
    let owner: Vec<u8> = bytes;
    SharedTensor::<u8>::from_bytes(owner, 0, [16]).unwrap();
}
