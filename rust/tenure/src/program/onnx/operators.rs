//! The table of operators: a row for each, with the function that adds its nodes.

mod activations;
mod elementwise;
mod images;
mod indexing;
mod movement;
mod normalizations;
mod products;
mod quantized;
mod reductions;
mod shapes;

use super::call::{Call, Outputs};
pub(super) use products::with_addend;
pub(super) use quantized::{Bytes, is_zero, product_of_bytes};

/// An operator of ONNX.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) name: &'static str,
    /// The version of ONNX's operators that has had it first.
    pub(super) since: i64,
    pub(super) add: fn(&Call<'_>) -> Outputs,
}

pub(super) fn is_of_onnx(domain: &str) -> bool {
    domain.is_empty() || domain == "ai.onnx"
}

impl Operator {
    pub(super) fn of(domain: &str, name: &str, version: i64) -> Option<&'static Operator> {
        if !is_of_onnx(domain) {
            return None;
        }
        let index = OPERATORS.binary_search_by(|row| row.name.cmp(name)).ok()?;
        OPERATORS.get(index).filter(|row| row.since <= version)
    }
}

macro_rules! operators {
    ($($name:ident $since:literal $module:ident::$function:ident;)*) => {
        /// By name.
        const OPERATORS: &[Operator] = &[$(
            Operator { name: stringify!($name), since: $since, add: $module::$function },
        )*];
    };
}

