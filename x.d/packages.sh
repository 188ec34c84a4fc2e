# shellcheck shell=bash disable=SC2154 # log: set by x
# Part of x: installs Debian and Ubuntu packages, starting no service.

needed=()
reasons=()

# need WHAT PACKAGE WHY: PACKAGE is installed, by install_needed, unless the command or file WHAT is there.
need() {
  if [[ $1 == /* ]]; then [[ ! -e $1 ]]; else ! have "$1"; fi || return 0
  needed+=("$2")
  reasons+=("$2: $3")
}

install_needed() {
  [[ ${#needed[@]} -gt 0 ]] || return 0
  may_install "${needed[@]}"
  printf '%s\n' "${reasons[@]}" | while read -r reason; do say "Installing $reason"; done
  install "${needed[@]}"
  needed=() reasons=()
}

may_install() {
  have apt-get || die "missing: $*. This is not Debian or Ubuntu: install them your system's way, then run ./x again"
  [[ $EUID -eq 0 ]] || die "missing: $*. Only root can install packages. Run once: sudo ./x $command"
}

install() {
  at_end+=(give_back)
  refresh_lists
  deny_services "$@"
  # --no-remove: rather stop than take a package away from the user.
  apt_get install --no-install-recommends --no-remove -o Dpkg::Options::=--force-confold "$@" ||
    apt_failed "could not install $*"
  allow_services
}

lists_are_fresh=
refresh_lists() {
  [[ -z $lists_are_fresh ]] || return 0
  say "Refreshing the package lists"
  # One broken source of many is no reason to stop: whether the package is found decides.
  apt_get update || say "apt-get update did not work for every source (see $log); going on with what it got"
  lists_are_fresh=yes
}

# Asks nothing, waits for another apt-get to end, restarts nothing.
apt_get() {
  DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
    apt-get -qq -y -o DPkg::Lock::Timeout=300 -o APT::Sandbox::User=root "$@" </dev/null >>"$log" 2>&1
}

apt_failed() {
  tail -n 15 "$log" >&2
  die "apt-get $1. The end of its messages is above, all of them are in $log. Mend that, then run ./x again"
}

# Debian asks /usr/sbin/policy-rc.d before a package may start its service; 101 says no. Ours says so only while this
# process lives: should it be killed, the file it leaves behind forbids nothing.
policy=/usr/sbin/policy-rc.d
deny_services() {
  if [[ -e $policy ]] && ! grep -qs 'placed by wireproof' "$policy"; then
    local answer=0
    "$policy" wireproof start >/dev/null 2>&1 || answer=$?
    [[ $answer -eq 101 ]] || die "$policy lets packages start services. Install by hand, then run ./x again: $*"
    return
  fi
  at_end+=(allow_services)
  printf '#!/bin/sh\n# placed by wireproof while it installs packages\n[ -d /proc/%s ] && exit 101\nexit 0\n' $$ >"$policy"
  chmod 755 "$policy"
}

allow_services() {
  # Another ./x may have placed its own meanwhile.
  ! grep -qs "/proc/$$ " "$policy" || rm -f "$policy"
}
