//! Files with a size in their first bytes.

use tenure::{
    CooMatrix, CopyMode,
    io::{matrix_market, npy, safetensors},
};

use super::{Row, done, shapes};

pub const ROWS: &[Row] = &[
    ("", "npy", |n| {
        for [rows, cols] in shapes(n) {
            let text = format!(
                "{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}\n"
            );
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            bytes.extend((text.len() as u16).to_le_bytes());
            bytes.extend(text.as_bytes());
            bytes.extend([0; 64]);
            let array = npy::Array::new(&bytes);
            done(array.and_then(|array| {
                done(array.view());
                array.load(CopyMode::Always).map(drop)
            }));
        }
    }),
    ("", "safetensors", |n| {
        for [rows, cols] in shapes(n) {
            let header = format!(
                "{{\"a\":{{\"dtype\":\"F32\",\"shape\":[{rows},{cols}],\"data_offsets\":[0,{n}]}}}}"
            );
            for length in [header.len() as u64, n as u64] {
                let mut bytes = length.to_le_bytes().to_vec();
                bytes.extend(header.as_bytes());
                bytes.extend([0; 64]);
                let file = safetensors::Reader::new(&bytes);
                done(file.and_then(|file| file.load("a", CopyMode::Always).map(drop)));
            }
        }
    }),
    ("", "Matrix Market", |n| {
        for symmetry in ["general", "symmetric", "skew-symmetric"] {
            for ([rows, cols], entries) in shapes(n).into_iter().zip([0, 1, 0, 0, n, n]) {
                let text = format!(
                    "%%MatrixMarket matrix coordinate real {symmetry}\n{rows} {cols} {entries}\n\
                     {rows} {cols} 1\n"
                );
                let reader = matrix_market::Reader::new(text.as_bytes());
                done(reader.and_then(|reader| {
                    done(reader.to_coo::<f32, i32>());
                    let matrix: CooMatrix<f64, i64> = reader.to_coo()?;
                    matrix.to_csr().map(drop)
                }));
                let text =
                    format!("%%MatrixMarket matrix array real {symmetry}\n{rows} {cols}\n1\n");
                let reader = matrix_market::Reader::new(text.as_bytes());
                done(reader.and_then(|reader| reader.to_dense::<f32>().map(drop)));
            }
        }
    }),
];
