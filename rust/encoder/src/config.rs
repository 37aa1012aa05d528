//! What a model's file says nothing of.

use serde_json::Value;

use crate::{Error, Result};

/// How many parts attention has, by the `config.json` that lies beside a model.
///
/// # Errors
/// [`Error::Config`]: it is no JSON, says nothing of heads, or describes a model with another
/// activation, another `eps` or positions of another kind than the program has.
pub fn heads(config: &str) -> Result<usize> {
    let config: Value =
        serde_json::from_str(config).map_err(|error| Error::Config(error.to_string()))?;
    let needed = [
        ("hidden_act", Value::from("gelu")),
        ("layer_norm_eps", Value::from(crate::program::EPS)),
        ("position_embedding_type", Value::from("absolute")),
    ];
    for (key, needed) in needed {
        match config.get(key) {
            Some(value) if *value != needed => {
                return Err(Error::Config(format!(
                    "{key} is {value} but the program has {needed}"
                )));
            }
            _ => {}
        }
    }
    let key = "num_attention_heads";
    let heads = config.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    heads.ok_or_else(|| Error::Config(format!("it says no {key}")))
}
