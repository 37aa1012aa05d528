# shellcheck shell=bash
# Finds what a command of ./x needs and this machine lacks, and installs it by name.
# Read by ./x.

interactive() { [[ -t 0 && -z ${CI:-} ]]; }

say() { printf '%s\n' "$*"; }

die() {
  printf 'x: %s\n' "$*" >&2
  exit 1
}

packages=()

# need_command COMMAND PACKAGE
need_command() { command -v "$1" >/dev/null 2>&1 || packages+=("$2"); }

# need_file FILE PACKAGE
need_file() { [[ -e $1 ]] || packages+=("$2"); }

need_rust() {
  command -v cargo >/dev/null 2>&1 ||
    die "Rust $OLDEST_RUST or newer is missing. Install it with rustup (rustup.rs), then run this again."
  local version
  version=$(rustc --version | cut -d' ' -f2)
  [[ $(printf '%s\n' "$OLDEST_RUST" "${version%%-*}" | sort -V | head -n1) == "$OLDEST_RUST" ]] ||
    die "rustc is $version but must be $OLDEST_RUST or newer: rustup update stable"
}

# need_rust_component CARGO_SUBCOMMAND COMPONENT
need_rust_component() {
  cargo "$1" --version >/dev/null 2>&1 && return
  command -v rustup >/dev/null 2>&1 || die "cargo $1 is missing: install rustup's component $2"
  say "x: adding rustup's component $2"
  rustup component add "$2" || die "rustup could not add $2"
}

need_compiler() {
  [[ -n ${CXX:-} ]] && command -v "${CXX##* }" >/dev/null 2>&1 && return
  command -v c++ >/dev/null 2>&1 || packages+=(g++)
}

as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif ! command -v sudo >/dev/null 2>&1; then
    die "neither root nor sudo: cannot run $*"
  elif interactive; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

apt() { as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@"; }

# Installs what the need_* calls above found missing.
install_missing() {
  ((${#packages[@]})) || return 0
  say "x: missing: ${packages[*]}"
  command -v apt-get >/dev/null 2>&1 ||
    die "there is no apt-get here: install these (or your system's names for them) and run this again"
  if interactive; then
    local answer
    read -r -p "x: install them with apt-get? [Y/n] " answer
    [[ ${answer:-y} == [yY]* ]] || die "nothing installed"
  fi
  apt -qq update || say "x: apt-get update failed; trying with the lists that are here"
  apt -qq -y --no-install-recommends install "${packages[@]}" || die "apt-get could not install them"
  packages=()
}

apt_has() { [[ $(apt-cache policy "$1" 2>/dev/null) == *"Candidate: "[!\(]* ]]; }

# want COMMAND PACKAGE: for what a check can do without; the check says that it was skipped.
want() {
  command -v "$1" >/dev/null 2>&1 && return
  command -v apt-get >/dev/null 2>&1 || return 0
  apt_has "$2" || apt -qq update >/dev/null 2>&1 || true
  if apt_has "$2"; then packages+=("$2"); else say "x: this system has no package $2"; fi
}

need_cpp_tools() {
  need_command g++ g++
  need_command cmake cmake
  need_command ninja ninja-build
  need_command pkg-config pkg-config
  need_file /usr/include/gtest/gtest.h libgtest-dev
}

need_python() {
  need_command python3 python3
  python3 -c 'import ensurepip' >/dev/null 2>&1 || packages+=(python3-venv)
}

need_lint_tools() {
  need_rust_component fmt rustfmt
  need_rust_component clippy clippy
  want clang-format-19 clang-format-19
  want clang-tidy-19 clang-tidy-19
  want clang++-19 clang-19
}

# python_with VENV MODULE...: prints the interpreter of build/VENV, which has these modules.
python_with() {
  local python=$PWD/build/$1/bin/python IFS=,
  shift
  [[ -x $python ]] || python3 -m venv "${python%/bin/python}" >&2 || return
  "$python" -c "import $*" 2>/dev/null ||
    "$python" -m pip install --quiet --disable-pip-version-check "$@" >&2 || return
  printf '%s\n' "$python"
}

# A venv of its own: the package index has several GB of PyTorch for its GPUs. An index of the CPU's
# builds can be named to pip in PIP_INDEX_URL.
python_with_torch() { python_with venv-bench numpy numexpr scipy torch; }
