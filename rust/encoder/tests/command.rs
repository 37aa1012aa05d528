//! The command `embed` on folders and texts of all kinds.
#![forbid(unsafe_code)]

mod model;

use std::path::Path;
use std::process::{Command, Output};

use model::{CONFIG, Folder, HIDDEN, TOKENS, VOCABULARY, file_of, model, tokenizer};
use tenure::{
    DynView, Passes, Tensor,
    io::{npy, safetensors},
};
use tenure_encoder::{Bert, Embedding, Error, Tokens, TooLong, report, vectors};

fn embed(folder: &Folder, text: impl AsRef<[u8]>, arguments: &[&str]) -> Output {
    folder.write("lines.txt", text);
    let mut command = Command::new(env!("CARGO_BIN_EXE_embed"));
    command.arg(folder.path("lines.txt")).arg("--model").arg(&folder.0).args(arguments);
    command.output().unwrap()
}

/// The output of a run that has succeeded.
fn said(output: Output) -> String {
    let [out, error] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success(), "{error}");
    assert_eq!(error, "");
    out
}

/// Why it has failed, after the name of the file that is the reason.
fn refusal(output: Output, file: &Path) -> String {
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{error}");
    let prefix = format!("embed: {}: ", file.display());
    error.strip_prefix(&prefix).expect(&error).trim_end().to_string()
}

/// The refusal of a folder with this file instead of its own.
fn refused(name: &str, contents: impl AsRef<[u8]>) -> String {
    let folder = Folder::of_model(&model());
    folder.write(name, contents);
    refusal(embed(&folder, "lent\n", &[]), &folder.path(name))
}

fn refused_model(change: impl FnOnce(&mut model::Model)) -> String {
    let mut model = model();
    change(&mut model);
    refused("model.safetensors", file_of(&model))
}

#[test]
fn vectors_are_in_the_order_of_the_lines_and_the_nearest_is_found() {
    let folder = Folder::of_model(&model());
    let lines = ["memory", "the memory lent", "", "held by a", "lent", "the memory lent"];
    let out = folder.path("out.npy");
    let saved = folder.path("saved.tnrp");
    let paths = [&out, &saved].map(|path| path.to_str().unwrap());
    let arguments = ["--npy", paths[0], "--save", paths[1], "--query", "held by  A", "--top", "9"];
    let said = said(embed(&folder, lines.join("\r\n"), &arguments));
    assert!(said.contains("\nbytes copied by Tenure: 0\n"), "{said}");
    assert!(said.contains("6 lines, 23 tokens, "), "{said}");
    assert!(said.contains("nearest to \"held by  A\":\n  1.0000  line 4: held by a\n"), "{said}");
    assert_eq!(said.matches("  line ").count(), 6, "{said}");

    let of_file = Embedding::load(&saved, Vec::new()).unwrap();
    let two = of_file.run((&Tensor::from([[2_i64, 3]]), &[2_i64])).unwrap();
    let vectors = npy::read::<f32>(&out).unwrap();
    assert_eq!(vectors.shape(), [6, HIDDEN]);
    assert_eq!(vectors.index(0, 2).unwrap().to_vec(), two.to_vec());
    let bert = Bert::new(&model::opened(&model()), 2).unwrap();
    let program = bert.program(Passes::DEFAULT).unwrap();
    let vectors = vectors.to_vec();
    for (line, vector) in lines.iter().zip(vectors.chunks(HIDDEN)) {
        let id = |word: &str| TOKENS.iter().position(|&token| token == word).unwrap() as i64;
        let mut ids = vec![id("[CLS]")];
        ids.extend(line.split_whitespace().map(id));
        ids.push(id("[SEP]"));
        let (tokens, count) = ([ids.clone()], [ids.len() as i64]);
        let expected =
            program.run((&Tensor::from_vec(tokens.concat(), [1, ids.len()]).unwrap(), &count));
        for (a, b) in vector.iter().zip(expected.unwrap().to_vec()) {
            assert!((a - b).abs() < 1e-6, "{line}");
        }
    }
}

#[test]
fn a_report_is_a_table_and_a_picture() {
    let folder = Folder::of_model(&model());
    let report = folder.path("made/report");
    let report_of = |how: &[&str]| {
        let arguments = ["--report", report.to_str().unwrap(), "--threads", "2"];
        let lines = said(embed(&folder, "lent\nheld\n", &[&arguments, how].concat()));
        assert!(lines.contains("threads: 2\n"), "{lines}");
        assert!(std::fs::read_to_string(report.join("report.svg")).unwrap().starts_with("<svg"));
        std::fs::read_to_string(report.join("report.txt")).unwrap()
    };
    assert!(report_of(&[]).contains("  matmul "));
    assert!(report_of(&["--pack"]).contains("packed matmul"));
    assert!(report_of(&["--bf16"]).contains("bf16["));
    assert!(report_of(&["--sparse", "50"]).contains("sparse_matmul"));
}

