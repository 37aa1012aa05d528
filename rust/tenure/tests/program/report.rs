//! The steps of a program as it tells them: numbers of programs that are counted by hand, a memory
//! plan that holds, and a table, JSON and a picture of any program.
#![cfg(feature = "serde")]

use tenure::program::report::{Operand, Report, ResultMemory, Roofs, StepKind};
use tenure::{Conv2d, CustomOperation, Graph, Passes, Pool2d, Program, Result, Tensor, Traced};

use crate::Random;

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
        ResultMemory::Block { offset, bytes, last_use } if bytes > 0 => {
            Some((nth, last_use, offset, bytes))
        }
        _ => None,
    });
    let values: Vec<_> = values.collect();
    for (at, (first, last, offset, bytes)) in values.iter().enumerate() {
        assert!(first <= last, "{report}");
        most = most.max(offset + bytes);
        for (other, other_last, other_offset, other_bytes) in &values[..at] {
            let is_apart = other_last < first;
            // A result that takes the place of an operand, which nothing reads any more.
            let is_successor = other_last == first
                && offset == other_offset
                && report.steps[*first].reads.contains(&Operand::Step(*other));
            let is_beside =
                offset + bytes <= *other_offset || other_offset + other_bytes <= *offset;
            assert!(is_apart || is_beside || is_successor, "{other} and {first}: {report}");
        }
    }
    // In whole lines.
    assert_eq!(most.next_multiple_of(64), report.memory.peak_bytes as u64, "{report}");
    for (nth, step) in report.steps.iter().enumerate() {
        for read in &step.reads {
            match *read {
                Operand::Step(before) => assert!(before < nth, "{report}"),
                Operand::Input(input) => assert!(input < report.input_count, "{report}"),
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
    assert_eq!(product.reads, [Operand::Input(0), Operand::Input(1)]);
    let exp = report.steps.iter().position(|step| step.name == "exp add").unwrap();
    assert_eq!(report.steps[exp].result, ResultMemory::Output(0));
    assert_eq!((report.steps[exp].kind, report.steps[exp].node_count), (StepKind::Expression, 2));
    assert_eq!(report.steps[exp].flops, 2 * 300);
    // In the order of the trace; a step of several nodes gives the result of the last one.
    let sum = report.steps.iter().find(|step| step.name == "sum").unwrap();
    assert_eq!([product.node, report.steps[exp].node, sum.node], [Some(0), Some(2), Some(3)]);
    assert_eq!(report.steps[exp].reads, [Operand::Step(0)]);
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
    assert!(report.steps.iter().any(|step| step.name == "cumsum"), "{report}");
    let times: Vec<u64> = report.steps.iter().map(|step| step.nanoseconds.unwrap()).collect();
    assert_eq!(report.nanoseconds(), Some(times.iter().sum()));
    assert_eq!(report.share_of_roof(0), None, "no roof is known");
    let roofs = Roofs { bytes_per_second: 1e9, flops_per_second: 1e9 };
    let report = report.with_roofs(roofs);
    // The time of 1000 additions is less than the time of their bytes.
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
    let sets = all.map(|pass| Passes::DEFAULT.without(pass)).into_iter().chain(all);
    for passes in sets {
        let report = network(passes).unwrap();
        expect_plan_that_holds(&report);
        expect_forms(&report);
    }
}

fn expect_forms(report: &Report) {
    let table = report.to_string();
    let passes = report.passes.iter().filter(|pass| pass.count != 0).count();
    let lines = report.steps.len() + 2 + passes;
    assert_eq!(table.lines().count(), lines, "a head, a sum and passes: {table}");
    let text = serde_json::to_string(report).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["steps"].as_array().unwrap().len(), report.steps.len());
    assert_eq!(json["memory"]["peak_bytes"], report.memory.peak_bytes);
    assert_eq!(json["steps"][0]["dtype"], "f32");
    assert_eq!(json["passes"].as_array().unwrap().len(), 10);
    assert_eq!(json["passes"][1]["name"], "constant folding");
    assert_eq!(json["passes"][1]["count"], report.count_of(Passes::CONSTANT_FOLDING));
    assert_eq!(json["steps"][0]["name"], report.steps[0].name);
    expect_picture(&report.to_svg(), report.steps.len() + report.input_count);
}

/// Custom operations on one value that keep its shape; forms must escape their names.
fn hostile_operations() -> Vec<CustomOperation> {
    let names = ["<&\"'>]]>", "line\nand\ttab\u{7}\u{ffff}", "</text></svg>", &"é".repeat(15)];
    let operation = |name: &str| {
        CustomOperation::new::<(f32,), f32>(
            name,
            |[x]| Ok(x.to_vec()),
            |(x,), mut out| Ok(tenure::ops::abs_into(&x, &mut out)?),
        )
    };
    names.into_iter().map(|name| operation(name).unwrap()).collect()
}

fn random_value<'g>(
    graph: Graph<'g>,
    random: &mut Random,
    values: &[Traced<'g, f32>],
    operations: &[CustomOperation],
) -> Traced<'g, f32> {
    let [a, b] = [(); 2].map(|()| values[random.below(values.len())]);
    match random.below(12) {
        0 => a + b,
        1 => a * b,
        2 => a.exp(),
        3 => a.matmul(b),
        4 => a.t() + b,
        5 => a.cumsum(0),
        6 => a.softmax(1),
        7 => a - b.sum(0),
        8 => a.t().reshape([64]).reshape([8, 8]),
        9 => graph.custom(&operations[random.below(operations.len())], a),
        10 => a.relu() * 0.5,
        _ => b.t(),
    }
}

