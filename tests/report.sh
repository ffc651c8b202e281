#!/usr/bin/env bash
# The page of 'tokitai report': all that certificates say is on it, whatever is in a certificate stays text, and what is no certificate is
# named. With --browser: a real browser, headless Chromium, shows it as meant; skipped (77) where there is none, or no python3.
# Needs TOKITAI, the program, and SOURCE_DIR.
set -euo pipefail
tokitai=$(readlink -f "${TOKITAI:?the program to test}")
root=$(readlink -f "${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }

certify() { # expected exit status, folder, arguments of certify
    local expected=$1 folder=$2 status=0
    shift 2
    "$tokitai" certify "$@" --out "$folder" >log 2>&1 || status=$?
    [ "$status" -eq "$expected" ] || { echo "certify $*: exit status $status, not $expected"; cat log; exit 1; }
}
report() { # expected exit status, arguments of report
    local expected=$1 status=0
    shift
    "$tokitai" report "$@" -o page.html 2>err || status=$?
    [ "$status" -eq "$expected" ] || { echo "report $*: exit status $status, not $expected"; cat err; exit 1; }
}

# One of each kind of subject and of each verdict; twice the same subject.
certify 0 first gelu_bwd --dtype f16 --lowering best
certify 0 second gelu_bwd --dtype f16 --lowering best --seed 7
certify 0 others softmax_fwd --dtype bf16 --lowering best --skip-mutants
certify 0 others gelu_fwd --dtype f16 --lowering best --level exhaustive --skip-mutants
certify 1 others gelu_bwd --dtype f16 --mutant tanh_form --keep-going
certify 1 others gelu_fwd --dtype f16 --mutant last_dropped
certify 0 others gelu_bwd --dtype bf16 --variant base_2 --skip-mutants --shape n=100
certify 1 others gelu_fwd --dtype f16 --kernel "$root/examples/kernels/bad_crash.c"
certify 3 others gelu_fwd --dtype f16 --kernel "$root/examples/kernels/bad_endless.c" --timeout 0.5

# A careful forgery, sealed: with markup where text is free; and wherever there is text, which contradicts itself.
python3 - others/kernel.cpu.gelu_fwd.f16.bad_crash.json hostile.json forged.json <<'PYTHON'
import hashlib, json, re, sys

# Nothing of this may come to life; nothing of it may be lost either.
MARKUP = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">&lt;</td></svg>"


def poison(value):
    if isinstance(value, dict):
        return {name: poison(member) for name, member in value.items()}
    if isinstance(value, list):
        return [poison(member) for member in value]
    # Reals are written in one way only, which json.dumps() has for this one.
    return value + MARKUP if isinstance(value, str) else 0.5 if isinstance(value, float) else value


def seal(text, path):
    begin, seal, end = re.split(r'(  "integrity": \{\n.*?\n  \},\n)', text, flags=re.S)
    seal = re.sub("[0-9a-f]{64}", hashlib.sha256((begin + end).encode()).hexdigest(), seal)
    open(path, "w").write(begin + seal + end)


text = open(sys.argv[1]).read()
markup = json.dumps(MARKUP)[1:-1]
seal(re.sub('("compiler": "[^"]*)"', lambda found: found[1] + markup + '"', text), sys.argv[2])
statement = json.loads(text)
statement["predicate"] = poison(statement["predicate"])
statement["predicate"]["verdict"] = "REFUTED"
statement["predicate"]["integrity"] = {"sha256": 64 * "0"}
seal(json.dumps(statement, sort_keys=True, indent=1, separators=(",", ": "), ensure_ascii=False) + "\n", sys.argv[3])
PYTHON
sed 's/"undecided": 0/"undecided": 7/' others/cpu.softmax_fwd.*.json >altered.json
mapfile -t files < <(printf '%s\n' first/*.json second/*.json others/*.json)

if [ "${1-}" = --browser ]; then
    browser=
    for candidate in chromium chromium-browser google-chrome; do
        if command -v "$candidate" >/dev/null; then browser=$candidate; break; fi
    done
    [ -n "$browser" ] || { echo "skipped: no Chromium"; exit 77; }
    report 1 "${files[@]}" hostile.json altered.json forged.json
    browse() { # arguments
        HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" "$@" \
            "file://$work/page.html" 2>browser.log
    }
    browse --dump-dom >dom.html || { echo "skipped: $browser does not start here: $(tail -n 1 browser.log)"; exit 77; }
    for width in 400 1600; do
        browse --window-size=$width,1500 --screenshot="$work/$width.png" >/dev/null
    done
    browse --window-size=1600,1500 --blink-settings=preferredColorScheme=0 --screenshot="$work/dark.png" >/dev/null
    python3 - "$work" "${#files[@]}" <<'PYTHON'
import re, struct, sys, zlib
from html.parser import HTMLParser

folder, certificates = sys.argv[1], int(sys.argv[2]) + 1


def pixels(path):
    """The rows of a PNG of 8 bits, as bytes, and how many bytes a pixel has."""
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
            assert depth == 8 and colour in (2, 6)
        if kind == b"IDAT":
            packed += body
        at += length + 12
    size = 3 if colour == 2 else 4
    raw, before, rows = zlib.decompress(packed), bytearray(width * size), []
    for y in range(height):
        begin = y * (width * size + 1)
        how, row = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * size])
        for i in range(len(row)) if how else ():
            left = row[i - size] if i >= size else 0
            above, corner = before[i], before[i - size] if i >= size else 0
            p = left + above - corner
            paeth = min((abs(p - left), 0, left), (abs(p - above), 1, above), (abs(p - corner), 2, corner))[2]
            row[i] = (row[i] + (0, left, above, (left + above) // 2, paeth)[how]) & 255
        rows.append(bytes(row))
        before = row
    return rows, size


def near(a, b):
    return all(abs(x - y) <= 12 for x, y in zip(a, b))


def check(name, background, inks):
    rows, size = pixels(f"{folder}/{name}.png")
    counts = {}
    for row in rows:
        for i in range(0, len(row), size):
            pixel = row[i:i + 3]
            counts[pixel] = counts.get(pixel, 0) + 1
    total = sum(counts.values())
    assert len(counts) > 60, f"{name}: only {len(counts)} colours"
    blank = sum(n for c, n in counts.items() if near(c, background))
    assert total - blank > 20000 and blank > total / 2, f"{name}: {blank} of {total} pixels are background"
    for what, ink in inks.items():
        seen = sum(n for c, n in counts.items() if near(c, ink))
        assert seen > 150, f"{name}: {seen} pixels of {what}"
    # Text that is cut off at the edge would stand there.
    edge = {bytes(row[-4 * size:][i:i + 3]) for row in rows for i in range(0, 4 * size, size)}
    assert all(near(c, background) for c in edge), f"{name}: something reaches the right edge"


light = {"text": (0x1c, 0x21, 0x28), "green": (0x1a, 0x7f, 0x37), "red": (0xc4, 0x28, 0x1c)}
check("400", (255, 255, 255), light)
check("1600", (255, 255, 255), light)
check("dark", (0x0f, 0x14, 0x19), {"text": (0xe3, 0xe8, 0xee), "green": (0x4a, 0xc2, 0x6b), "red": (0xff, 0x7b, 0x72)})


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.count, self.title, self.inside = {}, "", ""

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.inside = tag

    def handle_data(self, data):
        self.title += data if self.inside == "title" and not self.title else ""


dom = open(f"{folder}/dom.html").read()
page = Page()
page.feed(dom)
assert page.title.strip() == "Tokitai: certificates", page.title
# Two subjects are there twice, and what changed between them is an article of its own.
assert page.count["article"] == certificates + 2, page.count["article"]
assert page.count["script"] == 1 and "img" not in page.count, page.count
assert page.count["button"] == 11, "the script that sorts did not run"
assert page.count["rect"] > 100 and page.count["path"] > 10, page.count
print(f"a browser shows {certificates} certificates at 400 and 1600 pixels, light and dark: {page.count['rect']} bars")
PYTHON
    exit
fi

report 0 "${files[@]}"
cp page.html whole.html
python3 - whole.html "${files[@]}" <<'PYTHON'
import glob, json, re, sys
from html.parser import HTMLParser

EMPTY = {"meta", "br", "rect", "line", "path"}


class Page(HTMLParser):
    """Text of the page as a reader gets it; elements have to be closed in turn."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.elements, self.links = [], "", {}, []

    def handle_starttag(self, tag, attrs):
        self.elements[tag] = self.elements.get(tag, 0) + 1
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "style"), (tag, name)
            if name == "href":
                self.links.append(value)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in EMPTY:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in EMPTY:
            assert self.open and self.open.pop() == tag, (tag, self.getpos())

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("style", "script"):
            self.text += data


text = open(sys.argv[1]).read()
page = Page()
page.feed(text)
assert not page.open, page.open
assert all(re.fullmatch(r"#c[0-9]+", link) for link in page.links), page.links
assert not re.search(r"url\(|@import", text)
assert "default-src 'none'" in text
seen = re.sub(r"\s+", " ", page.text)


def must(what, where):
    what = re.sub(r"\s+", " ", str(what))
    assert what in seen, f"{where}: '{what[:200]}' is not on the page"


for path in sys.argv[2:]:
    p = json.load(open(path))["predicate"]
    run, result = p["run"], p["result"]
    for what in (run["subject"], run["op"], run["dtype"], run["level"], p["headline"], p["reason"], p.get("reproduce", ""),
                 p["contract"]["summary"], p["contract"]["formula"], p["contract"]["bound"], p["machine"]["device"],
                 p["built"]["artifact_sha256"], p["built"].get("compiler", ""), p["created"], f"{result['elements']:,}"):
        must(what, path)
    for clause in p["clauses"]:
        for what in (clause["id"], clause["text"], clause["verdict"], f"{clause['checks']:,}"):
            must(what, path)
    for mutant in p["mutants"]:
        must(mutant["name"], path)
        must(mutant["what"], path)
    for proof in p.get("proofs", []):
        must(proof["theorem"], path)
    for sentence in p["evidence"] + p["non_claims"]:
        must(sentence, path)
    for trial in run["trials"]:
        must(trial["output_sha256"][:16], path)
    for name in ("failure", "worst"):
        element = result.get(name)
        if element and "exact" in element:
            must(f"exact {element['exact']:.12g}", path)
            must(f"({element['got_bits']})", path)
def trials(folder):
    listed = json.load(open(glob.glob(folder + "/*.json")[0]))["predicate"]["run"]["trials"]
    return {json.dumps([t.get(key) for key in ("family", "seed", "shape", "options")]) for t in listed}


first, second = trials("first"), trials("second")
assert first - second and second - first
for what in ("Changes:", f"{len(first - second)} are only in the first, {len(second - first)} are only in the second",
             "ticks: the numbers of f16", "Largest error by input", "Largest error by exact value", "input x, by binades"):
    must(what, "all")
print(f"{len(sys.argv) - 2} certificates are on the page, {page.elements['rect']} bars")
PYTHON

fail() { echo "$*"; exit 1; }

# A certificate against itself.
report 0 first/*.json first/*.json
grep -q '<strong>No differences.</strong> Dates' page.html || fail "a certificate differs from itself"

# A careful forgery and a careless one.
report 0 hostile.json
report 1 hostile.json altered.json forged.json
grep -q 'Not shown:</strong> forged.json: it contradicts itself' page.html || fail "a contradiction is not named"
grep -q 'Not shown:</strong> altered.json: altered' page.html || fail "an altered one is not named"
[ "$(grep -o '<script>' page.html | wc -l)" = 1 ] || fail "a script of the certificate is on the page"
grep -qi '<img' page.html && fail "an image of the certificate is on the page"
grep -q '&lt;img src=x onerror=&quot;' page.html || fail "text of the certificate is not on the page"

# What is none, is not there, or is another kind's.
echo '{"predicate": 1}' >none.json
report 1 none.json
grep -q 'Not shown:' page.html || fail "what is no certificate is not named"
report 2 nowhere.json
echo '{"_type": "https://in-toto.io/Statement/v1", "predicateType": "urn:tokitai:glue-certificate:v1", "predicate": {}}' >glue.json
report 0 glue.json
grep -q "tokitai glue" page.html || fail "a certificate of glue is not named"
echo "altered, hostile and other files are named, and nothing of them comes to life"
