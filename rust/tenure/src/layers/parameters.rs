//! Parameters in files, by their names.

use std::collections::HashMap;
use std::path::Path;

use crate::dense::CopyMode;
use crate::error::{Error, Result};
use crate::io;
use crate::io::near_names::did_you_mean;
use crate::io::payload::shown;
use crate::io::safetensors::{Entry, Reader, Shared, Writer};
use crate::program::Graph;
use crate::program::calls::lent::{with_views, with_views_mut};
use crate::program::tree::{Inputs, LendShared, LendUnique, Like, LikeLeaf, Tree, leaves_like};

/// The types of the leaves of a tree.
type TypesOf<P> = <<P as Like<'static>>::Values as Inputs<'static>>::Types;
/// The types of the leaves of a tree that is written.
type UpdatedTypesOf<P> =
    <<<P as Like<'static>>::Values as Tree<'static>>::Updating as Inputs<'static>>::Types;

/// Writes the parameters of a [tree](crate::tree) of tensors to a file of
/// [safetensors](crate::io::safetensors). Each has the name that it has in a program whose inputs
/// are the tree: its path, with the names of fields and the numbers of elements, `layers.0.weight`.
/// PyTorch and other libraries read the file by these names.
///
/// An existing file is replaced once the new one is complete. Optimiser states are trees as well,
/// in a file of their own or, with the parameters, in a tuple.
///
/// # Errors
///
/// `Io`, with the file. `Unsupported`: a dtype that the format has no name for.
///
/// ```
/// use tenure::{Tensor, layers};
///
/// # let path = std::env::temp_dir().join(format!("tenure-p-{}.safetensors", std::process::id()));
/// let layer = |x| Ok::<_, tenure::Error>([Tensor::<f32>::full([2, 3], x)?, Tensor::zeros(3)?]);
/// layers::save(&path, &vec![layer(0.5)?, layer(1.5)?])?; // 0.0, 0.1, 1.0, 1.1
///
/// let mut model = vec![layer(0.0)?, layer(0.0)?];
/// layers::load(&path, &mut model)?;
/// assert_eq!(model[1][0], [[1.5; 3]; 2]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("state_dict", "checkpoint"))]
pub fn save<P>(path: impl AsRef<Path>, parameters: &P) -> Result<()>
where
    P: Like<'static> + LendShared<TypesOf<P>>,
{
    let leaves = leaves_like(parameters);
    with_views(leaves.len(), parameters, |views| {
        let names = leaves.iter().map(|leaf| &leaf.name[..]);
        let named: Vec<_> = names.zip(views.iter().copied()).collect();
        Writer::new().save(path, &named)
    })
}

/// Reads the parameters of a [tree](crate::tree) of tensors from a file that [`save`] wrote, or
/// another library by the same names. The tree has the shapes; nothing is written to it unless all
/// names, dtypes and shapes are those of the file.
///
/// # Errors
///
/// `Io`, with the file. `InvalidArgument`, with the first name: a parameter that the file lacks, of
/// another dtype or another shape there; a tensor of the file that is no parameter. The message has
/// similar names. `OutOfMemory`: the file is read as a whole.
///
/// ```
/// use tenure::{Tensor, layers};
///
/// # let path = std::env::temp_dir().join(format!("tenure-q-{}.safetensors", std::process::id()));
/// layers::save(&path, &[Tensor::<f32>::zeros(3)?])?;
/// let mut longer = [Tensor::<f32>::zeros(4)?];
/// let error = layers::load(&path, &mut longer).unwrap_err();
/// assert!(error.message().ends_with("'0' has shape [3] but the parameter has shape [4]"));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), tenure::Error>(())
/// ```
#[doc(alias("load_state_dict", "restore"))]
pub fn load<P>(path: impl AsRef<Path>, parameters: &mut P) -> Result<()>
where
    P: Like<'static, Values: Tree<'static, Updating: Inputs<'static>>>
        + LendUnique<UpdatedTypesOf<P>>,
{
    let path = path.as_ref();
    let bytes = io::read(path)?;
    load_from(bytes.as_ref(), parameters).map_err(|error| error.in_file(path))
}

