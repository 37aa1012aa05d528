"""The vectors of the command `embed` (rust/encoder), beside those of another implementation.

    python tests/interop/embed_test.py EMBED_PROGRAM [MODEL_FOLDER]

Without MODEL_FOLDER: a random model of two layers, beside NumPy. With it: that model, beside
PyTorch's own layers with the same weights, and the gradients of the loss of pairs beside PyTorch's.
The words of BERT are found here by its description.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unicodedata
import unittest

import numpy as np

from numpy_files_test import tensors_of, write_tensors

LINES = [
    "the memory is lent for a call, and given back.", "", "Lent memory; HELD memory!",
    "  Dvořák's   naïve\tcafé \u00a0", "日本語 and 東京", "unaffable, (un)affordable: e-mail@x.org",
    "a" * 101, "\u00e9\u0301\u200b zero-width", "¿qué? «oui» — non…", "9,999.5 %", "lent",
    "held by an owner of its own, which can be stored, moved and sent away " * 80,
]

program, model = None, None


def is_punctuation(char):
    return char in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" or unicodedata.category(char)[0] == "P"


def words(text):
    """Of BERT without case: accents are left out, punctuation and ideographs stand alone."""
    apart = ""
    for char in text:
        if char.isspace():
            apart += " "
        elif unicodedata.category(char) not in ("Cc", "Cf"):
            apart += f" {char} " if "\u4e00" <= char <= "\u9fff" else char
    marked = unicodedata.normalize("NFD", apart.lower())
    bare = (char for char in marked if unicodedata.category(char) != "Mn")
    return "".join(f" {char} " if is_punctuation(char) else char for char in bare).split()


def pieces(word, vocabulary):
    """The longest that there is, again and again; those after the first start with ##."""
    found, start = [], 0
    while start < len(word):
        prefix = "##" if start else ""
        longest = (word[start:end] for end in range(len(word), start, -1)
                   if prefix + word[start:end] in vocabulary)
        piece = next(longest, None)
        if piece is None or len(word) > 100:
            return [vocabulary["[UNK]"]]
        found.append(vocabulary[prefix + piece])
        start += len(piece)
    return found


def ids_of(line, vocabulary, positions):
    ids = [id for word in words(line) for id in pieces(word, vocabulary)]
    return [vocabulary["[CLS]"], *ids[:positions - 2], vocabulary["[SEP]"]]


def layer_count(tensors):
    return 1 + max(int(name.split(".")[2]) for name in tensors if name.startswith("encoder.layer."))


def numpy_vector(tensors, heads, ids):
    def norm(name, x):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x ** 2).mean(-1, keepdims=True) + 1e-12)
        return x * tensors[f"{name}.LayerNorm.weight"] + tensors[f"{name}.LayerNorm.bias"]

    def linear(name, x):
        return x @ tensors[f"{name}.weight"].T.astype(np.float64) + tensors[f"{name}.bias"]

    def gelu(x):
        return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))

    x = embedded(tensors, ids).astype(np.float64)
    x = norm("embeddings", x)
    for layer in range(layer_count(tensors)):
        name = f"encoder.layer.{layer}"
        split = (len(ids), heads, -1)
        parts = (linear(f"{name}.attention.self.{part}", x) for part in ("query", "key", "value"))
        query, key, value = (part.reshape(split).swapaxes(0, 1) for part in parts)
        scores = np.exp(query @ key.swapaxes(1, 2) / math.sqrt(query.shape[2]))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(x.shape)
        x = norm(f"{name}.attention.output", linear(f"{name}.attention.output.dense", mixed) + x)
        wide = gelu(linear(f"{name}.intermediate.dense", x))
        x = norm(f"{name}.output", linear(f"{name}.output.dense", wide) + x)
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


def embedded(tensors, ids):
    table = "embeddings.{}_embeddings.weight".format
    return (tensors[table("word")][ids] + tensors[table("position")][:len(ids)]
            + tensors[table("token_type")][0])


