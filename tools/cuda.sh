# shellcheck shell=bash
# The kernels for GPUs: compiles them, says whether they were, and collects the tests for a machine
# that has one. Read by ./x.

readonly CUDA_FOLDER=core/src/cuda
readonly CUDA_FLAGS='-std=c++17 -O3 -fmad=false --fatbin --compress-mode=size
  -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
  -Werror all-warnings -Xptxas -warn-spills,-warn-lmem-usage'

# Each piece with its digest. The package of nvcc names the others without versions, and the newest
# of them write what this ptxas does not read: --no-deps keeps those away.
readonly CUDA_WHEELS='
nvidia-cuda-nvcc==13.0.88 --hash=sha256:56fe502eb77625a12f25172caa3cdddb4e4c8ba2c8c17dba44b164761b380f03
nvidia-nvvm==13.0.88 --hash=sha256:c5f41ffeb6466944a026dfa5317d7d85355c119bbec279205d22f1869d1054e0
nvidia-cuda-crt==13.0.88 --hash=sha256:2c8043c7c9e02492716426e9919fc78d2c5b3b2a7a768a88e952676b08aa55a4
nvidia-cuda-runtime==13.0.96 --hash=sha256:7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548
nvidia-cuda-cuobjdump==13.2.86 --hash=sha256:d332c2ffe78e703ca0a3894be927f83124244e2acf0d792b8c12b4362d44d837'

# Prints the folder of the toolkit, which the first call makes of Python's packages.
cuda_toolkit() {
  local name made python
  [[ $(uname -m) == x86_64 ]] || die "kernels: the compiler for them is here for x86-64 alone"
  name=build/cuda/toolkit-$(printf %s "$CUDA_WHEELS" | sha256sum | cut -c1-12)
  if [[ ! -x $name/bin/nvcc ]]; then
    mkdir -p build/cuda
    made=$(mktemp -d build/cuda/new.XXXXXX)
    printf '%s\n' "$CUDA_WHEELS" >"$made/wheels.txt"
    python=$(python_with venv pip) || return
    "$python" -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
      --no-deps --only-binary=:all: --require-hashes --no-compile --target "$made/site" \
      -r "$made/wheels.txt" >&2 || return
    # The compiler looks for its libraries there.
    ln -s lib "$made/site/nvidia/cu13/lib64"
    # Another run may have been first.
    mv -T "$made/site/nvidia/cu13" "$name" 2>/dev/null || [[ -x $name/bin/nvcc ]] || return
    rm -rf "$made"
  fi
  printf '%s\n' "$PWD/$name"
}

# The sources of the fat binary: those of its folder, and what they include from other folders.
cuda_sources() {
  local kernels found include
  kernels=$(find "$CUDA_FOLDER/kernels" -name '*.cu' -o -name '*.cuh' -o -name '*.hpp')
  found=$kernels
  while [[ -n $found ]]; do
    printf '%s\n' "$found"
    # shellcheck disable=SC2086
    found=$(sed -n 's/^#include "\([^"]*\)"$/\1/p' $found | sort -u | while read -r include; do
      for include in core/src/"$include" core/include/"$include" capi/include/"$include"; do
        [[ ! -e $include || $include == "$CUDA_FOLDER/kernels/"* ]] || printf '%s\n' "$include"
      done
    done)
  done | LC_ALL=C sort -u
}
# What the fat binary is made from: digests of the sources, and the flags.
cuda_inputs() {
  cuda_sources | xargs sha256sum
  printf 'flags %s\n' "$(printf %s "$CUDA_FLAGS" | tr -s ' \n' ' ')"
}
cuda_output() { sha256sum "$CUDA_FOLDER/kernels.fatbin"; }

# All kernels in one unit: a fat binary has one image for each kind of device.
kernels() {
  local toolkit source release
  toolkit=$(cuda_toolkit) || die "kernels: the compiler could not be installed"
  mkdir -p build/cuda
  source=build/cuda/kernels.cu
  cuda_sources | sed -n 's/.*\/src\/\(.*\.cu\)$/#include "\1"/p' >"$source"
  # Where the names of the unit's own come from, so that the same sources give the same bytes.
  # shellcheck disable=SC2086
  "$toolkit/bin/nvcc" $CUDA_FLAGS -Icore/src -Icore/include -Icapi/include \
    -o "$CUDA_FOLDER/kernels.fatbin.new" "$source" || {
    rm -f "$CUDA_FOLDER/kernels.fatbin.new"
    return 1
  }
  mv "$CUDA_FOLDER/kernels.fatbin.new" "$CUDA_FOLDER/kernels.fatbin"
  release=$("$toolkit/bin/nvcc" --version | sed -n 's/.*release.*, V//p')
  {
    cuda_inputs
    printf 'nvcc %s\n' "$release"
    cuda_output
  } >"$CUDA_FOLDER/kernels.lock"
  kernel_resources "$toolkit" >build/cuda/resources.txt
  kernels_are_listed || return
  say "$CUDA_FOLDER/kernels.fatbin: $(stat -c %s "$CUDA_FOLDER/kernels.fatbin") bytes," \
    "$(grep -c '^sm_90 ' build/cuda/resources.txt) kernels; build/cuda/resources.txt"
}

# A line for each kernel and device: registers, and bytes of stack, of shared and of local memory.
kernel_resources() {
  "$1/bin/cuobjdump" --dump-resource-usage "$CUDA_FOLDER/kernels.fatbin" | awk '
    /^arch = / { arch = $3 }
    / Function / { name = $2; sub(/:$/, "", name) }
    /REG:/ { $1 = $1; print arch, name, $0 }' | LC_ALL=C sort
}

# Whether the kernels of the lists are those that were compiled: the library finds them by name.
kernels_are_listed() {
  local arch
  for arch in sm_80 sm_90; do
    diff <(find "$CUDA_FOLDER/kernels" -name "*_list.hpp" -exec cat {} + | grep -o 'KERNEL([a-z0-9_]*)' |
      sed 's/KERNEL(\(.*\))/tenure_\1/' | grep -v 'tenure_$' | LC_ALL=C sort) \
      <(sed -n "s/^$arch \([^ ]*\) .*/\1/p" build/cuda/resources.txt | LC_ALL=C sort) || {
      say "error: the lists of kernels (<) and those of $arch that were compiled (>) differ"
      return 1
    }
  done
}

# Whether the fat binary is that of these sources. Compiles nothing.
kernels_are_current() {
  local differing
  differing=$(diff <(grep -v '^nvcc ' "$CUDA_FOLDER/kernels.lock") <(cuda_inputs && cuda_output)) &&
    return
  say "$differing"
  say "error: $CUDA_FOLDER/kernels.fatbin is not of these sources: run ./x kernels"
  return 1
}

# Builds the device tests and runs them on the driver that has no device behind it; given a folder,
# collects there what a machine with a GPU needs.
device_tests() {
  cmake --preset release
  cmake --build --preset release --target device_tests
  ctest --preset release -j "$JOBS" -L device --no-tests=error
}

collect_device_tests() {
  local folder=$1 program
  mkdir -p "$folder" || return
  cmake --build --preset release --target device_bench engine_bench || return
  for program in build/release/{tests/cuda/*_test,libtenure.so,*_bench}; do
    [[ -e $program ]] && cp -L "$program" "$folder"
  done
  cp tools/cuda_run.sh "$folder"
  say "on the machine with a GPU: bash $folder/cuda_run.sh"
}
