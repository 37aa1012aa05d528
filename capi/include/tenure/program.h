/* Generated from rust/tenure-sys/src/abi.rs by headergen. Do not edit. */

#ifndef TENURE_PROGRAM_H
#define TENURE_PROGRAM_H

#include "tenure/sparse.h"

/*
 * Expressions, which are evaluated in one pass, and programs: graphs of operations that are
 * checked, fused and planned once and run often. Experimental.
 *
 * ```c
 * // relu(x) of rows of 4 numbers, as many rows as a run has, up to 1000.
 * tnr_graph *graph = tnr_graph_create();
 * int64_t rows;
 * uint32_t x, y;
 * tnr_graph_node relu = {sizeof relu, TNR_NODE_UNARY + TNR_UNARY_OP_RELU};
 * relu.operands = &x;
 * relu.operand_count = 1;
 * tnr_program *program = NULL;
 * if (tnr_graph_add_extent(graph, "rows", 1000, &rows) == TNR_STATUS_OK) {
 *   const int64_t shape[2] = {rows, 4};
 *   if (tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &x) == TNR_STATUS_OK &&
 *       tnr_graph_add_node(graph, &relu, &y) == TNR_STATUS_OK &&
 *       tnr_graph_add_output(graph, y, TNR_OPERAND_NONE) == TNR_STATUS_OK) {
 *     program = tnr_program_create(NULL, graph, NULL);
 *   }
 * }
 * tnr_graph_release(graph);
 * tnr_program_release(program);
 * ```
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ------------------------------------------------------------------------------
 * Node kinds
 *
 * Expressions (`tnr_node`) and programs (`tnr_graph_node`) consist of nodes. The code of a node is
 * its kind plus, in the low 16 bits, an operation. The kind names the call whose result the node
 * has: `TNR_NODE_PUT` names `tnr_put`, and `TNR_NODE_SLICE` names `tnr_view_slice`. `alpha` is 1
 * and `beta` is 0. Expressions have the first eight kinds. The comment of a kind lists:
 *
 * - Operands: `?` marks an optional one, `...` any number of further ones. `out` is the output
 *   before the call, `q` a vector of f64, and `seed` and `offset` are scalars or u64 arrays of rank
 *   0. `major`, `minor` and `values` are the arrays of a sparse matrix.
 * - Numbers: `axes...` and `shape...` have one number for each axis. `extent` is the extent of the
 *   result. `rows?, cols?` are the extents of resulting images: `TNR_NODE_POOL2D` takes them only
 *   with `TNR_POOL2D_ADAPTIVE`, `TNR_NODE_CONV2D_TRANSPOSED` makes the smallest images without
 *   them.
 * - Axes: the bits of `flags` are the axes of the call.
 * - Dtype: the node chooses the dtype of the result.
 * - Low bits: the operation. They are 0 for other kinds.
 *
 * A reduction in an expression is the last node, or reduces the last axis with
 * `TNR_NODE_KEEP_AXES`, and later nodes broadcast its result. A normalization is the last node.
 * `TNR_NODE_SPARSE_NORM` has an f64 of rank 0 as its result.
 *
 * `TNR_NODE_COND` has the outputs of one of two subgraphs: of the first if its bool8 of one element
 * is true. The other operands are the inputs of both. A run computes only one of them. Both have
 * the same number of outputs, of the same dtypes and shapes; an extent that a run counts may
 * differ.
 *
 * `TNR_NODE_WHILE` has the outputs of the last iteration of the body. The operands are the inputs
 * of both subgraphs in the first iteration. Each iteration replaces the first of them by the body's
 * outputs, which have the same dtypes and shapes; an extent that a run counts may become smaller.
 * The condition gives a bool8 of one element. `most iterations` is at least 1; a run in which the
 * condition still holds after them fails with INVALID_ARGUMENT.
 *
 * `TNR_NODE_NONZERO` and `TNR_NODE_MASKED_SELECT` have as many rows or elements as a run counts.
 * Their number is an extent of `tnr_graph_add_extent` that no input has, no other node gives and no
 * earlier node takes: its value is that count. A count above the maximum of the extent is
 * INVALID_ARGUMENT. The plan of memory has room for the maximum, or for the operand's elements if
 * these are fewer.
 */

/** Operands (a); low bits: `tnr_unary_op`. */
#define TNR_NODE_UNARY 65536
/** Operands (a, b); low bits: `tnr_binary_op`. */
#define TNR_NODE_BINARY 131072
/** Operands (a, b, c); low bits: `tnr_ternary_op`. */
#define TNR_NODE_TERNARY 196608
/** Operands (a, b); low bits: `tnr_compare_op`. */
#define TNR_NODE_COMPARE 262144
/** Operands (condition, a, b). */
#define TNR_NODE_SELECT 327680
/** Operands (a); dtype. Both dtypes are real. */
#define TNR_NODE_CAST 393216
/** Operands (a); axes; low bits: `tnr_reduce_op`. */
#define TNR_NODE_REDUCE 458752
/** Operands (a, weight?, bias?); axes; low bits: `tnr_normalize_op`. */
#define TNR_NODE_NORMALIZE 524288
/** Operands (a, b, bias?). */
#define TNR_NODE_MATMUL 589824
/** Operands (a, weight, bias?). */
#define TNR_NODE_CONV2D 655360
/** Operands (a); numbers (rows?, cols?); low bits: MAX or MEAN of `tnr_reduce_op`. */
#define TNR_NODE_POOL2D 720896
/** Operands (a, mean?, var, weight?, bias?). */
#define TNR_NODE_BATCH_NORM 786432
/** Operands (a); numbers (shape...). A copy if strides cannot express it. */
#define TNR_NODE_RESHAPE 851968
/** Operands (a); numbers (axes...). */
#define TNR_NODE_PERMUTE 917504
/** Operands (a); numbers (shape...). */
#define TNR_NODE_BROADCAST 983040
/** Operands (a); numbers (axis, start, stop, step). */
#define TNR_NODE_SLICE 1048576
/** Operands (a, ...); numbers (axis). */
#define TNR_NODE_CONCAT 1114112
/** Operands (a); numbers (shape...); low bits: `tnr_pad_mode`. */
#define TNR_NODE_PAD 1179648
/** Operands (a, indices); numbers (axis). */
#define TNR_NODE_TAKE 1245184
/** Operands (a, indices); numbers (axis). */
#define TNR_NODE_GATHER 1310720
/** Operands (a); low bits: `tnr_triangle`. */
#define TNR_NODE_TRIANGULAR 1376256
/** Operands (a); numbers (axis); low bits: `tnr_scan_op`. */
#define TNR_NODE_SCAN 1441792
/** Operands (...); numbers (...); low bits: index of `tnr_graph_add_custom`. */
#define TNR_NODE_CUSTOM 1507328
/** Operands (a, weight, bias?); numbers (rows?, cols?). */
#define TNR_NODE_CONV2D_TRANSPOSED 1572864
/** Operands (a, ...). */
#define TNR_NODE_EINSUM 1638400
/** Operands (a); numbers (axis); low bits: `tnr_order_result`. */
#define TNR_NODE_SORT 1703936
/** Operands (a); numbers (axis, k); low bits: `tnr_order_result`. */
#define TNR_NODE_TOP_K 1769472
/** Operands (a); numbers (axis, kth); low bits: `tnr_order_result`. */
#define TNR_NODE_PARTITION 1835008
/** Operands (a, q); axes. */
#define TNR_NODE_QUANTILE 1900544
/** Operands (a, values). */
#define TNR_NODE_SEARCHSORTED 1966080
/** Operands (a, weights?); numbers (extent). */
#define TNR_NODE_BINCOUNT 2031616
/** Operands (a, edges?); numbers (extent). */
#define TNR_NODE_HISTOGRAM 2097152
/** Operands (out, a, indices); numbers (axis); low bits: `tnr_binary_op`, 0 overwrites. */
#define TNR_NODE_PUT 2162688
/** Operands (out, a, indices); numbers (axis); low bits: `tnr_binary_op`, 0 overwrites. */
#define TNR_NODE_SCATTER 2228224
/** Operands (seed, offset); numbers (shape...); dtype; low bits: `tnr_random_distribution`. */
#define TNR_NODE_RANDOM 2293760
/** Operands (seed, offset); numbers (extent); dtype. */
#define TNR_NODE_RANDOM_PERMUTATION 2359296
/** Operands (major, minor, values); numbers (rows, cols). */
#define TNR_NODE_SPARSE_TO_DENSE 2424832
/** Operands (major, minor, values, b); numbers (rows, cols). */
#define TNR_NODE_SPARSE_MATMUL 2490368
/** Operands (major, minor, values, x, y); numbers (rows, cols). Gives values. */
#define TNR_NODE_SPARSE_SDDMM 2555904
/** Operands (major, minor, values, factors); numbers (rows, cols); low bits: axis. Gives values. */
#define TNR_NODE_SPARSE_SCALE 2621440
/** Operands (major, minor, values); numbers (rows, cols). Gives values. */
#define TNR_NODE_SPARSE_SOFTMAX 2686976
/** Operands (major, minor, values); numbers (rows, cols); axes; low bits: `tnr_reduce_op`. */
#define TNR_NODE_SPARSE_REDUCE 2752512
/** Operands (major, minor, values); numbers (rows, cols); low bits: `tnr_sparse_norm_kind`. */
#define TNR_NODE_SPARSE_NORM 2818048
/** Operands (major, minor, values); numbers (rows, cols). */
#define TNR_NODE_SPARSE_DIAGONAL 2883584
/** Operands (major, minor, values, b); numbers (rows, cols). */
#define TNR_NODE_SPARSE_SOLVE 2949120
/** Operands (major, minor, values, out); numbers (rows, cols). */
#define TNR_NODE_SPARSE_ACCUMULATE 3014656
/** Operands (condition, ...); numbers (subgraph, other subgraph). */
#define TNR_NODE_COND 3080192
/** Operands (a, ...); numbers (condition, body, most iterations). */
#define TNR_NODE_WHILE 3145728
/** Operands (a); numbers (extent). */
#define TNR_NODE_NONZERO 3211264
/** Operands (a, mask); numbers (extent). */
#define TNR_NODE_MASKED_SELECT 3276800
/** Operands (a, b). `a`, summed over the axes that broadcast the shape of `b` to it. */
#define TNR_NODE_SUM_TO 3342336
/** Operands (); numbers (number); dtype. The number, as an array of rank 0 of the node's dtype. */
#define TNR_NODE_EXTENT 3407872
/** Operands (a, gradient); low bits: MAX or MEAN of `tnr_reduce_op`. */
#define TNR_NODE_POOL2D_GRADIENT 3473408
/** Operands (a, gradient); numbers (kernel rows, kernel columns). */
#define TNR_NODE_CONV2D_FILTERS 3538944
/** Operands (a, scales, zeros?); dtype. */
#define TNR_NODE_QUANTIZE 3604480
/** Operands (a); numbers (shape...); dtype; low bits: `tnr_quantize_result`. */
#define TNR_NODE_QUANTIZE_DYNAMIC 3670016
/** Operands (a, scales, zeros?); dtype. */
#define TNR_NODE_DEQUANTIZE 3735552
/** Operands (a, b, a_scales?, b_scales, a_zeros?, b_zeros?, bias?, scale?, zero?); dtype. */
#define TNR_NODE_QUANTIZED_MATMUL 3801088
/** Operands (a, weight, a_scale?, scales, a_zero?, zeros?, bias?, out_scale?, out_zero?); dtype. */
#define TNR_NODE_QUANTIZED_CONV2D 3866624
/** Flag of a node that reduces: the reduced axes stay, of extent 1. */
#define TNR_NODE_KEEP_AXES 256

