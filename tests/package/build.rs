//! Finds the C header that tenure-sys publishes to the crates that depend on it directly.
use std::path::Path;

fn main() {
    let include = std::env::var("DEP_TENURE_INCLUDE").expect("DEP_TENURE_INCLUDE");
    for header in ["tenure.h", "memory.h", "dense.h", "annotations.h"] {
        let path = Path::new(&include).join("tenure").join(header);
        assert!(path.is_file(), "{} is missing", path.display());
    }
}