def torch_layers(tensors, heads):
    """PyTorch's own layers, and their parameters by the names of these weights."""
    import torch
    tensors = {name: torch.from_numpy(np.array(tensor)) for name, tensor in tensors.items()}
    layers = []
    for number in range(layer_count(tensors)):
        def part(name, kind):
            return tensors[f"encoder.layer.{number}.{name}.{kind}"]
        wide, hidden = part("intermediate.dense", "weight").shape
        layer = torch.nn.TransformerEncoderLayer(
            hidden, heads, wide, dropout=0, activation="gelu", layer_norm_eps=1e-12,
            batch_first=True)
        state = {}
        for kind in ("weight", "bias"):
            parts = [part(f"attention.self.{name}", kind) for name in ("query", "key", "value")]
            state[f"self_attn.in_proj_{kind}"] = torch.cat(parts)
            for theirs, ours in NAMES:
                state[f"{theirs}.{kind}"] = part(ours, kind)
        layer.load_state_dict(state)
        layers.append(layer.eval())
    return torch, tensors, layers


# The parts of PyTorch's layer, and the names that the file has for them.
NAMES = (("self_attn.out_proj", "attention.output.dense"), ("norm1", "attention.output.LayerNorm"),
         ("linear1", "intermediate.dense"), ("linear2", "output.dense"),
         ("norm2", "output.LayerNorm"))


def torch_vector(torch, tensors, layers, ids):
    norm = [tensors[f"embeddings.LayerNorm.{kind}"] for kind in ("weight", "bias")]
    x = embedded(tensors, ids)[None]
    x = torch.nn.functional.layer_norm(x, x.shape[-1:], *norm, 1e-12)
    for layer in layers:
        x = layer(x)
    return torch.nn.functional.normalize(x.mean(1), dim=1)[0]


def torch_gradients(torch, tensors, layers, pairs):
    """The loss of pairs of ids, and its gradients by the names of the file."""
    for name, tensor in tensors.items():
        tensor.requires_grad_(name.startswith("embeddings.") and tensor.is_floating_point())
    def vectors(side):
        return torch.stack([torch_vector(torch, tensors, layers, pair[side]) for pair in pairs])
    first, second = vectors(0), vectors(1)
    loss = torch.nn.functional.cross_entropy(20 * first @ second.T, torch.arange(len(pairs)))
    loss.backward()
    gradients = {name: tensor.grad for name, tensor in tensors.items() if tensor.requires_grad}
    for number, layer in enumerate(layers):
        name = f"encoder.layer.{number}"
        for kind in ("weight", "bias"):
            whole = getattr(layer.self_attn, f"in_proj_{kind}").grad
            for part, gradient in zip(("query", "key", "value"), whole.chunk(3)):
                gradients[f"{name}.attention.self.{part}.{kind}"] = gradient
            for theirs, ours in NAMES:
                parameter = layer.get_parameter(f"{theirs}.{kind}")
                gradients[f"{name}.{ours}.{kind}"] = parameter.grad
    return loss.item(), gradients


def random_model(folder):
    """Of the format that the command takes, with a vocabulary for the lines above."""
    rng = np.random.default_rng(18)
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "lent", "memory", "held", "##able",
              "un", "naive", "cafe", "dvorak", "東", "京", ",", ".", "(", ")", "!", ";", "«", "—",
              "…", *(chr(code) for code in range(ord("a"), ord("z") + 1)),
              *("##" + chr(code) for code in range(ord("a"), ord("z") + 1))]
    hidden, wide, shapes = 32, 48, {}
    for name, rows in (("word", len(tokens)), ("position", 40), ("token_type", 2)):
        shapes[f"embeddings.{name}_embeddings.weight"] = (rows, hidden)
    norms = ["embeddings"]
    for layer in range(2):
        name = f"encoder.layer.{layer}"
        norms += [f"{name}.attention.output", f"{name}.output"]
        for part, rows, cols in [(f"attention.{part}", hidden, hidden) for part in
                                 ("self.query", "self.key", "self.value", "output.dense")] + [
                                     ("intermediate.dense", wide, hidden),
                                     ("output.dense", hidden, wide)]:
            shapes[f"{name}.{part}.weight"], shapes[f"{name}.{part}.bias"] = (rows, cols), (rows,)
    for norm in norms:
        shapes[f"{norm}.LayerNorm.weight"] = shapes[f"{norm}.LayerNorm.bias"] = (hidden,)
    tensors = {name: rng.normal(0, 0.5, shape).astype("f4") for name, shape in shapes.items()}
    write_tensors(folder / "model.safetensors", tensors)
    config = {"num_attention_heads": 4, "hidden_act": "gelu"}
    (folder / "config.json").write_text(json.dumps(config))
    special = {token: {"id": token, "ids": [tokens.index(token)], "tokens": [token]}
               for token in ("[CLS]", "[SEP]")}
    single = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}},
              {"Sequence": {"id": "A", "type_id": 0}},
              {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "decoder": None,
        "added_tokens": [{"id": id, "content": token, "special": True, "single_word": False,
                          "lstrip": False, "rstrip": False, "normalized": False}
                         for id, token in enumerate(tokens[:5])],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing", "single": single,
                           "pair": single + [{"Sequence": {"id": "B", "type_id": 1}}],
                           "special_tokens": special},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100,
                  "vocab": {token: id for id, token in enumerate(tokens)}}}))


