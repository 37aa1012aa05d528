"""All cases, and the names of their operations in PyTorch's list of derivatives."""

from gradient_cases import UNARY, elementwise, normalizations, reductions, scans
from gradient_movement_cases import movement, ordering
from gradient_product_cases import images, products
from gradient_sparse_cases import sparse

GROUPS = {"elementwise": elementwise, "reductions": reductions, "normalizations": normalizations,
          "scans": scans, "movement": movement, "ordering": ordering, "products": products,
          "sparse": sparse, "images": images}

# The rows, or kinds of nodes, whose derivatives PyTorch has by these names in its list of formulas.
COUNTERPARTS = {
    **{name: "unary." + row for name, row in {
        "_conj": "conj", "conj_physical": "conj", "log": "ln", "sgn": "sign",
        **{op: op for op in UNARY if op not in ("gelu_tanh", "softsign", "cbrt", "ln", "square")},
    }.items()},
    **{name: "binary." + row for name, row in {
        "add": "add", "sub": "sub", "rsub": "sub", "mul": "mul", "div": "div", "maximum": "max",
        "minimum": "min", "fmod": "rem", "pow": "pow", "atan2": "atan2", "hypot": "hypot",
    }.items()},
    "addcmul": "ternary.fma", "lerp": "ternary.lerp", "clamp": "ternary.clamp",
    "clamp_max": "ternary.clamp", "clamp_min": "ternary.clamp", "hardtanh": "ternary.clamp",
    "where": "select", "masked_fill": "select", "_to_copy": "cast",
    **{name: "reduce." + row for name, row in {
        "sum": "sum", "prod": "prod", "mean": "mean", "var": "var", "std": "std", "amin": "min",
        "amax": "max", "min": "min", "max": "max", "norm": "norm", "linalg_vector_norm": "norm",
        "logsumexp": "logsumexp", "nansum": "nan_sum",
    }.items()},
    "_softmax": "normalize.softmax", "_log_softmax": "normalize.log_softmax",
    "native_layer_norm": "normalize.layer_norm", "_fused_rms_norm": "normalize.rms_norm",
    "cumsum": "scan.sum", "cumprod": "scan.prod", "cummin": "scan.min", "cummax": "scan.max",
    **dict.fromkeys(["mm", "mv", "dot", "bmm", "matmul", "addmm", "addmv", "baddbmm", "linear"],
                    "matmul"),
    "trace": "einsum", "addr": "einsum",
    **dict.fromkeys(["view", "_reshape_alias", "_unsafe_view", "squeeze", "unsqueeze"], "reshape"),
    **dict.fromkeys(["permute", "t", "transpose"], "permute"), "expand": "broadcast",
    **dict.fromkeys(["slice", "select", "split", "split_with_sizes", "flip", "unbind"], "slice"),
    "cat": "concat", "stack": "concat",
    **dict.fromkeys(["constant_pad_nd", "reflection_pad1d", "reflection_pad2d",
                     "replication_pad1d", "replication_pad2d", "roll"], "pad"),
    "index_select": "take", "embedding": "take", "gather": "gather",
    "tril": "triangular", "triu": "triangular", "masked_select": "masked_select",
    "index_add": "put", "index_copy": "put", "index_reduce": "put",
    "scatter": "scatter", "scatter_add": "scatter", "scatter_reduce": "scatter",
    "sort": "sort", "topk": "top_k", "kthvalue": "partition", "median": "quantile",
    "nanmedian": "quantile", "native_batch_norm": "batch_norm",
    "_to_dense": "sparse_to_dense", "_sparse_addmm": "sparse_matmul",
    "sparse_sampled_addmm": "sparse_sddmm", "_sparse_softmax": "sparse_softmax",
    "_sparse_sum": "sparse_reduce", "triangular_solve": "sparse_solve",
    "linalg_solve_triangular": "sparse_solve", "convolution": "conv2d",
    "avg_pool2d": "pool2d", "max_pool2d_with_indices": "pool2d",
}
# Names that a row or a kind has too, for another function.
OTHER_FUNCTIONS = {
    "nonzero": "indices", "all": "truth values", "any": "truth values", "histogram": "counts",
    "put": "indices of the flat array, as scatter of one axis here",
    "take": "indices of the flat array, as take of one axis here",
    "angle": "complex numbers, whose derivative is refused",
}
