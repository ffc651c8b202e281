#!/usr/bin/env bash
# Kernels that come as files: every CPU example gets the verdict that examples/kernels/README.md promises, by itself and in a batch;
# compilers, seeds, replay, diff, results as JSON lines and JUnit, and files of which nothing can be run.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
examples=$root/examples/kernels

echo "-- the examples, as their README has it"
seen=0
while IFS='|' read -r _ file _ verdict _; do
    file=$(tr -d ' `' <<<"$file")
    case $file in *.c) ;; *) continue ;; esac
    seen=$((seen + 1))
    case $verdict in
        *HELD*) expect 0 "$file holds" certify --kernel "$examples/$file" --skip-mutants ;;
        *REFUTED*)
            expect 1 "$file is refuted" certify --kernel "$examples/$file" --skip-mutants
            says out "^kernel\.cpu\.[a-z_]+\.f16\.${file%.c} +REFUTED"
            says out "why +$(sed 's/.*REFUTED, *\([A-Z_.]*\).*/\1/' <<<"$verdict"):"
            says out "reproduce +tokitai certify .* --kernel $examples/$file"
            ;;
        *UNKNOWN*)
            expect 3 "$file stays unknown" certify --kernel "$examples/$file" --skip-mutants --timeout 0.5 --dtype f16
            says out "within 0.5 seconds"
            ;;
    esac
done <"$examples/README.md"
# shellcheck disable=SC2012
[ "$seen" -eq "$(ls "$examples"/*.c | wc -l)" ] || fail "the README lists $seen of the .c files"

echo "-- the reproducing command reproduces, and says the same"
for file in bad_gemm_f16_sum bad_gelu_tail bad_crash; do
    "$tokitai" certify --kernel "$examples/$file.c" --skip-mutants --dtype f16 >out 2>err
    why=$(sed -n 's/^ *why *\([A-Z_.]*\):.*/\1/p' out)
    command=$(sed -n 's/^ *reproduce *tokitai //p' out)
    eval "expect 1 'reproduce: $file' $command"
    says out "why +$why:"
done
expect 1 "a crash, written down" certify --kernel "$examples/bad_crash.c" --skip-mutants --dtype f16 --out crashed
expect 0 "comes again in a replay" replay crashed/kernel.cpu.gelu_fwd.f16.bad_crash.json
says out "same; verdict REFUTED"
# Held, says its text, and the SHA-256 fits: only the trial that crashed, which is in no list, shows otherwise.
sed 's/^  "verdict": "REFUTED"/  "verdict": "HELD"/' crashed/kernel.cpu.gelu_fwd.f16.bad_crash.json >edited.json
hash=$(sed '/^  "integrity": {$/,/^  },$/d' edited.json | sha256sum | cut -d ' ' -f 1)
sed "/^  \"integrity\": {\$/,/^  },\$/s/\"sha256\": \".*\"/\"sha256\": \"$hash\"/" edited.json >forged.json
expect 1 "the same, forged to be held, contradicts itself" check forged.json
says err "not intact: forged.json: it contradicts itself: its verdict is HELD, but a clause is refuted"
expect 2 "and is not replayed" replay --json forged.json

