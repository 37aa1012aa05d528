//! Engines: whose code computes dense products.

use tenure_sys::tnr_engine;

/// Whose code computes products of dense matrices and convolutions, in a context that was built
/// with it. The results of two engines differ in their last bits.
///
/// oneDNN is in builds with the feature `onednn` alone, which changes nothing else: only who asks
/// for it has it. [`build_info`](crate::build_info) says whether it is there.
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
    /// oneDNN for what it takes as it lies in memory, and the library's own kernels for the rest.
    OneDnn,
    /// Among those that are in this build, the one that a fixed table names for the dtype and the
    /// shape of a call.
    Auto,
    /// Of a stream of a GPU alone ([`Device::stream_with_engine`]): cuBLASLt for products and cuDNN
    /// for convolutions, of what they take as it lies in memory, and the library's own kernels for
    /// the rest. Each is opened when it is first needed; where it cannot be, products or
    /// convolutions are `Unsupported`. It has not run on a GPU so far.
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
