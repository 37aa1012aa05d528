//! First weights of layers, by random numbers.
//!
//! The deviation of weights is a gain over the root of the number of inputs (Kaiming: He et al.,
//! 2015) or of the mean of inputs and outputs (Xavier: Glorot and Bengio, 2010), so that the values
//! behind many layers have the size of those before them. The gain makes up for an activation:
//! [`RELU`], [`TANH`], [`leaky_relu`], or 1.
//!
//! Weights from a uniform or a normal distribution of a deviation that is known are
//! [`Generator::uniform`] and [`Generator::normal`]; biases are mostly zeros.
//!
//! ```
//! use tenure::Tensor;
//! use tenure::layers::initial::{self, Weights};
//! use tenure::random::Generator;
//!
//! let mut random = Generator::new(42);
//! let linear: Tensor<f32> = Weights::factor([64, 10]).kaiming_uniform(&mut random, initial::RELU)?;
//! let filters: Tensor<f32> = Weights::filters([16, 3, 5, 5])?.kaiming_normal(&mut random, 1.0)?;
//! assert_eq!((linear.shape(), filters.shape()), (&[64, 10][..], &[16, 3, 5, 5][..]));
//!
//! // The weights and the biases of a layer as PyTorch makes them: uniform within 1 / sqrt(inputs).
//! let gain = initial::leaky_relu(5.0_f64.sqrt());
//! let linear: Tensor<f32> = Weights::factor([64, 10]).kaiming_uniform(&mut random, gain)?;
//! assert!(linear.iter().all(|x| x.abs() <= 1.0 / 8.0));
//! # Ok::<(), tenure::Error>(())
//! ```

use crate::dense::Tensor;
use crate::dtype::Float;
#[cfg(feature = "linalg")]
use crate::dtype::NativeFloat;
use crate::error::{Error, Result};
#[cfg(feature = "linalg")]
use crate::linalg::Qr;
#[cfg(feature = "linalg")]
use crate::ops;
use crate::random::Generator;

/// The gain before a `relu`: the root of 2.
pub const RELU: f64 = std::f64::consts::SQRT_2;
/// The gain before a `tanh`.
pub const TANH: f64 = 5.0 / 3.0;

/// The gain before a `leaky_relu` of this slope.
pub fn leaky_relu(slope: f64) -> f64 {
    (2.0 / (1.0 + slope * slope)).sqrt()
}

/// The shape of weights, and the numbers of inputs and outputs that it means.
///
/// ```
/// use tenure::layers::initial::Weights;
///
/// assert_eq!(Weights::factor([64, 10]).fans(), [64, 10]);
/// assert_eq!(Weights::filters([16, 3, 5, 5])?.fans(), [3 * 25, 16 * 25]);
/// # Ok::<(), tenure::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Weights {
    shape: Vec<usize>,
    fans: [usize; 2],
}

impl Weights {
    /// A right factor of [`matmul`](crate::Traced::matmul), `[inputs, outputs]`.
    pub fn factor([inputs, outputs]: [usize; 2]) -> Weights {
        Weights { shape: vec![inputs, outputs], fans: [inputs, outputs] }
    }

    /// Filters, `[outputs, inputs, ..]` with the extents of the kernel, and all other weights in the
    /// layout of PyTorch: inputs and outputs count once for each element of the kernel.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a rank below 2; extents whose product is no `usize`.
    pub fn filters(shape: impl AsRef<[usize]>) -> Result<Weights> {
        let shape = shape.as_ref().to_vec();
        let &[outputs, inputs, ref kernel @ ..] = &shape[..] else {
            return Err(Error::invalid(format!(
                "weights have rank {} but must have at least 2",
                shape.len()
            )));
        };
        let area = kernel.iter().try_fold(1_usize, |area, extent| area.checked_mul(*extent));
        let fan = |count: usize| area.and_then(|area| area.checked_mul(count));
        match (fan(inputs), fan(outputs)) {
            (Some(inputs), Some(outputs)) => Ok(Weights { shape, fans: [inputs, outputs] }),
            _ => Err(Error::invalid(format!("weights of shape {shape:?} are too many"))),
        }
    }

    /// The numbers of inputs and outputs: PyTorch's `fan_in` and `fan_out`.
    pub fn fans(&self) -> [usize; 2] {
        self.fans
    }

    /// The deviation of weights for a mean number of inputs.
    fn deviation(gain: f64, fan: f64) -> Result<f64> {
        match gain > 0.0 && gain.is_finite() {
            true => Ok(gain / fan.sqrt()),
            false => {
                Err(Error::invalid(format!("the gain is {gain} but must be above 0 and finite")))
            }
        }
    }

    fn kaiming(&self, gain: f64) -> Result<f64> {
        Self::deviation(gain, self.fans[0] as f64)
    }