echo "-- the folder as a batch"
mkdir batch
cp "$examples"/*.c batch/
printf 'this is no C\n' >batch/broken.c
printf 'int nothing_of_ours(void)\n{\n    return 0;\n}\n' >batch/other.c
printf '#include <tokitai_kernel.h>\nint tokitai_gelu_fwd(const tokitai_call *c, int64_t n, const void *x, void *y)\n{ (void)c; (void)x; (void)y; return n > 0 ? 7 : 0; }\n' >batch/refuses.c
expect 1 "a folder, two at a time" certify --kernels batch --jobs 2 --timeout 2 --dtype f16 --json-lines lines --junit junit.xml
says err "broken.c does not compile"
says err "\| .*broken.c"
says err "other.c: it defines no kernel"
count 11 lines '^\{.*\}$'
count 3 lines '"verdict":"HELD"'
count 4 lines '"file":"batch/bad_[a-z0-9_]*.c".*"verdict":"REFUTED"'
says lines '"file":"batch/bad_endless.c","verdict":"UNKNOWN"'
says lines '"file":"batch/broken.c","verdict":"UNKNOWN".*"headline":"UNKNOWN".*"log":".*error'
says lines '"file":"batch/refuses.c","verdict":"UNKNOWN".*returned 7'
[ "$(cut -d, -f1 lines | sort -u | wc -l)" -eq 11 ] || fail "not every file has its line"
expect 1 "a named op of a folder" certify gemm --kernels batch --dtype f16 --json-lines -
count 2 out '"op":"gemm".*"elements":[1-9]'
says out '"file":"batch/softmax_fwd.c".*defines none of the given ops; it defines softmax_fwd'
expect 2 "a folder without kernels" certify --kernels "$root/docs"
expect 2 "no folder" certify --kernels nowhere

if command -v python3 >/dev/null; then
    printf '#include <tokitai_kernel.h>\n#error "<&]]>\001\377 \\"\n' >batch/'nasty<&".c'
    "$tokitai" certify --kernels batch --dtype f16 --timeout 1 --jobs 3 --json-lines lines --junit junit.xml >/dev/null 2>&1
    python3 - junit.xml lines <<'PYTHON' || fail "JUnit or JSON lines cannot be read, or do not agree"
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
lines = [json.loads(line) for line in open(sys.argv[2])]
cases = list(root.iter("testcase"))
assert len(cases) == len(lines) == int(root.get("tests")) == 12, (len(cases), len(lines), root.get("tests"))
verdict = {"failure": "REFUTED", "error": "UNKNOWN"}
found = {case.get("classname"): next((verdict[part.tag] for part in case if part.tag in verdict), "HELD") for case in cases}
assert found == {line["file"]: line["verdict"] for line in lines}, found
assert int(root.get("failures")) == sum(v == "REFUTED" for v in found.values())
assert int(root.get("errors")) == sum(v == "UNKNOWN" for v in found.values())
PYTHON
    echo "ok       JUnit and JSON lines agree, whatever is in them"
fi

echo "-- what was restricted says so"
expect 0 "one case of a file" certify gelu_fwd --kernel "$examples/gelu_fwd.c" --dtype f16 --shape n=7 --json-lines lines --junit junit.xml
says out "^    verdict    HELD for one case: n=7$"
says out "^1 certificate: 1 HELD for one case: n=7; seed "
says lines '"headline":"HELD for one case: n=7"'
says junit.xml "<system-out>HELD for one case: n=7</system-out>"

echo "-- how wrong"
expect 1 "all trials of one that is wrong" certify gemm --kernel "$examples/bad_gemm_f16_sum.c" --dtype f16 --seed 11 --family normal --keep-going --skip-mutants --json-lines lines --junit junit.xml
says out "REFUTED for one family: normal; inexact: [0-9,]+ of [0-9,]+ elements \\([0-9.]+ %\\) wrong in"
says out "^ +[0-9]+ of [0-9]+ trials, half of them by at most [0-9.]+ ulp"
says lines '"grade":"inexact","wrong":[1-9][0-9]*,"wrong_of":[1-9][0-9]*,"wrong_nan":0,"wrong_median_ulp":[0-9.]+,"wrong_worst_ulp":[0-9.e+]+'
says junit.xml "<system-out>REFUTED for one family: normal; inexact: "
expect 1 "one that crashes, however often it may" certify gelu_fwd --kernel "$examples/bad_crash.c" --dtype f16 --keep-going --skip-mutants --json-lines lines
says out "REFUTED, structural \\(GELU_FWD\\.SHAPE\\)$"
says lines '"grade":"structural","wrong":0'

echo "-- several ops in one file"
mkdir plain
for op in gelu_fwd gelu_bwd; do "$tokitai" new-kernel "$op" --out "plain/$op.c" >/dev/null; done
cat plain/gelu_fwd.c plain/gelu_bwd.c >both.c
expect 0 "two ops in one file" certify --kernel both.c --skip-mutants --dtype bf16
count 1 out "^kernel\.cpu\.gelu_fwd\.bf16\.both +HELD"
count 1 out "^kernel\.cpu\.gelu_bwd\.bf16\.both +HELD"
expect 2 "an op that it does not define" certify gemm --kernel both.c
says err "defines none of the given ops; it defines gelu_fwd, gelu_bwd"
expect 2 "no op of the type" certify --kernel both.c --dtype u64
says err "defines no op that takes the given types; it defines gelu_fwd, gelu_bwd"
sed 's/TOKITAI_KERNEL3(gelu_bwd)/TOKITAI_KERNEL3(gelu_backward)/' plain/gelu_bwd.c >misnamed.c
expect 3 "a function that is named after no op" certify gelu_bwd --kernel misnamed.c --dtype f16
says out "tokitai_gelu_backward_v3 is not the name"
echo 'int tokitai_linear_fwd(void); int tokitai_linear_fwd(void) { return 0; }' >typed.c
expect 3 "an op that has the general form alone" certify linear_fwd --kernel typed.c --dtype f16
says out 'TOKITAI_KERNEL3\(linear_fwd\) declares'

echo "-- compilers"
cp plain/gelu_fwd.c mine.c
expect 0 "other flags" certify gelu_fwd --kernel mine.c --flags "-O1 -fPIC -shared -Wall" --dtype f16 --out certs --seed 7
says certs/kernel.cpu.gelu_fwd.f16.mine.json '"options": "-O1 -fPIC -shared -Wall"'
expect 3 "a compiler that is not there" certify gelu_fwd --kernel mine.c --compiler no-such-cc --dtype f16
says out "no-such-cc"
expect 3 "flags that it does not take" certify gelu_fwd --kernel mine.c --flags "-fPIC -shared -Wnonsense=3 -Werror -fno-such" --dtype f16
says err "fno-such"
cc -O2 -fPIC -shared -I "$root/include" -I "${BUILD_DIR:-$root/build}/include" -o mine.so mine.c -lm
expect 0 "a library as it is" certify gelu_fwd --kernel mine.so --dtype f16 --skip-mutants
echo "no library" >bad.so
expect 3 "a library that is none" certify gelu_fwd --kernel bad.so --dtype f16
expect 2 "an ending that is none" certify gelu_fwd --kernel "$root/README.md"
expect 2 "a file that is not there" certify gelu_fwd --kernel nowhere.c
expect 2 "options of kernels without one" certify gelu_fwd --timeout 3
expect 2 "a lowering as well" certify --kernel mine.c --lowering cpu.gelu_fwd.f16.scalar
expect 2 "a deadline that is none" certify gelu_fwd --kernel mine.c --timeout 0

echo "-- a compiler is shut in, whatever it is asked"
mkdir -p own/bin
cat >own/bin/their-cc <<SH
#!/bin/sh
{ echo was here >>$work/escaped; } 2>/dev/null
case \$1 in --version) echo "their-cc 1.0" ;; *) exec cc "\$@" ;; esac
SH
chmod +x own/bin/their-cc
expect 0 "a compiler of one's own" certify gelu_fwd --kernel mine.c --compiler own/bin/their-cc --dtype f16 --skip-mutants --seed 7 --out theirs
says theirs/kernel.cpu.gelu_fwd.f16.mine.json '"compiler": "their-cc 1.0"'
is "it wrote nothing outside" test ! -e escaped

echo "-- what a forged certificate asks for"
theirs=theirs/kernel.cpu.gelu_fwd.f16.mine.json
expect 3 "a compiler by its path" replay $theirs
says err "compiler 'own/bin/their-cc'"
PATH=$work/own/bin:$PATH
forge $theirs 's|"own/bin/their-cc"|"their-cc"|'
expect 3 "a compiler on the PATH alone" replay forged.json
says err "not the plain name of a compiler in a system folder"
forge $theirs 's|"own/bin/their-cc"|"env"|'
expect 3 "a program of the system that is no compiler" replay forged.json
forge $theirs 's|"own/bin/their-cc"|"../../bin/cc"|'
expect 3 "a compiler by way of a system folder" replay forged.json
expect 0 "the reader's own choice" replay --compiler own/bin/their-cc $theirs
says out "same; verdict HELD"
forge $theirs 's|"own/bin/their-cc"|"cc"|'
expect 0 "a compiler of the system" replay forged.json
asked() { # FLAGS: a certificate whose author asked for them, to asked/
    rm -rf asked
    "$tokitai" certify gelu_fwd --kernel mine.c --flags "$1" --dtype f16 --shape n=9 --seed 7 --out asked >/dev/null 2>&1
}
for flag in -fplugin=x.so -B/tmp/x '-wrapper sh,-c' -specs=x @more '-o x' --config=x -Wl,-plugin,x -fuse-ld=x -I/root '-include /etc/passwd' \
    '-Xcompiler -B/tmp' '-Xclang -load' '-mllvm -load=x' -l:x.so '-x assembler' -save-temps; do
    asked "-O1 -fPIC -shared $flag"
    expect 3 "the flag $flag" replay asked/*.json
    says err "the certificate's flag '${flag%% *}'|the certificate's flag '${flag##* }'"
done
included="-O1 -fPIC -shared -I/usr/include"
asked "$included"
expect 0 "such flags, repeated" replay --flags "$included" asked/*.json
expect 2 "others than the certificate's" replay --flags "-O1" asked/*.json
says err "differs from the certificate's flags '$included'"
asked "-O3 -fPIC -shared -std=c11 -march=native -ffast-math -fno-math-errno -Wall -DX=1 -lm"
"$tokitai" replay asked/*.json >out 2>err
[ $? -ne 3 ] && pass "usual flags are taken" || fail "usual flags are taken"
forge certs/kernel.cpu.gelu_fwd.f16.mine.json 's/"\(file\|source\)": "mine.c"/"\1": "secret.c"/'
echo '#error the password is swordfish' >secret.c
expect 3 "another file of the reader's" replay forged.json
says err "its SHA-256 differs"
is "nothing of it is shown" test "$(cat out err | grep -c swordfish)" -eq 0
rm secret.c && mkfifo secret.c
expect 2 "a pipe" replay forged.json
expect 0 "one's own copy" replay --kernel mine.c forged.json
expect 3 "one that does not end" certify --kernel "$examples/bad_endless.c" --skip-mutants --timeout 0.5 --dtype f16 --seed 7 --out endless
forge "$(echo endless/*.json)" 's/"call_seconds": .*/"call_seconds": 86400.0,/'
expect 0 "no longer than the reader gives" replay --timeout 0.5 forged.json
says out "same; verdict UNKNOWN"