class Vectors(unittest.TestCase):
    def test_lines_of_all_kinds(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if model is None:
                random_model(folder)
            self.compare(model or folder, folder)

    def compare(self, model, folder):
        tensors = tensors_of(model / "model.safetensors")[0]
        heads = json.loads((model / "config.json").read_text())["num_attention_heads"]
        vocabulary = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
        positions = len(tensors["embeddings.position_embeddings.weight"])
        lines, out = folder / "lines.txt", folder / "out.npy"
        lines.write_text("\n".join(LINES) + "\n")
        subprocess.run([program, lines, "--model", model, "--npy", out], check=True,
                       stdout=subprocess.DEVNULL)
        ours = np.load(out)
        self.assertEqual(len(ours), len(LINES))
        layers = torch_layers(tensors, heads) if model != folder else None
        worst, furthest = 1.0, 0.0
        for line, vector in zip(LINES, ours):
            ids = ids_of(line, vocabulary, positions)
            theirs = (torch_vector(*layers, ids).detach().numpy() if layers
                      else numpy_vector(tensors, heads, ids))
            worst = min(worst, float(vector.astype("f8") @ theirs.astype("f8")))
            furthest = max(furthest, float(abs(vector - theirs).max()))
            self.assertLess(abs(vector - theirs).max(), 1e-5, line[:40])
        peer = "PyTorch" if layers else "NumPy"
        print(f"beside {peer}: {len(LINES)} lines, least cosine {worst:.8f}, largest difference of "
              f"a component {furthest:.1e}")
        self.assertGreater(worst, 0.999999)

    @unittest.skipIf(len(sys.argv) < 3, "gradients are compared with PyTorch's, of a model")
    def test_gradients_of_pairs(self):
        tensors = tensors_of(model / "model.safetensors")[0]
        heads = json.loads((model / "config.json").read_text())["num_attention_heads"]
        vocabulary = json.loads((model / "tokenizer.json").read_text())["model"]["vocab"]
        lines = [line for line in LINES if len(line) < 80]
        lines = lines[:len(lines) // 2 * 2]
        with tempfile.TemporaryDirectory() as folder:
            text, out = pathlib.Path(folder) / "pairs.txt", pathlib.Path(folder) / "out.safetensors"
            text.write_text("\n".join(lines) + "\n")
            example = pathlib.Path(program).parent / "examples" / "gradients"
            subprocess.run([example, model, text, out], check=True)
            ours = {name: np.array(tensor) for name, tensor in tensors_of(out)[0].items()}
        ids = [ids_of(line, vocabulary, 512) for line in lines]
        pairs = list(zip(ids[::2], ids[1::2]))
        loss, theirs = torch_gradients(*torch_layers(tensors, heads), pairs)
        self.assertLess(abs(float(ours.pop("loss")) - loss), 1e-5 * (1 + abs(loss)))
        self.assertLessEqual(ours.keys(), theirs.keys())
        worst = 0.0
        for name, gradient in ours.items():
            other = theirs[name].numpy()
            furthest = float(np.linalg.norm(gradient - other) / (np.linalg.norm(other) + 1e-9))
            # The bias of keys has no influence on softmax: its gradients are rounding errors.
            if name.endswith("self.key.bias"):
                furthest = float(abs(gradient).max())
            worst = max(worst, furthest)
            self.assertLess(furthest, 1e-4, name)
        print(f"beside PyTorch: loss {loss:.4f} of {len(pairs)} pairs, gradients by {len(ours)} "
              f"weights, largest relative difference {worst:.1e}")


if __name__ == "__main__":
    program = str(pathlib.Path(sys.argv[1]).absolute())
    model = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    unittest.main(argv=sys.argv[:1])