    fn xavier(&self, gain: f64) -> Result<f64> {
        Self::deviation(gain, (self.fans[0] as f64 + self.fans[1] as f64) / 2.0)
    }

    fn uniform<T: Float>(&self, random: &mut Generator, deviation: f64) -> Result<Tensor<T>> {
        if self.shape.contains(&0) {
            return Tensor::zeros(&self.shape[..]);
        }
        let bound = 3.0_f64.sqrt() * deviation;
        random.uniform(-bound..bound, &self.shape[..])
    }

    fn normal<T: Float>(&self, random: &mut Generator, deviation: f64) -> Result<Tensor<T>> {
        if self.shape.contains(&0) {
            return Tensor::zeros(&self.shape[..]);
        }
        random.normal(0.0, deviation, &self.shape[..])
    }

    /// Uniform weights of the deviation `gain / sqrt(inputs)`: within `gain * sqrt(3 / inputs)`.
    ///
    /// # Errors
    ///
    /// `InvalidArgument`: a gain that is not above 0 and finite. `OutOfMemory`.
    #[doc(alias("he_uniform"))]
    pub fn kaiming_uniform<T: Float>(
        &self,
        random: &mut Generator,
        gain: f64,
    ) -> Result<Tensor<T>> {
        self.uniform(random, self.kaiming(gain)?)
    }

    /// Normal weights of the deviation `gain / sqrt(inputs)`.
    ///
    /// # Errors
    ///
    /// The errors of [`kaiming_uniform`](Self::kaiming_uniform).
    #[doc(alias("he_normal"))]
    pub fn kaiming_normal<T: Float>(&self, random: &mut Generator, gain: f64) -> Result<Tensor<T>> {
        self.normal(random, self.kaiming(gain)?)
    }

    /// Uniform weights of the deviation `gain * sqrt(2 / (inputs + outputs))`.
    ///
    /// # Errors
    ///
    /// The errors of [`kaiming_uniform`](Self::kaiming_uniform).
    #[doc(alias("glorot_uniform"))]
    pub fn xavier_uniform<T: Float>(&self, random: &mut Generator, gain: f64) -> Result<Tensor<T>> {
        self.uniform(random, self.xavier(gain)?)
    }

    /// Normal weights of the deviation `gain * sqrt(2 / (inputs + outputs))`.
    ///
    /// # Errors
    ///
    /// The errors of [`kaiming_uniform`](Self::kaiming_uniform).
    #[doc(alias("glorot_normal"))]
    pub fn xavier_normal<T: Float>(&self, random: &mut Generator, gain: f64) -> Result<Tensor<T>> {
        self.normal(random, self.xavier(gain)?)
    }
}

#[cfg(feature = "linalg")]
impl Weights {
    /// A random orthogonal matrix times `gain` (Saxe et al., 2014): as a matrix of the first extent
    /// and all others, its rows or its columns, whichever are fewer, are orthogonal and have the
    /// length `gain`. It is Q of the QR factorisation of normal numbers, with the signs that make
    /// all such matrices equally likely.
    ///
    /// # Errors
    ///
    /// The errors of [`kaiming_uniform`](Self::kaiming_uniform).
    ///
    /// ```
    /// use tenure::{Tensor, layers::initial::Weights, linalg::matmul, random::Generator};
    ///
    /// let q: Tensor<f64> = Weights::factor([2, 5]).orthogonal(&mut Generator::new(1), 1.0)?;
    /// let product = matmul(&q, q.t())?;
    /// assert!(product.iter().zip([1.0, 0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12));
    /// # Ok::<(), tenure::Error>(())
    /// ```
    pub fn orthogonal<T: NativeFloat>(
        &self,
        random: &mut Generator,
        gain: f64,
    ) -> Result<Tensor<T>> {
        Self::deviation(gain, 1.0)?;
        if self.shape.contains(&0) {
            return Tensor::zeros(&self.shape[..]);
        }
        let (rows, columns) = (self.shape[0], self.shape[1..].iter().product::<usize>());
        let (long, short) = (rows.max(columns), rows.min(columns));
        let factors = Qr::new(random.normal::<T>(0.0, 1.0, [long, short])?)?;
        let (q, r) = (factors.q()?, factors.r()?);
        // Each column times the gain, with the sign of the diagonal.
        let signs = (0..short).map(|i| match r[[i, i]].to_double() < 0.0 {
            true => T::of_double(-gain),
            false => T::of_double(gain),
        });
        let q = ops::mul(&q, signs.collect::<Vec<_>>())?;
        let matrix = if rows < columns { q.t().to_tensor()? } else { q };
        matrix.reshape(&self.shape[..])?.to_tensor()
    }
}
