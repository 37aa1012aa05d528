//! Writes `capi/include/tenure/tenure.h` and `capi/tenure.map` from the ABI source.
fn main() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let config = cbindgen::Config::from_file(root.join("rust/tenure-sys/cbindgen.toml")).unwrap();
    let mut bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("rust/tenure-sys/src/abi.rs"))
        .generate()
        .unwrap();
    let mut map = String::from("TENURE_0 {\n    global:\n");
    for f in &mut bindings.functions {
        f.extern_decl = false;
        map += &format!("        {};\n", f.path.name());
    }
    map += "    local: *;\n};\n";
    std::fs::write(root.join("capi/tenure.map"), map).unwrap();
    bindings.write_to_file(root.join("capi/include/tenure/tenure.h"));
}
