#!/usr/bin/env bash
# Runs what ./x cuda FOLDER collected, on a machine with a GPU: the tests, the tests under the tools
# that look at each access, where there are any, and the benches. Prints a table last.
#
#   cuda_run.sh [quick]    quick: the tests alone
#
# engine_bench has cuBLASLt and cuDNN beside the own kernels; TENURE_CUBLASLT and TENURE_CUDNN name
# them where the system does not find them. Their tests pass without, and say what was tried.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
unset TENURE_CUDA_DRIVER
mkdir -p logs
table=()
failed=0

# run NAME COMMAND...
run() {
  local name=$1 start=$SECONDS code
  "${@:2}" >"logs/$name.log" 2>&1 </dev/null
  code=$?
  if ((code)); then
    failed=$((failed + 1))
    tail -n 30 "logs/$name.log"
  fi
  table+=("$(printf '%-40s %s %4d s' "$name" "$( ((code)) && echo "FAILED ($code)" || echo ok)" \
    $((SECONDS - start)))")
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
for program in *_test; do
  run "$program" "./$program" --gtest_brief=1
done
if [[ ${1:-} != quick ]]; then
  for folder in '' "${CUDA_HOME:-/usr/local/cuda}/bin/"; do
    sanitizer=$(command -v "${folder}compute-sanitizer") && break
  done
  for tool in memcheck racecheck initcheck; do
    [[ -n ${sanitizer:-} ]] || break
    for program in *_test; do
      # TENURE_TEST_QUICK: a few of the shapes, since each access takes a hundred times as long.
      TENURE_TEST_QUICK=1 run "$tool.$program" "$sanitizer" --tool "$tool" --error-exitcode 9 \
        "./$program" --gtest_brief=1
    done
  done
  [[ -n ${sanitizer:-} ]] || table+=("skipped: compute-sanitizer is not here")
  for program in *_bench; do
    [[ -e $program ]] || break
    run "$program" "./$program"
    cat "logs/$program.log"
  done
fi
printf '%s\n' "${table[@]}"
((failed == 0)) && echo "all passed" || echo "$failed failed"
exit $((failed != 0))