fn load_from<P>(bytes: &[u8], parameters: &mut P) -> Result<()>
where
    P: Like<'static> + LendUnique<UpdatedTypesOf<P>>,
{
    let (reader, leaves) = (Reader::new(bytes)?, leaves_like(parameters));
    require_parameters(reader.tensors(), &leaves)?;
    let loaded = leaves.iter().map(|leaf| reader.load(&leaf.name, CopyMode::IfNeeded));
    let loaded = loaded.collect::<Result<Vec<_>>>()?;
    with_views_mut(leaves.len(), parameters, |views| {
        loaded.iter().zip(views).try_for_each(|(from, to)| from.view().copy_into(to))
    })
}

/// The parameters of a file as constants of a graph, in the form of a [tree](crate::tree) of
/// tensors or of [shapes](crate::tree::Shapes). The constants are the memory of the file, which may
/// be mapped: nothing is copied, processes share it, and the program holds on to it. So inference
/// takes parameters that training saved.
///
/// # Errors
///
/// The errors of [`load`] that concern names, dtypes and shapes; those of
/// [`Shared::tensor`](crate::io::safetensors::Shared::tensor).
///
/// ```
/// use tenure::io::safetensors::Shared;
/// use tenure::tree::Shape;
/// use tenure::{Program, Tensor, io, layers};
///
/// # let path = std::env::temp_dir().join(format!("tenure-r-{}.safetensors", std::process::id()));
/// layers::save(&path, &(Tensor::<f32>::full([2, 1], 0.5)?, Tensor::<f32>::full(1, 1.0)?))?;
///
/// let file = Shared::new(io::read(&path)?.into_shared())?; // or a map of the file
/// let shapes: (Shape<f32>, Shape<f32>) = ([2, 1].into(), [1].into());
/// let program = Program::trace(|graph| {
///     let (weight, bias) = layers::constants(graph, &file, &shapes)?;
///     let x = graph.input::<f32>((graph.extent("rows", 64), 2));
///     graph.program((x,), x.matmul(weight) + bias)
/// })?;
/// assert_eq!(program.run((&[[2.0, 4.0]],))?, [[4.0]]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), tenure::Error>(())
/// ```
pub fn constants<'g, P: Like<'g>>(
    graph: Graph<'g>,
    file: &Shared,
    parameters: &P,
) -> Result<P::Values> {
    require_parameters(file.tensors(), &leaves_like(parameters))?;
    let mut failure = None;
    let values = graph.tree_like(parameters, |leaf| {
        leaf.constant(graph, file).unwrap_or_else(|error| {
            failure.get_or_insert(error);
            tenure_sys::TNR_OPERAND_NONE
        })
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(values),
    }
}

/// Checks that a file has these parameters, and no others.
fn require_parameters(entries: &[Entry], leaves: &[LikeLeaf<'_>]) -> Result<()> {
    let by_name: HashMap<&str, &Entry> =
        entries.iter().map(|entry| (entry.name(), entry)).collect();
    for leaf in leaves {
        let name = shown(&leaf.name);
        let Some(entry) = by_name.get(&leaf.name[..]) else {
            let near = did_you_mean(&leaf.name, entries.iter().map(Entry::name));
            return Err(Error::invalid(format!("there is no parameter '{name}'{near}")));
        };
        if entry.dtype() != Some(leaf.dtype) {
            let (found, expected) = (shown(entry.dtype_name()), leaf.dtype);
            return Err(Error::invalid(format!(
                "'{name}' is of {found} but the parameter is of {expected}"
            )));
        }
        let expected = leaf.shape()?;
        if entry.shape() != expected {
            let found = entry.shape();
            return Err(Error::invalid(format!(
                "'{name}' has shape {found:?} but the parameter has shape {expected:?}"
            )));
        }
    }
    let names: std::collections::HashSet<&str> = leaves.iter().map(|leaf| &leaf.name[..]).collect();
    match entries.iter().find(|entry| !names.contains(entry.name())) {
        Some(entry) => {
            let near = did_you_mean(entry.name(), leaves.iter().map(|leaf| &leaf.name[..]));
            let name = shown(entry.name());
            Err(Error::invalid(format!("the tensor '{name}' is no parameter{near}")))
        }
        None => Ok(()),
    }
}
