# shellcheck shell=bash
# The kernels for GPUs: compiles them, puts them into the crate that is published, and collects the
# tests for a machine that has a GPU. Read by ./x and by tests/package/run.sh.

readonly CUDA_FOLDER=core/src/cuda
# What the library embeds (cmake/FatBinary.cmake, build.rs), and what it was compiled from: the file
# is one of `sha256sum --check`, by which both builds tell whether the other is current.
readonly FAT_BINARY=build/cuda/kernels.fatbin
readonly FAT_BINARY_LOCK=build/cuda/kernels.lock
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
      -r "$made/wheels.txt" >&2 || {
      rm -rf "$made"
      return 1
    }
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
# What the fat binary is made from: the flags, the packages of the compiler, digests of the sources.
cuda_inputs() {
  printf '# flags %s\n' "$(printf %s "$CUDA_FLAGS" | tr -s ' \n' ' ')"
  printf '# compiler %s\n' "$(printf %s "$CUDA_WHEELS" | grep -o '^[^ ]*==[^ ]*' | paste -sd' ')"
  cuda_sources | xargs sha256sum
}

# All kernels in one unit: a fat binary has one image for each kind of device.
kernels() {
  local toolkit inputs source=build/cuda/kernels.cu new=$FAT_BINARY.new
  if kernels_are_current; then
    say "$FAT_BINARY is current: compiled from these sources"
    return
  fi
  toolkit=$(cuda_toolkit) || die "kernels: the compiler could not be installed"
  mkdir -p build/cuda
  # Before the compilation: a source that changes meanwhile is not what was compiled.
  inputs=$(cuda_inputs)
  cuda_sources | sed -n 's/.*\/src\/\(.*\.cu\)$/#include "\1"/p' >"$source"
  # The names of the unit's own come from the path of the source, so that the same sources give the
  # same bytes. A thread for each kind of device changes none of them.
  # shellcheck disable=SC2086
  if ! "$toolkit/bin/nvcc" $CUDA_FLAGS --threads 0 -Icore/src -Icore/include -Icapi/include \
    -o "$new" "$source" || ! kernel_resources "$toolkit" "$new" >build/cuda/resources.txt ||
    ! kernels_are_listed; then
    rm -f "$new"
    return 1
  fi
  mv "$new" "$FAT_BINARY"
  printf '%s\n%s\n' "$inputs" "$(sha256sum "$FAT_BINARY")" >"$FAT_BINARY_LOCK"
  # Cargo watches this folder. A file that there is not cannot be watched: the build script would run
  # at each build.
  touch "$CUDA_FOLDER"
  say "$FAT_BINARY: $(stat -c %s "$FAT_BINARY") bytes," \
    "$(grep -c '^sm_90 ' build/cuda/resources.txt) kernels; build/cuda/resources.txt"
}

# The suite of ./x test: that the kernels compile, where their compiler can be installed.
kernels_suite() {
  kernels_are_current || (cuda_toolkit) >/dev/null || {
    say "skipped: the compilation of the kernels for GPUs (their compiler cannot be installed)"
    return 0
  }
  kernels
}

# kernel_resources TOOLKIT FAT_BINARY: a line for each kernel and device: registers, and bytes of
# stack, of shared and of local memory.
kernel_resources() {
  "$1/bin/cuobjdump" --dump-resource-usage "$2" | awk '
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

# Whether the fat binary is that of these sources, flags and compiler. Compiles nothing.
kernels_are_current() {
  [[ -e $FAT_BINARY && -e $FAT_BINARY_LOCK ]] &&
    cmp -s "$FAT_BINARY_LOCK" <(cuda_inputs && sha256sum "$FAT_BINARY")
}

# cargo_on_crates package|publish [ARGS]: that command of cargo, with the kernels among the files of
# tenure-sys where they are current. Builds of the work tree ignore the copy, and so does git, for
# which cargo takes it for an uncommitted change.
cargo_on_crates() {
  local copy=rust/tenure-sys/kernels.fatbin code=0
  rm -f "$copy"
  if kernels_are_current; then cp "$FAT_BINARY" "$copy" || return; fi
  cargo "$1" -p tenure-derive -p tenure-sys -p tenure --allow-dirty "${@:2}" || code=$?
  rm -f "$copy"
  return "$code"
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