/*
 * ------------------------------------------------------------------------------
 * Expressions
 *
 * Element-wise operations as data: checked in one go, computed in one pass, without temporaries.
 */

#define TNR_OPERAND_VIEW 1073741824  /**< Operand of a node: plus the index of a view. */

/**
 * Operand of a node: plus the index of a scalar, which must be representable in the dtype that the
 * operation takes there, as with `tnr_binary_scalar`.
 */
#define TNR_OPERAND_SCALAR 2147483648

/** Operand of a node: the elements of `out` before the call. */
#define TNR_OPERAND_OUTPUT 3221225472

#define TNR_OPERAND_NONE 4294967295  /**< No operand. */

#define TNR_MAX_NODES 256  /**< Most nodes of an expression. */

#define TNR_MAX_EXPRESSION_VIEWS 32  /**< Most different views of an expression. */

/**
 * A node of an expression: an operation on views, scalars and the results of earlier nodes, with
 * one result. Frozen: 32 bytes.
 *
 * An operand is the index of an earlier node; `TNR_OPERAND_VIEW` plus the index of a view of the
 * expression; `TNR_OPERAND_SCALAR` plus the index of a scalar of it; or `TNR_OPERAND_OUTPUT`.
 */
typedef struct tnr_node {
  /**
   * A kind (`TNR_NODE_UNARY`, ...) plus the code of the operation (`tnr_unary_op`, ...), of
   * kinds that have codes.
   */
  uint32_t code;
  tnr_dtype dtype;  /**< Dtype of the result, which the operation must give. */
  /** The operands that the operation takes, first; the other entries are `TNR_OPERAND_NONE`. */
  uint32_t operands[3];
  /**
   * Index into the attributes of the expression, plus 1, for a reduction
   * (`tnr_reduce_attributes`) or a normalization (`tnr_normalize_attributes`). 0: none.
   */
  uint32_t attributes;
  /**
   * For a reduction or a normalization: its axes as bits (bit i: axis i), and
   * `TNR_NODE_KEEP_AXES`. 0 for all others.
   */
  uint32_t flags;
  uint32_t reserved;
} tnr_node;

/**
 * An expression: nodes, and the arrays that they refer to. The last node is the result. Each call
 * checks each code, dtype and index.
 */
typedef struct tnr_expression {
  uint64_t struct_size;
  const tnr_node *nodes;  /**< `node_count` nodes. */
  const tnr_view *const *views;  /**< `view_count` pointers to views. */
  const tnr_scalar *scalars;  /**< `scalar_count` scalars. */
  /** `attribute_count` pointers to structs, each as the node that names it takes it. */
  const void *const *attributes;
  uint32_t node_count;  /**< 1 to `TNR_MAX_NODES`. */
  uint32_t view_count;  /**< At most `TNR_MAX_EXPRESSION_VIEWS`. */
  uint32_t scalar_count;  /**< At most 1024. */
  uint32_t attribute_count;  /**< At most 1024. */
} tnr_expression;

/**
 * Computes an expression in one pass: each node has the bits that the call of its operation
 * would give on whole tensors, rounded or wrapped to its dtype, and no temporary is made of
 * it. Views broadcast to the shape of all views together, as in NumPy; the result of an
 * expression whose last node neither reduces nor normalizes is broadcast to `out`'s shape.
 *
 * Bits are those of the calls one by one, with row-major temporaries, for any number of
 * threads. Integer divisors of 0 and negative powers of integers are found on the data as by
 * `tnr_binary`: INVALID_ARGUMENT, and `out` holds a mixture.
 *
 * Nothing is allocated for up to 16 nodes, unless a reduction amid them has more results than
 * the stack has room for. A node whose operands are all scalars is computed once.
 *
 * The result of views and an `out` on the context's device is enqueued; integers that are
 * divided, or raised to powers, are waited for. The bits are those of the device's calls.
 * Reductions amid the expression, their operands, and parts of an expression that do not fit
 * one launch, are temporaries in the device's memory, freed in the order of its queue.
 *
 * INVALID_ARGUMENT: an operand that is no earlier node, a dtype that the operation does not
 * give or operands of two dtypes (the message names the node), views that do not broadcast, a
 * reduction that is neither last nor over the last axis with `TNR_NODE_KEEP_AXES`, one over an
 * extent of 0 that needs an element. UNSUPPORTED: a dtype that an operation does not take,
 * complex numbers in reductions and on a device, and a view that is not on the device of
 * `out`. ALIASED: `out` shares bytes with a view and is not exactly it; or the last node
 * reduces, and `out` is a view or an operand. OUT_OF_MEMORY: only where something is
 * allocated. `out` is then untouched.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_evaluate(tnr_context *context TNR_BORROWED, const tnr_expression *expression,
    const tnr_extension *attributes, const tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The shape and dtype of the result of an expression that does not name its output. No element
 * is read.
 *
 * Errors as `tnr_evaluate` has them of nodes and shapes; INVALID_ARGUMENT also for
 * `TNR_OPERAND_OUTPUT`.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_expression_shape(const tnr_expression *expression, tnr_dtype *dtype, uint32_t *rank,
    int64_t *shape) TNR_NOEXCEPT;

/*
 * ------------------------------------------------------------------------------
 * Programs
 *
 * Graphs of operations: built value by value, checked once, run on memory of any shape that they
 * were built for, with the memory of their intermediate values planned. A function that describes a
 * run on inputs reads no element, assumes outputs in row-major order, and has the errors that
 * `tnr_program_run` has of inputs.
 */

/** A number of a graph: plus the index of an extent, which each run has. */
#define TNR_EXTENT 4611686018427387904

#define TNR_MAX_EXTENTS 256  /**< Most extents of a graph. */

#define TNR_MAX_VALUES 65536  /**< Most values of a graph. */

#define TNR_MARK_KEEP 1  /**< Mark of a node: no pass computes its result again. */

