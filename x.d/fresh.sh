# shellcheck shell=bash disable=SC2154 # root, target: set by x
# Part of x: the two commands of README.md in a fresh Debian 12, as a user who has nothing but bash, git and sudo.

suite=bookworm
fresh_root= # where the fresh system is unpacked

fresh() {
  need_root "test-fresh sets up a whole system in a directory"
  need debootstrap debootstrap "makes a fresh Debian"
  have git || need git git "clones this repository"
  install_needed
  local base=$target/fresh/$suite.tar
  [[ -e $base ]] || make_base "$base"
  [[ -z $(as_owner git -C "$root" status --porcelain) ]] || say "Testing the last commit: changes since are not in it"

  at_end+=(remove_fresh)
  fresh_root=$(mktemp -d "$target/fresh/root.XXXXXX")
  chmod 755 "$fresh_root"
  tar -xpf "$base" -C "$fresh_root" --numeric-owner
  this_machines_way_out
  as_owner git -C "$root" bundle create --quiet - HEAD >"$fresh_root/wireproof.bundle"
  cp "$root/x.d/fresh-inside.sh" "$fresh_root/fresh-inside.sh"
  # Own mounts and processes: when this ends, so do they.
  unshare --mount --propagation private --pid --fork --kill-child "$root/x.d/fresh-mounts.sh" "$fresh_root"
  say "test-fresh: all well"
}

remove_fresh() {
  [[ -z $fresh_root ]] || rm -rf --one-file-system "$fresh_root"
}

# make_base FILE: a minimal Debian as a tar archive, kept for next time; delete it for a newer one.
make_base() {
  local mirror directory=$target/fresh/base
  mirror=$(debian_sources | awk -v suite="$suite" '$3 == suite { print $2; exit }')
  [[ -n $mirror ]] || die "this machine's package sources do not offer Debian $suite, of which test-fresh is made"
  say "Making a fresh Debian $suite, kept in target/fresh"
  rm -rf --one-file-system "$directory"
  mkdir -p "$directory"
  debootstrap --variant=minbase --include=bash,git,sudo "$suite" "$directory" "$mirror" >>"$log" 2>&1 ||
    die "debootstrap failed; see $log"
  rm -rf "$directory"/var/cache/apt/archives/*.deb
  tar -cf "$1.part" -C "$directory" --numeric-owner .
  mv "$1.part" "$1"
  rm -rf --one-file-system "$directory"
}

# This machine's sources of this Debian, without those of others: `deb URI SUITE COMPONENT`.
debian_sources() {
  # shellcheck disable=SC2016 # apt fills these in
  apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
    awk -v suite="$suite" 'index($3, suite) == 1' | sort -u
}

# The fresh system reaches packages and crates the way this machine does: sources, proxies, certificates, names.
this_machines_way_out() {
  local config=${CARGO_HOME:-$owner_home/.cargo}/config.toml
  debian_sources >"$fresh_root/etc/apt/sources.list"
  apt-config dump | grep '^Acquire::[a-zA-Z-]*\(::Proxy[^"]*\)\? "..*";' >"$fresh_root/etc/apt/apt.conf.d/99host" || true
  cp -r /etc/apt/auth.conf.d "$fresh_root/etc/apt/"
  cp -L /etc/resolv.conf /etc/hosts "$fresh_root/etc/"
  mkdir -p "$fresh_root/usr/local/share/ca-certificates/host" "$fresh_root/etc/skel/.cargo"
  awk -v to="$fresh_root/usr/local/share/ca-certificates/host/" \
    '/BEGIN CERT/ { n++ } n { print > (to n ".crt") } /END CERT/ { close(to n ".crt") }' /etc/ssl/certs/ca-certificates.crt
  [[ ! -e $config ]] || cp "$config" "$fresh_root/etc/skel/.cargo/"
  env | grep -iE '^(http|https|all|no)_proxy=' >"$fresh_root/etc/environment" || true
}
