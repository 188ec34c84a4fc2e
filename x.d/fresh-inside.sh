#!/usr/bin/env bash
# Part of x test-fresh: runs as root inside the fresh system.
set -euo pipefail

say() { printf 'fresh: %s\n' "$*" >&2; }
fail() {
  say "FAILED: $*"
  exit 1
}
as_tester() { su - tester -c "cd wireproof 2>/dev/null; $1" </dev/null; }

useradd --create-home --shell /bin/bash tester
cat >/etc/sudoers.d/tester <<'TEXT'
tester ALL=(ALL) NOPASSWD: ALL
# The proxies of /etc/environment reach root too.
Defaults env_keep += "http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY"
TEXT
as_tester 'git -c advice.detachedHead=false clone --quiet /wireproof.bundle wireproof' || fail "git clone"

say "sudo ./x verify"
as_tester 'sudo ./x verify' || fail "verify: exit code $?"
compgen -G '/home/tester/.local/share/wireproof/reports/*/report.html' >/dev/null || fail "there is no report"
! dpkg-query -W 'rustc*' 'cargo*' 2>/dev/null | grep . || fail "a Rust toolchain was installed"

say "sudo ./x verify, the second time"
started=${EPOCHREALTIME/./}
said=$(as_tester 'sudo ./x verify --dry-run' 2>&1) || fail "second verify: exit code $?"
say "took $(((${EPOCHREALTIME/./} - started) / 1000)) ms, with sudo and su"
! grep -E '^(Installing|Building|Unpacking|Refreshing)' <<<"$said" || fail "the second time was not at once"

say "sudo ./x test"
as_tester 'sudo ./x test' || fail "test: exit code $?"
foreign=$(find /home/tester ! -user tester -print -quit)
[[ -z $foreign ]] || fail "$foreign does not belong to the user who called sudo"
[[ -z $(ls /run/netns 2>/dev/null) ]] || fail "network namespaces were left behind: $(ls /run/netns)"
[[ ! -e /usr/sbin/policy-rc.d ]] || fail "policy-rc.d was left behind"