operators! {
    Abs 1 elementwise::abs;
    Acos 7 elementwise::acos;
    Acosh 9 elementwise::acosh;
    Add 1 elementwise::add;
    And 1 elementwise::and;
    ArgMax 1 reductions::arg_max;
    ArgMin 1 reductions::arg_min;
    Asin 7 elementwise::asin;
    Asinh 9 elementwise::asinh;
    Atan 7 elementwise::atan;
    Atanh 9 elementwise::atanh;
    AveragePool 1 images::average_pool;
    BatchNormalization 1 normalizations::batch_normalization;
    BitShift 11 elementwise::bit_shift;
    BitwiseAnd 18 elementwise::bitwise_and;
    BitwiseNot 18 elementwise::bitwise_not;
    BitwiseOr 18 elementwise::bitwise_or;
    BitwiseXor 18 elementwise::bitwise_xor;
    Cast 1 elementwise::cast;
    CastLike 15 elementwise::cast_like;
    Ceil 1 elementwise::ceil;
    Celu 12 elementwise::celu;
    Clip 1 elementwise::clip;
    Concat 1 movement::concat;
    Constant 1 shapes::constant;
    ConstantOfShape 9 shapes::constant_of_shape;
    Conv 1 images::conv;
    ConvInteger 10 quantized::conv_integer;
    ConvTranspose 1 images::conv_transpose;
    Cos 7 elementwise::cos;
    Cosh 9 elementwise::cosh;
    CumSum 11 reductions::cum_sum;
    DepthToSpace 1 movement::depth_to_space;
    DequantizeLinear 10 quantized::dequantize_linear;
    Div 1 elementwise::div;
    Dropout 1 elementwise::dropout;
    DynamicQuantizeLinear 11 quantized::dynamic_quantize_linear;
    Einsum 12 products::einsum;
    Elu 1 elementwise::elu;
    Equal 1 elementwise::equal;
    Erf 9 elementwise::erf;
    Exp 1 elementwise::exp;
    Expand 8 shapes::expand;
    EyeLike 9 movement::eye_like;
    Flatten 1 shapes::flatten;
    Floor 1 elementwise::floor;
    Gather 1 indexing::gather;
    GatherElements 11 indexing::gather_elements;
    GatherND 11 indexing::gather_nd;
    Gelu 20 elementwise::gelu;
    Gemm 1 products::gemm;
    GlobalAveragePool 1 images::global_average_pool;
    GlobalMaxPool 1 images::global_max_pool;
    Greater 1 elementwise::greater;
    GreaterOrEqual 12 elementwise::greater_or_equal;
    GroupNormalization 18 normalizations::group_normalization;
    HardSigmoid 1 elementwise::hard_sigmoid;
    HardSwish 14 elementwise::hard_swish;
    Identity 1 elementwise::identity;
    InstanceNormalization 1 normalizations::instance_normalization;
    IsInf 10 elementwise::is_inf;
    IsNaN 9 elementwise::is_nan;
    LayerNormalization 17 normalizations::layer_normalization;
    LeakyRelu 1 elementwise::leaky_relu;
    Less 1 elementwise::less;
    LessOrEqual 12 elementwise::less_or_equal;
    Log 1 elementwise::log;
    LogSoftmax 1 normalizations::log_softmax;
    LpNormalization 1 normalizations::lp_normalization;
    MatMul 1 products::mat_mul;
    MatMulInteger 10 quantized::mat_mul_integer;
    Max 1 elementwise::max;
    MaxPool 1 images::max_pool;
    Mean 1 elementwise::mean;
    MeanVarianceNormalization 9 normalizations::mean_variance_normalization;
    Min 1 elementwise::min;
    Mish 18 elementwise::mish;
    Mod 10 elementwise::modulo;
    Mul 1 elementwise::mul;
    Neg 1 elementwise::neg;
    Not 1 elementwise::not;
    OneHot 9 indexing::one_hot;
    Or 1 elementwise::or;
    PRelu 1 elementwise::prelu;
    Pad 1 movement::pad;
    Pow 1 elementwise::pow;
    QLinearConv 10 quantized::qlinear_conv;
    QLinearMatMul 10 quantized::qlinear_mat_mul;
    QuantizeLinear 10 quantized::quantize_linear;
    RMSNormalization 23 normalizations::rms_normalization;
    Range 11 shapes::range;
    Reciprocal 1 elementwise::reciprocal;
    ReduceL1 1 reductions::reduce_l1;
    ReduceL2 1 reductions::reduce_l2;
    ReduceLogSum 1 reductions::reduce_log_sum;
    ReduceLogSumExp 1 reductions::reduce_log_sum_exp;
    ReduceMax 1 reductions::reduce_max;
    ReduceMean 1 reductions::reduce_mean;
    ReduceMin 1 reductions::reduce_min;
    ReduceProd 1 reductions::reduce_prod;
    ReduceSum 1 reductions::reduce_sum;
    ReduceSumSquare 1 reductions::reduce_sum_square;
    Relu 1 elementwise::relu;
    Reshape 5 shapes::reshape;
    Round 11 elementwise::round;
    ScatterElements 11 indexing::scatter_elements;
    ScatterND 11 indexing::scatter_nd;
    Selu 1 elementwise::selu;
    Shape 1 shapes::shape;
    Shrink 9 elementwise::shrink;
    Sigmoid 1 elementwise::sigmoid;
    Sign 9 elementwise::sign;
    Sin 7 elementwise::sin;
    Sinh 9 elementwise::sinh;
    Size 1 shapes::size;
    Slice 1 movement::slice;
    Softmax 1 normalizations::softmax;
    Softplus 1 elementwise::softplus;
    Softsign 1 elementwise::softsign;
    SpaceToDepth 1 movement::space_to_depth;
    Split 2 movement::split;
    Sqrt 1 elementwise::sqrt;
    Squeeze 1 shapes::squeeze;
    Sub 1 elementwise::sub;
    Sum 1 elementwise::sum;
    Swish 24 elementwise::swish;
    Tan 7 elementwise::tan;
    Tanh 1 elementwise::tanh;
    ThresholdedRelu 10 elementwise::thresholded_relu;
    Tile 6 movement::tile;
    TopK 1 reductions::top_k;
    Transpose 1 shapes::transpose;
    Trilu 14 movement::trilu;
    Unsqueeze 1 shapes::unsqueeze;
    Where 9 elementwise::select;
    Xor 1 elementwise::xor;
}

#[cfg(test)]
mod tests {
    use super::OPERATORS;

    #[test]
    fn operators_are_sorted_by_name() {
        assert!(OPERATORS.is_sorted_by(|a, b| a.name < b.name));
    }
}
