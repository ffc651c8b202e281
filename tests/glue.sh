#!/usr/bin/env bash
# Sharded checkpoints as users meet them: the lines of docs/glue.md, every way to place sections, choices, certificates, processes that are
# killed, and files of the format's own Python library.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
tokitai() { "$tokitai" "$@"; }

fresh() { # an empty folder
    cd "$work" && rm -rf glue_case && mkdir glue_case && cd glue_case || exit 1
}
spoil() { # FILE BYTES-FROM-END [OCTAL]
    printf "\\${3-377}" | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - $2)) conv=notrunc status=none
}
no_output() { is "    nothing was written" test -z "$(compgen -G 'joined*')"; }
obstructed() { # KIND TITLE ARGUMENT...: exit status 1, and this obstruction
    local kind=$1 title=$2
    shift 2
    expect 1 "$title" "$@"
    says out "^$kind +"
    no_output
}

echo "-- the lines of docs/glue.md"
page=$root/docs/glue.md
awk '/^```sh$/ {block++; next} /^```/ && block == 1 {exit} block == 1 {print}' "$page" >setup
awk '/^```sh$/ {block++; next} /^```/ && block == 2 {exit} block == 2 {print}' "$page" >lines
is "the page has lines to prepare" grep -q '^tokitai shard' setup
kinds=$(sed -nE 's/^    \[TKI_[A-Z_]+\] = "([A-Z_]+)",$/\1/p' "$root/src/glue/obstruction.c" | sort)
is "it has a line for each kind" test "$(sed 's/.*# //' lines | sort)" = "$kinds"
while IFS= read -r line; do
    kind=${line##*# }
    fresh
    (
        tokitai() { "$tokitai" "$@"; }
        source ../setup
    ) >/dev/null || fail "the lines to prepare"
    (
        tokitai() { "$tokitai" "$@"; }
        eval "$(grep -E '^(st|spoil)\(' ../setup)"
        eval "$line"
    ) >../out 2>../err </dev/null
    status=$?
    no_output
    cd ..
    is "$kind by a line of shell: exit status 1" test $status = 1
    says out "^$kind +"
done <lines
cd "$work" || exit 1

echo "-- there and back"
fresh
header="{$(tensor a.weight F16 '[6,5]' 0 60),$(tensor b BF16 '[2,3,2]' 60 84),$(tensor s F32 '[]' 84 88),$(tensor e I64 '[0,3]' 88 88),$(tensor q F4 '[4,4]' 88 96),\"__metadata__\":{\"format\":\"pt\",\"step\":\"7\"}}"
st "$header" "$(head -c 96 /dev/zero | tr '\0' '0' | sed 's/0000000000/0123456789/g')" >model.safetensors
expect 0 "a file of its own against itself" diff-ckpt model.safetensors model.safetensors
says out "^0 of 5 tensors differ"
for layout in "--count 1" "--count 4" "--count 4 --dim 1" "--count 3 --dim -1 --halo 1" "--count 2 --replicas 3" "--count 3 --by-tensor" \
    "--count 9 --halo 2 --replicas 2" "--count 2 --rule *.weight=1 --rule b=replicate" "--count 2 --by-tensor --rule a*=0"; do
    rm -rf parts && mkdir parts
    # shellcheck disable=SC2086
    set -f
    expect 0 "shard $layout" shard model.safetensors -o parts/p $layout
    set +f
    expect 0 "    glue" glue parts/*.safetensors -o joined.safetensors
    says out "^GLUED: joined.safetensors"
    expect 0 "    nothing differs" diff-ckpt model.safetensors joined.safetensors
    expect 0 "    not even in shards" diff-ckpt parts joined.safetensors
    expect 0 "    reshard" reshard parts/*.safetensors -o re --count 3 --dim 1 --halo 1
    expect 0 "    glue" glue re-*.safetensors -o twice.safetensors
    is "    the same bytes" cmp joined.safetensors twice.safetensors
    is "    the certificate names them" grep -q "\"sha256\": \"$(sha256sum <joined.safetensors | cut -d ' ' -f 1)\"" joined.safetensors.glue.json
    rm -f re-* joined* twice*
done
st '{}' '' >empty.safetensors
expect 0 "a file without tensors" glue empty.safetensors -o joined.safetensors
is "    has a header" test "$(stat -c %s joined.safetensors)" -ge 8

echo "-- one bit of one replica"
fresh
st "{$(tensor w F16 '[4,3]' 0 24)}" "$(printf 'abcdefghijklmnopqrstuvwx')" >model.safetensors
tokitai shard model.safetensors -o p --count 2 --replicas 2 --step 5 >/dev/null
spoil p-00003-of-00004.safetensors 4 150 # the low byte of element 4 of the first half's replica: i becomes h
obstructed REPLICA_DISAGREES "one bit in one replica" glue p-*.safetensors -o joined
says out 'tensor "w" \[0:2, 0:3\] at \[1, 1\]: 0x6a69 \(3282\) in p-00001-of-00004.safetensors, 0x6a68 \(3280\) in p-00003-of-00004.safetensors; 1 of 6 elements differ'
says out "^HASH +tensor \"w\" \[0:2, 0:3\] in p-00003-of-00004"
expect 1 "    as JSON" glue p-*.safetensors -o joined --json
is "    is JSON" json_good out
says out '"kind": "REPLICA_DISAGREES"'
says out '"0x6a69"'
expect 1 "    reshard names it too" reshard p-*.safetensors -o joined --count 3
says out "^REPLICA_DISAGREES"
expect 2 "    diff-ckpt compares what glues" diff-ckpt . model.safetensors

echo "-- choosing"
fresh
for i in 1 2 3; do st "{$(tensor w F16 '[3]' 0 6)}" abcdef >r$i.safetensors; done
expect 0 "three equal replicas" glue r?.safetensors -o joined
says out "^GLUED"
says out "compared +6 elements in 2 replicas and 0 overlaps"
rm joined*
spoil r2.safetensors 2 146 # e becomes f: one ulp
obstructed REPLICA_DISAGREES "one that differs" glue r?.safetensors -o joined
expect 0 "the majority, on demand" glue r?.safetensors -o joined --accept-majority
says out "^CHOSEN"
says out "outvoted +w in r2.safetensors"
is "    the certificate says so" grep -q '"majority_sha256"' joined.glue.json
is "    and what was chosen" grep -q '"verdict": "CHOSEN"' joined.glue.json
is "    it is the majority's" test "$(tail -c 6 joined)" = abcdef
rm joined*
obstructed REPLICA_DISAGREES "no majority of two" glue r1.safetensors r2.safetensors -o joined --accept-majority
obstructed REPLICA_DISAGREES "within a contract, none named" glue r?.safetensors -o joined --contract 'w=1'
says out "within the declared 1 ulp; --primary chooses one"
expect 0 "within a contract, and a primary" glue r?.safetensors -o joined --contract '*=1' --primary r2.safetensors
says out "^CHOSEN"
says out "differs +w: 1 of 3 elements, by up to 1 ulp; the contract allows 1"
is "    the primary's" test "$(tail -c 6 joined)" = abcdff
is "    the certificate does not say glued" grep -q '"verdict": "CHOSEN"' joined.glue.json
rm joined*
obstructed REPLICA_DISAGREES "beyond the contract" glue r?.safetensors -o joined --contract '*=0' --primary r2.safetensors
st "{$(tensor v U8 '[1]' 0 1)}" x >others.safetensors
obstructed REPLICA_DISAGREES "a contract for others" glue r?.safetensors others.safetensors -o joined --contract 'v=9' --primary r2.safetensors
bad_usage "a primary without a contract" "--primary needs --contract" glue r1.safetensors -o joined --primary r1.safetensors
bad_usage "a primary that is none" "--primary must be one of the shards" glue r1.safetensors -o joined --contract 'w=1' --primary r9.safetensors
bad_usage "a primary and a majority" "exclude each other" glue r?.safetensors -o joined --contract 'w=1' --primary r1.safetensors --accept-majority
bad_usage "a majority without a certificate" "and --no-certificate exclude each other" glue r?.safetensors -o joined --accept-majority --no-certificate
bad_usage "a primary without a certificate" "and --no-certificate exclude each other" glue r?.safetensors -o joined --contract 'w=1' --primary r1.safetensors --no-certificate
mkdir other
cp r2.safetensors other/r1.safetensors
bad_usage "a primary's name that two have" "several shards are named r1.safetensors" glue ./r1.safetensors other/r1.safetensors -o joined --contract 'w=1' --primary r1.safetensors
expect 0 "    its path tells them apart" glue r1.safetensors other/r1.safetensors -o joined --contract 'w=1' --primary r1.safetensors
is "    the primary's" test "$(tail -c 6 joined)" = abcdef
rm joined*
expect 1 "in ulps" diff-ckpt r1.safetensors r2.safetensors
says out "^F16 +3 +1 +1 +w +\[2\]: 0x6665 \([0-9.]+\), 0x6666"
expect 0 "within one" diff-ckpt r1.safetensors r2.safetensors --within 1
expect 1 "as JSON" diff-ckpt r1.safetensors r2.safetensors --json
is "    is JSON" json_good out
st '{}' '' >none.safetensors
expect 1 "a tensor that only one has" diff-ckpt r1.safetensors none.safetensors
says out "only in A"

echo "-- rules"
fresh
st "{$(tensor q U8 '[2,2]' 0 4),$(tensor o U8 '[2,2]' 4 8),$(tensor n U8 '[2]' 8 10),$(tensor s U8 '[]' 10 11)}" abcdefghnns >a.safetensors
st "{$(tensor q U8 '[1,2]' 0 2),$(tensor o U8 '[2,3]' 2 8),$(tensor n U8 '[2]' 8 10),$(tensor s U8 '[]' 10 11)}" ABCDEFGHnns >b.safetensors
expect 0 "by name" glue a.safetensors b.safetensors -o joined --rule 'q=0' --rule 'o=-1' --rule '*=replicate'
is "    in their places" test "$(tail -c 19 joined)" = nnefCDEghFGHabcdABs
rm joined*
expect 0 "the rest along an axis" glue a.safetensors b.safetensors -o joined --rule 'o=1' --rule 'n=replicate' --concat-dim 0
is "    scalars are replicas" test "$(tail -c 19 joined)" = nnefCDEghFGHabcdABs
rm joined*
obstructed SHAPE "shapes that do not fit" glue a.safetensors b.safetensors -o joined --rule 'q=1' --rule 'o=1'
obstructed SHAPE "an axis that is not there" glue a.safetensors b.safetensors -o joined --rule 'n=1' --rule 'q=0' --rule 'o=1'
st "{$(tensor q U8 '[1,2]' 0 2)}" AB >c.safetensors
obstructed GAP "a shard without a part" glue a.safetensors c.safetensors -o joined --rule 'q=0' --rule 'n=0'
says out 'tensor "n" in c.safetensors: the shard lacks a part of it'
tokitai shard a.safetensors -o own --count 2 >/dev/null
bad_usage "rules for shards that say it themselves" "own-00001-of-00002.safetensors has its own placement" glue own-*.safetensors -o joined --concat-dim 0
echo '{"weight_map":{"q":"a.safetensors","o":"a.safetensors","n":"a.safetensors","s":"a.safetensors"}}' >m.index.json
bad_usage "rules beside an index" "m.index.json places the sections" glue m.index.json -o joined --rule 'q=0'
bad_usage "a rule that fits nothing" "rule 'k_proj' matches none of the 4 tensors" glue a.safetensors b.safetensors -o joined --rule 'q=0' --rule 'k_proj=1'
no_output
bad_usage "a contract that fits nothing" "--contract: 'k_proj' matches none of the 4 tensors" glue a.safetensors b.safetensors -o joined --contract 'k_proj=1'
bad_usage "one of shard" "rule 'k_proj' matches none of the 4 tensors" shard a.safetensors -o joined --count 2 --rule 'k_proj=1'
no_output
expect 0 "one that another has passed over fits" glue a.safetensors b.safetensors -o joined --rule 'q=0' --rule 'o=-1' --rule 'q*=1' --rule '*=replicate'
rm -f joined*
bad_usage "a rule without an axis" "--rule must be PATTERN=DIM or PATTERN=replicate" glue a.safetensors -o joined --rule q
bad_usage "an axis that is none" "the axis must be a number from" glue a.safetensors -o joined --rule q=x

echo "-- an index"
fresh
st "{$(tensor a U8 '[2]' 0 2)}" aa >1.safetensors
st "{$(tensor b U8 '[2]' 0 2)}" bb >2.safetensors
index() { echo "{\"metadata\":{\"total_size\":4},\"weight_map\":{$1}}" >m.index.json; }
index '"a":"1.safetensors","b":"2.safetensors"'
expect 0 "an index" glue m.index.json -o joined
is "    the certificate says so" grep -q '"placements": "index"' joined.glue.json
rm joined*
echo '{"metadata":{"total_size":4.0},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}' >m.index.json
expect 0 "a total size as a real" glue m.index.json -o joined
rm joined*
echo '{"metadata":{"total_size":5},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}' >m.index.json
obstructed STALE_SHARD "a total size that is wrong" glue m.index.json -o joined
says out 'total_size is 5 bytes; the tensors have 4$'
echo '{"metadata":{"total_size":"4"},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}' >m.index.json
bad_usage "a total size that is no number" '"total_size" is not a number' glue m.index.json -o joined
echo '{"metadata":{"format":"pt"},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}' >m.index.json
expect 0 "none" glue m.index.json -o joined
rm joined*
index '"a":"1.safetensors","b":"2.safetensors"'
expect 0 "a folder with an index" glue . -o joined
rm joined*
index '"a":"1.safetensors","b":"3.safetensors"'
obstructed MISSING_SHARD "a shard that is not there" glue m.index.json -o joined
index '"a":"1.safetensors","b":"2.safetensors","c":"2.safetensors"'
obstructed STALE_SHARD "a tensor that is not there" glue m.index.json -o joined
index '"a":"1.safetensors","x":"2.safetensors"'
obstructed STALE_SHARD "a tensor that is not named" glue m.index.json -o joined
st "{$(tensor a U8 '[2]' 0 2),$(tensor b U8 '[2]' 2 4)}" aabb >2.safetensors
index '"a":"1.safetensors","b":"2.safetensors"'
obstructed DUPLICATE_NAME "a tensor in two shards" glue m.index.json -o joined
for bad in '"a":"../1.safetensors"' '"a":"/etc/passwd"' '"a":1' '"a":".hidden"' '"a":"1.safetensors","a":"1.safetensors"' '"a"'; do
    index "$bad"
    expect 2 "an index with $bad" glue m.index.json -o joined
    no_output
done
expect 2 "an index beside shards" glue m.index.json 1.safetensors -o joined
expect 2 "a shard given twice" glue 1.safetensors 1.safetensors -o joined
expect 2 "a shard given twice, in other words" glue 1.safetensors ./1.safetensors -o joined
says err "are the same file"
ln -s 1.safetensors link.safetensors
ln 1.safetensors hard.safetensors
for name in link hard; do
    expect 2 "a shard and a link to it" glue 1.safetensors $name.safetensors -o joined
    says err "are the same file"
    expect 2 "into a shard" glue 1.safetensors -o $name.safetensors
    says err "is one of the shards"
done
cp 1.safetensors before
expect 2 "into a shard" glue 1.safetensors -o ./1.safetensors
says err "is one of the shards"
is "a shard that was refused as output is as it was" cmp -s 1.safetensors before
cp 1.safetensors part-00001-of-00002.safetensors
expect 2 "split into itself" shard part-00001-of-00002.safetensors -o part --count 2
says err "is one of the shards"
rm -f link.safetensors hard.safetensors before part-*.safetensors
echo '{"metadata":{"total_size":2},"weight_map":{"a":"1.safetensors"}}' >m.index.json
mv m.index.json m.safetensors.index.json
cp m.safetensors.index.json before
spared() { # ARGUMENT...: refused, since it would replace what names the shards
    expect 2 "$*" "$@"
    says err "it is the index of the shards"
    is "    which is as it was" cmp -s before "$2"
}
spared glue m.safetensors.index.json -o m.safetensors.index.json
spared reshard m.safetensors.index.json -o m --count 2 --by-tensor
cp before m.glue.json
spared glue m.glue.json -o m
spared reshard m.glue.json -o m --count 2
cp before m.glue.dsse.json
tokitai keygen key >/dev/null
spared glue m.glue.dsse.json -o m --sign key
expect 0 "without a certificate nothing is replaced" glue m.glue.json -o m --no-certificate

echo "-- a manifest"
fresh
st "{$(tensor w.0 U8 '[3]' 0 3)}" abc >a.safetensors
st "{$(tensor w.1 U8 '[3]' 0 3)}" cde >b.safetensors
manifest() { # SHA-256-OF-A START-OF-B STEP-OF-B
    cat >m.json <<JSON
{"tokitai_manifest": 1, "shards": [
  {"file": "a.safetensors", "sha256": "$1", "step": "1", "sections": {"w.0": {"tensor": "w", "shape": [5], "start": [0]}}},
  {"file": "b.safetensors", "step": "$3", "sections": {"w.1": {"tensor": "w", "shape": [5], "start": [$2]}}}]}
JSON
}
hash=$(sha256sum <a.safetensors | cut -d ' ' -f 1)
manifest "$hash" 2 1
expect 0 "a manifest" glue m.json -o joined
is "    joined" test "$(tail -c 5 joined)" = abcde
is "    the certificate has the names" grep -q '"name": "w.1"' joined.glue.json
rm joined*
manifest "$hash" 1 1
obstructed OVERLAP_DISAGREES "an overlap that differs" glue m.json -o joined
says out 'tensor "w" \[1:3\] at \[1\]: 0x62 \(98\) in a.safetensors, 0x63 \(99\) in b.safetensors; 2 of 2 elements differ'
manifest "$hash" 3 1
obstructed SHAPE "a section beyond the end" glue m.json -o joined
manifest "$hash" 2 2
obstructed STEP_SKEW "two steps" glue m.json -o joined
manifest "${hash//[0-8]/9}" 2 1
obstructed HASH "another file" glue m.json -o joined
manifest x 2 1
expect 2 "no hash" glue m.json -o joined
echo '{"shards": []}' >m.json
expect 2 "neither an index nor a manifest" glue m.json -o joined
says err "neither an index, with \"weight_map\", nor a manifest"
section() { # SECTION-OF-w.0 [MEMBER-OF-SHARD [MEMBER]]
    echo "{\"tokitai_manifest\": 1${3-}, \"shards\": [{\"file\": \"a.safetensors\"${2-}, \"sections\": {\"w.0\": $1}}]}" >m.json
}
section '{"tensor": "__metadata__"}'
expect 2 "a tensor that a file cannot have" glue m.json -o joined
says err "\"tensor\" is not a name"
section '{"sha265": "0"}'
expect 2 "a slip in a section" glue m.json -o joined
says err "a section has a member other than"
section '{}' ', "setp": "1"'
expect 2 "a slip in a shard" glue m.json -o joined
says err "a placement has an unknown member"
section '{}' '' ', "shard": []'
expect 2 "a slip in a manifest" glue m.json -o joined
says err "a manifest has a member other than"
for empty in '{"tokitai_manifest": 1, "shards": []}' '{"weight_map": {}}'; do
    echo "$empty" >m.json
    expect 2 "nothing to glue: $empty" glue m.json -o joined
    no_output
done
section '{"shape": [9223372036854775807], "start": [9223372036854775806]}'
obstructed SHAPE "a section that ends beyond 2^63" glue m.json -o joined
says out '\[9223372036854775806:9223372036854775809\]'

echo "-- malformed files"
fresh
for file in "$root"/tests/fuzz/corpus/safetensors/[A-Z]*; do
    name=$(basename "$file")
    kind=${name%%.*}
    tokitai glue "$file" -o joined >got 2>&1
    status=$?
    case $kind in
        WELL_FORMED) expected=0 ;;
        LENGTH_CUT | HEADER_CUT | DATA_CUT | HEADER_DUPLICATE) expected=1 ;;
        *) expected=2 ;;
    esac
    [ $status = $expected ] && { [ $expected = 0 ] || grep -q "$kind" got; } || fail "$name: exit status $status: $(cat got)"
    rm -f joined*
done
pass "every kept file has its exit status and its kind"

echo "-- files"
fresh
st "{$(tensor w U8 '[4]' 0 4)}" abcd >a.safetensors
expect 2 "no such shard" glue b.safetensors -o joined
expect 2 "no such folder" glue a.safetensors -o none/out
expect 2 "a folder in its place" glue a.safetensors -o /
expect 2 "no folder for shards" shard a.safetensors -o none/p --count 2
mkfifo pipe
expect 2 "a pipe" glue pipe -o joined
expect 2 "over its own source" glue a.safetensors -o a.safetensors
is "    it is as it was" test "$(tail -c 4 a.safetensors)" = abcd
echo old >joined
expect 0 "over another file" glue a.safetensors -o joined
is "    the new one is there" test "$(tail -c 4 joined)" = abcd
rm joined*
bad_usage "no shard" "an argument is missing: SHARD" glue -o joined
bad_usage "no file to write" "--output FILE is missing" glue a.safetensors
bad_usage "no count" "--count N is missing" shard a.safetensors -o p
bad_usage "too many" "must be a number from 1 to 4096" shard a.safetensors -o p --count 5000
if [ "$(id -u)" != 0 ] || (ulimit -f 8 2>/dev/null); then
    head -c 100000 /dev/zero >zeros
    { st "{$(tensor w U8 '[100000]' 0 100000)}" ''; cat zeros; } >large.safetensors
    (ulimit -f 8; exec "$tokitai" glue large.safetensors -o joined) >got 2>err
    is "a disk without room: exit status 2" test $? = 2
    no_output
    is "    no temporary file either" test -z "$(compgen -G 'joined.*')"
fi

echo "-- a file that becomes shorter while it is read"
fresh
size=$((1 << 36))
for i in 1 2; do
    st "{$(tensor w U8 "[$size]" 0 $size)}" '' >sparse$i.safetensors
    head=$(stat -c %s sparse$i.safetensors)
    truncate -s $((head + size)) sparse$i.safetensors
done
"$tokitai" diff-ckpt sparse1.safetensors sparse2.safetensors >got 2>err </dev/null &
child=$!
until grep -q sparse2 /proc/$child/maps 2>/dev/null || ! kill -0 $child 2>/dev/null; do :; done
truncate -s $((head + 1)) sparse2.safetensors
wait $child
is "exit status 2" test $? = 2
says err "a file was truncated while it was read"

echo "-- certificates"
fresh
st "{$(tensor a U8 '[2]' 0 2)}" aa >a.safetensors
mkdir joined.glue.json parts.glue.json
expect 2 "a certificate that cannot be written" glue a.safetensors -o joined
is "    keeps its file from appearing" test ! -e joined
expect 2 "of reshard" reshard a.safetensors -o parts --count 2
is "    the same" test -z "$(compgen -G 'parts-*')"
mkdir other
expect 2 "a file that cannot appear" glue a.safetensors -o other
is "    leaves no certificate" test ! -e other.glue.json
fresh
st "{$(tensor w U8 '[4]' 0 4)}" abcd >a.safetensors
tokitai keygen key >/dev/null
expect 0 "signed" glue a.safetensors -o joined --sign key
expect 0 "check" check joined.glue.json
says out "GLUED: joined, SHA-256 $(sha256sum <joined | cut -d ' ' -f 1), of 1 tensors in 1 sections; intact"
says out "^    unsigned: hashes and counts not verified"
expect 0 "check of the envelope" check joined.glue.dsse.json --key key.pub
says out "; intact; signed by [0-9a-f]{64}, verified"
count 0 out "unsigned"
expect 0 "check as JSON" check joined.glue.json --json
is "    is JSON" json_good out
expect 1 "a certificate that is not signed" check joined.glue.json --key key.pub
tokitai keygen other >/dev/null
expect 1 "signed by another" check joined.glue.dsse.json --key other.pub
sed 's/GLUED/CHOSEN/' joined.glue.json >altered.json
expect 1 "altered" check altered.json
says err "does not match its own SHA-256"

echo "-- certificates that contradict themselves"
# EXPECTED TITLE PYTHON: with `p`, the predicate, changed so and the hash made anew.
edited() {
    python3 - joined.glue.json altered.json "$3" <<'PYTHON' || fail "$2: not edited"
import hashlib, json, sys
statement = json.load(open(sys.argv[1]))
p = statement["predicate"]
exec(sys.argv[3])
del p["integrity"]
def text():
    return json.dumps(statement, sort_keys=True, indent=1, separators=(",", ": "), ensure_ascii=False) + "\n"
p["integrity"] = {"sha256": hashlib.sha256(text().encode()).hexdigest()}
open(sys.argv[2], "w").write(text())
PYTHON
    expect 1 "$2" check altered.json
    says err "contradicts itself: $1"
}
edited "its verdict" "the verdict" 'p["verdict"] = "CHOSEN"'
edited "its theorem, evidence or non_claims contradict" "a sentence" 'p["evidence"][0] += " And more."'
edited "its theorem, evidence or non_claims contradict" "a non-claim that is gone" 'p["non_claims"].pop()'
edited "its theorem, evidence or non_claims contradict" "another theorem" 'p["theorem"]["name"] = "no_such"'
edited "its counts" "one section less" 'p["counts"]["sections"] = 0'
edited "its counts" "an obstruction" 'p["counts"]["obstructions"] = 1'
edited "its sections miss 1 elements of tensor w" "a hole" 'p["cover"][0]["sections"][0]["size"] = [3]'
edited "section 0 of tensor w is invalid" "a section beyond it" 'p["cover"][0]["sections"][0]["start"] = [1]'
edited "section 0 of tensor w is invalid" "a shard that there is not" 'p["cover"][0]["sections"][0]["shard"] = 1'
edited "it has a member" "a member of its own" 'p["proved"] = True'

echo "-- what a certificate cites"
is "it cites the theorem" grep -q "\"sha256\": \"$(sha256sum <"$root/proofs/gluing.v" | cut -d ' ' -f 1)\"" joined.glue.json
is "the theorem is there" grep -q '^Theorem exactly_one_section ' "$root/proofs/gluing.v"
rm joined*
expect 0 "without a certificate" glue a.safetensors -o joined --no-certificate
is "    there is none" test ! -e joined.glue.json

echo "-- killed"
fresh
size=$((1 << 24))
{ st "{$(tensor w U8 "[$size]" 0 $size)}" ''; head -c $size /dev/zero | tr '\0' x; } >m.safetensors
tokitai shard m.safetensors -o p --count 4 >/dev/null
tokitai glue p-*.safetensors -o whole >/dev/null
complete=0 absent=0
for i in $(seq 40); do
    "$tokitai" glue p-*.safetensors -o joined >/dev/null 2>&1 &
    child=$!
    sleep "$(printf '0.%04d' $((i * i * 5)))" # up to 0.8 s
    kill -9 $child 2>/dev/null
    wait $child 2>/dev/null
    if [ ! -e joined ]; then
        absent=$((absent + 1))
    elif cmp -s joined whole; then
        complete=$((complete + 1))
    else
        fail "an incomplete file under the final name"
    fi
    rm -f joined*
done
is "killed 40 times: $absent times nothing, $complete times all of it" test $((complete + absent)) = 40

echo "-- the format's own library"
fresh
venv=${BUILD_DIR:-$work}/tests/safetensors_venv
if [ ! -e "$venv/ready" ]; then
    rm -rf "$venv"
    if timeout 60 python3 -m venv "$venv" >got 2>&1 && timeout 120 "$venv/bin/pip" install -q --retries 1 --timeout 20 "safetensors>=0.8" numpy >got 2>&1; then
        touch "$venv/ready"
    fi
fi
if [ -e "$venv/ready" ]; then
    "$venv/bin/python" - <<'PYTHON' || fail "the library writes"
import numpy as np
from safetensors.numpy import save_file
r = np.random.default_rng(20261116)
types = [np.bool_, np.uint8, np.int8, np.int16, np.uint16, np.float16, np.int32, np.uint32, np.float32, np.float64, np.int64, np.uint64]
save_file({f"t.{np.dtype(t).name}": r.integers(0, 2, (7, 6)).astype(t) * 3 for t in types} |
          {"scalar": np.array(2.5, np.float32), "none": np.zeros((0, 3), np.float16), "normal": r.standard_normal((33, 17, 3)).astype(np.float16)},
          "theirs.safetensors", metadata={"format": "np", "step": "12"})
PYTHON
    expect 0 "theirs is read" glue theirs.safetensors -o ours.safetensors
    expect 0 "theirs is split" shard theirs.safetensors -o p --count 3 --dim 1 --halo 1
    expect 0 "and glued" glue p-*.safetensors -o again.safetensors
    expect 0 "nothing differs" diff-ckpt theirs.safetensors again.safetensors
    "$venv/bin/python" - <<'PYTHON' || fail "the library reads ours"
import glob
from safetensors import safe_open
from safetensors.numpy import load_file
theirs = load_file("theirs.safetensors")
for file in ["ours.safetensors", "again.safetensors"]:
    ours = load_file(file)
    assert set(ours) == set(theirs)
    for name in theirs:
        a, b = theirs[name], ours[name]
        assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), name
    with safe_open(file, "np") as opened:
        assert opened.metadata() == {"format": "np", "step": "12"}, opened.metadata()
for file in glob.glob("p-*"):
    assert load_file(file)
PYTHON
    pass "ours are read by it, shards too"
    # Each type: a file made by hand, which it reads; what it writes, as far as it can; and ours.
    sed -nE 's/^ +\[TKI?_[A-Z0-9_]+\] += \{"[a-z0-9_]+", +"([A-Z0-9_]+)", +([0-9]+), .*/\1 \2/p' "$root/src/model/format.h" >types
    is "each row of the table of formats is found" test "$(wc -l <types)" = "$(grep -cE '^ +\[TKI?_' "$root/src/model/format.h")"
    is "    22 or more" test "$(wc -l <types)" -ge 22
    "$venv/bin/python" - <<'PYTHON' || fail "the library reads and writes every type"
import ctypes, json, random, struct
import safetensors
r = random.Random(20261118)
types = [(line.split()[0], int(line.split()[1])) for line in open("types")]
header, data = {}, b""
for name, bits in types:
    header["t." + name] = {"dtype": name, "shape": [6, 8], "data_offsets": [len(data), len(data) + 6 * bits]}
    data += r.randbytes(6 * bits)
text = json.dumps(header).encode()
open("all.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
assert len(safetensors.deserialize(open("all.safetensors", "rb").read())) == len(types)
# Its own names for those that are not F, I or U and a size; it has none for types of 6 bits, which it only reads.
named = {"BOOL": "bool", "BF16": "bfloat16", "C64": "complex64", "F4": "float4_e2m1fn_x2", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
         "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz"}
kinds = {"F": "float", "I": "int", "U": "uint"}
specs, kept = {}, []
for name, bits in types:
    if bits == 6:
        continue
    bytes_ = ctypes.create_string_buffer(r.randbytes(6 * bits), 6 * bits)
    kept.append(bytes_)
    specs["t." + name] = safetensors.TensorSpec(dtype=named.get(name) or kinds[name[0]] + name[1:], shape=(6, 8 // (2 if bits == 4 else 1)),
                                                data_ptr=ctypes.addressof(bytes_), data_len=6 * bits)
safetensors.serialize_file(specs, "written.safetensors", None)
PYTHON
    for file in all written; do
        expect 0 "$file types are read" glue $file.safetensors -o ours.$file
        expect 0 "    split" shard $file.safetensors -o s.$file --count 3 --halo 1
        expect 0 "    glued" glue s.$file-*.safetensors -o again.$file
        is "    the same" cmp ours.$file again.$file
    done
    "$venv/bin/python" - <<'PYTHON' || fail "the library reads every type from us"
import glob, safetensors
def read(file):
    return {name: (t["dtype"], tuple(t["shape"]), bytes(t["data"])) for name, t in safetensors.deserialize(open(file, "rb").read())}
for file in ["all", "written"]:
    assert read("again." + file) == read(file + ".safetensors"), file
assert {t[0] for t in read("again.all").values()} == {line.split()[0] for line in open("types")}
assert len(read("again.written")) == len(read("again.all")) - 2
for file in glob.glob("s.*"):
    assert read(file)
PYTHON
    pass "every type is read by it, from us"
    # Whatever we take, it takes: we are the stricter.
    "$venv/bin/python" - "$root/tests/fuzz/corpus/safetensors" <<'PYTHON' || fail "files that we take are taken by it"
import glob, sys
from safetensors import safe_open
files = glob.glob(sys.argv[1] + "/WELL_FORMED.*")
assert files
for file in files:
    with safe_open(file, "np") as opened:
        opened.keys()
PYTHON
    pass "well-formed files are taken by it"
else
    skip "files of the format's own library" "pip cannot install safetensors and numpy"
fi
cd "$work" || exit 1
finish