/**
 * Mark of a node: gradients compute its result again instead of keeping it. In a graph without
 * gradients, so do nodes behind the longest time in which none reads it. Custom operations,
 * control nodes and nodes that count elements are kept.
 */
#define TNR_MARK_RECOMPUTE 2

#define TNR_MARK_GRADIENT 4  /**< Mark of a node that `tnr_graph_add_gradients` added. */

/** Mark of a node: its results may have NaN and infinities in runs that refuse them. */
#define TNR_MARK_NON_FINITE 8

#define TNR_MAX_SUBGRAPH_DEPTH 8  /**< How deep graphs may be within each other. */

/** Flag of `tnr_custom_operation`: `out` may be exactly the first operand. */
#define TNR_CUSTOM_IN_PLACE 1

/**
 * Flag of `tnr_custom_operation`: `out` has elements before the call, of any values, and no
 * undefined bytes. Costs a pass over it.
 */
#define TNR_CUSTOM_INITIALIZED 2

/**
 * Flag of `tnr_custom_operation`: the result depends on the operands and numbers only, and a call
 * has no other effect. Such calls may be repeated: by gradients through `TNR_NODE_COND` and
 * `TNR_NODE_WHILE`, which refuse other custom operations, and by `TNR_PASS_RECOMPUTATION`.
 */
#define TNR_CUSTOM_PURE 4

/** Pass of a program: nodes whose results no output needs are left out. */
#define TNR_PASS_DEAD_CODE 1

/** Pass of a program: nodes with the same operation on the same values are one. */
#define TNR_PASS_COMMON_SUBEXPRESSIONS 2

/**
 * Pass of a program: nodes whose operands are all constants are computed when the program is made.
 */
#define TNR_PASS_CONSTANT_FOLDING 4

/**
 * Pass of a program: a bias and an activation after a product or a convolution become part of it.
 */
#define TNR_PASS_EPILOGUES 8

/**
 * Pass of a program: element-wise nodes are computed in one pass with a reduction after them and,
 * on the CPU, with reductions of their rows that later ones read.
 */
#define TNR_PASS_FUSION 16

/**
 * Pass of a program: a result takes the memory of an operand that nothing reads any more, or of
 * the input that it updates.
 */
#define TNR_PASS_IN_PLACE 32

/** Pass of a program: values that are not alive at once share memory. */
#define TNR_PASS_MEMORY 64

/** Pass of a program: images between convolutions and poolings are stored channels-last. */
#define TNR_PASS_LAYOUT 128

/**
 * Pass of a program: constants that are right factors of products, and filters of convolutions,
 * are packed as `tnr_factor_create` packs a factor, which says how many bytes that takes. The
 * packed copy is made with the program. The pass runs only if `enabled_passes` names it.
 */
#define TNR_PASS_PACKING 256

/**
 * Pass of a program: values are computed again instead of being kept, where nodes have
 * `TNR_MARK_RECOMPUTE`, and as many more as `budget_bytes` of `tnr_program_attributes` needs.
 */
#define TNR_PASS_RECOMPUTATION 512

/**
 * Flag of `tnr_program_run`: each custom operation is run twice, into memory of two patterns with
 * guards around it, and a third time in place if it promises that; its views have owners that end
 * after the call. INTERNAL: it wrote a byte outside its output or to an operand, left an element
 * unwritten, gave two results, or kept the memory that it was lent. An operation that keeps a view
 * and uses it later gets STALE_VIEW. The flag does not change runs on a device.
 */
#define TNR_RUN_CHECKED 1

/** Flag of `tnr_program_run`: `budget_bytes` is a bound where it is 0, too. */
#define TNR_RUN_BUDGET 2

/**
 * Flag of `tnr_program_run`, on the CPU: the run ends with INVALID_ARGUMENT behind the first node
 * that gives a NaN, also in a subgraph. The message has the node, its operation, value, dtype and
 * shape, the index of the first NaN, the iteration of a loop, and an operand with a NaN or an
 * infinity, if there is one. An input or a constant with a NaN is no error by itself.
 *
 * Nodes are computed one by one, whatever passes the program has, in the order in which they were
 * added; the first such run makes a program for that. Results have the bits of other runs, except
 * where passes skip a rounding. Inputs that outputs update are untouched if the run is refused.
 * The run takes more time, and memory for the values that passes leave out. UNSUPPORTED: on a
 * device, in a preallocated run, and with `step_nanoseconds`.
 */
#define TNR_RUN_REFUSE_NAN 4

/** Flag of `tnr_program_run`: `TNR_RUN_REFUSE_NAN` for infinities, too. */
#define TNR_RUN_REFUSE_NON_FINITE 8

/** Flag of `tnr_bound_create`: all memory of a run is taken now. */
#define TNR_BOUND_PREALLOCATED 1

/** Flag of `tnr_bound_create`: the run is recorded on the device of the context. */
#define TNR_BOUND_CAPTURED 2

/** Flag of `tnr_bound_create`: `budget_bytes` is a bound where it is 0, too. */
#define TNR_BOUND_BUDGET 4

/** A program that is bound to the layouts of its inputs and outputs. */
typedef struct tnr_bound tnr_bound;

/** A graph that is being built: inputs, constants, nodes and outputs. */
typedef struct tnr_graph tnr_graph;

/** A graph that nothing changes any more, to be run by any number of threads. */
typedef struct tnr_program tnr_program;

/** How two numbers make an extent. */
typedef int32_t tnr_extent_op;
#define TNR_EXTENT_OP_ADD 1  /**< The sum. */
#define TNR_EXTENT_OP_SUB 2  /**< The difference, which is not negative. */
#define TNR_EXTENT_OP_MUL 3  /**< The product. */
#define TNR_EXTENT_OP_DIV 4  /**< The quotient, rounded down; the divisor is positive. */
#define TNR_EXTENT_OP_DIV_UP 5  /**< The quotient, rounded up; the divisor is positive. */
#define TNR_EXTENT_OP_MIN 6  /**< The smaller one. */
#define TNR_EXTENT_OP_MAX 7  /**< The greater one. */
/**
 * The one that is not 1: the extent of two operands that broadcast. They are equal, or one is
 * 1.
 */
#define TNR_EXTENT_OP_BROADCAST 8

/**
 * A node of a graph: an operation on values, with one result, or several of `TNR_NODE_COND` and
 * `TNR_NODE_WHILE`.
 */
typedef struct tnr_graph_node {
  uint64_t struct_size;
  uint32_t code;  /**< A kind plus the code of the operation, of kinds that have codes. */
  /**
   * The dtype that the node sets, of kinds that say so: of a cast that of the result, of
   * `TNR_NODE_QUANTIZE_DYNAMIC` that of the integers. 0 for all others.
   */
  tnr_dtype dtype;
  /** `operand_count` values; `TNR_OPERAND_NONE` for an optional one that is not given. */
  const uint32_t *operands;
  /**
   * `number_count` numbers, as the kind takes them: constants, or `TNR_EXTENT` plus the index of
   * an extent.
   */
  const int64_t *numbers;
  /**
   * The attributes of the operation, as its call takes them, except views, which are operands
   * here. NULL: the defaults.
   */
  const void *attributes;
  uint32_t operand_count;  /**< Number of `operands`, as the kind requires. */
  uint32_t number_count;  /**< Number of `numbers`, as the kind requires. */
  /** Axes of a reduction, a normalization or a quantile, as in `tnr_node`. 0 for all others. */
  uint32_t flags;
  /**
   * Nodes that differ only in this number are computed each for itself: another number is a
   * recomputation that `TNR_PASS_COMMON_SUBEXPRESSIONS` does not merge.
   */
  uint32_t copy;
  /**
   * `TNR_MARK_KEEP` or `TNR_MARK_RECOMPUTE`, `TNR_MARK_GRADIENT` and `TNR_MARK_NON_FINITE`; or 0.
   */
  uint32_t marks;
  uint32_t reserved;
} tnr_graph_node;

/** Attributes of `tnr_graph_add_mixed_precision`. */
typedef struct tnr_precision_attributes {
  uint64_t struct_size;
  /**
   * `keep_count` values: the nodes that give them compute in their own dtypes, with their
   * subgraphs. NULL for none.
   */
  const uint32_t *keep;
  uint32_t keep_count;  /**< Number of `keep`. */
  uint32_t reserved;
} tnr_precision_attributes;

/** The range of the elements of a value, such as calibration finds it. */
typedef struct tnr_value_range {
  uint32_t value;  /**< The value that has it. */
  float low;  /**< The least element; finite. */
  float high;  /**< The greatest element; finite, and not below `low`. */
} tnr_value_range;

