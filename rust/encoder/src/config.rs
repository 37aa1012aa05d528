//! Properties of a model that its file of weights does not have.

use serde_json::Value;

use crate::program::EPS;
use crate::{Error, Result};

/// The number of parts that attention has, by the `config.json` next to a model.
///
/// # Errors
/// [`Error::Config`]: it is no JSON, says nothing of heads, or describes a model with another
/// activation, another `eps` or positions of another kind than the program has.
pub fn heads(config: &str) -> Result<usize> {
    let config: Value =
        serde_json::from_str(config).map_err(|error| Error::Config(error.to_string()))?;
    let needed: [(&str, Value); 3] = [
        ("hidden_act", "gelu".into()),
        ("layer_norm_eps", EPS.into()),
        ("position_embedding_type", "absolute".into()),
    ];
    for (key, needed) in needed {
        if let Some(value) = config.get(key).filter(|value| **value != needed) {
            return Err(Error::Config(format!("{key} is {value} but the program has {needed}")));
        }
    }
    let heads = config.get("num_attention_heads").and_then(Value::as_u64);
    heads.map(|n| n as usize).ok_or_else(|| Error::Config("it says no num_attention_heads".into()))
}
