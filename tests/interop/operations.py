# Generated from rust/tenure-sys/src/operations.rs by headergen. Do not edit.
"""The codes of operations, and what NumPy calls them."""

import collections

# `places` bounds the error of f32 and f64, in units in the last place; None: it grows.
Row = collections.namedtuple(
    "Row", "code numpy dtypes places attribute", defaults=[None])

UNARY = {
    "neg": Row(1, "np.negative", "float integer complex", 0),
    "abs": Row(2, "np.abs", "float integer complex", 0),
    "sqrt": Row(3, "np.sqrt", "float", 0.5),
    "exp": Row(4, "np.exp", "float", 1),
    "relu": Row(5, "relu", "float integer", 0),
    "tanh": Row(6, "np.tanh", "float", 1),
    "sigmoid": Row(7, "sigmoid", "float", 1),
    "silu": Row(8, "silu", "float", 2),
    "gelu": Row(9, "gelu", "float", 4),
    "gelu_tanh": Row(10, "gelu_tanh", "float", 3),
    "softplus": Row(11, "softplus", "float", 2),
    "hardswish": Row(12, "hardswish", "float", 2),
    "elu": Row(13, "elu", "float", 1),
    "leaky_relu": Row(14, "leaky_relu", "float", 1),
    "square": Row(15, "np.square", "float integer complex", 0.5),
    "reciprocal": Row(16, "np.reciprocal", "float complex", 0.5),
    "rsqrt": Row(17, "rsqrt", "float", 1),
    "floor": Row(18, "np.floor", "float", 0),
    "ceil": Row(19, "np.ceil", "float", 0),
    "round": Row(20, "np.rint", "float", 0),
    "trunc": Row(21, "np.trunc", "float", 0),
    "sign": Row(22, "np.sign", "float integer", 0),
    "is_nan": Row(23, "np.isnan", "float", 0),
    "is_inf": Row(24, "np.isinf", "float", 0),
    "is_finite": Row(25, "np.isfinite", "float", 0),
    "logical_not": Row(26, "np.logical_not", "bool", 0),
    "nan_to_num": Row(27, "np.nan_to_num", "float", 0),
    "bit_not": Row(28, "np.invert", "integer", 0),
    "exp2": Row(29, "np.exp2", "float", 1),
    "expm1": Row(30, "np.expm1", "float", 2),
    "ln": Row(31, "np.log", "float", 1),
    "log2": Row(32, "np.log2", "float", 1),
    "log10": Row(33, "np.log10", "float", 1),
    "log1p": Row(34, "np.log1p", "float", 1),
    "erf": Row(35, "erf", "float", 2),
    "erfc": Row(36, "erfc", "float", 3),
    "sin": Row(37, "np.sin", "float", 1),
    "cos": Row(38, "np.cos", "float", 1),
    "tan": Row(39, "np.tan", "float", 2),
    "asin": Row(40, "np.arcsin", "float", 1),
    "acos": Row(41, "np.arccos", "float", 1),
    "atan": Row(42, "np.arctan", "float", 2),
    "sinh": Row(43, "np.sinh", "float", 2),
    "cosh": Row(44, "np.cosh", "float", 2),
    "asinh": Row(45, "np.arcsinh", "float", 2),
    "acosh": Row(46, "np.arccosh", "float", 2),
    "atanh": Row(47, "np.arctanh", "float", 2),
    "cbrt": Row(48, "np.cbrt", "float", 1),
    "conj": Row(49, "np.conjugate", "complex", 0),
    "arg": Row(50, "np.angle", "complex", 2),
    "softsign": Row(51, "softsign", "float", 2),
}

BINARY = {
    "add": Row(1, "np.add", "float integer complex", 0.5),
    "sub": Row(2, "np.subtract", "float integer complex", 0.5),
    "mul": Row(3, "np.multiply", "float integer complex", 0.5),
    "div": Row(4, "np.divide", "float integer complex", 0.5),
    "min": Row(5, "np.minimum", "float integer", 0),
    "max": Row(6, "np.maximum", "float integer", 0),
    "rem": Row(7, "np.fmod", "float integer", 0),
    "logical_and": Row(8, "np.logical_and", "bool", 0),
    "logical_or": Row(9, "np.logical_or", "bool", 0),
    "logical_xor": Row(10, "np.logical_xor", "bool", 0),
    "bit_and": Row(11, "np.bitwise_and", "integer", 0),
    "bit_or": Row(12, "np.bitwise_or", "integer", 0),
    "bit_xor": Row(13, "np.bitwise_xor", "integer", 0),
    "shift_left": Row(14, "np.left_shift", "integer", 0),
    "shift_right": Row(15, "np.right_shift", "integer", 0),
    "pow": Row(16, "np.power", "float integer", 1),
    "atan2": Row(17, "np.arctan2", "float", 2),
    "hypot": Row(18, "np.hypot", "float", 1),
}

TERNARY = {
    "fma": Row(1, "fma", "float integer", 0.5),
    "lerp": Row(2, "lerp", "float", 1),
    "clamp": Row(3, "np.clip", "float integer", 0),
}

COMPARE = {
    "eq": Row(1, "np.equal", "float integer bool complex", 0),
    "ne": Row(2, "np.not_equal", "float integer bool complex", 0),
    "lt": Row(3, "np.less", "float integer bool", 0),
    "le": Row(4, "np.less_equal", "float integer bool", 0),
    "gt": Row(5, "np.greater", "float integer bool", 0),
    "ge": Row(6, "np.greater_equal", "float integer bool", 0),
}

REDUCE = {
    "sum": Row(1, "np.sum", "float integer complex", None),
    "prod": Row(2, "np.prod", "float integer", None),
    "mean": Row(3, "np.mean", "float complex", None),
    "var": Row(4, "np.var", "float", None, "ddof"),
    "std": Row(5, "np.std", "float", None, "ddof"),
    "min": Row(6, "np.min", "float integer", 0),
    "max": Row(7, "np.max", "float integer", 0),
    "argmin": Row(8, "np.argmin", "float integer", 0),
    "argmax": Row(9, "np.argmax", "float integer", 0),
    "any": Row(10, "np.any", "float integer bool", 0),
    "all": Row(11, "np.all", "float integer bool", 0),
    "count": Row(12, "np.count_nonzero", "float integer bool", 0),
    "norm": Row(13, "norm", "float", None, "power"),
    "logsumexp": Row(14, "logsumexp", "float", None),
    "nan_sum": Row(15, "np.nansum", "float", None),
    "nan_mean": Row(16, "np.nanmean", "float", None),
    "nan_min": Row(17, "np.nanmin", "float", 0),
    "nan_max": Row(18, "np.nanmax", "float", 0),
    "nan_var": Row(19, "np.nanvar", "float", None, "ddof"),
    "nan_std": Row(20, "np.nanstd", "float", None, "ddof"),
}

NORMALIZE = {
    "softmax": Row(1, "softmax", "float", None),
    "log_softmax": Row(2, "log_softmax", "float", None),
    "layer_norm": Row(3, "layer_norm", "float", None),
    "rms_norm": Row(4, "rms_norm", "float", None),
}

SCAN = {
    "sum": Row(1, "np.cumsum", "float integer", None),
    "prod": Row(2, "np.cumprod", "float integer", None),
    "min": Row(3, "np.minimum.accumulate", "float integer", 0),
    "max": Row(4, "np.maximum.accumulate", "float integer", 0),
}