/** Attributes of `tnr_graph_quantize` and `tnr_graph_quantizable`. */
typedef struct tnr_graph_quantize_attributes {
  uint64_t struct_size;
  /** `keep_count` values: the nodes that give them stay in f32. NULL for none. */
  const uint32_t *keep;
  uint32_t keep_count;  /**< Number of `keep`. */
  uint32_t range_count;  /**< Number of `ranges`. */
  /** `range_count` ranges of left operands, at most one of each. NULL for none. */
  const tnr_value_range *ranges;
} tnr_graph_quantize_attributes;

/** A node that `tnr_graph_quantize` replaces with one of integers. */
typedef struct tnr_quantizable {
  uint32_t result;  /**< The value that the node gives. */
  uint32_t operand;  /**< The left operand of the node: the value that a range is of. */
  uint32_t code;  /**< `TNR_NODE_MATMUL` or `TNR_NODE_CONV2D`. */
  uint32_t reserved;
} tnr_quantizable;

/**
 * The dtype and shape of the result of a custom operation, from those of its operands: these views
 * have no memory. Returns a status; anything but OK refuses the node, with the message that the
 * function gave `tnr_set_last_error`. Called from any thread, also for shapes that no run will
 * have. Meanwhile calls on a graph that the node is being added to are BUSY, on every thread.
 *
 * The function always gives the same answer for the same operands. A program takes one answer for
 * each set of layouts that it is run with. A run asks again only where shapes of operands depend
 * on its data: an answer of another dtype or rank than the first one, or with a larger extent
 * along an axis, is INVALID_ARGUMENT before the result is written.
 */
typedef tnr_status (*tnr_infer_fn)(void *user_context,
                                   const tnr_view *operands,
                                   uint32_t operand_count,
                                   const int64_t *numbers,
                                   uint32_t number_count,
                                   tnr_dtype *dtype,
                                   uint32_t *rank,
                                   int64_t *shape);

/**
 * Computes a custom operation: writes every element of `out`, and no other byte. Operands and
 * `out` are lent for the call, with any strides. The function may call the library and run
 * programs, including its own, but may not call the graph that it was added to. Returns a status;
 * any status other than OK ends the run with that status, and with the reason that the function
 * gave to `tnr_set_last_error`. Called from any thread, and from several at once.
 */
typedef tnr_status (*tnr_compute_fn)(void *user_context,
                                     const tnr_view *operands,
                                     uint32_t operand_count,
                                     const int64_t *numbers,
                                     uint32_t number_count,
                                     const tnr_view_mut *out);

/**
 * Computes a custom operation where a program is run on a device: enqueues work that writes every
 * element of `out`, and no other byte, by calls of the library with `context`, the context of the
 * run. Operands and `out` are views of its device, lent for the call, with any strides. Their
 * owners end after the call. They also order calls on other contexts of the device: the work of
 * these calls comes after the earlier work of the run, and before its later work. Otherwise like
 * `tnr_compute_fn`.
 */
typedef tnr_status (*tnr_device_compute_fn)(void *user_context,
                                            tnr_context *context,
                                            const tnr_view *operands,
                                            uint32_t operand_count,
                                            const int64_t *numbers,
                                            uint32_t number_count,
                                            const tnr_view_mut *out);

/**
 * Derives a custom operation: adds nodes to `graph` that compute the gradients of the operands.
 * The operands, the result and its gradient are values of `graph`. Writes the value of each
 * operand's gradient to `gradients`. Before the call `gradients` has `TNR_OPERAND_NONE` for each
 * operand, which stands for zeros. A gradient has the dtype and shape of its operand. Operands
 * other than floats and complex numbers have no gradient.
 *
 * `graph` is a handle that exists during the call only. It has the nodes of the graph that
 * `tnr_graph_add_gradients` was given, or of a subgraph of it. The function may add extents,
 * constants, scalars, nodes, subgraphs and custom operations to it, but no inputs and no outputs.
 * Calls on the handle that `tnr_graph_add_gradients` was given are BUSY meanwhile, on every
 * thread. Returns a status; any status other than OK ends `tnr_graph_add_gradients` with that
 * status, and with the reason that the function gave to `tnr_set_last_error`. Called from any
 * thread, and from several at once.
 */
typedef tnr_status (*tnr_derive_fn)(void *user_context,
                                    tnr_graph *graph,
                                    const uint32_t *operands,
                                    uint32_t operand_count,
                                    const int64_t *numbers,
                                    uint32_t number_count,
                                    uint32_t result,
                                    uint32_t gradient,
                                    uint32_t *gradients);

/**
 * A custom operation. An exception or a panic that leaves a function is INTERNAL where compilers
 * let it through, as C++ does unless the function is `noexcept`; a panic in a function of Rust
 * that does not catch it aborts.
 */
typedef struct tnr_custom_operation {
  uint64_t struct_size;
  const char *name;  /**< Ends with a 0; 1 to 31 bytes, which are copied. */
  tnr_infer_fn infer;  /**< Not NULL. */
  tnr_compute_fn compute;  /**< Not NULL. */
  void *user_context;  /**< Given to the functions. */
  /** Called once with `user_context`, when the graph and all its programs are gone; may be NULL. */
  tnr_release_fn release;
  uint32_t operand_count;  /**< Operands that it takes. */
  uint32_t number_count;  /**< Numbers that it takes. */
  uint32_t flags;  /**< `TNR_CUSTOM_IN_PLACE`, `TNR_CUSTOM_INITIALIZED`, `TNR_CUSTOM_PURE`, or 0. */
  uint32_t reserved;
  /**
   * Called in place of `compute` by runs on a device, of any kind; NULL: these refuse the
   * operation.
   */
  tnr_device_compute_fn compute_on_device;
  /** Called by `tnr_graph_add_gradients`; NULL: no gradient leads through the operation. */
  tnr_derive_fn derive;
} tnr_custom_operation;

/**
 * Operations of a shared library that is loaded while the program runs. The loader gives its entry
 * to `tnr_plugin_check`, and may then add its operations to graphs. The library stays loaded as
 * long as these exist.
 */
typedef struct tnr_plugin {
  uint64_t struct_size;
  /** `TNR_ABI_MAJOR` of the header that it was compiled with. Here in every version of the ABI. */
  uint32_t abi_major;
  /** `TNR_ABI_MINOR` of the header that it was compiled with. Here in every version of the ABI. */
  uint32_t abi_minor;
  const char *name;  /**< Ends with a 0; for messages. */
  /**
   * `operation_count` operations. Each may be added to any number of graphs, and `release` is
   * called once for each of them.
   */
  const tnr_custom_operation *const *operations;
  uint32_t operation_count;  /**< How many `operations` there are. */
  uint32_t reserved;
} tnr_plugin;

/**
 * The one function that a plug-in exports, by the name `tnr_plugin_entry`. Returns the description
 * of the plug-in, which stays at its address.
 */
typedef const tnr_plugin *(*tnr_plugin_fn)(void);

/** The numbers of values, nodes and so on of a graph, as `tnr_graph_describe` reports them. */
typedef struct tnr_graph_info {
  uint64_t struct_size;
  uint32_t value_count;  /**< Values of all sources. */
  uint32_t extent_count;  /**< Named extents, and those made of them. */
  uint32_t input_count;  /**< Inputs. */
  uint32_t constant_count;  /**< Constants. */
  uint32_t scalar_count;  /**< Scalars. */
  uint32_t node_count;  /**< Nodes. */
  uint32_t output_count;  /**< Outputs. */
  uint32_t custom_count;  /**< Custom operations. */
  /** Subgraphs, for nodes such as `TNR_NODE_COND` and `TNR_NODE_WHILE`. */
  uint32_t subgraph_count;
  uint32_t reserved;
} tnr_graph_info;

/** An extent of a graph, as `tnr_graph_describe_extent` reports it. */
typedef struct tnr_extent_info {
  uint64_t struct_size;
  tnr_extent_op op;  /**< 0 of a named one. */
  uint32_t reserved;
  int64_t a;  /**< The first number; the maximum of a named one. */
  int64_t b;  /**< The second number; 0 of a named one. */
  char name[32];  /**< The name of a named one; ends with a 0. */
} tnr_extent_info;

/** A custom operation of a graph, as `tnr_graph_describe_custom` reports it. */
typedef struct tnr_custom_info {
  uint64_t struct_size;
  uint32_t operand_count;  /**< Operands that it takes. */
  uint32_t number_count;  /**< Numbers that it takes. */
  uint32_t flags;  /**< The flags of `tnr_custom_operation`. */
  uint32_t reserved;
  char name[32];  /**< Ends with a 0. */
} tnr_custom_info;

/** Where a value of a graph comes from. */
typedef int32_t tnr_value_source;
#define TNR_VALUE_SOURCE_INPUT 1  /**< `tnr_graph_add_input`. */
#define TNR_VALUE_SOURCE_CONSTANT 2  /**< `tnr_graph_add_constant`. */
#define TNR_VALUE_SOURCE_SCALAR 3  /**< `tnr_graph_add_scalar`. */
#define TNR_VALUE_SOURCE_NODE 4  /**< `tnr_graph_add_node`. */