#[test]
fn random_programs_have_plans_that_hold_and_all_forms() {
    let (operations, random) = (hostile_operations(), &mut Random::new(7));
    let (x, y) = (Tensor::zeros([8, 8]).unwrap(), Tensor::full([8, 8], 1.0).unwrap());
    let without = [Passes::FUSION, Passes::IN_PLACE, Passes::MEMORY]
        .map(|pass| Passes::DEFAULT.without(pass));
    for nth in 0..120 {
        let passes = *without.get(nth % 6).unwrap_or(&Passes::DEFAULT);
        let program = Program::trace_with(passes, |graph| {
            let (x, y) = (graph.input::<f32>([8, 8]), graph.input::<f32>([8, 8]));
            let mut values = vec![x, y];
            for _ in 0..1 + nth % 60 {
                values.push(random_value(graph, random, &values, &operations));
            }
            if nth % 2 == 1 {
                // None is dead, and some live long.
                let all = values.iter().rev().fold(y, |all, value| all.matmul(*value));
                values.push(all);
            }
            let outputs = values.split_off(values.len() - values.len().min(3));
            graph.program([x, y], outputs)
        });
        let program = program.unwrap();
        let report = program.report([&x, &y]).unwrap();
        expect_plan_that_holds(&report);
        expect_forms(&report);
        let measured = program.measure([&x, &y], 1).unwrap();
        assert!(measured.steps.iter().all(|step| step.nanoseconds.is_some()));
        expect_forms(&measured.with_roofs(Roofs { bytes_per_second: 0.0, flops_per_second: 0.0 }));
    }
}

#[test]
fn names_of_any_characters_stay_within_their_line() {
    for operation in hostile_operations() {
        let program = Program::trace(|graph| {
            let x = graph.input::<f32>([2]);
            graph.program((x,), graph.custom::<f32>(&operation, x))
        });
        let report = program.unwrap().report((&[1.0, 2.0],)).unwrap();
        assert!(operation.name().starts_with(report.steps[0].name.trim_end_matches('\u{fffd}')));
        expect_forms(&report);
    }
}

