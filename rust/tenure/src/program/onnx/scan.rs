//! The parts of a model, counted before memory is taken for them: an empty one takes two bytes of a
//! file and a hundred times as many in memory.

use crate::error::{Error, Result};

/// Messages that have repeated parts.
#[derive(Clone, Copy)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
    ValueInfo,
    Type,
    TensorType,
    Shape,
    /// It has none, or is no message.
    Part,
}

use Message::{Attribute, Graph, Model, Node, Part, Shape, Tensor, TensorType, Type, ValueInfo};

/// Most parts of a model.
const MOST_PARTS: usize = 1 << 19;

impl Message {
    /// The message of a field that is counted.
    fn field(self, number: usize) -> Option<Message> {
        Some(match (self, number) {
            (Model, 7) => Graph,
            (Graph, 1) => Node,
            (Graph, 5) | (Attribute, 5) => Tensor,
            (Graph, 11 | 12) => ValueInfo,
            (Node, 5) => Attribute,
            (ValueInfo, 2) => Type,
            (Type, 1) => TensorType,
            (TensorType, 2) => Shape,
            (Model, 8) | (Graph, 15) | (Node, 1 | 2) | (Tensor, 13) | (Shape, 1) => Part,
            _ => return None,
        })
    }
}

/// Refuses bytes with more parts than a model may have.
pub(super) fn require_few_parts(model: &[u8]) -> Result<()> {
    count(Model, model, &mut 0)
}

/// Calls itself for parts. No message above contains itself.
fn count(message: Message, mut bytes: &[u8], total: &mut usize) -> Result<()> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let skipped = match key & 7 {
            0 => {
                varint(&mut bytes)?;
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes)?,
            5 => 4,
            wire => {
                return Err(Error::invalid(format!("the model has a field of wire type {wire}")));
            }
        };
        let there = bytes.len();
        let split = usize::try_from(skipped).ok().and_then(|count| bytes.split_at_checked(count));
        let Some((inner, rest)) = split else {
            let why = format!("a part of the model has {skipped} bytes of {there}");
            return Err(Error::invalid(why));
        };
        bytes = rest;
        let field = usize::try_from(key >> 3).ok().and_then(|number| message.field(number));
        if let Some(part) = field.filter(|_| key & 7 == 2) {
            *total += 1;
            if *total > MOST_PARTS {
                return Err(Error::invalid(format!("the model has more than {MOST_PARTS} parts")));
            }
            if !matches!(part, Part) {
                count(part, inner, total)?;
            }
        }
    }
    Ok(())
}

fn varint(bytes: &mut &[u8]) -> Result<u64> {
    let broken = |_| Error::invalid("the model ends within a number, or has one that is too large");
    prost::encoding::decode_varint(bytes).map_err(broken)
}