/** A value of a graph, as `tnr_graph_describe_value` reports it. */
typedef struct tnr_value_info {
  uint64_t struct_size;
  tnr_value_source source;  /**< Whose result it is. */
  tnr_dtype dtype;  /**< The dtype of its elements. */
  uint32_t rank;  /**< Number of axes. */
  /** Index among the values of its source, from 0, in the order in which they were added. */
  uint32_t index;
  /** The extents where all named ones are as large as they may be; those beyond the rank are 0. */
  int64_t shape[8];
  /** The extents of an input as numbers, as they were given. 0 for all others. */
  int64_t numbers[8];
  /** Index among the results of its node, from 0. These are consecutive values. */
  uint32_t result;
  uint32_t reserved;
} tnr_value_info;

/** Attributes of `tnr_program_create`. */
typedef struct tnr_program_attributes {
  uint64_t struct_size;
  uint32_t disabled_passes;  /**< The passes, by bits, that are left out. */
  /**
   * Passes that run only if they are named here: `TNR_PASS_PACKING`. Other passes may be named
   * too. A pass that is also in `disabled_passes` is left out.
   */
  uint32_t enabled_passes;
  /**
   * The constants that `TNR_PASS_PACKING` packs, as `tnr_blob_copy_packed` returned them for a
   * program of the same graph: `u8`, adjacent, aligned to 64, owned by a blob that is not
   * borrowed, and which the program keeps. The constants themselves are then not read. NULL:
   * they are packed now. Other bytes than these give other results.
   */
  const tnr_view *packed;
  /**
   * The most `peak_bytes` of a run on row-major inputs with all extents at their maxima:
   * `TNR_PASS_RECOMPUTATION` computes values again until the plan fits. 0: any.
   */
  uint64_t budget_bytes;
} tnr_program_attributes;

/** The memory of a run, as `tnr_program_memory` reports it. */
typedef struct tnr_memory_plan {
  uint64_t struct_size;
  uint64_t peak_bytes;  /**< Bytes that intermediate values take, in one block. */
  /** The most bytes of intermediate values that are alive at once: no plan takes less. */
  uint64_t live_bytes;
  /** Bytes of all intermediate values together, as if each had memory of its own. */
  uint64_t total_bytes;
  /**
   * The most bytes of scratch memory that operations took at once in runs for these layouts so
   * far, in addition to `peak_bytes`: they report it when they run. Exact where a program is
   * bound with `TNR_BOUND_PREALLOCATED` or `TNR_BOUND_CAPTURED`.
   */
  uint64_t scratch_bytes;
  uint32_t step_count;  /**< Calls of operations in a run. */
  uint32_t reserved;
  /** Bytes of constants that are packed, which the program holds for all runs. */
  uint64_t packed_bytes;
} tnr_memory_plan;

/** A pass over a program and its effect, from `tnr_program_describe_pass`. */
typedef struct tnr_pass_info {
  uint64_t struct_size;
  uint32_t pass;  /**< `TNR_PASS_DEAD_CODE` and so on. */
  uint32_t is_on;  /**< 1: the program was made with it; 0: it was left out. */
  /** How often it changed something, with the graphs in nodes: 0 where it was left out. */
  uint64_t count;
  char name[32];  /**< Its name, such as "common subexpressions"; ends with a 0. */
  char counted[32];  /**< The thing that is counted, such as "nodes merged"; ends with a 0. */
} tnr_pass_info;

/** How a step of a program computes. */
typedef int32_t tnr_step_kind;
#define TNR_STEP_KIND_COPY 1  /**< Elements move to where a reshape or an output needs them. */
#define TNR_STEP_KIND_EXPRESSION 2  /**< Element-wise nodes in one pass. */
#define TNR_STEP_KIND_OPERATION 3  /**< The call of an operation. */
#define TNR_STEP_KIND_CONTROL 4  /**< Subgraphs of a node, as often as the data require. */

/** A step of a program's run, as `tnr_program_describe_step` reports it. */
typedef struct tnr_step_info {
  uint64_t struct_size;
  tnr_step_kind kind;  /**< How it computes. */
  /** The node whose result it gives; `TNR_OPERAND_NONE` where it copies to an output. */
  uint32_t node;
  uint32_t node_count;  /**< Nodes that it computes. */
  /** The output that it writes; `TNR_OPERAND_NONE` where the result is another value. */
  uint32_t output;
  /**
   * Floating-point operations: two for each multiplication and addition of a product or a
   * convolution, one for each element and node of others, 0 of copies and of subgraphs.
   */
  uint64_t flops;
  uint64_t read_bytes;  /**< Bytes of the elements that it reads, each operand once. */
  uint64_t written_bytes;  /**< Bytes of the elements that it writes. */
  /**
   * Offset of its result, of several the first, in the block of values; 0 where it writes an
   * output.
   */
  uint64_t block_offset;
  /** Bytes of the block that the result takes; 0 where it writes an output. */
  uint64_t block_bytes;
  uint32_t last_use;  /**< The last step that reads these bytes. */
  tnr_dtype dtype;  /**< Dtype of the result. */
  uint32_t rank;  /**< Number of axes of the result. */
  uint32_t reserved;
  int64_t shape[8];  /**< The result's extents; those beyond the rank are 0. */
  char name[64];  /**< Names of the operations, as far as they fit; ends with a 0. */
} tnr_step_info;

/** Attributes of `tnr_program_run`. */
typedef struct tnr_program_run_attributes {
  uint64_t struct_size;
  /**
   * Most bytes that intermediate values may take: OUT_OF_MEMORY where they need more, before
   * anything is allocated. 0: any number, or none with `TNR_RUN_BUDGET`.
   */
  uint64_t budget_bytes;
  /** Nanoseconds of each of `step_count` steps: written if the run succeeds. NULL: none are. */
  uint64_t *step_nanoseconds;
  /**
   * Steps of the program for these layouts, as `tnr_program_memory` reports; 0 without the
   * above.
   */
  uint32_t step_count;
  uint32_t flags;  /**< `TNR_RUN_CHECKED` and so on, or 0. */
  /**
   * The extents of each output, 8 for each, with 0 beyond the rank: written if the run succeeds.
   * An extent that depends on the data may be less than that of the caller's view; the elements
   * beyond it are untouched. NULL: none are written.
   */
  int64_t *output_shapes;
} tnr_program_run_attributes;

/** Attributes of `tnr_bound_create`. */
typedef struct tnr_bound_attributes {
  uint64_t struct_size;
  /** Most bytes that intermediate values may take: OUT_OF_MEMORY if they need more. 0: no bound. */
  uint64_t budget_bytes;
  uint32_t flags;  /**< `TNR_BOUND_PREALLOCATED`, `TNR_BOUND_CAPTURED`, `TNR_BOUND_BUDGET`. */
  uint32_t reserved;
} tnr_bound_attributes;

/** Which result of an operation that orders elements a node is. */
typedef int32_t tnr_order_result;
#define TNR_ORDER_RESULT_VALUES 1  /**< The elements. */
#define TNR_ORDER_RESULT_INDICES 2  /**< Where each was on the axis, of i64. */

/**
 * Which result of `tnr_quantize_dynamic` a node of `TNR_NODE_QUANTIZE_DYNAMIC` is. Its numbers are
 * the shape of the scales.
 */
typedef int32_t tnr_quantize_result;
#define TNR_QUANTIZE_RESULT_VALUES 1  /**< The integers, without zero points. */
#define TNR_QUANTIZE_RESULT_SCALES 2  /**< Their scales. */
#define TNR_QUANTIZE_RESULT_AFFINE_VALUES 3  /**< The integers of numbers that have zero points. */
#define TNR_QUANTIZE_RESULT_AFFINE_SCALES 4  /**< Their scales. */
#define TNR_QUANTIZE_RESULT_AFFINE_ZEROS 5  /**< Their zero points. */

/** Attributes of a node of `TNR_NODE_EINSUM`, which must be given. */
typedef struct tnr_einsum_node_attributes {
  uint64_t struct_size;
  char spec[120];  /**< The spec of `tnr_einsum`; ends with a 0. */
} tnr_einsum_node_attributes;

/** Attributes of nodes of sparse matrices. */
typedef struct tnr_sparse_node_attributes {
  uint64_t struct_size;
  tnr_sparse_format format;  /**< How the entries are laid out; 0: CSR. */
  /** `TNR_SPARSE_SORTED` and `TNR_SPARSE_UNIQUE`, which are believed as those of a view are. */
  uint32_t flags;
  tnr_orientation orientation;  /**< How SPARSE_MATMUL takes the matrix; 0: as it is. */
  /** The flags of the attributes of SPARSE_SDDMM and SPARSE_SOLVE. 0 for all others. */
  uint32_t call_flags;
  uint32_t block_rows;  /**< Rows of a block of BSR; 0: 1. */
  uint32_t block_cols;  /**< Columns of a block of BSR; 0: 1. */
} tnr_sparse_node_attributes;

