//! Mutations: each change of the real source that breaks a client fails the gate, and the gate says
//! what broke. The source is changed in memory, and compared with the original.

use std::sync::LazyLock;

use crate::frozen::Table;
use crate::generate::SOURCE;

/// The source, which is read once.
fn source() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let text = std::fs::read_to_string(crate::root().join(SOURCE));
        crate::generate::expanded(&text.expect("the source is there"))
    });
    &TEXT
}

/// Its table.
fn today() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| table(source()));
    &TABLE
}

fn table(source: &str) -> Table {
    let mut problems = Vec::new();
    let abi = crate::abi::read(source, &mut problems).expect("the changed source is Rust");
    assert_eq!(problems, vec![]);
    Table::of(&abi)
}

/// The answers of the gate about the source with each `from` replaced, which the source must have
/// once.
#[track_caller]
fn mutated(changes: &[(&str, &str)]) -> Vec<String> {
    let mut text = source().to_owned();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "the source must have this once: {from}");
        text = text.replace(from, to);
    }
    table(&text).breaks(today()).into_iter().map(|problem| problem.text).collect()
}

/// A change that a client notices, and a message of the gate.
#[track_caller]
fn fails(changes: &[(&str, &str)], expected: &str) {
    let said = mutated(changes);
    assert!(said.iter().any(|text| text.contains(expected)), "expected {expected:?}: {said:#?}");
}

/// The line with the minor version of the source, and that line with a later version.
fn minor_of_today_and_later() -> (String, String) {
    let today = cut("pub const TNR_ABI_MINOR: u32 = ", ";");
    (today, "pub const TNR_ABI_MINOR: u32 = 99;".to_owned())
}

/// The source from the text `from` up to and with the text `to`.
fn cut(from: &str, to: &str) -> String {
    let source = source();
    let start = source.find(from).expect("the source has the start");
    let end = source[start..].find(to).expect("the source has the end") + to.len();
    source[start..start + end].to_owned()
}

#[test]
fn the_source_keeps_what_was_frozen() {
    let mut problems = Vec::new();
    let abi = crate::abi::read(source(), &mut problems).expect("the source is Rust");
    assert_eq!(problems, vec![]);
    assert_eq!(crate::freeze::check(&crate::root(), &abi).expect("tables"), vec![]);
}

#[test]
fn a_table_reads_what_it_wrote() {
    let today = today();
    let read = Table::parse(today.version, &today.written()).expect("every line is a fact");
    assert_eq!(read.written(), today.written());
    assert_eq!(today.breaks(&read), vec![]);
    assert_eq!(read.breaks(today), vec![]);
    assert!(today.facts.len() > 300, "{} facts", today.facts.len());
    for line in ["function tnr_x 0.1", "field tnr_s.a 0.1 u32", "constant TNR_A first u32 1"] {
        assert_eq!(Table::parse((0, 1), line), Err(line.to_owned()));
    }
}

#[test]
fn numbers() {
    fails(
        &[("PROD: tnr_reduce_op = tnr_reduce_op(2)", "PROD: tnr_reduce_op = tnr_reduce_op(20)")],
        "constant TNR_REDUCE_OP_PROD: was `tnr_reduce_op 2` and is `tnr_reduce_op 20` (frozen in",
    );
    fails(
        &[("pub const TNR_VIEW_EXCLUSIVE: u32 = 1;", "")],
        "constant TNR_VIEW_EXCLUSIVE: is gone",
    );
    fails(
        &[("TNR_VIEW_EXCLUSIVE: u32", "TNR_VIEW_EXCLUSIVE: u64")],
        "was `uint32_t 1` and is `uint64_t 1`",
    );
    fails(&[("tnr_status(pub i32)", "tnr_status(pub i64)")], "number tnr_status: was `int32_t`");
}

#[test]
fn functions() {
    // `axes` of 64 bits, where callers pass 32.
    let reduce = cut("pub fn tnr_reduce(", ";");
    fails(
        &[(&reduce, &reduce.replace("axes: u32", "axes: u64"))],
        "function tnr_reduce: was `tnr_status (tnr_context *, tnr_reduce_op, const tnr_view *, \
         uint32_t, ",
    );
    let fill = cut("pub fn tnr_fill(", ";");
    fails(&[(&fill, "pub fn tnr_fill();")], "and is `void (void)`");
    fails(&[(&fill, &fill.replace("tnr_fill", "tnr_full"))], "function tnr_fill: is gone");
    fails(
        &[(&fill, &fill.replace("tnr_fill", "tnr_full"))],
        "function tnr_full: is new but @since 0.1: raise TNR_ABI_MINOR",
    );
    fails(
        &[(&fill, &fill.replace("*const tnr_view_mut", "*mut tnr_view_mut"))],
        "tnr_view_mut *)`",
    );
    // It would move to another node of the linker script, where old programs do not look.
    let trim = cut("pub fn tnr_memory_trim", ";");
    let later = format!("/// @since 0.2\n    {trim}");
    fails(&[(&trim, &later)], "tnr_memory_trim: was @since 0.1 and is @since 0.2");
    // Names of parameters are no part of it.
    assert_eq!(mutated(&[(&reduce, &reduce.replace("axes: u32", "over: u32"))]), [""; 0]);
}