#[test]
fn passes_are_counted() {
    let report = |passes| {
        let program = Program::trace_with(passes, |graph| {
            let x = graph.input::<f32>([4, 3]);
            let weights = graph.copy_constant(&[[0.5_f32, 1.0], [2.0, -1.0], [0.25, 0.0]]) * 2.0;
            let _unused = x.tanh();
            let scores = (x.matmul(weights) + graph.copy_constant(&[1.0_f32, -1.0])).relu();
            let sums = scores.cumsum(0).cumsum(1);
            graph.program((x,), (sums, (x.exp() + x.exp()).cumsum(0)))
        });
        program.unwrap().report((&[[0.0; 3]; 4],)).unwrap()
    };
    let all = report(Passes::DEFAULT.with(Passes::PACKING));
    let counts: Vec<_> = all.passes.iter().map(|of| (of.name.as_str(), of.count)).collect();
    // A line of memory, which two values that are not alive at once share.
    let expected = [
        ("common subexpressions", 1),
        ("constant folding", 1),
        ("epilogues", 2),
        ("dead code", 1),
        ("packing", 1),
        ("recomputation", 0),
        ("layout", 0),
        ("fusion", 1),
        ("in place", 1),
        ("memory", 64),
    ];
    assert_eq!(counts, expected, "{all}");
    assert!(all.passes.iter().all(|pass| pass.is_on && !pass.counted.is_empty()));
    assert!(all.to_string().contains("\nepilogues, nodes joined to products: 2\n"), "{all}");
    let none = report(Passes::NONE);
    assert!(none.passes.iter().all(|pass| !pass.is_on && pass.count == 0), "{none}");
}

/// A shape, a name and an output of a line are apart, at 7 to a character.
#[test]
fn long_names_and_shapes_do_not_overlap() {
    let program = Program::trace(|graph| {
        let x = graph.input::<f32>([1, 1, 1, 1, 100, 100, 1, 1000]);
        let long = (0..20).fold(x, |value, _| value.sigmoid() * 0.5);
        let sum = long.sum([4, 5, 6, 7]);
        graph.program((x,), (long, x.reshape([100, 100, 1000]).cumsum(0), sum))
    });
    let x = Tensor::from([0.0_f32]);
    let x = x.broadcast([1, 1, 1, 1, 100, 100, 1, 1000]).unwrap();
    let svg = program.unwrap().report((x,)).unwrap().to_svg();
    let text = |line: &str| line.split(['>', '<']).nth(2).unwrap().chars().count();
    let lines: Vec<&str> = svg.lines().filter(|line| line.starts_with("<text")).collect();
    let mut shapes = 0;
    for pair in lines.windows(2).filter(|pair| pair[1].contains("text-anchor=\"end\"")) {
        assert!(124 + 7 * (text(pair[0]) + text(pair[1])) < 546, "{pair:?}");
        shapes += 1;
    }
    assert!(shapes >= 3);
}

/// The operand is one broadcast element.
#[test]
fn sums_of_huge_arrays_do_not_wrap() {
    let count = tenure_sys::TNR_MAX_ELEMENTS as usize;
    let program = Program::trace(|graph| {
        let x = graph.input::<u8>([count]);
        // Different ones, which no pass merges.
        let maxima: [_; 40] = std::array::from_fn(|i| (x + i as u8).max(0));
        graph.program((x,), maxima)
    });
    let one = Tensor::from([1_u8]);
    let report = program.unwrap().report((one.broadcast([count]).unwrap(),)).unwrap();
    assert!(report.steps.iter().all(|step| step.flops > count as u64 && step.read_bytes == 1));
    let table = report.to_string();
    let sum = table.lines().find(|line| line.starts_with(" all ")).unwrap();
    assert!(sum.contains("18446744.1 T") && sum.contains(" 40 B "), "{table}");
    assert!(report.to_svg().ends_with("</svg>\n"));
}

/// Tags that end in their order, quoted attributes, and a line for each step and input.
fn expect_picture(svg: &str, rows: usize) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains(['>', '"']), "escaped: {text}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next().unwrap();
            assert!(["amp", "lt", "gt", "quot"].contains(&name), "escaped: {text}");
        }
        assert!(
            !text
                .trim_end_matches('\n')
                .contains(|found: char| found.is_control() || found == '\u{ffff}')
        );
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
