#!/usr/bin/env bash
# Text from outside that would forge a page, steer a terminal or break a file of results: a loader's error, the name of a file, what a compiler
# prints, members of a certificate, a kept report, a setting. Wherever it comes out, all of it is seen and nothing is taken for ours.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

seen() { # FILE...: UTF-8 of which every character but the line feed is seen
    python3 - "$@" <<'PYTHON'
import sys, unicodedata
for path in sys.argv[1:]:
    text = open(path, "rb").read().decode("utf-8")
    for character in text.replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Co", "Cs"), (path, hex(ord(character)))
PYTHON
}
page_is_ours() { # FILE: one title, no HTML, and no link beside the code
    sed -e '/^```/,/^```/d' -e 's/`[^`]*`//g' "$1" >page
    [ "$(grep -c '^# ' page)" -eq 1 ] && ! grep -qE '^# *FORGED|^\| *forged' page && ! grep -qiE '<script|http://' page
}
results_agree() { # JUNIT LINES: both are read by strict readers
    python3 -c 'import json, sys, xml.etree.ElementTree as tree
tree.parse(sys.argv[1])
[json.loads(line) for line in open(sys.argv[2], encoding="utf-8")]' "$1" "$2"
}
# A heading, a script, a row of a table, a link; ESC, C1 as a character and as a byte, right-to-left, zero width, DEL.
forgery=$(printf '\n\n# FORGED\n\n<script>x</script>\n| forged |\n[a](http://b) \x1b[31m\xc2\x9b31m\x9b\xe2\x80\xae\xe2\x80\x8b\x7fend')

echo "-- the error of a loader"
room=$(printf '%*s' ${#forgery} '' | tr ' ' 'x')
printf 'int stub;\n' >stub.c
cc -shared -fPIC -Wl,-soname,"$room" -o libstub.so stub.c
printf '#include <stdint.h>\nextern int stub;\nint tokitai_gelu_fwd(const void *c, int64_t n, const void *x, void *y)\n{ (void)c; (void)n; (void)x; (void)y; return stub; }\n' >kernel.c
cc -shared -fPIC -o plain.so kernel.c -L. -lstub
python3 - "$room" "$forgery" <<'PYTHON'
import os, sys
room, forgery = (os.fsencode(word) for word in sys.argv[1:])
image = open("plain.so", "rb").read()
assert image.count(room) == 1 and len(room) == len(forgery)
open("forged.so", "wb").write(image.replace(room, forgery))
PYTHON
expect 3 "a library that needs one of a forged name" certify gelu_fwd --kernel forged.so --dtype f16 --out loaded --json-lines lines --junit junit.xml
says out '<script>x</script>.x0a'
is "    all of it is seen" seen out err lines junit.xml loaded/*.md
is "    the page is ours" page_is_ours loaded/*.md
is "    the results are read" results_agree junit.xml lines
expect 3 "the same as JSON" certify gelu_fwd --kernel forged.so --dtype f16 --json
is "    all of it is seen" seen out err
is "    and it is JSON" json_good out

echo "-- the name of a file, and what its compiler prints"
name=$(printf 'a\n# FORGED <script>x\x1b[31m\xc2\x9b31m\xe2\x80\xae "q"%s|`b`\xff.c' "'s'")
mkdir named
{
    printf '#include <tokitai_kernel.h>\nint tokitai_gelu_fwd(const tokitai_call *c, int64_t n, const void *x, void *y)\n'
    printf '{ (void)c; (void)x; (void)y; return n > 0 ? *(volatile int *)8 : 0; }\n'
} >"named/$name"
printf '#error "\x1b[31m\xc2\x9b31m\x9b\xe2\x80\xae|`<script>"\n' >named/loud.c
expect 1 "files of a folder" certify --kernels named --dtype f16 --skip-mutants --out named_out --json-lines lines --junit junit.xml
is "    all of it is seen" seen out err lines junit.xml named_out/*.md
is "    the page is ours" page_is_ours named_out/*.md
is "    the results are read" results_agree junit.xml lines
command=$(sed -n 's/^ *reproduce *tokitai //p' out)
eval "expect 1 'the reproducing command is of that file' $command"
says out "^    why +GELU_FWD.SHAPE:"

echo "-- members of a certificate"
expect 0 "a certificate" certify gelu_fwd --dtype f16 --lowering cpu.gelu_fwd.f16.scalar --shape n=3 --family normal --out certificates
python3 - certificates/*.json "$forgery" <<'PYTHON'
import hashlib, json, os, re, sys
forgery = os.fsencode(sys.argv[2]).decode("utf-8", "replace")
quoted = re.sub(r"\\u00[01][0-9a-f]", lambda match: "\\u" + match[0][2:].upper(), json.dumps(forgery, ensure_ascii=False))
text = open(sys.argv[1], encoding="utf-8").read()
text, changed = re.subn(r'"(reason|compiler|family|bound)": "(?:[^"\\]|\\.)*"', lambda match: '"%s": %s' % (match[1], quoted), text)
assert changed > 3
open("altered.json", "w", encoding="utf-8").write(text)
covered = re.sub(r'  "integrity": \{\n.*?\n  \},\n', "", text, flags=re.S)
digest = hashlib.sha256(covered.encode()).hexdigest()
text = re.sub(r'("integrity": \{\n\s*"sha256": )"[0-9a-f]*"', r'\1"%s"' % digest, text)
open("edited.json", "w", encoding="utf-8").write(text)
PYTHON
expect 1 "one that was altered" check altered.json
is "    all of it is seen" seen out err
expect 1 "one that was edited with care, and contradicts itself" check edited.json
is "    all of it is seen" seen out err
says err "x0a# FORGED"
expect 1 "the same as JSON" check --json edited.json
is "    all of it is seen" seen out err
is "    and it is JSON" json_good out
expect 2 "what is in it" diff certificates/*.json edited.json
is "    all of it is seen" seen out err
expect 2 "one that is not there" check "$name"
is "    all of it is seen" seen out err
expect 2 "the same as JSON" check --json "$name"
is "    all of it is seen" seen out err
is "    and it is JSON" json_good out

echo "-- a kept report"
python3 - "$root/tests/fuzz/corpus/bench_kept/gpu" "$forgery" <<'PYTHON'
import json, os, sys
forgery = os.fsencode(sys.argv[2]).decode("utf-8", "replace")
report = json.load(open(sys.argv[1]))
report["machine"]["device"] = forgery
for case in report["results"]:
    for arm in case["arms"]:
        if arm["kind"] == "peer":
            arm["name"] = "<p>\u202e\x1b\x9b"
    case.pop("best_peer", None)
json.dump(report, open("report.json", "w"))
PYTHON
expect 0 "shown" bench --from report.json --chart chart.svg
is "    all of it is seen" seen out err chart.svg
is "    the chart is XML" python3 -c 'import xml.dom.minidom as m; m.parse("chart.svg")'

echo "-- a setting"
TOKITAI_CACHE=$(printf '/nowhere\n\x1b[31m\xe2\x80\xae') "$tokitai" cache >out 2>err
is "a cache folder of that name" seen out err
"$tokitai" certify "$(printf 'op\x1b[31m\xc2\x9b\n')" >out 2>err
is "an op of that name" seen out err
"$tokitai" check "$(printf -- '--\x1b[31m\xc2\x9b\xe2\x80\xae')" >out 2>err
is "an option of that name" seen out err
says err "unrecognized option '--.x1b"
finish
