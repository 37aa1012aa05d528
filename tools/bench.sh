# shellcheck shell=bash
# The benches and their peers. Read by ./x.

need_python_bench() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_python
}

# Whether libraries that choose their kernels when they are built may choose those of AVX-512.
has_avx512() { [[ -z ${TENURE_ISA:-} ]] && grep -qsw avx512vl /proc/cpuinfo; }

# bench_rust [ARGS]: of `cargo bench`, with all peers that were asked for.
bench_rust() {
  # The bench `loader` takes turns with NumPy and PyTorch, where they are installed.
  [[ ! -x build/venv-bench/bin/python ]] || local -x BENCH_PYTHON=$PWD/build/venv-bench/bin/python
  local peers=peers
  if has_avx512; then peers=peers-avx512; fi
  cargo bench -p bench --features "$peers${BENCH_FEATURES:+,$BENCH_FEATURES}" "$@"
}

# bench_peers SCRIPT [ARGS]: one of bench/*.py.
bench_peers() {
  local python
  python=$(python_with_torch) || return
  "$python" "bench/$1.py" build/release/libtenure.so "${CARGO_TARGET_DIR:-target}/bench" "${@:2}"
}

# bench_embed [THREADS]: the sentence encoder, by the model that ./x embed fetches.
bench_embed() {
  local model python program=${CARGO_TARGET_DIR:-target}/release/examples/turns
  model=$(embed_model) && python=$(python_with_torch) || return
  cargo build --release -p tenure-encoder --example turns &&
    "$python" bench/embed_peers.py "$program" "$model" "$@"
}

# bench_training [THREADS] [ARGS]: training steps next to PyTorch, JAX, candle and burn.
bench_training() {
  local python folder=${CARGO_TARGET_DIR:-target} features=()
  python=$(python_with venv-bench numpy numexpr scipy torch jax) || return
  if has_avx512; then features=(--features avx512); fi
  cargo build --release -p bench --example training &&
    cargo build --release --manifest-path bench/training/Cargo.toml --target-dir "$folder" \
      "${features[@]}" &&
    "$python" bench/training_peers.py "${1:-1}" "$folder"/release{/examples,} "${@:2}"
}

# bench_python SET [--quick]: SET as below; under the instruction set in use.
bench_python() {
  [[ $1 == sparse ]] || bench_peers peers "${@:2}" || return
  [[ $1 == dense ]] || bench_peers sparse_peers "${@:2}"
}

bench_report() { cargo run -q --release -p bench --bin report; }

# The benches that the figures of bench/README.md are of, in sets; and those of each that no
# instruction set changes, which are run once.
readonly DENSE=(--bench elementwise --bench expressions --bench movement --bench reduce --bench matmul
  --bench quantized --bench conv2d --bench windows --bench threads --bench call --bench loader)
readonly DENSE_ONCE=(--bench roofs --bench alloc)
readonly MEMORY_ONCE=(--bench memory)
readonly SPARSE=(--bench sparse)
readonly FILES_ONCE=(--bench files)

# The values of TENURE_ISA that figures are given for: empty is the widest set of the processor.
instruction_sets() {
  if grep -qsw avx512vl /proc/cpuinfo; then echo avx2; fi
  echo ''
}

# bench_figures SET [--quick]: SET is dense, sparse or files; anything else is all.
bench_figures() {
  local set=$1 each=() once=() isa
  shift
  if [[ $set != @(sparse|files) ]]; then
    each+=("${DENSE[@]}")
    once+=("${DENSE_ONCE[@]}")
  fi
  if [[ $set != @(dense|files) ]]; then
    each+=("${SPARSE[@]}")
  fi
  [[ $set == @(dense|sparse) ]] || once+=("${FILES_ONCE[@]}")
  [[ $set == files ]] || once+=("${MEMORY_ONCE[@]}")
  # Before the Rust ones, of which `loader` takes turns with what is in it.
  [[ $set == files ]] || { python_with_torch && shared_library; } >/dev/null || return
  bench_rust "${once[@]}" -- "$@" || return
  # Criterion's rounds, shorter than the bench asks for: there are many.
  [[ $set == @(sparse|files) || -n $* ]] ||
    bench_rust --bench lend -- --warm-up-time 0.3 --measurement-time 1 || return
  [[ $set == files ]] || bench_peers memory_peers "$@" || return
  if ((${#each[@]})); then
    while read -r isa; do
      TENURE_ISA=$isa bench_rust "${each[@]}" -- "$@" </dev/null || return
      TENURE_ISA=$isa bench_python "$set" "$@" </dev/null || return
    done < <(instruction_sets)
  fi
  bench_report
}

bench() {
  local what=${1:-}
  case $what in
    report) bench_report ;;
    python)
      shared_library && bench_python "${2:-both}" "${@:3}" && bench_report
      ;;
    figures) bench_figures "${2:-both}" ;;
    embed) bench_embed "${@:2}" ;;
    training) bench_training "${@:2}" ;;
    quick) bench_figures "${2:-both}" --quick ;;
    *)
      local only=()
      if [[ -n $what && -e bench/benches/$what.rs ]]; then
        only=(--bench "$what")
        shift
      fi
      bench_rust "${only[@]}" -- "$@" && bench_report
      ;;
  esac
}
