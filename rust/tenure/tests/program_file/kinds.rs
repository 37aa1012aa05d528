//! A graph of the nodes that order, draw at random, and have sparse matrices.

use tenure_sys::*;

use crate::graphs::{Builder, Example, attributes, counting, dtype_of};

/// One of each kind, with attributes that differ from zeros wherever there are any.
pub fn ordered_random_and_sparse() -> Example {
    let mut builder = Builder::new();
    let b = &mut builder;
    let n = b.extent("n", 8);
    let x = b.input(dtype_of::<f32>(), &[n, 6]);
    let mut outputs = ordered(b, x);
    outputs.extend(random_and_products(b, x, n));
    outputs.extend(sparse(b, x));
    for value in &outputs {
        b.output(*value);
    }
    Example {
        graph: builder.finish(),
        names: Vec::new(),
        elements: vec![(counting(30), vec![5, 6])],
        indices: Vec::new(),
        updated: vec![None; outputs.len()],
    }
}

const NO_DTYPE: tnr_dtype = tnr_dtype(0);

fn ordered(b: &mut Builder, x: u32) -> Vec<u32> {
    let mut outputs = Vec::new();
    for result in [tnr_order_result::VALUES, tnr_order_result::INDICES] {
        let code = |kind: u32| kind | result.0 as u32;
        let falling = attributes(|a: &mut tnr_sort_attributes| a.flags = TNR_SORT_DESCENDING);
        outputs.push(b.node_with(code(TNR_NODE_SORT), &[x], &[1], Some(&falling), 0, NO_DTYPE));
        let least = attributes(|a: &mut tnr_top_k_attributes| a.flags = TNR_TOP_K_SMALLEST);
        outputs.push(b.node_with(code(TNR_NODE_TOP_K), &[x], &[1, 3], Some(&least), 0, NO_DTYPE));
        outputs.push(b.node(code(TNR_NODE_PARTITION), &[x], &[1, 2]));
    }
    let q = b.constant(&[0.25_f64, 1.0], &[2]);
    let skipping = attributes(|a: &mut tnr_quantile_attributes| a.flags = TNR_QUANTILE_SKIP_NAN);
    outputs.push(b.node_with(TNR_NODE_QUANTILE, &[x, q], &[], Some(&skipping), 2, NO_DTYPE));
    let edges = b.constant(&[-0.75_f32, 0.0, 0.0, 1.0], &[4]);
    let right = attributes(|a: &mut tnr_searchsorted_attributes| a.flags = TNR_SEARCHSORTED_RIGHT);
    outputs.push(b.with(TNR_NODE_SEARCHSORTED, &[edges, x], &right));
    let between = attributes(|a: &mut tnr_histogram_attributes| (a.low, a.high) = (-0.0, 1.5));
    outputs.push(b.node_with(TNR_NODE_HISTOGRAM, &[x], &[4], Some(&between), 0, NO_DTYPE));
    outputs.push(b.node(TNR_NODE_HISTOGRAM, &[x, edges], &[3]));
    let places = b.constant(&[2_i64, 0, 2], &[3]);
    outputs.push(b.node(TNR_NODE_BINCOUNT, &[places], &[4]));
    let values = b.constant(&counting(18), &[3, 6]);
    let rows = b.constant(&counting(24), &[4, 6]);
    outputs.push(b.node(TNR_NODE_PUT, &[rows, values, places], &[0]));
    let each = b.node(TNR_NODE_RESHAPE, &[places], &[3, 1]);
    let each = b.node(TNR_NODE_BROADCAST, &[each], &[3, 6]);
    let added = TNR_NODE_SCATTER | tnr_binary_op::ADD.0 as u32;
    outputs.push(b.node(added, &[rows, values, each], &[0]));
    outputs
}

