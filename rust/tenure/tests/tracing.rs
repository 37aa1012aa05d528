//! Spans of operations, seen by a subscriber that records them.
#![cfg(feature = "tracing")]

use std::fmt::{Debug, Write as _};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tenure::{Axes, Bool8, Tensor};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());
static LISTENS: AtomicBool = AtomicBool::new(true);

struct Notes(AtomicU64);

struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        assert!(metadata.is_span());
        LISTENS.load(Ordering::Relaxed) && metadata.target() == "tenure"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = span.metadata().name().to_owned();
        span.record(&mut Fields(&mut line));
        LINES.lock().unwrap().push(line);
        Id::from_u64(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, id: &Id) {
        LINES.lock().unwrap().push(format!("enter {}", id.into_u64()));
    }

    fn exit(&self, id: &Id) {
        LINES.lock().unwrap().push(format!("exit {}", id.into_u64()));
    }
}

fn lines() -> Vec<String> {
    std::mem::take(&mut *LINES.lock().unwrap())
}

/// The spans of `f`, each without what enters and leaves it.
fn spans<R>(f: impl FnOnce() -> tenure::Result<R>) -> Vec<String> {
    f().unwrap();
    lines()
        .into_iter()
        .filter(|line| !line.starts_with("enter ") && !line.starts_with("exit "))
        .collect()
}

#[test]
fn operations_are_spans_with_the_name_and_the_size_of_the_work() {
    tracing::subscriber::set_global_default(Notes(AtomicU64::new(1))).unwrap();
    let table = [[1.0_f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    tenure::ops::add(table, 1.0).unwrap();
    assert_eq!(lines(), [r#"add dtype="f32" shape=[2, 3] bytes=24"#, "enter 1", "exit 1"]);
    // The span of a call that is refused ends too.
    tenure::ops::add_into(table, 1.0, &mut [0.0; 2]).unwrap_err();
    assert_eq!(lines(), [r#"add dtype="f32" shape=[2] bytes=8"#, "enter 2", "exit 2"]);

    let reduced = spans(|| tenure::ops::max(table, Axes::keep(0)));
    assert_eq!(reduced, [r#"max dtype="f32" shape=[2, 3] bytes=24"#], "of a reduction, the input");
    assert_eq!(
        spans(|| tenure::ops::maximum(1_u8, [2])),
        [r#"maximum dtype="u8" shape=[1] bytes=1"#]
    );
    assert_eq!(spans(|| tenure::ops::exp(2.0)), [r#"exp dtype="f64" shape=[] bytes=8"#]);
    assert_eq!(
        spans(|| tenure::ops::lt([1, 2], 2)),
        [r#"lt dtype="bool8" shape=[2] bytes=2"#],
        "the output"
    );
    assert_eq!(
        spans(|| tenure::ops::cast::<i64, _>(&[1_u8; 3])),
        [r#"cast dtype="i64" shape=[3] bytes=24"#]
    );
    assert_eq!(
        spans(|| tenure::ops::select([Bool8::TRUE], [1_i16], [2])),
        [r#"select dtype="i16" shape=[1] bytes=2"#]
    );
    assert_eq!(
        spans(|| tenure::ops::fill(&mut [[0_u16; 4]; 2], 1)),
        [r#"fill dtype="u16" shape=[2, 4] bytes=16"#]
    );
    assert_eq!(
        spans(|| tenure::ops::copy_into([1.0, 2.0], &mut [0.0; 2])),
        [r#"copy dtype="f64" shape=[2] bytes=16"#]
    );
    assert_eq!(
        spans(|| tenure::linalg::matmul([[1.0_f32; 2]; 3], [[1.0_f32; 4]; 2])),
        [r#"matmul dtype="f32" shape=[3, 4] bytes=48"#],
        "the output"
    );
    assert_eq!(
        spans(|| tenure::nn::conv2d([[[[1.0_f32; 3]]]], [[[[1.0_f32; 2]]]], tenure::Conv2d::new())),
        [r#"conv2d dtype="f32" shape=[1, 1, 1, 2] bytes=8"#],
        "the output"
    );
    assert_eq!(
        spans(|| tenure::linalg::einsum("ij->ji", [[[1.0_f32; 3]; 2]])),
        [r#"einsum dtype="f32" shape=[3, 2] bytes=24"#],
        "the output"
    );

    let csr = spans(|| tenure::sparse::sparsify(&table).to_csr::<i32>());
    assert_eq!(csr, [r#"to_csr dtype="f32" shape=[2, 3] bytes=24"#]);
    let matrix = tenure::CsrView::new(2, 3, &[0, 1, 2], &[0, 2], &[1.0_f32, 2.0]).unwrap();
    let matrix = matrix.check_coalesced().unwrap();
    // Three offsets, two indices and two values.
    assert_eq!(
        spans(|| matrix.t_matmul(&[1.0, 2.0])),
        [r#"t_matmul dtype="f32" shape=[2, 3] bytes=28"#],
        "the sparse operand"
    );
    assert_eq!(spans(|| matrix.to_csc()), [r#"to_csc dtype="f32" shape=[2, 3] bytes=28"#]);
    assert_eq!(
        spans(|| matrix.top_k_in_magnitude(1)),
        [r#"top_k_in_magnitude dtype="f32" shape=[2, 3] bytes=28"#]
    );
    assert_eq!(
        spans(|| matrix.count_nonzero()),
        [r#"count_nonzero dtype="f32" shape=[2, 3] bytes=28"#]
    );
    assert_eq!(
        spans(|| matrix.norm_frobenius()),
        [r#"norm_frobenius dtype="f32" shape=[2, 3] bytes=28"#]
    );

    let packed = matrix.pack_as(tenure::PackedLayout::Bitmap).unwrap();
    assert_eq!(lines()[0], r#"pack dtype="f32" shape=[2, 3] bytes=28"#);
    // Three offsets of 8 bytes, two words and two values.
    assert_eq!(
        spans(|| packed.matmul(&[1.0, 2.0, 3.0])),
        [r#"packed_matmul dtype="f32" shape=[2, 3] bytes=48"#]
    );

    // Calls that compute nothing have no span.
    assert!(
        spans(|| Tensor::from_vec(vec![1.0; 4], [2, 2])?.view().t().slice(0, 1..).map(drop))
            .is_empty()
    );

    LISTENS.store(false, Ordering::Relaxed);
    tracing::callsite::rebuild_interest_cache();
    assert!(spans(|| tenure::ops::add(table, 1.0)).is_empty());
}
