//! Engines: what a context may ask for, in a build with oneDNN and in one without.

use tenure::{Context, Engine, ErrorKind, Result, Tensor, build_info, linalg::matmul};

fn has_onednn() -> bool {
    build_info().contains("engines: own onednn")
}

fn product(engine: Engine) -> Result<Tensor<f32>> {
    let a = Tensor::from_vec((0..40 * 50).map(|i| (i % 7) as f32).collect(), [40, 50])?;
    let b = Tensor::from_vec((0..50 * 60).map(|i| (i % 5) as f32 - 2.0).collect(), [50, 60])?;
    Context::builder().threads(2).engine(engine).build()?.install(|| matmul(&a, &b))
}

/// Sums of small whole numbers are exact in any order.
#[test]
fn every_engine_gives_the_product() -> Result<()> {
    let own = product(Engine::Own)?.to_vec();
    assert_eq!(product(Engine::Auto)?.to_vec(), own);
    assert_eq!(product(Engine::Environment)?.to_vec(), own);
    if has_onednn() {
        assert_eq!(product(Engine::OneDnn)?.to_vec(), own);
    }
    Ok(())
}

#[test]
fn an_engine_that_is_not_there_is_unsupported() {
    let built = Context::builder().engine(Engine::OneDnn).build();
    assert_eq!(built.is_ok(), has_onednn());
    if let Err(error) = built {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("oneDNN is not in this build"), "{error}");
    }
}

/// With the feature the engine is present, unless the library was installed.
#[test]
#[cfg(feature = "onednn")]
fn the_feature_builds_it_in() {
    let is_installed = std::env::var_os("TENURE_NO_VENDOR").is_some_and(|value| value != "0");
    assert!(has_onednn() || is_installed, "{}", build_info());
}

/// A context is of the CPU; streams of a GPU are in `tests/cuda/engines.rs`.
#[test]
fn the_vendors_engine_needs_a_gpu() {
    let error = Context::builder().engine(Engine::Vendor).build().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("engine is vendor"), "{error}");
}

#[test]
fn an_engine_is_named_where_a_context_is_described() {
    let builder = Context::builder().engine(Engine::Auto);
    assert!(format!("{builder:?}").contains("engine: Auto"), "{builder:?}");
    assert_eq!(Engine::default(), Engine::Environment);
}