#[test]
fn packed_weights_are_kept_and_mapped_where_they_fit() {
    let folder = Folder::of_model(&model());
    let out = folder.path("out.npy");
    let run = |how: &[&str], expected: &str| {
        let arguments = ["--npy", out.to_str().unwrap()];
        let lines = said(embed(&folder, "lent\nheld by\n", &[&arguments, how].concat()));
        assert!(lines.contains(expected), "{lines}");
        assert!(lines.contains("\nbytes copied by Tenure: 0\n"), "{lines}");
        npy::read::<f32>(&out).unwrap().to_vec()
    };
    let kept = folder.path("packed.f32");
    let mapped = format!("  weights: mapped from {}\n", kept.display());
    let vectors = run(&[], "");
    assert_eq!(run(&["--pack"], "  weights: packed now (No such file"), vectors);
    assert_eq!(run(&["--pack"], &mapped), vectors);

    let bytes = std::fs::read(&kept).unwrap();
    let reasons: [(Vec<u8>, &str); 5] = [
        (b"short".to_vec(), "they are of other weights"),
        ([&b"x"[..], &bytes[1..]].concat(), "they are of other weights"),
        (bytes[..bytes.len() - 64].to_vec(), "no packed constants of a program, or not all"),
        (bytes[..64].to_vec(), "no packed constants of a program, or not all"),
        ([&bytes[..], &[0; 64]].concat(), "no packed constants of a program, or not all"),
    ];
    for (wrong, reason) in reasons {
        folder.write("packed.f32", wrong);
        assert_eq!(run(&["--pack"], reason), vectors);
        assert_eq!(run(&["--pack"], &mapped), vectors);
    }
    // Another model under the same name.
    let mut other = model();
    other.values_mut().next().unwrap().view_mut().fill(0.5);
    std::thread::sleep(std::time::Duration::from_millis(20));
    folder.write("model.safetensors", file_of(&other));
    run(&["--pack"], "they are of other weights");
}

#[test]
fn long_lines_are_cut_and_that_is_said_once_or_refused() {
    let folder = Folder::of_model(&model());
    let (fits, long) = ("the memory lent by", "the memory lent by a");
    let text = [fits, long, "lent", long].join("\n");
    let lines = said(embed(&folder, &text, &["--query", fits, "--top", "3"]));
    assert!(lines.contains("\ncut to 6 tokens: 2 lines, the first is line 2\n"), "{lines}");
    assert_eq!(lines.matches("  1.0000  line ").count(), 3, "{lines}");

    let why = refusal(embed(&folder, &text, &["--strict"]), &folder.path("lines.txt"));
    assert_eq!(why, "line 2 has 7 tokens but the model takes 1 to 6");
    said(embed(&folder, fits, &["--strict"]));
}

#[test]
fn texts_that_are_none() {
    let folder = Folder::of_model(&model());
    let why = |text: &[u8]| refusal(embed(&folder, text, &[]), &folder.path("lines.txt"));
    assert_eq!(why(b""), "the file is empty");
    assert_eq!(why(b"lent\n\nhe\xffld\nlent\n"), "line 3 is not UTF-8");
    assert_eq!(why(b"\xc3"), "line 1 is not UTF-8");
    let lines = said(embed(&folder, "\n", &[]));
    assert!(lines.contains("1 lines, 2 tokens"), "{lines}");

    // A tokenizer that puts nothing around a text.
    let mut bare = tokenizer(VOCABULARY);
    bare["post_processor"] = ().into();
    folder.write("tokenizer.json", bare.to_string());
    assert_eq!(why(b"lent\n\n"), "line 2 has 0 tokens but the model takes 1 to 6");

    std::fs::remove_file(folder.path("lines.txt")).unwrap();
    let missing = Command::new(env!("CARGO_BIN_EXE_embed"))
        .args([folder.path("lines.txt").to_str().unwrap(), "--model", "."])
        .output()
        .unwrap();
    refusal(missing, &folder.path("lines.txt"));
}

