//! What the machine allows: the speed of its memory and of its arithmetic, without Tenure. A kernel
//! is to be read beside them.

use std::cell::RefCell;

use crate::rounds::at_once;
use crate::subject::Case;
use kernels::{Arrays, Move, sets};

pub mod kernels;
pub mod pages;
pub mod record;

/// The kinds of which the best is the roof of what reads one array.
pub const READ: &[Move] = &[Move::Read];
/// The same, of what reads one array and writes one.
pub const COPY: &[Move] = &[Move::Copy, Move::CopyStreamed, Move::CopyPaged];
/// The same, of what reads two arrays and writes one.
pub const ADD: &[Move] = &[Move::Add, Move::AddStreamed, Move::AddPaged];

/// The roofs of some kinds, to take turns with what is measured on the same arrays.
pub fn cases<'a>(arrays: &'a RefCell<Arrays>, kinds: &[Move], threads: usize) -> Vec<Case<'a>> {
    let set = *sets().last().expect("plain is always there");
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
