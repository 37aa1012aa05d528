//! Limits of the machine: the speed of its memory and of its arithmetic, without Tenure. They are
//! the reference for the figures of kernels.

use std::cell::RefCell;

use crate::figures;
use crate::rounds::at_once;
use crate::subject::Case;
use kernels::{Arrays, Move, Set, sets};

pub mod kernels;
pub mod pages;
pub mod record;

/// The kinds that read one array; the best of them is the roof.
pub const READ: &[Move] = &[Move::Read];
/// The kinds that read one array and write one.
pub const COPY: &[Move] = &[Move::Copy, Move::CopyStreamed, Move::CopyPaged];
/// The kinds that read two arrays and write one.
pub const ADD: &[Move] = &[Move::Add, Move::AddStreamed, Move::AddPaged];

/// The roofs of some kinds, to take turns with operations on the same arrays.
pub fn cases<'a>(arrays: &'a RefCell<Arrays>, kinds: &[Move], threads: usize) -> Vec<Case<'a>> {
    let set = set();
    let bytes = arrays.borrow().bytes() as u64;
    let there = |what: &&Move| arrays.borrow().pass(set, **what, 0, 1).is_some();
    let case = |what: &Move| {
        let what = *what;
        let run = move |passes| {
            let arrays = &*arrays.borrow();
            let pass = |part| {
                arrays.pass(set, what, part, threads);
            };
            at_once(threads, |_| (), |part| (0..passes).for_each(|_| pass(part)))
        };
        Case::timed("roof", what.name(), run).moving(bytes * what.arrays())
    };
    kinds.iter().filter(there).map(case).collect()
}

/// The roof of `operations` additions and multiplications of `f32` or `f64`: by the instruction set
/// in use, in registers, distributed over threads.
pub fn fma<'a>(dtype: &str, operations: u64, threads: usize) -> Case<'a> {
    peak(&format!("FMA {dtype}"), operations, threads).expect("every set has both")
}

/// The roof of `operations` of products of 8-bit integers, where the set in use has an instruction
/// for them.
pub fn narrow<'a>(operations: u64, threads: usize) -> Option<Case<'a>> {
    peak("VNNI products, u8 x i8", operations, threads)
}

fn peak<'a>(name: &str, operations: u64, threads: usize) -> Option<Case<'a>> {
    let peak = set().peaks().into_iter().find(|peak| peak.name == name)?;
    let iterations = operations.div_ceil(peak.operations * threads as u64);
    Some(Case::timed("roof", peak.name, move |passes| {
        at_once(threads, |_| (), |_| (0..passes).for_each(|_| peak.run_long(iterations)))
    }))
}

/// The set that the library uses, so that a roof and the figures below it are of one set.
fn set() -> Set {
    let (sets, wanted) = (sets(), figures::set_in_use());
    sets.iter().find(|set| set.name == wanted).copied().unwrap_or(sets[0])
}

/// Bytes of a mix in which each of its kinds has one turn.
const PIECE: usize = 64 << 10;

/// The roofs of operations that read `reads` bytes and write `writes`: the part of each piece that
/// is both read and written is copied, and the rest is read, or filled. More than the arrays hold
/// is scaled down.
pub fn mixes(arrays: &RefCell<Arrays>, reads: u64, writes: u64, threads: usize) -> Vec<Case<'_>> {
    let kinds: &[(&'static str, Move, Move)] = &[
        ("copies and reads", Move::Copy, Move::Fill),
        ("copies and reads, non-temporal by pages", Move::CopyPaged, Move::FillStreamed),
    ];
    let set = set();
    let held = arrays.borrow().bytes();
    let larger = reads.max(writes).max(1);
    let share = |bytes: u64| bytes as f64 / larger as f64;
    let part = usize::try_from(larger).unwrap_or(held).min(held) / threads / PIECE * PIECE;
    let part = part.max(PIECE).min(held / threads);
    let piece = part.min(PIECE);
    let copied = (piece as f64 * share(reads.min(writes))) as usize / 256 * 256;
    let rest = piece - copied;
    let reads_more = reads >= writes;
    let there =
        |kind: &&(_, Move, Move)| arrays.borrow().pass_over(set, kind.1, (0, 0), 0).is_some();
    let case = |&(name, copy, fill): &(&'static str, Move, Move)| {
        let run = move |passes| {
            let arrays = &*arrays.borrow();
            let pass = |thread: usize| {
                for i in 0..part / piece {
                    // Reads and writes are each close together.
                    let (long, short) = (thread * part + i * piece, thread * part + i * copied);
                    let (from, to) = if reads_more { (long, short) } else { (short, long) };
                    arrays.pass_over(set, copy, (from, to), copied);
                    if reads_more {
                        arrays.pass_over(set, Move::Read, (from + copied, 0), rest);
                    } else {
                        arrays.pass_over(set, fill, (0, to + copied), rest);
                    }
                }
            };
            at_once(threads, |_| (), |thread| (0..passes).for_each(|_| pass(thread)))
        };
        let moved = (part / piece * (2 * copied + rest) * threads) as u64;
        Case::timed("roof", name, run).moving(moved)
    };
    kinds.iter().filter(there).map(case).collect()
}
