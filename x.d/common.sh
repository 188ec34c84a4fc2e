# shellcheck shell=bash disable=SC2154 # root, target: set by x
# Part of x: what is said, who the files belong to, and what is put back at the end.

colour() { if [[ -t 2 && -z ${NO_COLOR:-} ]]; then printf '\033[%sm' "$1"; fi; }
# Everything x says goes to standard error: standard output belongs to what it runs (`./x verify --json`).
say() { printf '%s%s%s\n' "$(colour 36)" "$*" "$(colour 0)" >&2; }
# die MESSAGE [EXIT]
die() {
  printf '%sx: %s%s\n' "$(colour 31)" "$1" "$(colour 0)" >&2
  exit "${2:-1}"
}

have() { command -v "$1" >/dev/null; }

# need_root WHY
need_root() {
  [[ $EUID -eq 0 ]] || die "$1, which needs root. Run: sudo ./x $command"
}

# With sudo, what is built belongs to the user who called it: cargo runs as them, unless this clone is not theirs.
owner=
owner_home=$HOME
if [[ $EUID -eq 0 && -n ${SUDO_USER:-} && $SUDO_USER != root ]] && runuser -u "$SUDO_USER" -- test -w "$root"; then
  owner=$SUDO_USER
  owner_home=$(getent passwd "$owner" | cut -d: -f6)
fi

as_owner() {
  if [[ -n $owner ]]; then
    runuser -u "$owner" -- env HOME="$owner_home" USER="$owner" LOGNAME="$owner" "$@"
  else
    "$@"
  fi
}

# What root made in the clone goes to its owner.
give_back() {
  [[ -z $owner ]] || find "$root" "$target/" -xdev -user root -exec chown -h "$owner:" {} +
}

# Steps to take when x ends, however it ends; the last one added first.
at_end=()
finish() {
  local step
  for ((step = ${#at_end[@]} - 1; step >= 0; step--)); do
    ${at_end[step]} || true
  done
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

as_owner mkdir -p "$target"
as_owner test -w "$target" || give_back # made by root, without sudo
