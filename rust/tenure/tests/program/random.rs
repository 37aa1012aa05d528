//! Random numbers, as those of a generator at the same place.

use super::*;
use tenure::random::Generator;

#[test]
fn as_of_a_generator() {
    for program in traced(|graph| {
        let (seed, offset) = (graph.input::<u64>(()), graph.input::<u64>(()));
        let n = graph.extent("n", 99);
        let like = graph.input::<f32>([n]);
        let random = graph.generator_at(seed, offset + 2);
        let outputs = (
            random.uniform::<f32>(-1.0..3.0, (n, 2)),
            random.normal::<f64>(1.0, 0.5, [3, 5]),
            random.integers::<i16>(-7..9, n),
            random.bernoulli(0.3, [4, 4]),
            random.permutation(n + 1),
            graph.generator_at(u64::MAX, 6).uniform::<f64>(0.0..1.0, 7),
        );
        graph.program((seed, offset, like), outputs)
    }) {
        let program = program.unwrap();
        for (seed, offset) in [(1, 0), (u64::MAX, 1 << 40)] {
            let got = program.run((&seed, &offset, &[0.0; 31])).unwrap();
            let at = || Generator::at(seed, offset + 2);
            assert_same(&Ok(got.0), &at().uniform(-1.0..3.0, [31, 2]), "uniform");
            assert_same(&Ok(got.1), &at().normal(1.0, 0.5, [3, 5]), "normal");
            assert_same(&Ok(got.2), &at().integers(-7..9, [31]), "integers");
            assert_same(&Ok(got.3), &at().bernoulli(0.3, [4, 4]), "bernoulli");
            assert_same(&Ok(got.4), &at().permutation(32), "permutation");
            let expected = Generator::at(u64::MAX, 6).uniform(0.0..1.0, [7]);
            assert_same(&Ok(got.5), &expected, "of numbers");
        }
    }
}

#[test]
fn what_is_refused() {
    let refused = |draw: fn(TracedGenerator<'_>) -> Traced<'_, f32>| {
        said(|graph| graph.program((), draw(graph.generator_at(1, 0))))
    };
    let message = refused(|random| random.uniform(0.0..0.0, [2]));
    assert!(message.starts_with("uniform at ") && message.contains("is empty"), "{message}");
    let message = refused(|random| random.normal(0.0, 0.0, [2]));
    assert!(message.starts_with("normal at "), "{message}");
    let message = refused(|random| random.normal(0.0, -1.0, [2]));
    assert!(message.starts_with("normal at "), "{message}");
    let message = said(|graph| {
        let seed = graph.input::<u64>([2]);
        graph.program((seed,), graph.generator_at(seed, 0).permutation(5))
    });
    assert!(message.contains("seed.rank is 1"), "{message}");
}
