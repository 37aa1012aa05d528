//! The demo's other programs, which assert their own results.

use tenure::train::LossScale;
use tenure::{bf16, f16};
use tenure_demo::{DATA, learned, small_calls};

#[test]
fn small_calls_have_one_result() {
    small_calls::run().unwrap();
}

#[test]
fn a_convolutional_network_as_a_program() {
    learned::learned(DATA).unwrap();
}

#[test]
fn it_learns_as_well_in_mixed_precision() {
    let learn = |step: &learned::Step, scaling: Option<LossScale>| {
        let states = learned::first_states(scaling).unwrap();
        learned::learned_by(step, states, DATA).unwrap().2
    };
    let plain = learn(&learned::step().unwrap(), None);
    let scaling = LossScale::new();
    for step in [learned::mixed_step::<bf16>(scaling), learned::mixed_step::<f16>(scaling)] {
        let accuracy = learn(&step.unwrap(), Some(scaling));
        assert!(accuracy >= plain - 0.005, "{accuracy} {plain}");
    }
}
