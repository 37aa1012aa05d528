//! What a program tells of its steps: numbers of programs that are counted by hand, a memory plan
//! that holds, and a table, JSON and a picture of any program.
#![cfg(feature = "serde")]

use tenure::program_report::{Place, Read, Report, Roofs, StepKind};
use tenure::{Conv2d, Passes, Pool2d, Program, Result, Tensor};

/// A network with a branch that is read late, and an output of an input itself.
fn network(passes: Passes) -> Result<Report> {
    let program = Program::trace_with(passes, |graph| {
        let images = graph.extent("images", 8);
        let x = graph.input::<f32>((images, 3, 8, 8));
        let weights = graph.copy_constant(&Tensor::<f32>::full([4, 3, 3, 3], 0.1)?);
        let last = graph.copy_constant(&Tensor::<f32>::full([16, 5], 0.1)?);
        let seen = x.conv2d(weights, None, Conv2d::new());
        let pooled = seen.max_pool2d(Pool2d::new([3, 3])).sigmoid();
        let scores = pooled.reshape((images, 16)).matmul(last);
        graph.program((x,), (scores.softmax(1), seen.sum([1, 2, 3]), x))
    })?;
    program.report((&Tensor::zeros([2, 3, 8, 8])?,))
}

/// Bytes of the block that two values have at one time are not the same, and none is beyond the
/// peak.
fn expect_plan_that_holds(report: &Report) {
    let mut most = 0;
    let values = report.steps.iter().enumerate().filter_map(|(nth, step)| match step.result {
        Place::Block { offset, bytes, last_use } if bytes > 0 => {
            Some((nth, last_use, offset, bytes))
        }
        _ => None,
    });
    let values: Vec<_> = values.collect();
    for (at, (first, last, offset, bytes)) in values.iter().enumerate() {
        assert!(first <= last, "{report}");
        most = most.max(offset + bytes);
        for (other_first, other_last, other_offset, other_bytes) in &values[..at] {
            let is_apart = other_last < first || last < other_first;
            // A result that takes an operand's place begins where that ends.
            let is_successor = other_last == first || last == other_first;
            let is_beside =
                offset + bytes <= *other_offset || other_offset + other_bytes <= *offset;
            assert!(is_apart || is_beside || is_successor, "{report}");
        }
    }
    // In whole lines.
    assert_eq!(most.next_multiple_of(64), report.memory.peak_bytes as u64, "{report}");
    for (nth, step) in report.steps.iter().enumerate() {
        for read in &step.reads {
            match *read {
                Read::Step(before) => assert!(before < nth, "{report}"),
                Read::Input(input) => assert!(input < report.input_count, "{report}"),
            }
        }
    }
}

#[test]
fn numbers_are_those_of_the_operations() {
    let program = Program::trace(|graph| {
        let (a, b) = (graph.input::<f32>([10, 20]), graph.input::<f32>([20, 30]));
        let product = a.matmul(b);
        graph.program((a, b), (product.exp() + 1.0, product.sum(1)))
    });
    let program = program.unwrap();
    let inputs = (&Tensor::zeros([10, 20]).unwrap(), &Tensor::zeros([20, 30]).unwrap());
    let report = program.report(inputs).unwrap();
    let product = &report.steps[0];
    assert_eq!((&product.name[..], product.kind), ("matmul", StepKind::Operation));
    assert_eq!((&product.shape[..], product.flops), (&[10, 30][..], 2 * 10 * 20 * 30));
    assert_eq!(product.read_bytes, 4 * (10 * 20 + 20 * 30));
    assert_eq!(product.written_bytes, 4 * 10 * 30);
    assert_eq!(product.reads, [Read::Input(0), Read::Input(1)]);
    let exp = report.steps.iter().position(|step| step.name == "exp add").unwrap();
    assert_eq!(report.steps[exp].result, Place::Output(0));
    assert_eq!((report.steps[exp].kind, report.steps[exp].node_count), (StepKind::Expression, 2));
    assert_eq!(report.steps[exp].flops, 2 * 300);
    assert_eq!(report.steps[exp].reads, [Read::Step(0)]);
    assert!(report.steps.iter().all(|step| step.nanoseconds.is_none()));
    assert_eq!(report.nanoseconds(), None);
    expect_plan_that_holds(&report);
}

