//! Lends memory of its own to the core: in place, with no copy and no `unsafe`.
#![forbid(unsafe_code)]

fn main() -> tenure::Result<()> {
    let mut mine = [1.0f32, 2.0, 3.0];
    let yours = vec![10.0f32, 20.0, 30.0];
    let before = tenure::stats().copied_bytes;
    tenure::ops::add_assign(&mut mine, &yours)?;
    assert_eq!(tenure::stats().copied_bytes, before);
    println!("{:?}", mine.map(|x| x as i32));
    Ok(())
}
