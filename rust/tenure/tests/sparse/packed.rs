//! Packed matrices, compared with the matrices that they are made of.
#![cfg(not(miri))] // calls the core

use tenure::*;

const LAYOUTS: [PackedLayout; 3] = [PackedLayout::Wide, PackedLayout::Narrow, PackedLayout::Bitmap];

/// Whole numbers, whose sums are exact in any order.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i * 7919 % 23) as f32 - 11.0).collect()
}

fn with_numbers<I: SparseIndex>(matrix: CsrMatrix<f32, I>) -> CsrMatrix<f32, I> {
    let mut matrix = matrix;
    let values = numbers(matrix.nnz());
    matrix.values_mut().copy_from_slice(&values);
    matrix
}

#[test]
fn every_layout_multiplies_as_the_matrix_does() -> Result<()> {
    let matrix = with_numbers(sparse::gallery::uniform::<f32, i64>(150, 333, 0.2, 7)?);
    let x = numbers(333);
    let columns = TensorView::from_slice(&x, [111, 3])?;
    let expected = matrix.view().matmul(&x)?.to_vec();
    for layout in LAYOUTS {
        let packed = matrix.view().pack_as(layout)?;
        assert_eq!(packed.layout(), layout);
        assert_eq!((packed.rows(), packed.cols(), packed.nnz()), (150, 333, matrix.nnz()));
        assert_eq!(packed.matmul(&x)?.to_vec(), expected);
        let mut out = vec![2.0; 150];
        packed.matmul_scaled_into(3.0, &x, 10.0, &mut out)?;
        let scaled: Vec<_> = expected.iter().map(|sum| 3.0 * sum + 20.0).collect();
        assert_eq!(out, scaled);
        let error = packed.matmul(&columns).err().unwrap();
        assert_eq!(error.message(), "b.shape[0] is 111 but must be 333, the columns of packed");
    }
    Ok(())
}

#[test]
fn halves_are_added_up_in_f32() -> Result<()> {
    // 2048 and ones, which f16 would lose one by one.
    let values: Vec<f16> = [2048.0].iter().chain(&[1.0; 16]).copied().map(f16::from_f32).collect();
    let columns: Vec<i32> = (0..17).collect();
    let matrix = CsrView::new(1, 17, &[0, 17], &columns, &values)?;
    for layout in LAYOUTS {
        let packed = matrix.pack_as(layout)?;
        let sum = packed.matmul(&[f16::ONE; 17])?;
        assert_eq!(sum.to_vec(), [f16::from_f32(2064.0)], "{layout:?}");
    }
    Ok(())
}

#[test]
fn several_columns_are_several_vectors() -> Result<()> {
    let matrix = with_numbers(sparse::gallery::banded::<f32, i32>(90, 4, 1.0, 1)?);
    let b = numbers(90 * 5);
    let b = TensorView::from_slice(&b, [90, 5])?;
    let packed = matrix.view().pack()?;
    assert_eq!(packed.matmul(&b)?.to_vec(), matrix.view().matmul(&b)?.to_vec());
    Ok(())
}

#[test]
fn it_owns_its_entries_and_is_used_from_any_thread() -> Result<()> {
    let packed =
        with_numbers(sparse::gallery::uniform::<f32, i32>(40, 40, 0.05, 3)?).view().pack()?;
    let x = numbers(40);
    let expected = packed.matmul(&x)?.to_vec();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert_eq!(packed.matmul(&x).unwrap().to_vec(), expected));
        }
    });
    assert!(format!("{packed:?}").contains("dtype=f32, layout=Narrow, "));
    Ok(())
}

#[test]
fn blocks_are_found() -> Result<()> {
    for shape in [[8, 8], [4, 4], [8, 1], [1, 8], [2, 2], [4, 1], [1, 4]] {
        let matrix = with_numbers(sparse::gallery::blocks::<f32, i64>(9, 50, shape, 3, 1)?);
        let packed = matrix.view().pack()?;
        assert_eq!((packed.layout(), packed.block_shape()), (PackedLayout::Blocks, shape));
        let x = numbers(matrix.cols());
        assert_eq!(packed.matmul(&x)?.to_vec(), matrix.view().matmul(&x)?.to_vec());
        let narrow = matrix.view().pack_as(PackedLayout::Narrow)?;
        assert_eq!(narrow.block_shape(), [1, 1]);
    }
    Ok(())
}

#[test]
fn layouts_that_do_not_fit_are_refused() -> Result<()> {
    let twice = CsrView::new(1, 3, &[0, 2], &[1, 1], &[1.0, 2.0])?;
    let error = twice.pack_as(PackedLayout::Bitmap).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let error = twice.pack_as(PackedLayout::Blocks).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(twice.pack()?.matmul(&[0.0, 1.0, 0.0])?.to_vec(), [3.0]);
    Ok(())
}