echo "-- on a GPU that is not there"
fake=${BUILD_DIR:-$root/build}/tests
if [ -e "$fake/kernels/cuda_copy.so" ]; then
    on_fake() { # STATUS LIBRARY REGEX
        TOKITAI_CUDA_LIBRARY=$fake/fake_gpu/libcuda.so.1 expect "$1" "$2" certify gelu_fwd --backend cuda \
            --kernel "$fake/kernels/$2.so" --dtype f16 --skip-mutants --timeout 1 --out gpu
        says out "$3"
    }
    on_fake 1 cuda_copy "GELU_FWD.ERR: y\[0\] is"
    says gpu/kernel.cuda.gelu_fwd.f16.cuda_copy.json '"device": "Fake GPU 0"'
    says gpu/kernel.cuda.gelu_fwd.f16.cuda_copy.json "could have forged the guard bytes around"
    on_fake 1 cuda_write_behind "GELU_FWD.WRITE: wrote outside y"
    on_fake 1 cuda_write_to_input "GELU_FWD.WRITE: "
    on_fake 1 cuda_illegal_address "CUDA_ERROR_ILLEGAL_ADDRESS"
    on_fake 1 cuda_touch_device_memory "GELU_FWD.SHAPE: .*signal 11"
    on_fake 3 cuda_endless "did not return within 1 seconds"
    echo "-- under a stand-in for compute-sanitizer"
    on_fake 0 cuda_gelu "HELD"
    says gpu/kernel.cuda.gelu_fwd.f16.cuda_gelu.json "were not checked: compute-sanitizer was not requested"
    watched() { # STATUS LIBRARY REGEX [OPTION...]
        local status=$1 library=$2 regex=$3
        shift 3
        PATH=$root/tests/stand_in:$PATH TOKITAI_CUDA_LIBRARY=$fake/fake_gpu/libcuda.so.1 expect "$status" "$library, watched" \
            certify gelu_fwd --backend cuda --kernel "$fake/kernels/$library.so" --dtype f16 --skip-mutants --out gpu "$@"
        tr -s ' \n' ' ' <out >one_line
        says one_line "$regex"
    }
    watched 0 cuda_gelu "HELD" --sanitize
    says gpu/kernel.cuda.gelu_fwd.f16.cuda_gelu.json "checked 16 calls of small trials with memcheck, racecheck, initcheck and synccheck and found no errors"
    says gpu/kernel.cuda.gelu_fwd.f16.cuda_gelu.json "compute-sanitizer memcheck: may start programs"
    PATH=$root/tests/stand_in:$PATH TOKITAI_CUDA_LIBRARY=$fake/fake_gpu/libcuda.so.1 \
        expect 0 "watched once more" replay gpu/kernel.cuda.gelu_fwd.f16.cuda_gelu.json
    watched 1 cuda_gelu_that_reads_on "GELU_FWD.SHAPE: the kernel reads outside its arrays; compute-sanitizer memcheck: 'Invalid __global__ read .* in gelu.cu:6" --sanitize
    watched 1 cuda_gelu_that_races "GELU_FWD.REPEAT: the kernel has a race on shared memory; compute-sanitizer racecheck: .*gelu.cu:41 and Read access" --sanitize
    # The command that it gives shows it again, by one case of a shape that races.
    command=$(sed -n 's/^ *reproduce  *tokitai //p' out)
    is "the command asks for it: $command" test "${command/ --sanitize --shape n=/}" != "$command"
    # shellcheck disable=SC2086
    PATH=$root/tests/stand_in:$PATH TOKITAI_CUDA_LIBRARY=$fake/fake_gpu/libcuda.so.1 expect 1 "the command itself" $command
    says out "racecheck"
    watched 0 cuda_gelu_that_races "HELD"
    watched 1 cuda_gelu_that_reads_nothing_written "GELU_FWD.REPEAT: .* initcheck: 'Uninitialized" --sanitize
    watched 1 cuda_gelu_with_divergent_barrier "GELU_FWD.REPEAT: .* synccheck: 'Barrier error" --sanitize
    watched 1 cuda_gelu_with_divergent_barrier "synccheck" --level full --shape n=300
    watched 0 cuda_gelu_with_divergent_barrier "HELD" --level full --shape n=300 --no-sanitize
    expect 2 "both" certify gelu_fwd --kernel mine.c --sanitize --no-sanitize
    expect 2 "of a lowering" certify gelu_fwd --sanitize
    expect 3 "a device that there is not" certify gelu_fwd --backend cuda:7 --kernel "$fake/kernels/cuda_copy.so" --dtype f16