/**
 * Gives up the handle. Programs made of the graph stay.
 *
 * @threads any
 */
TNR_API tnr_status tnr_graph_release(tnr_graph *graph TNR_OWNED) TNR_NOEXCEPT;

/** An empty graph. */
TNR_API TNR_RETURNS_OWNED(tnr_graph_release) TNR_NODISCARD
tnr_graph *tnr_graph_create(void) TNR_NOEXCEPT;

/**
 * Adds an extent that each run finds in the shapes of its inputs, or in the count of a node of
 * the kind `TNR_NODE_NONZERO` or `TNR_NODE_MASKED_SELECT`: the number `TNR_EXTENT` plus its
 * index. Each is the extent of an axis of some input, or the count of such a node.
 *
 * INVALID_ARGUMENT: `maximum` is negative, or more than `TNR_MAX_EXTENTS`.
 *
 * @param name ends with a 0, at most 31 bytes; for messages
 * @param maximum of all runs
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_extent(tnr_graph *graph TNR_BORROWED, const char *name, int64_t maximum,
    int64_t *number) TNR_NOEXCEPT;

/**
 * Adds an extent that is made of two numbers, each a constant or an extent.
 *
 * INVALID_ARGUMENT: a result that is negative, does not fit or divides by 0 where extents are
 * at their maxima.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_combine_extents(tnr_graph *graph TNR_BORROWED, tnr_extent_op op, int64_t a,
    int64_t b, int64_t *number) TNR_NOEXCEPT;

/**
 * Adds an input: a view of this dtype and shape, and any strides, that each run is given.
 *
 * INVALID_ARGUMENT: a negative number, or an extent that a node gives.
 */
TNR_API TNR_READS(4, 3) TNR_NODISCARD
tnr_status tnr_graph_add_input(tnr_graph *graph TNR_BORROWED, tnr_dtype dtype, uint32_t rank,
    const int64_t *shape, uint32_t *value) TNR_NOEXCEPT;

/**
 * Adds a constant. If the view has an owner, the graph and all its programs hold the blob, and
 * nothing is copied: the blob may not be written from here on. The elements of a view without
 * an owner are copied.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_constant(tnr_graph *graph TNR_BORROWED, const tnr_view *view,
    uint32_t *value) TNR_NOEXCEPT;

/**
 * Adds a number. It must be representable in the dtype that an element-wise node takes for it
 * as an operand. It is not an operand of other nodes.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_scalar(tnr_graph *graph TNR_BORROWED, const tnr_scalar *scalar,
    uint32_t *value) TNR_NOEXCEPT;

/**
 * Adds an operation on values that were added before. It is checked here where all extents are
 * at their maxima, and in each run for the extents that it has.
 *
 * INVALID_ARGUMENT: another number of operands or numbers than the kind takes, and shapes,
 * dtypes and attributes that the operation refuses. UNSUPPORTED: as the operation.
 *
 * @param value (out) the result, of several the first;
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_node(tnr_graph *graph TNR_BORROWED, const tnr_graph_node *node,
    uint32_t *value) TNR_NOEXCEPT;

/**
 * Makes a value an output of the graph, after its other outputs. With `updates` each run takes
 * the same view as this output and as that input, and reads the earlier elements of the input
 * first.
 *
 * INVALID_ARGUMENT: a scalar, an `updates` that is no input or has another dtype or shape, or
 * is updated by another output, or by a value whose size the data of a run decide.
 *
 * @param updates an input's value, or `TNR_OPERAND_NONE`
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_output(tnr_graph *graph TNR_BORROWED, uint32_t value,
    uint32_t updates) TNR_NOEXCEPT;

/**
 * Adds the gradients of a value by other values to the graph: reverse-mode differentiation.
 * Each has the dtype and shape of the value that it is a gradient by. Nodes are added only for
 * what leads from `by` to `of`. A gradient by a value that `of` does not depend on is zeros.
 * With a `seed`, the gradients are those of the sum of `of * seed`. docs/operations.md has the
 * conventions where a function has no derivative.
 *
 * The gradient of a `TNR_NODE_COND` is another one with the same first operand. Its subgraphs
 * compute again what the gradients of the first ones depend on. The gradient of a
 * `TNR_NODE_WHILE` are two others: one computes all iterations again and stores states before
 * them, with room for the most iterations, the other takes the iterations from the last to the
 * first. Only states that the gradients of an iteration depend on are stored.
 *
 * INVALID_ARGUMENT: no such value, a scalar, a dtype other than floats and complex numbers, an
 * `of` with more than one element and no seed, a seed of another dtype or shape; naming the
 * operation, a gradient that a custom operation gave of another dtype or shape. UNSUPPORTED,
 * naming the node: a node between `by` and `of` has no derivative; its derivative needs an
 * extent that no number of the graph is before a run; a loop whose states have shapes that a
 * run decides; a subgraph with a custom operation that is not `TNR_CUSTOM_PURE`. The status of
 * a custom operation's `derive`. OUT_OF_MEMORY. The graph is then as before.
 *
 * @param seed a value, or `TNR_OPERAND_NONE`: 1, for an `of` of one element
 * @param by (counted-by count)
 * @param gradients (out) (counted-by count) values
 */
TNR_API TNR_READS(4, 5) TNR_WRITES(7, 5) TNR_NODISCARD
tnr_status tnr_graph_add_gradients(tnr_graph *graph TNR_BORROWED, uint32_t of, uint32_t seed,
    const uint32_t *by, uint32_t count, const tnr_extension *attributes,
    uint32_t *gradients) TNR_NOEXCEPT;

/**
 * Adds what computes values in mixed precision to the graph: copies of the nodes that lead to
 * `of`, in which products take operands of f32 that are rounded to `dtype`, and give `dtype`.
 * Their sums are f32. Products are `TNR_NODE_MATMUL`, `TNR_NODE_CONV2D`,
 * `TNR_NODE_CONV2D_TRANSPOSED`, `TNR_NODE_CONV2D_FILTERS` and a `TNR_NODE_EINSUM` of several
 * operands, also in subgraphs. The vector that is added to a matrix product, views, relu and
 * the maxima of `TNR_NODE_POOL2D` behind a product are in `dtype` too. All other nodes compute
 * in their own dtypes, as do products of other dtypes and of sparse matrices. Each operand and
 * each result is rounded once, however many nodes read it. Gradients keep the rounded results.
 *
 * The values that are returned stand for `of`, and have the same dtypes and shapes. A value that
 * depends on no such product is itself. Nodes that do not depend on one are shared, and no node
 * changes. Copies have the marks of their nodes, and messages and reports name them by the
 * numbers of these. Gradients of the returned values by inputs of f32 are f32.
 *
 * INVALID_ARGUMENT: a `dtype` other than f16 and bf16; a value that the graph lacks; a value of
 * `keep` that no value of `of` depends on. OUT_OF_MEMORY. The graph is then as before.
 *
 * @param of (counted-by count)
 * @param lowered (out) (counted-by count) values
 */
TNR_API TNR_READS(2, 3) TNR_WRITES(6, 3) TNR_NODISCARD
tnr_status tnr_graph_add_mixed_precision(tnr_graph *graph TNR_BORROWED, const uint32_t *of,
    uint32_t count, tnr_dtype dtype, const tnr_precision_attributes *attributes,
    uint32_t *lowered) TNR_NOEXCEPT;

/**
 * Adds the values `of` with products and convolutions of integers, as new values of the same
 * dtypes and shapes.
 *
 * A `TNR_NODE_MATMUL` of f32 on the way to them, whose right factor is a matrix of constants, or
 * of nodes that take only constants, becomes a `TNR_NODE_QUANTIZED_MATMUL`, and a
 * `TNR_NODE_CONV2D` of f32 by such filters a `TNR_NODE_QUANTIZED_CONV2D`. Both keep their
 * epilogues. Constants are quantized to i8 with a scale for each column or filter. A
 * `TNR_NODE_BATCH_NORM` of constant parameters behind a convolution becomes a part of its
 * filters and its bias first.
 *
 * A left operand with a range in `attributes->ranges` is quantized to u8 by one scale and one
 * zero point, those that `tnr_quantize_dynamic` chooses for this range: static quantization.
 * Without a range they are chosen in each run: for each row of a product, and for all elements
 * of a convolution. A node whose result is read only by nodes that quantize it by a range gives
 * these integers itself, also where views are in between.
 *
 * Nodes stay in f32 where integers save no time: docs/quantization.md has the rule. So do nodes
 * whose sums have more than 33,025 products, and nodes in subgraphs. Nodes that depend on no
 * quantized node are shared, and a value that depends on none is itself.
 *
 * INVALID_ARGUMENT: values that the graph has not; a value of `attributes->keep` that none of
 * `of` depends on; no node that becomes one of integers; a range with a NaN or an infinity, or
 * with a `low` above its `high`; two ranges of one value, or one of a value that is not the left
 * operand of a node that becomes one of integers, whether or not it is kept.
 *
 * @param of (counted-by count)
 * @param quantized (out) (counted-by count) values
 */
