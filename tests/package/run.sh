#!/usr/bin/env bash
# usage: tests/package/run.sh WORK_FOLDER CMAKE_BUILD_FOLDER
#
# Builds and runs a crate that depends on the packages as they would be published: with the core
# compiled on the way, and with an installed library instead. Checks the size of the packages, and
# that the kernels for GPUs get from build/cuda into the package, and from there into the library.
# Who depends on Tenure by path is in the workspace: the bench, the examples.
set -euo pipefail
# The caller may have linked a library to save time; here both ways are chosen below.
unset TENURE_NO_VENDOR TENURE_STATIC PKG_CONFIG_PATH TENURE_CUDA_FAT_BINARY
mkdir -p "$1"
work=$(cd "$1" && pwd)
build=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml")
# The sources compress to 1.3 MB. The kernels for GPUs take 1.1 MB and compress no further.
readonly LIMIT_BYTES=$((19 << 17))

# dependent NAME TENURE_FOLDER SYS_FOLDER: writes a crate that depends on these folders.
dependent() {
  local crate=$work/$1
  mkdir -p "$crate/src"
  cp "$here/main.rs" "$crate/src/main.rs"
  cp "$here/build.rs" "$crate/build.rs"
  cat >"$crate/Cargo.toml" <<TOML
[package]
name = "dependent"
version = "0.0.0"
edition = "2024"
publish = false

[dependencies]
tenure = "$version"
tenure-sys = "$version"

[patch.crates-io]
tenure = { path = "$2" }
tenure-sys = { path = "$3" }
tenure-derive = { path = "$work/packages/tenure-derive-$version" }

[workspace]
TOML
}

# run NAME: builds and runs it, with a target folder of its own so that nothing is there before.
run() {
  local start=$SECONDS answer
  rm -rf "${work:?}/$1/target"
  CARGO_TARGET_DIR="$work/$1/target" cargo build -q --manifest-path "$work/$1/Cargo.toml"
  answer=$("$work/$1/target/debug/dependent")
  [[ $answer == "[11, 22, 33]" ]] || {
    echo "$1: the dependent crate printed '$answer' but must print '[11, 22, 33]'"
    exit 1
  }
  echo "$1: built clean and ran in $((SECONDS - start)) s"
}

cd "$root"
for part in setup cuda; do
  # shellcheck source=/dev/null
  source "tools/$part.sh"
done
rm -rf "$work/packages"
mkdir -p "$work/packages"
cargo_on_crates package -q --no-verify --target-dir "$work/packages"
for name in tenure-derive tenure-sys tenure; do
  archive=$work/packages/package/$name-$version.crate
  size=$(wc -c <"$archive")
  echo "$name-$version.crate: $size bytes"
  ((size <= LIMIT_BYTES)) || {
    echo "$archive has $size bytes but must have at most $LIMIT_BYTES"
    exit 1
  }
  tar -xzf "$archive" -C "$work/packages"
done
dependent packaged "$work/packages/tenure-$version" "$work/packages/tenure-sys-$version"
# With little of the optimizer, which takes half of the time: other suites test what it gives.
CXXFLAGS="${CXXFLAGS:-} -O1" run packaged
if kernels_are_current; then
  cmp "$FAT_BINARY" "$work/packages/tenure-sys-$version/kernels.fatbin"
  archive=$(find "$work/packaged/target" -name libtenure.a -print -quit)
  [[ -n $(nm "$archive" 2>/dev/null | grep tenure_cuda_fat_binary) ]] || {
    echo "the library of the packaged crate lacks the kernels for GPUs of the package"
    exit 1
  }
else
  say "skipped: kernels for GPUs in the package (./x kernels compiles them)"
fi

cmake --install "$build" --prefix "$work/prefix" >/dev/null
libraries=$(dirname "$(find "$work/prefix" -name 'libtenure.so' | head -n1)")
dependent installed "$work/packages/tenure-$version" "$work/packages/tenure-sys-$version"
export TENURE_NO_VENDOR=1 LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
PKG_CONFIG_PATH="$libraries/pkgconfig" run installed
# Not through a pipe: grep -q ends at the first match, and what ldd then fails to write would count.
loaded=$(ldd "$work/installed/target/debug/dependent")
[[ $loaded == *"libtenure.so"*"=> $libraries"* ]] || {
  echo "the dependent crate does not use the installed libtenure.so"
  exit 1
}
echo "2 passed, 0 failed"
