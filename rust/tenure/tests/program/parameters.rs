//! Parameters in files, by the names of a tree, and first weights.

use std::path::PathBuf;

use tenure::io::safetensors::{Shared, Writer};
use tenure::layers;
use tenure::layers::initial::{self, Weights};
use tenure::random::Generator;
use tenure::tree::{Shapes, Tensors};
use tenure::*;

#[derive(prelude::Tree)]
struct Layer<L: prelude::Leaves> {
    weight: L::Of<f32>,
    bias: L::Of<f64>,
}

#[derive(prelude::Tree)]
struct Model<L: prelude::Leaves> {
    layers: Vec<Layer<L>>,
    scale: L::Of<bf16>,
}

fn model(first: f32) -> Result<Model<Tensors>> {
    let layer = |x: f32| -> Result<Layer<Tensors>> {
        Ok(Layer { weight: Tensor::full([2, 3], x)?, bias: Tensor::full(3, f64::from(x))? })
    };
    let scale = Tensor::full([], bf16::from_f32(first))?;
    Ok(Model { layers: vec![layer(first)?, layer(first + 1.0)?], scale })
}

/// A file that is removed.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("tenure-{name}-{}", std::process::id())))
    }
    fn of(name: &str, tensors: &[(&str, DynView<'_>)]) -> Result<File> {
        let file = File::new(name);
        Writer::new().save(&file.0, tensors)?;
        Ok(file)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn parameters_keep_names_dtypes_and_bits() -> Result<()> {
    let (file, saved) = (File::new("kept"), model(0.5)?);
    layers::save(&file.0, &saved)?;
    let shared = Shared::new(io::read(&file.0)?.into_shared())?;
    let mut names: Vec<_> = shared.tensors().iter().map(|entry| entry.name()).collect();
    names.sort();
    let expected =
        ["layers.0.bias", "layers.0.weight", "layers.1.bias", "layers.1.weight", "scale"];
    assert_eq!(names, expected);

    let mut loaded = model(0.0)?;
    layers::load(&file.0, &mut loaded)?;
    assert_eq!(loaded.layers[1].weight, saved.layers[1].weight);
    assert_eq!((&loaded.layers[0].bias, &loaded.scale), (&saved.layers[0].bias, &saved.scale));
    Ok(())
}

#[test]
fn constants_are_the_memory_of_the_file() -> Result<()> {
    let file = File::new("constants");
    layers::save(&file.0, &model(0.5)?)?;
    let bytes = io::read(&file.0)?.into_shared();
    let shared = Shared::new(bytes)?;
    let layer = || Layer::<Shapes> { weight: [2, 3].into(), bias: [3].into() };
    let shapes = Model::<Shapes> { layers: vec![layer(), layer()], scale: [0; 0].into() };
    let program = Program::trace(|graph| {
        let model = layers::constants(graph, &shared, &shapes)?;
        let x = graph.input::<f32>([1, 2]);
        let y = x.matmul(model.layers[1].weight).cast::<f64>() + model.layers[0].bias;
        graph.program((x,), y * model.scale.cast::<f64>())
    })?;
    drop(shared);
    assert_eq!(program.run((&[[1.0, 2.0]],))?, [[2.5; 3]]);
    Ok(())
}

#[test]
fn files_of_other_parameters_are_refused_and_change_nothing() -> Result<()> {
    let weights = Tensor::<f32>::full([2, 3], 9.0)?;
    let (wide, long) = (Tensor::<f64>::full([2, 3], 9.0)?, Tensor::<f32>::full([3, 2], 9.0)?);
    let refused = |name: &str, tensors: &[(&str, DynView<'_>)]| -> Result<String> {
        let file = File::of(name, tensors)?;
        let mut parameters = (Tensor::<f32>::zeros([2, 3])?, Tensor::<f32>::zeros([2, 3])?);
        let error = layers::load(&file.0, &mut parameters).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        assert_eq!((parameters.0.to_vec(), parameters.1.to_vec()), (vec![0.0; 6], vec![0.0; 6]));
        assert!(error.message().starts_with(&format!("{}: ", file.0.display())), "{error}");
        Ok(error.message().to_owned())
    };
    let w = || DynView::from(&weights);
    let message = refused("missing", &[("0", w()), ("model.1", w())])?;
    assert!(message.ends_with("there is no parameter '1': did you mean 'model.1'?"), "{message}");
    let message = refused("more", &[("0", w()), ("1", w()), ("2", w())])?;
    assert!(message.ends_with("the tensor '2' is no parameter"), "{message}");
    let message = refused("dtype", &[("0", w()), ("1", (&wide).into())])?;
    assert!(message.ends_with("'1' is of F64 but the parameter is of f32"), "{message}");
    let message = refused("shape", &[("0", w()), ("1", (&long).into())])?;
    assert!(
        message.ends_with("'1' has shape [3, 2] but the parameter has shape [2, 3]"),
        "{message}"
    );
    assert_eq!(layers::load("no/such/file", &mut [weights]).unwrap_err().kind(), ErrorKind::Io);
    Ok(())
}

/// The mean of the squares, and the largest magnitude.
fn spread(x: &Tensor<f64>) -> (f64, f64) {
    let square = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    (square, x.iter().fold(0.0, |most, x| most.max(x.abs())))
}

#[test]
fn first_weights_have_the_deviation_of_their_fans() -> Result<()> {
    let mut random = Generator::new(3);
    let filters = Weights::filters([64, 32, 3, 3])?;
    assert_eq!(filters.fans(), [32 * 9, 64 * 9]);
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.05;
    let (square, most) = spread(&filters.kaiming_uniform(&mut random, initial::RELU)?);
    assert!(near(square, 2.0 / 288.0) && most <= (6.0_f64 / 288.0).sqrt());
    let (square, _) = spread(&filters.kaiming_normal(&mut random, 1.0)?);
    assert!(near(square, 1.0 / 288.0));
    let (square, most) = spread(&filters.xavier_uniform(&mut random, 1.0)?);
    assert!(near(square, 2.0 / 864.0) && most <= (6.0_f64 / 864.0).sqrt());
    let (square, _) = spread(&filters.xavier_normal(&mut random, initial::TANH)?);
    assert!(near(square, initial::TANH.powi(2) * 2.0 / 864.0));
    // Equal seeds give equal weights.
    let weights = || Weights::factor([5, 3]).xavier_normal::<f32>(&mut Generator::new(1), 1.0);
    assert!(weights()? == weights()?);
    assert!(Weights::factor([0, 3]).kaiming_normal::<f32>(&mut random, 1.0)?.is_empty());
    for gain in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = filters.xavier_uniform::<f32>(&mut random, gain).unwrap_err();
        let message = format!("the gain is {gain} but must be above 0 and finite");
        assert_eq!(error.message(), message);
    }
    let error = Weights::filters([3]).unwrap_err();
    assert_eq!(error.message(), "weights have rank 1 but must have at least 2");
    assert!(Weights::filters([usize::MAX, 2, 2]).is_err());
    Ok(())
}

#[test]
#[cfg(feature = "linalg")]
fn orthogonal_weights_have_orthogonal_rows_or_columns() -> Result<()> {
    for shape in [vec![4, 7], vec![7, 4], vec![3, 2, 2]] {
        let (rows, columns) = (shape[0], shape[1..].iter().product::<usize>());
        let weights = Weights::filters(&shape)?.orthogonal::<f64>(&mut Generator::new(5), 2.0)?;
        assert_eq!(weights.shape(), shape);
        let matrix = weights.reshape([rows, columns])?;
        let product = match rows < columns {
            true => linalg::matmul(matrix, matrix.t())?,
            false => linalg::matmul(matrix.t(), matrix)?,
        };
        for (i, row) in product.iter().enumerate() {
            let n = rows.min(columns);
            let expected = if i / n == i % n { 4.0 } else { 0.0 };
            assert!((row - expected).abs() < 1e-12, "{shape:?} {i} {row}");
        }
    }
    Ok(())
}