TNR_API TNR_READS(2, 3) TNR_WRITES(5, 3) TNR_NODISCARD
tnr_status tnr_graph_quantize(tnr_graph *graph TNR_BORROWED, const uint32_t *of, uint32_t count,
    const tnr_graph_quantize_attributes *attributes, uint32_t *quantized) TNR_NOEXCEPT;

/**
 * Lists the nodes that `tnr_graph_quantize` replaces with nodes of integers, in the order of the
 * graph. The attributes' ranges are checked, and change nothing.
 *
 * A list that is cut is no error: `found_count` is the length of the whole list, so a call with
 * `capacity` 0 queries it.
 *
 * INVALID_ARGUMENT: as `tnr_graph_quantize`, except that no such node is an empty list.
 *
 * @param of (counted-by count)
 * @param capacity the room at `found`
 * @param found (out) (counted-by capacity) (nullable) the first of them, as many as there is
 * room for; untouched on failure
 * @param found_count (out) the number of all; untouched on failure
 */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_graph_quantizable(const tnr_graph *graph TNR_BORROWED, const uint32_t *of,
    uint32_t count, const tnr_graph_quantize_attributes *attributes, uint32_t capacity,
    tnr_quantizable *found, uint32_t *found_count) TNR_NOEXCEPT;

/**
 * Sets the marks of `count` nodes from the node `first` on: `TNR_MARK_KEEP`,
 * `TNR_MARK_RECOMPUTE`, or 0 for neither; or adds `TNR_MARK_NON_FINITE`, which stays.
 *
 * INVALID_ARGUMENT: no such nodes, `TNR_MARK_KEEP` with `TNR_MARK_RECOMPUTE`, or other bits.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_mark(tnr_graph *graph TNR_BORROWED, uint32_t first, uint32_t count,
    uint32_t marks) TNR_NOEXCEPT;

/**
 * Adds a custom operation, for nodes of the kind `TNR_NODE_CUSTOM` plus its index. On failure
 * nothing is taken, and `release` is not called.
 *
 * INVALID_ARGUMENT: a NULL or too long name, a function that is NULL, in place without an
 * operand, more than 256 operands or 8 numbers.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_custom(tnr_graph *graph TNR_BORROWED,
    const tnr_custom_operation *operation, uint32_t *index) TNR_NOEXCEPT;

/**
 * Adds a copy of the present contents of another graph as a subgraph, for nodes such as
 * `TNR_NODE_COND` and `TNR_NODE_WHILE`. Its named extents are those of `graph` by the same
 * names and maxima, and where these are smaller in a run its inputs have the shapes that they
 * are handed.
 *
 * INVALID_ARGUMENT: no output, one that updates an input, an extent that `graph` has not,
 * graphs that are deeper within each other than `TNR_MAX_SUBGRAPH_DEPTH`, and `graph` itself.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_add_subgraph(tnr_graph *graph TNR_BORROWED, const tnr_graph *body TNR_BORROWED,
    uint32_t *index) TNR_NOEXCEPT;

/** A copy of a subgraph, as a graph: to list it. Constants are shared. */
TNR_API TNR_RETURNS_OWNED(tnr_graph_release) TNR_NODISCARD
tnr_graph *tnr_graph_copy_subgraph(const tnr_graph *graph TNR_BORROWED,
    uint32_t index) TNR_NOEXCEPT;

/**
 * Gets the description of a plug-in from its entry, and checks that this library can use it.
 * For a plug-in of another ABI only the first three fields are read.
 *
 * UNSUPPORTED: another `TNR_ABI_MAJOR`, or a newer `TNR_ABI_MINOR`. INVALID_ARGUMENT: NULL,
 * also for an entry; a `struct_size` that no version has; and an operation that
 * `tnr_graph_add_custom` refuses. INTERNAL: an exception of the entry.
 *
 * @param entry (scope notified) (nullable) `tnr_plugin_entry`, or NULL where the loader has
 * none
 * @return (transfer none) (nullable) the plug-in's own; NULL on failure
 */
TNR_API TNR_NODISCARD const tnr_plugin *tnr_plugin_check(tnr_plugin_fn entry) TNR_NOEXCEPT;

/**
 * The numbers of values, nodes and so on of a graph. The sources of its values, in their
 * order, are the calls that made it.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe(const tnr_graph *graph TNR_BORROWED,
    tnr_graph_info *out) TNR_NOEXCEPT;

/** An extent. */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_extent(const tnr_graph *graph TNR_BORROWED, uint32_t index,
    tnr_extent_info *out) TNR_NOEXCEPT;

/**
 * A node, as it was added. Arrays and attributes are the graph's, until something is added to
 * it or it ends.
 *
 * INVALID_ARGUMENT: a `struct_size` that lacks a field that is not 0.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_node(const tnr_graph *graph TNR_BORROWED, uint32_t index,
    tnr_graph_node *out) TNR_NOEXCEPT;

/** A constant, lent until the graph ends. It has the blob that the graph holds for its owner. */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_constant(const tnr_graph *graph TNR_BORROWED, uint32_t index,
    tnr_view *out) TNR_NOEXCEPT;

/** A custom operation, whose name files store. */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_custom(const tnr_graph *graph TNR_BORROWED, uint32_t index,
    tnr_custom_info *out) TNR_NOEXCEPT;

/** A number. */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_scalar(const tnr_graph *graph TNR_BORROWED, uint32_t index,
    tnr_scalar *out) TNR_NOEXCEPT;

/** An output: its value, and the value of the input that it updates or `TNR_OPERAND_NONE`. */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_output(const tnr_graph *graph TNR_BORROWED, uint32_t index,
    uint32_t *value, uint32_t *updates) TNR_NOEXCEPT;

/** The source, dtype and shape of a value. */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_value(const tnr_graph *graph TNR_BORROWED, uint32_t value,
    tnr_value_info *out) TNR_NOEXCEPT;

/**
 * The shape of a value as numbers that nodes take: constants, or `TNR_EXTENT` plus the index
 * of an extent, which the call adds where two extents broadcast. Takes time linear in the
 * values up to this one.
 *
 * INVALID_ARGUMENT: no such value. UNSUPPORTED: no number of the graph is an extent of it
 * before a run.
 *
 * @param numbers (out) room for 8 numbers; the call writes one for each axis
 */
TNR_API TNR_NODISCARD
tnr_status tnr_graph_describe_shape(tnr_graph *graph TNR_BORROWED, uint32_t value,
    int64_t *numbers) TNR_NOEXCEPT;

/** Gives up one handle. */
TNR_API tnr_status tnr_program_release(tnr_program *program TNR_OWNED) TNR_NOEXCEPT;

/**
 * Makes a program of the present contents of the graph.
 *
 * INVALID_ARGUMENT: a graph without an output, or an extent that no input has and no node
 * gives. Errors of operations, where constants are computed. STALE_VIEW: a borrowed constant
 * that is packed has ended. With `packed` INVALID_ARGUMENT: bytes that are not those of this
 * program's constants, that no blob owns or a borrowed one, or that are not aligned to 64;
 * UNSUPPORTED: bytes that the instruction set in use does not read.
 *
 * @param context whose threads compute and pack constants
 */
TNR_API TNR_RETURNS_OWNED(tnr_program_release) TNR_NODISCARD
tnr_program *tnr_program_create(tnr_context *context TNR_BORROWED,
    const tnr_graph *graph TNR_BORROWED, const tnr_program_attributes *attributes) TNR_NOEXCEPT;

/** Makes one more handle. */
TNR_API TNR_RETURNS_OWNED(tnr_program_release) TNR_NODISCARD
tnr_program *tnr_program_retain(tnr_program *program TNR_BORROWED) TNR_NOEXCEPT;

/**
 * The constants of a program that are packed, as bytes in a new blob: to be written to a file,
 * which other processes map as the `packed` of their `tnr_program_attributes`, at an offset
 * that is a multiple of 64. They are for the instruction set in use and this version of the
 * library.
 *
 * @param context whose memory it is
 * @param out all of the new blob, as `u8`;
 */