fi

echo "-- names"
mkdir names
cp plain/gelu_fwd.c names/one.c
cp plain/gelu_fwd.c names/one.cpp
cp batch/broken.c "names/$(printf 'odd\377 \047name').c"
cp batch/bad_gelu_tail.c "names/it's \$one.c"
expect 2 "two files of one name" certify gelu_fwd --kernels names --dtype f16 --out named --json-lines lines
says err "one.cpp: not written: kernel.cpu.gelu_fwd.f16.one.json is the certificate of another kernel file"
expect 0 "the first has its certificate" check named/kernel.cpu.gelu_fwd.f16.one.json
odd=$(printf 'odd\377 \047name' | sha256sum | cut -c1-8)
expect 0 "so has one of an odd name" check "named/kernel.cpu.gelu_fwd.f16.odd___name-$odd.json"
count 4 lines '^\{.*\}$'
expect 1 "a name that a shell would take apart" certify --kernel "names/it's \$one.c" --dtype f16 --skip-mutants
command=$(sed -n 's/^ *reproduce *tokitai //p' out)
eval "expect 1 'reproduce it' $command"

cp plain/gelu_fwd.c "names/a b.c"
cp plain/gelu_fwd.c names/a_b.c
rm names/one.cpp names/odd* names/it*
expect 0 "names that differ by a blank" certify gelu_fwd --kernels names --dtype f16 --out blanks
count 3 out '^kernel\.cpu\.gelu_fwd\.f16\..* HELD'
is "    each has its certificate" test "$(find blanks -name '*.json' | wc -l)" -eq 3

