//! The demo's other programs, which assert their own results.

use tenure::train::LossScale;
use tenure::{bf16, f16};
use tenure_demo::{DATA, learned, quantized, small_calls};

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

#[test]
fn integers_recognize_as_many_digits() {
    let table = quantized::table(DATA).unwrap();
    let [float, dynamic, fixed, narrow] = &table.rows[..] else { panic!("{table}") };
    assert!(float.accuracy >= 0.96, "{table}");
    for row in [dynamic, fixed, narrow] {
        // One digit of 297 is 0.34 points.
        assert!(row.accuracy >= float.accuracy - 0.003, "{table}");
        assert!(row.weight_bytes < float.weight_bytes * 7 / 10, "{table}");
    }
    // The second convolution, by filters of 144 elements.
    let [node] = &table.report.nodes[..] else { panic!("{table}") };
    assert!(node.name.starts_with("conv2d at "), "{table}");
    assert!(node.damage.snr_db > 30.0 && table.report.output.cosine > 0.999, "{table}");
    assert!(table.to_string().contains("static int8, node by node"), "{table}");
}
