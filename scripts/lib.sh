# Shared by the commands of this folder: source it. It goes to the repository's root.
# shellcheck shell=bash
set -euo pipefail

command_name=scripts/$(basename "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
logs=$root/build/logs
mkdir -p "$logs"
jobs=$(nproc)
failed_steps=()

build_packages=(
  g++ cmake ninja-build ccache clang-19 libomp-19-dev
  nlohmann-json3-dev libfmt-dev libcli11-dev libtomlplusplus-dev
  libsqlite3-dev zlib1g-dev libcurl4-openssl-dev libopenblas-openmp-dev libeigen3-dev
  universal-ctags
)
test_packages=(
  git patch clang-format-19 clang-tidy-19 libclang-19-dev llvm-19-dev libclang-rt-19-dev
  libvalijson-dev libgtest-dev libgmock-dev python3-torch chromium
  zsh fish man-db mandoc slurmctld slurmd slurm-client munge
)
# Node.js from elsewhere brings its own npm, and refuses Debian's.
command -v npm >/dev/null || test_packages+=(nodejs npm)

say() {
  printf '%s\n' "$*"
}

die() {
  printf '%s: %s\n' "$command_name" "$*" >&2
  exit 1
}

# The lines of a log that tell of a failure, each with what follows, and its end.
show_failure() {
  { grep -nE -A 8 'FAILED|\*\*\*Failed|: Failure$|error:|Error |ERROR:' "$1" || true; } | head -n 100
  say "the end:"
  tail -n 20 "$1"
}

# step NAME COMMAND...: runs it with its output in build/logs/NAME.log; a failure shows what says so.
step() {
  local name=$1 started=$SECONDS status=0
  shift
  "$@" >"$logs/$name.log" 2>&1 </dev/null || status=$?
  if [ "$status" -eq 0 ]; then
    say "ok      $name ($((SECONDS - started)) s)"
  else
    say "FAILED  $name ($((SECONDS - started)) s, exit code $status), from build/logs/$name.log:"
    show_failure "$logs/$name.log" | sed 's/^/    /' | cut -c 1-400
    failed_steps+=("$name")
  fi
  return "$status"
}

# The packages among the given ones that dpkg does not know as installed.
missing_packages() {
  local package state
  for package in "$@"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || printf '%s\n' "$package"
  done
}

apt_install() {
  local as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo)
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q)
  # The lists of packages may be absent or too old: they are fetched only if it fails as it is.
  "${apt[@]}" install --no-install-recommends "$@" ||
    { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "$@"; }
}

# need_packages "TOOL..." PACKAGE...: makes sure of the packages of Debian 12. On another system it
# names them and goes on if the tools are there.
need_packages() {
  local tools=$1 tool missing=()
  shift
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "not a Debian system; needed are what Debian calls: $*"
    for tool in $tools; do
      command -v "$tool" >/dev/null || die "$tool is not in PATH; install it and try again"
    done
    return
  fi
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "these packages are missing, and this user is neither root nor has sudo." \
      "As root: apt-get install --no-install-recommends ${missing[*]}"
  fi
  say "installing ${missing[*]}"
  step packages apt_install "${missing[@]}" ||
    die "could not install the packages above; see build/logs/packages.log"
}

# The cache knows a file by what is in it, in whichever folder it is compiled, and by what the
# compiler says that it includes: to preprocess every file first takes a tenth of the time.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true CCACHE_DEPEND=true

# configure PRESET [OPTION...]: into build/PRESET, with ccache if it is there.
configure() {
  local launcher=()
  ! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  cmake --preset "$@" "${launcher[@]}"
}

# build PRESET [TARGET...]
build() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  configure "$preset" && cmake --build "build/$preset" -j "$jobs" "${targets[@]}"
}