TNR_API TNR_RETURNS_OWNED(tnr_blob_release) TNR_NODISCARD
tnr_blob *tnr_blob_copy_packed(tnr_context *context TNR_BORROWED,
    const tnr_program *program TNR_BORROWED, tnr_view_mut *out) TNR_NOEXCEPT;

/**
 * The dtype and shape of an output of a run on these inputs, which the caller's view must
 * have. An extent that depends on the data is the largest one possible.
 */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_program_output_shape(const tnr_program *program TNR_BORROWED,
    const tnr_view *const *inputs, uint32_t input_count, uint32_t output, tnr_dtype *dtype,
    uint32_t *rank, int64_t *shape) TNR_NOEXCEPT;

/**
 * The memory that a run on these inputs takes, in addition to the scratch memory of
 * operations. For inputs on a device it is the device's memory.
 */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_program_memory(const tnr_program *program TNR_BORROWED,
    const tnr_view *const *inputs, uint32_t input_count, tnr_memory_plan *out) TNR_NOEXCEPT;

/**
 * The operands of a step of a run on these inputs: for each step whether its result is one,
 * and after the steps for each input. With this the steps are a graph.
 *
 * INVALID_ARGUMENT: another `read_count` than the steps and the inputs are.
 *
 * @param reads (counted-by read_count) (out) 1 or 0;
 */
TNR_API TNR_READS(2, 3) TNR_WRITES(5, 6) TNR_NODISCARD
tnr_status tnr_program_describe_reads(const tnr_program *program TNR_BORROWED,
    const tnr_view *const *inputs, uint32_t input_count, uint32_t step, uint8_t *reads,
    uint32_t read_count) TNR_NOEXCEPT;

/**
 * Counts a pass's changes of the program, and of the steps of a run on these inputs. All
 * passes have an index from 0 on, in the order in which they are made.
 */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_program_describe_pass(const tnr_program *program TNR_BORROWED,
    const tnr_view *const *inputs, uint32_t input_count, uint32_t index,
    tnr_pass_info *out) TNR_NOEXCEPT;

/** A step of a run on these inputs. */
TNR_API TNR_READS(2, 3) TNR_NODISCARD
tnr_status tnr_program_describe_step(const tnr_program *program TNR_BORROWED,
    const tnr_view *const *inputs, uint32_t input_count, uint32_t step,
    tnr_step_info *out) TNR_NOEXCEPT;

/**
 * Runs a program: on the inputs in the order in which the graph got them, into its outputs.
 * The bits are those of the calls of its nodes one by one, for any number of threads; but a
 * bias or an activation that has become part of a product of f16 or bf16 skips a rounding.
 *
 * Any number of threads may run one program at once, each with outputs of its own. Layouts of
 * inputs and outputs that it was run with are kept, and memory for one run, scratch memory of
 * operations included: with them again a run on one thread allocates nothing.
 *
 * Inputs and outputs may be on the device of the context, and then all of them are: the run is
 * enqueued, with the bits of the device's calls. It comes after the work that is enqueued on
 * their blobs, and takes one allocation of `peak_bytes` of the device's memory, freed in the
 * order of the context's queue. The first run on a device copies the program's constants there
 * and waits; another one waits where a node does so that reads by index, divides integers or
 * multiplies a sparse matrix. UNSUPPORTED, before anything is enqueued: a node that devices do
 * not compute (the message names it).
 *
 * INVALID_ARGUMENT: another number of inputs or outputs, another dtype or shape than the graph
 * states, extents of one name that differ or exceed the maximum, and extents, also those that
 * the data decide, that an operation refuses (the message names the node). ALIASED: an output
 * shares a byte with an input that it does not update, or with another output. OUT_OF_MEMORY:
 * also a budget that is exceeded. Outputs are then untouched, except after errors that are
 * found in the data, such as an index out of bounds: outputs then hold a mixture.
 *
 * @threads exclusive(outputs)
 */
TNR_API TNR_READS(3, 4) TNR_READS(6, 7) TNR_NODISCARD
tnr_status tnr_program_run(tnr_context *context TNR_BORROWED,
    const tnr_program *program TNR_BORROWED, const tnr_view *const *inputs, uint32_t input_count,
    const tnr_program_run_attributes *attributes, const tnr_view_mut *const *outputs,
    uint32_t output_count) TNR_NOEXCEPT;

/** Gives up the handle. Enqueued runs go on. */
TNR_API tnr_status tnr_bound_release(tnr_bound *bound TNR_OWNED) TNR_NOEXCEPT;

/**
 * Binds a program to the layouts of these views: dtypes, shapes, strides and the device. No
 * element is read or written. A program is bound in one of three ways:
 *
 * - Plain, on the CPU or on the device of the context, to which the program's constants are
 *   copied the first time (it waits): any number of threads run it at once. It holds the
 *   program, and not the views.
 * - `TNR_BOUND_PREALLOCATED`, on the CPU: all memory of a run is taken now. The program is run
 *   once for that, on zeros in memory of its own, with all its subgraphs and custom
 *   operations. It holds the program, and not the views.
 * - `TNR_BOUND_CAPTURED`, on the device of the context: a run on these inputs into these
 *   outputs is recorded, with memory of its own for values between them; nothing is enqueued.
 *   It holds the owners of the views: a blob that is released meanwhile stays, a borrow
 *   escapes (BORROW_ESCAPED), and none can be reclaimed (BUSY). The caller keeps memory
 *   without an owner. It does not hold the program.
 *
 * INVALID_ARGUMENT: views that `tnr_program_run` does not take, both `TNR_BOUND_PREALLOCATED`
 * and `TNR_BOUND_CAPTURED`, and views or a context of the CPU with `TNR_BOUND_CAPTURED`.
 * ALIASED as `tnr_program_run`. UNSUPPORTED: a node that a device does not compute; views of a
 * device with `TNR_BOUND_PREALLOCATED`, and then a node of sparse matrices or one that can
 * only throw its refusals; with `TNR_BOUND_CAPTURED` a custom operation, a node that waits in
 * a run as it reads by index, divides whole numbers or multiplies a sparse matrix, and a
 * driver without an entry point for it. The message names the node, or the entry point.
 * OUT_OF_MEMORY: also a budget that is exceeded.
 */
TNR_API TNR_READS(3, 4) TNR_READS(6, 7) TNR_RETURNS_OWNED(tnr_bound_release) TNR_NODISCARD
tnr_bound *tnr_bound_create(tnr_context *context TNR_BORROWED,
    const tnr_program *program TNR_BORROWED, const tnr_view *const *inputs, uint32_t input_count,
    const tnr_bound_attributes *attributes, const tnr_view_mut *const *outputs,
    uint32_t output_count) TNR_NOEXCEPT;

/**
 * The memory of a run. `scratch_bytes` is exact for a preallocated and for a captured program,
 * which have this memory already.
 */
TNR_API TNR_NODISCARD
tnr_status tnr_bound_memory(const tnr_bound *bound TNR_BORROWED, tnr_memory_plan *out) TNR_NOEXCEPT;

/**
 * Runs a bound program on memory of the layouts that it is bound to, with the bits of
 * `tnr_program_run`. It checks everything that can change between runs: layouts, memory,
 * owners and overlap.
 *
 * - Plain: as `tnr_program_run`. Each of the threads that run it at once has outputs of its
 *   own.
 * - Preallocated: the calling thread computes, and the context is not used. Whether the run
 *   succeeds or is refused, it allocates nothing, takes no lock and makes no system call. This
 *   does not hold for custom operations, and the first call of a thread into the library may
 *   take thread-local memory. One run at a time uses that memory: BUSY for another one.
 *   UNSUPPORTED: `TNR_RUN_CHECKED`, `TNR_RUN_REFUSE_NAN` and `TNR_RUN_REFUSE_NON_FINITE`.
 * - Captured: both counts are 0, and the attributes are NULL or zeros. One launch on the
 *   stream of the context, after all that is enqueued on the blobs of inputs and outputs and
 *   before all that follows there; and after itself, on whichever stream it runs. It waits for
 *   nothing.
 *
 * INVALID_ARGUMENT: other counts, a view that is NULL, invalid, or of another layout or device
 * (the message names the argument, its layout and the bound one), or a context of another
 * device. ALIASED as `tnr_program_run`. Outputs are then untouched. INVALID_ARGUMENT also of
 * the data, as an index that is out of bounds, an integer that is divided by 0, more elements
 * than a node may find, or a loop at its limit: outputs then hold a mixture.
 *
 * @threads exclusive(outputs)
 */
TNR_API TNR_READS(3, 4) TNR_READS(6, 7) TNR_NODISCARD
tnr_status tnr_bound_run(tnr_context *context TNR_BORROWED, const tnr_bound *bound TNR_BORROWED,
    const tnr_view *const *inputs, uint32_t input_count,
    const tnr_program_run_attributes *attributes, const tnr_view_mut *const *outputs,
    uint32_t output_count) TNR_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