#[test]
fn callbacks_and_handles() {
    fails(
        &[("release_context: *mut c_void)>", "release_context: *const c_void)>")],
        "callback tnr_release_fn: was `void (*)(void *)` and is `void (*)(const void *)`",
    );
    fails(
        &[("pub struct tnr_sparse {\n    _opaque: [u8; 0]", "pub struct tnr_sparse {\n    a: u64")],
        "handle tnr_sparse: is gone",
    );
}

#[test]
fn structs_that_are_fixed() {
    let device = cut("pub struct tnr_device {", "}");
    let swapped = device.replace("kind:", "k:").replace("index:", "kind:").replace("k:", "index:");
    let swapped =
        swapped.replace("tnr_device_kind", "i32 ").replace("kind: i32", "kind: tnr_device_kind");
    fails(
        &[(&device, &swapped)],
        "field tnr_device.index: was `at 4 int32_t` and is `at 0 int32_t`",
    );
    let view = cut("pub struct tnr_view {", "}");
    fails(&[(&view, &view.replace("rank: u32", "rank: u64"))], "field tnr_view.rank: was `at 36");
    fails(
        &[(&view, &view.replace("rank: u32", "rank: i32"))],
        "was `at 36 uint32_t` and is `at 36 int32_t`",
    );
    fails(
        &[(&view, &view.replace("pub bit_offset: u32", "pub first_bit: u32"))],
        "field tnr_view.bit_offset: is gone",
    );
    let grown = view.replace('}', "    /// @since 0.99\n    pub more: u64,\n}");
    fails(&[(&view, &grown)], "tnr_view.more: is new, but tnr_view has no struct_size");
    fails(
        &[(&view, &grown)],
        "struct tnr_view: was `fixed 192 bytes aligned to 8` and is `fixed 200",
    );
    // All that have one inside of them move too.
    fails(&[(&view, &grown)], "field tnr_sparse_view.minor: was `at 248 tnr_view`");
    fails(
        &[("TNR_MAX_RANK: usize = 8", "TNR_MAX_RANK: usize = 9")],
        "tnr_view.strides: was `at 128",
    );
}

#[test]
fn structs_that_grow() {
    let (today, later) = minor_of_today_and_later();
    let later = (today.as_str(), later.as_str());
    let info = cut("pub struct tnr_blob_info {", "}");
    let newer = "    /// @since 0.99\n    pub more: u64,\n";
    assert_eq!(mutated(&[later, (&info, &info.replace('}', &format!("{newer}}}")))]), [""; 0]);
    let same = info.replace('}', "    /// @since 0.1\n    pub more: u64,\n}");
    fails(&[(&info, &same)], "field tnr_blob_info.more: is new but @since 0.1");
    let early = info.replace("    /// Bytes held.\n", &format!("{newer}    /// Bytes held.\n"));
    fails(
        &[later, (&info, &early)],
        "field tnr_blob_info.more: is new at 16, but a struct grows behind the 48 bytes",
    );
    fails(&[later, (&info, &early)], "field tnr_blob_info.size_bytes: was `at 16 uint64_t` and is");
    let without = info.replace("    pub reserved: u32,\n", "    pub reserved: [u16; 2],\n");
    fails(
        &[(&info, &without)],
        "tnr_blob_info.reserved: was `at 44 uint32_t` and is `at 44 uint16_t[2]`",
    );
    let stats = cut("pub struct tnr_stats {", "}");
    let last = cut("    /// Times that a thread waited for a device.", "device_waits: u64,\n");
    fails(&[(&stats, &stats.replace(&last, ""))], "struct tnr_stats: was `grows 88 bytes");
    let fixed = stats.replace("struct_size: u64", "size: u64");
    fails(&[(&stats, &fixed)], "struct tnr_stats: was `grows 88 bytes aligned to 8` and is `fixed");
}

#[test]
fn additions_of_a_later_version_break_nothing() {
    let (today, later) = minor_of_today_and_later();
    let added = "
        /// @since 0.99
        pub const TNR_ADDED: u32 = 1;
        /// @since 0.99
        #[repr(transparent)] pub struct tnr_added(pub i32);
        impl tnr_added { pub const A: tnr_added = tnr_added(1); }
        impl tnr_status { /// @since 0.99\n pub const ADDED: tnr_status = tnr_status(99); }
        /// @since 0.99
        #[repr(C)] pub struct tnr_added_info { pub a: u32 }
        unsafe extern { /// @since 0.99\n pub fn tnr_added_make() -> tnr_added; }";
    assert_eq!(mutated(&[(&today, &format!("{later}{added}"))]), [""; 0]);
    let early = format!("{later}{}", added.replace("0.99", "0.1"));
    fails(&[(&today, &early)], "function tnr_added_make: is new but @since 0.1");
    fails(&[(&today, &early)], "constant TNR_STATUS_ADDED: is new but @since 0.1");
}

#[test]
fn another_major_may_break() {
    let said = mutated(&[
        ("TNR_ABI_MAJOR: u32 = 0", "TNR_ABI_MAJOR: u32 = 1"),
        ("tnr_status(pub i32)", "tnr_status(pub i64)"),
    ]);
    assert_eq!(said, [""; 0]);
}
