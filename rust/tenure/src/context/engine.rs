//! Engines: whose code computes dense products.

use tenure_sys::tnr_engine;

/// Whose code computes products of dense matrices and convolutions, in a context that was built
/// with it. The results of two engines differ in their last bits.
///
/// Only builds with the feature `onednn` contain oneDNN. The feature changes nothing else: oneDNN
/// computes only where it is requested. [`build_info`](crate::build_info) says whether it is there.
///
/// ```
/// # use tenure::*;
/// let built = Context::builder().engine(Engine::OneDnn).build();
/// match built {
///     Ok(context) => assert!(build_info().contains("engines: own onednn"), "{context:?}"),
///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The one that the environment variable `TENURE_ENGINE` names (`own`, `onednn`, `auto` or
    /// `vendor`) when it is first asked for; without it [`Own`](Self::Own). A name that is none, or
    /// an engine that is not in this build, is an error of every product.
    #[default]
    Environment,
    /// The library's own kernels, which take every shape, stride and dtype.
    Own,
    /// oneDNN for operands that it takes in their memory layout, and the library's own kernels for
    /// the rest.
    OneDnn,
    /// Among those that are in this build, the one that a fixed table names for the dtype and the
    /// shape of a call.
    Auto,
    /// Only for a stream of a GPU ([`Device::stream_with_engine`]): cuBLASLt for products and cuDNN
    /// for convolutions, of operands that they take in their memory layout, and the library's own
    /// kernels for the rest. Each is opened when it is first needed; where it cannot be, products
    /// or convolutions are `Unsupported`. It has not run on a GPU so far.
    ///
    /// [`Device::stream_with_engine`]: crate::cuda::Device::stream_with_engine
    Vendor,
}

impl From<Engine> for tnr_engine {
    fn from(engine: Engine) -> tnr_engine {
        match engine {
            Engine::Environment => tnr_engine::ENVIRONMENT,
            Engine::Own => tnr_engine::OWN,
            Engine::OneDnn => tnr_engine::ONEDNN,
            Engine::Auto => tnr_engine::AUTO,
            Engine::Vendor => tnr_engine::VENDOR,
        }
    }
}