fn random_and_products(b: &mut Builder, x: u32, n: i64) -> Vec<u32> {
    let mut outputs = Vec::new();
    let (seed, offset) = (b.scalar(77_u64), b.constant(&[4_u64], &[]));
    let mut draw =
        |kind: tnr_random_distribution, dtype: tnr_dtype, with: tnr_random_attributes| {
            let code = TNR_NODE_RANDOM | kind.0 as u32;
            outputs.push(b.node_with(code, &[seed, offset], &[n, 3], Some(&with), 0, dtype));
        };
    let uniform = attributes(|a: &mut tnr_random_attributes| (a.low, a.high) = (-0.0, 3.0));
    draw(tnr_random_distribution::UNIFORM, dtype_of::<f32>(), uniform);
    let normal = attributes(|a: &mut tnr_random_attributes| (a.mean, a.deviation) = (1.0, 0.5));
    draw(tnr_random_distribution::NORMAL, dtype_of::<f64>(), normal);
    let integers = attributes(|a: &mut tnr_random_attributes| (a.least, a.bound) = (-7, 9));
    draw(tnr_random_distribution::INTEGERS, dtype_of::<i16>(), integers);
    let truths = attributes(|a: &mut tnr_random_attributes| a.probability = 0.25);
    draw(tnr_random_distribution::BERNOULLI, dtype_of::<tenure::Bool8>(), truths);
    let (kind, no) = (TNR_NODE_RANDOM_PERMUTATION, None::<&tnr_random_attributes>);
    outputs.push(b.node_with(kind, &[seed, offset], &[n], no, 0, dtype_of::<i32>()));

    let factor = b.constant(&counting(12), &[6, 2]);
    let einsum = attributes(|a: &mut tnr_einsum_node_attributes| {
        for (to, from) in a.spec.iter_mut().zip(b"ij,jk->ki") {
            *to = *from as _;
        }
    });
    outputs.push(b.with(TNR_NODE_EINSUM, &[x, factor], &einsum));
    outputs.extend(quantized(b, x, factor));
    let images = b.constant(&counting(24), &[1, 2, 3, 4]);
    let filters = b.constant(&counting(12), &[2, 1, 3, 2]);
    outputs.push(quantized_convolution(b, images, filters));
    let strided = attributes(|a: &mut tnr_conv2d_attributes| {
        (a.strides, a.padding, a.groups) = ([2, 1], [1, 0, 0, 1], 2);
    });
    let (code, operands) = (TNR_NODE_CONV2D_TRANSPOSED, [images, filters]);
    outputs.push(b.with(code, &operands, &strided));
    outputs.push(b.node_with(code, &operands, &[7, 4], Some(&strided), 0, NO_DTYPE));
    outputs
}

fn quantized(b: &mut Builder, x: u32, factor: u32) -> Vec<u32> {
    let no = None::<&tnr_matmul_attributes>;
    let integers = dtype_of::<i8>();
    let result = |b: &mut Builder, of: u32, result: tnr_quantize_result, scales: &[i64]| {
        let code = TNR_NODE_QUANTIZE_DYNAMIC | result.0 as u32;
        b.node_with(code, &[of], scales, no, 0, integers)
    };
    let values = result(b, factor, tnr_quantize_result::VALUES, &[1, 2]);
    let scales = result(b, factor, tnr_quantize_result::SCALES, &[1, 2]);
    let [row_scale, row_zero] =
        [tnr_quantize_result::AFFINE_SCALES, tnr_quantize_result::AFFINE_ZEROS]
            .map(|of| result(b, x, of, &[1]));
    let rows = b.node_with(TNR_NODE_QUANTIZE, &[x, row_scale, row_zero], &[], no, 0, integers);
    let bounded = attributes(|a: &mut tnr_matmul_attributes| {
        (a.activation, a.flags) = (tnr_unary_op::RELU, TNR_EPILOGUE_CLAMP);
        (a.low, a.high) = (-0.0, 2.5);
    });
    let product = [rows, values, row_scale, scales, row_zero];
    let floats = dtype_of::<f32>();
    let code = TNR_NODE_QUANTIZED_MATMUL;
    vec![
        b.node_with(TNR_NODE_DEQUANTIZE, &[rows, row_scale, row_zero], &[], no, 0, floats),
        b.node_with(code, &product, &[], Some(&bounded), 0, floats),
        b.node_with(code, &[x, values, TNR_OPERAND_NONE, scales], &[], no, 0, floats),
        result(b, factor, tnr_quantize_result::FOUR_BIT_VALUES, &[1, 2]),
        result(b, factor, tnr_quantize_result::FOUR_BIT_SCALES, &[1, 2]),
    ]
}

