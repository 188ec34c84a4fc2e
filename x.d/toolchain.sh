# shellcheck shell=bash disable=SC2154 # root, target, owner, owner_home: set by x and x.d/common.sh
# Part of x: finds a Rust toolchain that is new enough, or fetches one without touching the user's own.

tools= # the directory that has cargo and rustc
oldest=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$root/Cargo.toml")

# toolchain [COMMAND…]: sets `tools`; the commands have to be there too.
toolchain() {
  find_tools "$@" && return
  fetch_tools
  find_tools "$@" || die "the Rust $oldest or newer just fetched does not run. Its files are in $target/toolchain"
}

find_tools() {
  local path
  path=$(command -v cargo) || true
  for tools in ${path:+"${path%/*}"} "$owner_home/.cargo/bin" "${packaged_tools[@]}" "$target/toolchain/bin"; do
    new_enough "$@" && return
  done
  return 1
}

# Ubuntu's versioned packages live side by side, off the PATH.
shopt -s nullglob
packaged_tools=(/usr/lib/rust-*/bin)
shopt -u nullglob

new_enough() {
  local name version
  for name in cargo rustc "$@"; do
    [[ -x $tools/$name ]] || return 1
    version=$(with_tools as_owner "$tools/$name" --version 2>/dev/null) || return 1 # a rustup proxy without its tool
    case $name in cargo | rustc) at_least "$(cut -d' ' -f2 <<<"$version")" || return 1 ;; esac
  done
}

# at_least VERSION: whether it is `oldest` or newer
at_least() { [[ $(printf '%s\n%s\n' "$oldest" "$1" | sort -V | head -n 1) == "$oldest" ]]; }

with_tools() { PATH=$tools:$PATH "$@"; }
cargo_as_owner() { (cd "$root" && with_tools as_owner cargo "$@"); }
# The owner's settings and downloads, also for root; what root writes goes back to the owner.
cargo_as_root() {
  at_end+=(give_back)
  (cd "$root" && CARGO_HOME=${CARGO_HOME:-$owner_home/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$owner_home/.rustup} \
    with_tools cargo "$@")
}

fetch_tools() {
  say "There is no cargo and rustc of version $oldest or newer here"
  if have apt-get; then
    may_install "Rust $oldest or newer"
    refresh_lists
    if at_least "$(candidate rustc-web)"; then
      unpack_web_tools
      return
    fi
    local newest
    newest=$(apt-cache pkgnames rustc-1. | sed -n 's/^rustc-\(1\.[0-9]*\)$/\1/p' | sort -V | tail -n 1)
    if at_least "${newest:-0}"; then
      say "Installing rustc-$newest, cargo-$newest: the Rust toolchain, beside any other"
      install "rustc-$newest" "cargo-$newest" "rustfmt-$newest" "rust-$newest-clippy"
      packaged_tools=("/usr/lib/rust-$newest/bin")
      return
    fi
  fi
  die "this system's packages have no Rust $oldest or newer. Install it with rustup (as ${owner:-this user}), then run ./x again"
}

# The version apt would install, without Debian's additions; 0 when there is none.
candidate() {
  local version
  version=$(apt-cache policy "$1" | sed -n 's/^ *Candidate: \([0-9.]*\).*/\1/p')
  echo "${version:-0}"
}

# Debian's newest Rust is in the packages ending in -web. Installing them would remove the user's rustc or rustup, so
# they are unpacked under target/; only the libraries they run on are installed.
unpack_web_tools() {
  local packages=(rustc-web cargo-web rust-web-clippy rustfmt-web) libraries=() part=$target/toolchain.part name i
  for ((i = 0; i < ${#packages[@]}; i++)); do
    for name in $(depends "${packages[i]}"); do
      case $name in
        *rust*) [[ " ${packages[*]} " == *" $name "* ]] || packages+=("$name") ;;
        lib*-dev) ;; # for gcc, which is here already
        lib*) is_installed "$name" || libraries+=("$name") ;;
      esac
    done
  done
  if [[ ${#libraries[@]} -gt 0 ]]; then
    say "Installing ${libraries[*]}: the toolchain's own libraries"
    install "${libraries[@]}"
  fi
  say "Unpacking ${packages[*]} into target/toolchain: the Rust toolchain (nothing else on this machine sees it)"
  at_end+=(give_back)
  rm -rf "$part" "$target/toolchain"
  mkdir -p "$part/bin"
  (cd "$part" && apt_get download "${packages[@]}") || apt_failed "could not download ${packages[*]}"
  for name in "$part"/*.deb; do
    dpkg-deb -x "$name" "$part"
    rm "$name"
  done
  for name in "$part"/usr/bin/*; do
    wrapper "${name##*/}" "$part" >"$part/bin/${name##*/}"
    chmod 755 "$part/bin/${name##*/}"
  done
  [[ -z $owner ]] || chown -R "$owner:" "$part"
  mv "$part" "$target/toolchain"
}

# depends PACKAGE…
depends() {
  apt-cache show --no-all-versions "$@" | sed -nE 's/^(Pre-)?Depends: //p' | tr ',' '\n' | sed 's/|.*//; s/(.*//; s/ //g'
}

is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# wrapper NAME PART: a script that starts the unpacked NAME with the libraries beside it
wrapper() {
  local driver
  driver=$(find "$2/usr/lib" -name 'librustc_driver*.so' -print -quit)
  driver=${driver%/*}
  cat <<TEXT
#!/bin/sh
here=\${0%/*}/..
LD_LIBRARY_PATH=\$here/${driver#"$2/"}\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec "\$here/usr/bin/$1" "\$@"
TEXT
}
