//@ error: E0499
//! A batch on a device ends where the program requests the next one: its copy may reuse the memory.
use tenure::cuda::{Device, Loader};

fn main() -> tenure::Result<()> {
    let Ok(device) = Device::new(0) else { return Ok(()) };
    let stream = device.stream()?;
    let mut loader = Loader::new(device, 2, 2)?;
    let mut batches = loader.batches([[1, 2], [3, 4]]);
    let first = batches.next().unwrap()?;
    #[cfg(not(bad))]
    let first = stream.to_tensor(first)?;
    let second = batches.next().unwrap()?;
    println!("{:?} {:?}", stream.to_vec(&first)?, stream.to_vec(second)?);
    Ok(())
}