echo "-- one copy"
mkdir strange
mkfifo strange/fifo.c
ln -s "$work/plain/gelu_fwd.c" strange/link.c
ln -s /dev/zero strange/device.c
truncate -s 300G strange/giant.c
truncate -s 400M strange/holes.so
mkdir strange/empty.c
cp plain/gelu_fwd.c strange/good.c
expect 2 "what is no plain file is one more result" certify gelu_fwd --kernels strange --dtype f16 --json-lines lines
count 7 lines '^\{.*\}$'
says lines '"file":"strange/good.c","verdict":"HELD"'
says lines '"file":"strange/fifo.c","verdict":"UNKNOWN","reason":"[^"]*not a regular file'
says lines '"file":"strange/link.c","verdict":"UNKNOWN","reason":"[^"]*symbolic link'
says lines '"file":"strange/device.c","verdict":"UNKNOWN","reason":"[^"]*symbolic link'
says lines '"file":"strange/giant.c","verdict":"UNKNOWN","reason":"[^"]*is a sparse file'
says lines '"file":"strange/holes.so","verdict":"UNKNOWN","reason":"[^"]*holes'
says lines '"file":"strange/empty.c","verdict":"UNKNOWN","reason":"[^"]*no file in it ends in'
# Its owner swaps the file while it is compiled, and back again: what is named is what was run.
mkdir swapped
sed 's/0\.044715f/0.05f/' "$examples/gelu_fwd.c" >swapped/wrong
cp "$examples/gelu_fwd.c" swapped/right
cmp -s swapped/wrong swapped/right && fail "the wrong kernel is the right one"
printf '#!/bin/sh\nsleep 1\n/usr/bin/cc "$@"\nstatus=$?\nsleep 1\nexit $status\n' >slow_cc
chmod +x slow_cc
cp swapped/wrong swapped/kernel.c
(sleep 0.5; cp swapped/right swapped/new && mv swapped/new swapped/kernel.c; sleep 2; cp swapped/wrong swapped/new && mv swapped/new swapped/kernel.c) &
"$tokitai" certify gelu_fwd --kernel swapped/kernel.c --compiler "$work/slow_cc" --no-coverage --skip-mutants --dtype f16 --out swapped/out >out 2>err
wait
says swapped/out/kernel.cpu.gelu_fwd.f16.kernel.json "\"source_sha256\": \"$(sha256sum <swapped/wrong | cut -c1-64)\""
says swapped/out/kernel.cpu.gelu_fwd.f16.kernel.json '"verdict": "REFUTED"'

