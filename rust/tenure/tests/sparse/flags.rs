//! A wrong flag may give a wrong result, but never a wrong address: `assume_coalesced` of matrices
//! that are not coalesced.

use tenure::{Combine, Context, CooView, CscView, CsrView, Error, PackedLayout};

/// Columns fall further than the marks of a bitmap reach.
#[test]
fn bits_of_columns_that_fall_are_set_nowhere_else() -> Result<(), Error> {
    const COLS: usize = 1 << 22;
    let last = COLS as i32 - 1;
    for columns in [&[last, 0][..], &[20_000, 3, 40_000], &[last, last, last]] {
        let (offsets, values) = ([0, columns.len() as i32], vec![1.0_f32; columns.len()]);
        let lie = CsrView::new(1, COLS, &offsets, columns, &values)?.assume_coalesced();
        let packed = lie.pack_as(PackedLayout::Bitmap)?;
        assert_eq!(packed.matmul(&vec![1.0_f32; COLS])?.shape(), [1]);
        lie.pack()?;
    }
    // So far that the marks of one row are in front of the stack.
    const FAR: usize = 1 << 28;
    let columns = [FAR as i32 - 1, 0];
    let lie = CsrView::new(1, FAR, &[0, 2], &columns, &[1.0_f32, 2.0])?.assume_coalesced();
    lie.pack_as(PackedLayout::Bitmap)?;
    // Enough entries that `pack` chooses a bitmap.
    let columns: Vec<i32> = (0..100_000).rev().collect();
    let values = vec![1.0_f32; columns.len()];
    CsrView::new(1, 100_000, &[0, 100_000], &columns, &values)?.assume_coalesced().pack()?;
    Ok(())
}

/// Rows of a product whose columns fall, on one thread and on two.
#[test]
fn rows_of_a_product_have_the_columns_that_are_there() -> Result<(), Error> {
    let (rows, per_row) = (600_usize, 40_usize);
    let offsets: Vec<i32> = (0..=rows).map(|row| (row * per_row) as i32).collect();
    let columns: Vec<i32> =
        (0..rows * per_row).map(|k| ((k * 7919 + k / 3 * 104_729) % rows) as i32).collect();
    let values = vec![1.0_f64; columns.len()];
    for threads in [1, 2] {
        Context::with_threads(threads)?.install(|| -> Result<(), Error> {
            let lie = CsrView::new(rows, rows, &offsets, &columns, &values)?.assume_coalesced();
            let made = lie.product(lie)?;
            // Every index is in place, as the constructor finds.
            let view = made.view();
            CsrView::new(rows, rows, view.row_offsets(), view.col_indices(), view.values())?;
            let made = lie.t().product(lie.t())?;
            let view = made.view();
            CscView::new(rows, rows, view.col_offsets(), view.row_indices(), view.values())?;
            lie.add(lie)?;
            lie.coalesce(Combine::Sum)?;
            lie.to_csc()?;
            lie.to_bsr([4, 4])?;
            Ok(())
        })?;
    }
    Ok(())
}

/// Coordinates in no order, to a dense matrix that is made in groups of rows and streamed.
#[test]
fn coordinates_in_no_order_stay_in_the_matrix() -> Result<(), Error> {
    let (rows, cols, count) = (3_000_usize, 2_000_usize, 200_000_usize);
    let row_indices: Vec<i32> = (0..count).map(|k| ((k * 7919) % rows) as i32).collect();
    let col_indices: Vec<i32> = (0..count).map(|k| ((k * 104_729) % cols) as i32).collect();
    let values = vec![1.0_f32; count];
    for threads in [1, 2] {
        Context::with_threads(threads)?.install(|| -> Result<(), Error> {
            let lie = CooView::new(rows, cols, &row_indices, &col_indices, &values)?;
            assert_eq!(lie.assume_coalesced().to_dense()?.shape(), [rows, cols]);
            Ok(())
        })?;
    }
    Ok(())
}