fn quantized_convolution(b: &mut Builder, images: u32, filters: u32) -> u32 {
    let no = None::<&tnr_conv2d_attributes>;
    let [values, scales] = [tnr_quantize_result::VALUES, tnr_quantize_result::SCALES].map(|of| {
        let code = TNR_NODE_QUANTIZE_DYNAMIC | of.0 as u32;
        b.node_with(code, &[filters], &[2, 1, 1, 1], no, 0, dtype_of::<i8>())
    });
    let grouped = attributes(|a: &mut tnr_conv2d_attributes| {
        (a.padding, a.groups, a.activation) = ([1, 0, 0, 1], 2, tnr_unary_op::RELU);
    });
    let operands = [images, values, TNR_OPERAND_NONE, scales];
    b.node_with(TNR_NODE_QUANTIZED_CONV2D, &operands, &[], Some(&grouped), 0, dtype_of::<f32>())
}

fn sparse(b: &mut Builder, x: u32) -> Vec<u32> {
    // [2 0 0; 1 -4 0; 0 3 0.5]
    let offsets = b.constant(&[0_i32, 1, 3, 5], &[4]);
    let columns = b.constant(&[0_i32, 0, 1, 1, 2], &[5]);
    let values = b.constant(&[2.0_f32, 1.0, -4.0, 3.0, 0.5], &[5]);
    let three = b.node(TNR_NODE_SLICE, &[x], &[1, 0, 6, 2]);
    let wide = b.node(TNR_NODE_PERMUTE, &[three], &[1, 0]);
    let square = b.constant(&counting(9), &[3, 3]);
    let factors = b.constant(&counting(3), &[3]);
    let mut outputs = Vec::new();
    let mut add =
        |code: u32, more: &[u32], flags: u32, set: fn(&mut tnr_sparse_node_attributes)| {
            let mut given = attributes(set);
            given.flags |= TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
            let operands: Vec<u32> =
                [offsets, columns, values].iter().chain(more).copied().collect();
            outputs.push(b.node_with(code, &operands, &[3, 3], Some(&given), flags, NO_DTYPE));
        };
    add(TNR_NODE_SPARSE_TO_DENSE, &[], 0, |a| a.format = tnr_sparse_format::CSC);
    let blocks = |a: &mut tnr_sparse_node_attributes| (a.block_rows, a.block_cols) = (1, 1);
    add(TNR_NODE_SPARSE_TO_DENSE, &[], 0, blocks);
    let transposed = |a: &mut tnr_sparse_node_attributes| {
        a.orientation = tnr_orientation::TRANSPOSED;
    };
    add(TNR_NODE_SPARSE_MATMUL, &[wide], 0, transposed);
    let times = |a: &mut tnr_sparse_node_attributes| a.call_flags = TNR_SDDMM_TIMES_VALUES;
    add(TNR_NODE_SPARSE_SDDMM, &[square, square], 0, times);
    add(TNR_NODE_SPARSE_SCALE | 1, &[factors], 0, |_| ());
    add(TNR_NODE_SPARSE_SOFTMAX, &[], 0, |_| ());
    add(TNR_NODE_SPARSE_REDUCE | tnr_reduce_op::MAX.0 as u32, &[], 2, |_| ());
    add(TNR_NODE_SPARSE_NORM | tnr_sparse_norm_kind::ONE.0 as u32, &[], 0, |_| ());
    add(TNR_NODE_SPARSE_DIAGONAL, &[], 0, |_| ());
    let unit = |a: &mut tnr_sparse_node_attributes| a.call_flags = TNR_SOLVE_UNIT_DIAGONAL;
    add(TNR_NODE_SPARSE_SOLVE, &[square], 0, unit);
    add(TNR_NODE_SPARSE_ACCUMULATE, &[square], 0, |_| ());
    outputs
}