echo "-- headers, and kernels in folders"
mkdir -p headed/parts other
{
    echo '#include "parts/half.h"'
    echo '#include <twice.h>'
    sed 's/0\.044715f/(0.08943f * HALF)/' "$examples/gelu_fwd.c"
} >headed/kernel.c
printf '#define HALF (0.25f * TWICE)\nstatic inline int never(int x)\n{\n    return x;\n}\n' >headed/parts/half.h
printf '#define TWICE 2\n' >other/twice.h
printf 'int tokitai_unused(void) { return 0; }\n' >headed/unused.c
expect 3 "a header that is not there" certify gelu_fwd --kernel headed --dtype f16 --skip-mutants
says err "twice.h"
expect 0 "a folder, and one of headers" certify gelu_fwd --kernel headed/ --include other --dtype f16 --skip-mutants --out headed_out
says out '^kernel\.cpu\.gelu_fwd\.f16\.headed +HELD'
cp -r headed dotted.name
expect 0 "a folder with a dot in its name" certify gelu_fwd --kernel dotted.name --include other --dtype f16 --skip-mutants --shape n=5
tree=$( (cd headed && find . -type f -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum; cd ../other && sha256sum twice.h | sed 's|  |  include0/|') | LC_ALL=C sort -k2 | sha256sum | cut -c1-64)
says headed_out/kernel.cpu.gelu_fwd.f16.headed.json "\"tree_sha256\": \"$tree\""
expect 3 "folders are the reader's to name" replay headed_out/kernel.cpu.gelu_fwd.f16.headed.json
says err "name their folder"
expect 3 "both of them" replay --include other headed_out/kernel.cpu.gelu_fwd.f16.headed.json
says err "the kernel is a folder \('headed/' when certified\); name it"
expect 0 "it is replayed" replay --kernel headed --include other headed_out/kernel.cpu.gelu_fwd.f16.headed.json
printf '#define TWICE 2 /* again */\n' >other/twice.h
expect 3 "not with another header" replay --kernel headed --include other headed_out/kernel.cpu.gelu_fwd.f16.headed.json
says err "is not the certified kernel: its SHA-256 differs"
ln -s /etc/hostname headed/parts/link.h
expect 2 "a link in a folder" certify gelu_fwd --kernel headed --include other --dtype f16
says err "headed/parts/link.h' is a symbolic link"
rm headed/parts/link.h
mkdir several
cp plain/gelu_fwd.c several/one.c
cp plain/gelu_fwd.c several/two.c
expect 2 "several files that could be the kernel" certify gelu_fwd --kernel several --dtype f16
says err "several files could be the kernel"
mkdir nested
cp -r headed nested/first
cp plain/gelu_fwd.c nested/second.c
expect 0 "folders among files" certify gelu_fwd --kernels nested --include other --dtype f16 --json-lines lines
count 2 lines '"verdict":"HELD"'

