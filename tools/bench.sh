# shellcheck shell=bash
# The benches and their peers. Read by ./x.

need_python_bench() {
  need_command cmake cmake
  need_command ninja ninja-build
  need_python
}

# bench_rust [ARGS]: of `cargo bench`, with all peers that were asked for.
bench_rust() {
  # The bench `loader` takes turns with NumPy and PyTorch, where they are installed.
  [[ ! -x $TORCH_VENV/bin/python ]] || local -x BENCH_PYTHON=$TORCH_VENV/bin/python
  cargo bench -p bench --features "peers${BENCH_FEATURES:+,$BENCH_FEATURES}" "$@"
}

# bench_python SET [--quick]: SET as below.
bench_python() {
  local python=$TORCH_VENV/bin/python set=$1 to=${CARGO_TARGET_DIR:-target}/bench peers=()
  shift
  need_torch && shared_library || return
  [[ $set == sparse ]] || peers+=(peers)
  [[ $set == dense ]] || peers+=(sparse_peers)
  local one
  for one in "${peers[@]}"; do
    "$python" "bench/$one.py" build/release/libtenure.so "$to" "$@" || return
  done
}

bench_report() { cargo run -q --release -p bench --bin report; }

# The benches that the figures of bench/README.md are of, in sets.
readonly DENSE=(--bench roofs --bench elementwise --bench movement --bench reduce
  --bench threads --bench call --bench alloc --bench loader)
readonly SPARSE=(--bench sparse_memory --bench sparse)
readonly FILES=(--bench files)

# bench_figures SET [--quick]: SET is dense, sparse or files; anything else is all.
bench_figures() {
  local set=$1 benches=()
  shift
  [[ $set == @(sparse|files) ]] || benches+=("${DENSE[@]}")
  [[ $set == @(dense|files) ]] || benches+=("${SPARSE[@]}")
  [[ $set == @(dense|sparse) ]] || benches+=("${FILES[@]}")
  # Before the Rust ones, of which `loader` takes turns with what is in it.
  [[ $set == @(sparse|files) ]] || need_torch || return
  bench_rust "${benches[@]}" -- "$@" || return
  [[ $set == files ]] || bench_python "$set" "$@" || return
  bench_report
}

bench() {
  local what=${1:-}
  case $what in
    report) bench_report ;;
    python) bench_python "${2:-both}" "${@:3}" && bench_report ;;
    figures) bench_figures "${2:-both}" ;;
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