#[test]
fn runs_are_measured_and_compared_with_roofs() {
    let program = Program::trace(|graph| {
        let (x, state) = (graph.input::<f64>([1000]), graph.input::<f64>([1000]));
        graph.program((x, state.updated_by(state + x)), x.cumsum(0))
    });
    let program = program.unwrap();
    let x = Tensor::full([1000], 1.0).unwrap();
    let mut state = Tensor::zeros([1000]).unwrap();
    let report = program.measure((&x, &mut state), 3).unwrap();
    assert_eq!(state.to_vec(), [3.0; 1000], "each run updates it");
    let times: Vec<u64> = report.steps.iter().map(|step| step.nanoseconds.unwrap()).collect();
    assert_eq!(report.nanoseconds(), Some(times.iter().sum()));
    assert_eq!(report.share_of_roof(0), None, "no roof is known");
    let roofs = Roofs { bytes_per_second: 1e9, flops_per_second: 1e9 };
    let report = report.with_roofs(roofs);
    // Of 1000 additions and their bytes the bytes take longer.
    for (nth, step) in report.steps.iter().enumerate() {
        let bytes = (step.read_bytes + step.written_bytes) as f64;
        assert!(bytes >= 16_000.0);
        let share = report.share_of_roof(nth).unwrap();
        assert!((share * times[nth].max(1) as f64 - bytes).abs() < 1.0, "{share}");
    }
    assert_eq!(report.share_of_roof(report.steps.len()), None);
    assert!(report.to_string().contains(" %"));
}

#[test]
fn any_plan_holds_and_any_report_is_a_table_json_and_a_picture() {
    let all = [
        Passes::FUSION,
        Passes::IN_PLACE,
        Passes::MEMORY,
        Passes::LAYOUT,
        Passes::EPILOGUES,
        Passes::NONE,
    ];
    let sets = all.map(|pass| Passes::ALL.without(pass)).into_iter().chain(all);
    for passes in sets {
        let report = network(passes).unwrap();
        expect_plan_that_holds(&report);
        let table = report.to_string();
        assert_eq!(table.lines().count(), report.steps.len() + 2, "a head and a sum: {table}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["steps"].as_array().unwrap().len(), report.steps.len());
        assert_eq!(json["memory"]["peak_bytes"], report.memory.peak_bytes);
        assert_eq!(json["steps"][0]["dtype"], "f32");
        expect_picture(&report.to_svg(), report.steps.len() + report.input_count);
    }
}

/// Tags that end in their order, quoted attributes, and a line for each step and input.
fn expect_picture(svg: &str, rows: usize) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains(['>', '"']), "escaped: {text}");
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert!(svg.matches("<text").count() >= rows + 3);
    let height = svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(height.parse::<usize>().unwrap() > rows * 20);
}

#[test]
fn a_program_without_steps_and_inputs_that_it_refuses() {
    let program = Program::trace(|graph| graph.program((), ())).err();
    assert!(program.is_some(), "a program has an output");
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([graph.extent("n", 4)]);
        graph.program((x,), x + 1.0)
    });
    let program = program.unwrap();
    let error = program.report((&[0.0; 5],)).err().unwrap();
    assert!(error.message().contains("n is at most 4"), "{error}");
    assert!(program.measure((&[0.0; 5],), 1).is_err());
    let empty = program.measure((&Tensor::zeros([0]).unwrap(),), 0).unwrap();
    expect_picture(&empty.to_svg(), 2);
}