echo "-- seeds, and the certificate"
expect 0 "a drawn seed" certify gelu_fwd --kernel mine.c --dtype f16 --skip-mutants
first=$(sed -n 's/.*seed \([0-9]*\).*/\1/p' out)
expect 0 "another drawn seed" certify gelu_fwd --kernel mine.c --dtype f16 --skip-mutants
[ -n "$first" ] && [ "$first" != "$(sed -n 's/.*seed \([0-9]*\).*/\1/p' out)" ] || fail "the seed is not drawn anew"
cert=certs/kernel.cpu.gelu_fwd.f16.mine.json
says $cert '"seed": 7'
says $cert "\"source_sha256\": \"$(sha256sum mine.c | cut -d' ' -f1)\""
says $cert '"clock": "CLOCK_MONOTONIC of the judging process'
says $cert '"confinement": \['
says $cert 'can detect that it is being judged'
expect 0 "check" check $cert
expect 0 "replay" replay $cert
says out "same; verdict HELD"
expect 0 "the same again" certify gelu_fwd --kernel mine.c --flags "-O1 -fPIC -shared -Wall" --dtype f16 --out again --seed 7
expect 0 "is the same" diff $cert again/kernel.cpu.gelu_fwd.f16.mine.json
sed -i 's/0.044715/0.0447/' mine.c
expect 3 "replay of a source that changed" replay $cert
says err "its SHA-256 differs"
expect 1 "the changed source" certify gelu_fwd --kernel mine.c --flags "-O1 -fPIC -shared -Wall" --dtype f16 --out again --seed 7
expect 1 "differs" diff $cert again/kernel.cpu.gelu_fwd.f16.mine.json
says out "source SHA-256"

