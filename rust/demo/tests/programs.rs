//! The demo's other programs, which assert their own results.

use tenure_demo::{DATA, learned, small_calls};

#[test]
fn small_calls_have_one_result() {
    small_calls::run().unwrap();
}

#[test]
fn a_convolutional_network_as_a_program() {
    learned::learned(DATA).unwrap();
}
