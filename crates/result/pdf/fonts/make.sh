#!/usr/bin/env bash
# Makes the fonts in this folder again, from the npm packages named in README.md. Needs npm, python3 and their registries.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv tools
tools/bin/pip --quiet install fonttools==4.68.0 zopfli==0.4.3

# Latin with what European names need, Greek, dashes and quotes, arrows, and the signs that figures go with.
latin=U+20-7E,U+A0-17F,U+192,U+218-21B,U+2C6-2DD,U+391-3C9,U+2010-2027,U+2030-203E,U+20AC,U+2122,U+2126,U+2150-215E
signs=U+2190-2199,U+2200-2265,U+2500-257F,U+25A0-25FF,U+2713

# characters CODEC…: every character that one of these encodings has, as pyftsubset takes it.
characters() {
  python3 - "$@" <<'PYTHON'
import sys
def known(code):
    for codec in sys.argv[1:]:
        try: return bool(chr(code).encode(codec))
        except UnicodeEncodeError: pass
print(",".join(f"U+{code:04X}" for code in range(0x20, 0x30000) if known(code)))
PYTHON
}

# font PACKAGE VERSION WEIGHT FAMILY CHARACTERS: FAMILY-WEIGHT.ttf.zlib with those characters alone.
font() {
  local package=@expo-google-fonts/$1@$2 name=${4}_$3 made=$here/$4-${3#???}.ttf
  tar -xzf "$(npm pack --silent "$package")"
  tools/bin/pyftsubset "package/$3/$name.ttf" --unicodes-file=<(tr , "\n" <<<"$5") --output-file="$work/$name.ttf" \
    --layout-features=kern,locl,ccmp,liga,mark,mkmk --no-hinting --name-IDs='*' \
    --drop-tables+=meta,vhea,vmtx,VORG,BASE
  tools/bin/python -c 'import sys, zopfli.zlib as z; sys.stdout.buffer.write(z.compress(sys.stdin.buffer.read()))' \
    <"$work/$name.ttf" >"$made.zlib"
  cp package/LICENSE_FONT "$here/$4-LICENSE.txt"
}

# JIS X 0213 with its kanji of levels 1 to 4; JIS X 0208; what Windows adds, as names have it, and one more such kanji.
windows="$(characters cp932),U+20BB7"
font noto-sans-jp 0.4.3 400Regular NotoSansJP "$latin,$signs,$windows,$(characters euc_jis_2004)"
font noto-sans-jp 0.4.3 700Bold NotoSansJP "$latin,$signs,$windows"
font noto-sans-mono 0.4.2 400Regular NotoSansMono "$latin,$signs"
ls -l "$here"