echo "-- kernels of other programs"
server="$tokitai kernel gelu-bwd --server --binary"
expect 0 "our own program" certify gelu_bwd --program "$server" --shape n=3000 --skip-mutants
says out "^program.gelu_bwd.bf16 +HELD"
expect 3 "a program that does not take a case" certify gelu_bwd --program "$server" --shape n=0 --dtype f16 --skip-mutants
says err "--program: gelu-bwd: N is 0"
expect 3 "a program of other kernels" certify gelu_fwd --program "$server" --dtype f16 --skip-mutants
expect 3 "a program that ends" certify gelu_bwd --program false --dtype f16 --skip-mutants
says err "exit status 1 without a reply"
expect 3 "a program that hangs" certify gelu_bwd --program "sleep 60" --timeout 0.3 --dtype f16 --skip-mutants
expect 2 "a program and a file" certify gelu_bwd --program "$server" --kernel mine.c
if command -v python3 >/dev/null; then
    cat >zeros.py <<'PYTHON'
import struct, sys
while True:
    length = sys.stdin.buffer.read(4)
    if not length:
        break
    frame = sys.stdin.buffer.read(struct.unpack("<I", length)[0])
    out = struct.unpack_from("<Q", frame, 112 + 8 + 2 * 128)[0]
    reply = struct.pack("<IIQ", 0x33574B54, 2, struct.unpack_from("<Q", frame, 8)[0])
    reply += struct.pack("<iidQqiIiI", 0, 0, 0.0, 0, 0, -1, 0, 3, 0)
    reply += struct.pack("<QQiI104x", 0, 0, -2, 0) * 2 + struct.pack("<QQiI104x", out, 64 + 3 * 128, -1, 1)
    sys.stdout.buffer.write(struct.pack("<I", len(reply) + out) + reply + bytes(out))
    sys.stdout.buffer.flush()
PYTHON
    expect 1 "a program that answers zeros" certify gelu_bwd --program "python3 zeros.py" --shape n=100 --dtype f16 --skip-mutants --out certs
    says out "reproduce +tokitai certify gelu_bwd --dtype f16 --program 'python3 zeros.py'"
    says certs/program.gelu_bwd.f16.json "in a program, outside the sandbox, that this command started: python3 zeros.py"
    # Sends its first input back, too: all ones, and as many bytes as it is told beside those it has.
    cat >changes.py <<'PYTHON'
import struct, sys
while True:
    length = sys.stdin.buffer.read(4)
    if not length:
        break
    frame = sys.stdin.buffer.read(struct.unpack("<I", length)[0])
    out = struct.unpack_from("<Q", frame, 112 + 8 + 2 * 128)[0]
    given, room = out + int(sys.argv[1]), (out + 7) // 8 * 8
    reply = struct.pack("<IIQ", 0x33574B54, 2, struct.unpack_from("<Q", frame, 8)[0])
    reply += struct.pack("<iidQqiIiI", 0, 0, 0.0, 0, 0, -1, 0, 3, 0)
    reply += struct.pack("<QQiI104x", given, 64 + 3 * 128, -1, 0) + struct.pack("<QQiI104x", 0, 0, -2, 0)
    reply += struct.pack("<QQiI104x", out, 64 + 3 * 128 + room, -1, 1) + b"\1" * room + bytes(out)
    sys.stdout.buffer.write(struct.pack("<I", len(reply)) + reply)
    sys.stdout.buffer.flush()
PYTHON
    expect 1 "a program that changes its input" certify gelu_bwd --program "python3 changes.py 0" --shape n=100 --dtype f16 --skip-mutants
    says out "GELU_BWD.WRITE: changed its input grad_output"
    expect 3 "a program that sends back another input" certify gelu_bwd --program "python3 changes.py -2" --shape n=100 --dtype f16 --skip-mutants
    says err "a returned input does not match the call"
fi

finish
