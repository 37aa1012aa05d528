//! A random model of two layers, and a folder of its files.
// Each file of tests uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, process};

use serde_json::{Map, Value, json};
use tenure::{DynView, Tensor, io::safetensors, random};

pub const VOCABULARY: usize = 11;
pub const POSITIONS: usize = 6;
pub const HIDDEN: usize = 8;
pub const WIDE: usize = 12;
pub const HEADS: usize = 2;

pub type Model = BTreeMap<String, Tensor<f32>>;

pub fn model() -> Model {
    model_of(HIDDEN, WIDE)
}

/// With vectors of another length.
pub fn model_of(hidden: usize, wide: usize) -> Model {
    let mut shapes = BTreeMap::from([
        ("embeddings.word_embeddings.weight".to_string(), vec![VOCABULARY, hidden]),
        ("embeddings.position_embeddings.weight".to_string(), vec![POSITIONS, hidden]),
        ("embeddings.token_type_embeddings.weight".to_string(), vec![2, hidden]),
    ]);
    let mut norms = vec!["embeddings".to_string()];
    for layer in 0..2 {
        let layer = format!("encoder.layer.{layer}");
        let mut linear = |name: &str, rows, cols| {
            shapes.insert(format!("{layer}.{name}.weight"), vec![rows, cols]);
            shapes.insert(format!("{layer}.{name}.bias"), vec![rows]);
        };
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            linear(&format!("attention.{part}"), hidden, hidden);
        }
        linear("intermediate.dense", wide, hidden);
        linear("output.dense", hidden, wide);
        norms.extend(["attention.output", "output"].map(|part| format!("{layer}.{part}")));
    }
    for norm in norms {
        for part in ["weight", "bias"] {
            shapes.insert(format!("{norm}.LayerNorm.{part}"), vec![hidden]);
        }
    }
    let mut numbers = random::Generator::new(18);
    let tensor =
        |(name, shape): (String, Vec<usize>)| (name, numbers.normal(0.0, 0.6, shape).unwrap());
    shapes.into_iter().map(tensor).collect()
}

pub fn opened(model: &Model) -> safetensors::Shared {
    safetensors::Shared::new(file_of(model)).unwrap()
}

/// The bytes of a file of it.
pub fn file_of(model: &Model) -> Vec<u8> {
    let tensors: Vec<(&str, DynView<'_>)> =
        model.iter().map(|(name, tensor)| (name.as_str(), tensor.into())).collect();
    let mut file = Vec::new();
    safetensors::Writer::new().write(&tensors, &mut file).unwrap();
    file
}

pub const TOKENS: [&str; VOCABULARY] =
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "memory", "lent", "held", "by", "##s", "a", "the"];
pub const CONFIG: &str = r#"{"num_attention_heads": 2, "hidden_act": "gelu"}"#;

/// A `tokenizer.json` of the first `count` tokens, which puts [CLS] and [SEP] around those of a
/// text, and has padding and truncation that no model obeys.
pub fn tokenizer(count: usize) -> Value {
    let special = |token: &str| json!({"SpecialToken": {"id": token, "type_id": 0}});
    let sequence = |id: &str| json!({"Sequence": {"id": id, "type_id": 0}});
    let ids = |token: &str| {
        let id = TOKENS.iter().position(|&other| other == token);
        json!({"id": token, "ids": [id], "tokens": [token]})
    };
    let vocabulary: Map<String, Value> =
        (0..count).map(|id| (TOKENS[id].to_string(), id.into())).collect();
    json!({
        "version": "1.0",
        "truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0},
        "padding": {
            "strategy": {"Fixed": 6}, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]",
        },
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), sequence("A"), special("[SEP]")],
            "pair": [sequence("A"), sequence("B")],
            "special_tokens": {"[CLS]": ids("[CLS]"), "[SEP]": ids("[SEP]")},
        },
        "decoder": null,
        "model": {
            "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    })
}

/// A folder of files, which ends with it.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn of_model(model: &Model) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("tenure-encoder-{}-{number}", process::id());
        let folder = Self(env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder.write("model.safetensors", file_of(model));
        folder.write("tokenizer.json", tokenizer(VOCABULARY).to_string());
        folder.write("config.json", CONFIG);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