#[test]
fn files_that_are_no_model() {
    let bias = "encoder.layer.1.output.dense.bias";
    let why = refused_model(|model| drop(model.remove(bias)));
    let near = "encoder.layer.0.output.dense.bias";
    assert!(
        why.starts_with(&format!("there is no tensor '{bias}': did you mean '{near}'")),
        "{why}"
    );
    let why = refused_model(|model| drop(model.insert(bias.into(), Tensor::zeros(7).unwrap())));
    assert_eq!(why, format!("the tensor {bias} has the shape [7] and the model needs [8]"));

    let model = model();
    let halves = Tensor::<f64>::zeros(HIDDEN).unwrap();
    let tensors: Vec<(&str, DynView<'_>)> = model
        .iter()
        .map(|(name, tensor)| {
            (&name[..], if name == bias { (&halves).into() } else { tensor.into() })
        })
        .collect();
    let mut file = Vec::new();
    safetensors::Writer::new().write(&tensors, &mut file).unwrap();
    let why = refused("model.safetensors", file);
    assert!(why.contains(bias) && why.contains("f64") && why.contains("f32"), "{why}");

    let file = file_of(&model);
    for length in [0, 7, 8, 100, file.len() / 2, file.len() - 1] {
        refused("model.safetensors", &file[..length]);
    }
}

#[test]
fn files_beside_a_model_that_do_not_fit_it() {
    let why = refused("tokenizer.json", tokenizer(VOCABULARY - 1).to_string());
    assert_eq!(why, "there are 10 tokens but the model has vectors of 11");
    // An id that is beyond them.
    let mut beyond = tokenizer(VOCABULARY);
    beyond["model"]["vocab"]["the"] = VOCABULARY.into();
    let why = refused("tokenizer.json", beyond.to_string());
    assert_eq!(why, "there are 12 tokens but the model has vectors of 11");
    refused("tokenizer.json", "{}");

    assert_eq!(refused("config.json", "{}"), "it says no num_attention_heads");
    refused("config.json", "no JSON");
    let why = refused("config.json", CONFIG.replace("gelu", "relu"));
    assert_eq!(why, "hidden_act is \"relu\" but the program has \"gelu\"");
    let folder = Folder::of_model(&model());
    folder.write("config.json", CONFIG.replace('2', "3"));
    let why = refusal(embed(&folder, "lent\n", &[]), &folder.path("model.safetensors"));
    assert_eq!(why, "vectors of 8 elements cannot be split into 3 heads");
    std::fs::remove_file(folder.path("config.json")).unwrap();
    refusal(embed(&folder, "lent\n", &[]), &folder.path("config.json"));
}

#[test]
fn no_texts_are_no_vectors() {
    let folder = Folder::of_model(&model());
    let bert = Bert::new(&model::opened(&model()), 2).unwrap();
    let tokens = Tokens::read(&folder.path("tokenizer.json"), &bert, TooLong::Refused).unwrap();
    let program = bert.program(Passes::DEFAULT).unwrap();
    let none = tokens.sequences([]).unwrap();
    assert_eq!(vectors(&program, &none, |_| ()).unwrap().shape(), [0, HIDDEN]);
    report(&program, &none, 1).unwrap();
    let error = tokens.sequences(["lent", "a a a a a a a"]).unwrap_err();
    assert!(matches!(error, Error::Length { text: 1, tokens: 9, most: 6 }), "{error}");
}

/// `embed tune` on a page of this text.
fn tune(folder: &Folder, page: &str, arguments: &[&str]) -> Output {
    folder.write("page.md", page);
    let mut command = Command::new(env!("CARGO_BIN_EXE_embed"));
    command.arg("tune").arg(folder.path("page.md")).arg("--model").arg(&folder.0);
    command.arg("--out").arg(folder.path("tuned")).args(arguments).output().unwrap()
}

#[test]
fn a_model_is_tuned_and_then_embeds() {
    let folder = Folder::of_model(&model());
    let page: String = (0..9).map(|_| "# lent by the\nthe memory held. Held by a.\n").collect();
    let lines = said(tune(&folder, &page, &["--steps", "5", "--batch", "4", "--rate", "1e-2"]));
    assert!(lines.starts_with("1 pages, 8 pairs to learn, 1 held out\nbefore: loss "), "{lines}");
    assert!(lines.contains("\na step of 4 pairs of 6 tokens: "), "{lines}");
    assert!(lines.contains("\n5 steps in ") && lines.contains("\nafter: loss "), "{lines}");

    let vectors = |model: &Path| {
        let out = folder.path("out.npy");
        let arguments = ["--model", model.to_str().unwrap(), "--npy", out.to_str().unwrap()];
        said(embed(&folder, "lent\nheld by\n", &arguments));
        npy::read::<f32>(&out).unwrap().to_vec()
    };
    assert_ne!(vectors(&folder.0), vectors(&folder.path("tuned")));
}

#[test]
fn pages_and_options_that_do_not_train() {
    let folder = Folder::of_model(&model());
    let why = |page: &str, arguments: &[&str]| {
        let output = tune(&folder, page, arguments);
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let one = "# lent\nthe memory held.\n";
    assert_eq!(
        why(one, &[]),
        "embed: the pages have 1 pairs to learn and 0 to hold out, but each must be at least 1\n"
    );
    assert!(why(one, &["--rate", "NaN"]).contains("a rate is finite and at least 0, not NaN"));
    assert!(why(one, &["--batch", "1"]).contains("a step takes 2 to 1024 pairs, not 1"));
    assert!(why("", &[]).contains("page.md: the file is empty"));
    assert!(why(one, &["--budget", "0"]).contains("0 is not in 1.."));
}
