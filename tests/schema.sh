#!/usr/bin/env bash
# Certificates of every kind are valid by certificate.schema.json, as the build makes it, and broken ones are not. Skipped (77) where
# there is no python3 with jsonschema of draft 2020-12. Needs TOKITAI, the program, SOURCE_DIR and BUILD_DIR.
set -euo pipefail
tokitai=${TOKITAI:?the program to test}
root=${SOURCE_DIR:-$(dirname "$(readlink -f "$0")")/..}

# The distribution's package serves the distribution's interpreter, which need not be the first one found.
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "skipped: no python3 with jsonschema 4 or later"
    exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# name, expected exit status, arguments of certify
certify() {
    local name=$1 expected=$2 status=0
    shift 2
    "$tokitai" certify "$@" --out "$work/$name" >"$work/$name.log" 2>&1 || status=$?
    if [ "$status" -ne "$expected" ]; then
        echo "certify $*: exit status $status, not $expected"
        cat "$work/$name.log"
        exit 1
    fi
}

# Given inputs with a NaN and an infinity among them; an output that is infinitely far off; mutants of all of which the
# clause that refutes them is of another kind (value, NaN, writing).
certify quick 0 gelu_fwd --dtype f16
certify kept 0 gelu_fwd --dtype f16
certify skipped 0 gelu_fwd --dtype bf16 --skip-mutants --seed 0xffffffffffffffff
certify exhaustive 0 gelu_fwd --dtype f16 --level exhaustive --skip-mutants
certify shape 0 gelu_bwd --dtype bf16 --shape n=257
certify family 0 gelu_bwd --dtype f16 --family huge --skip-mutants
certify given 0 gelu_bwd --dtype f16 --shape n=3 --input grad_output=0x3c00,0x7c00,0x5640 --input x=0x7e01,0xbc00,0xc529
certify empty 3 gelu_fwd --dtype f16 --shape n=0 --input x=
certify mutant_value 1 gelu_bwd --dtype f16 --mutant tanh_form
certify variant 0 gelu_bwd --dtype f16 --variant base_2
certify mutant_nan 1 gelu_bwd --dtype bf16 --mutant nan_masked
certify mutant_write 1 gelu_fwd --dtype f16 --mutant last_dropped
certify mutant_saturating 1 gelu_fwd --dtype bf16 --mutant saturating
certify mutant_given 1 gelu_bwd --dtype f16 --mutant tanh_form --shape n=1 --input grad_output=0x5640 --input x=0xc529

# Types with names of two parts.
for type in f8_e4m3 f8_e5m2; do
    certify "variant_$type" 0 gelu_fwd --dtype $type --variant base_2
    certify "mutant_$type" 1 gelu_bwd --dtype $type --mutant quick_form --overflow saturate
done

# Outputs that were given: right and wrong ones.
for name in x y; do printf "\x93NUMPY\x01\0\x3b\0{'descr': '<f2', 'fortran_order': False, 'shape': (1,), } \n\0\0" >"$work/$name.npy"; done
"$tokitai" judge gelu_fwd --inputs "$work/x.npy" --outputs "$work/y.npy" --out "$work/judged" >/dev/null
for name in x8 y8; do printf "\x93NUMPY\x01\0\x3b\0{'descr': '|u1', 'fortran_order': False, 'shape': (1,), } \n\0" >"$work/$name.npy"; done
"$tokitai" judge gelu_fwd --inputs x="$work/x8.npy" --outputs y="$work/y8.npy" --dtype f8_e4m3 --out "$work/judged_8" >/dev/null
printf '\1' | dd of="$work/y.npy" bs=1 seek=69 conv=notrunc status=none
"$tokitai" judge gelu_fwd --inputs "$work/x.npy" --outputs "$work/y.npy" --out "$work/judged_wrong" >/dev/null && exit 1

certify mutant_whole 1 gelu_bwd --dtype bf16 --mutant nan_masked --keep-going
certify near_zero 0 xent --dtype bf16 --index i32 --lowering best --skip-mutants

# Kernel files: one that holds, one whose values are wrong, one that crashes, one that never ends, one that does not compile.
kernels=$root/examples/kernels
echo 'no C' >"$work/broken.c"
certify kernel 0 gelu_fwd --dtype f16 --kernel "$kernels/gelu_fwd.c"
certify kernel_wrong 1 gemm --dtype bf16 --kernel "$kernels/bad_gemm_f16_sum.c" --flags "-O1 -Wall"
# With this seed the one wrong element is of the call with an input changed.
certify kernel_changed 1 gemm --dtype bf16 --kernel "$kernels/bad_gemm_f16_sum.c" --seed 1 --skip-mutants
certify kernel_crash 1 gelu_fwd --dtype f16 --kernel "$kernels/bad_crash.c"
certify kernel_endless 3 gelu_fwd --dtype f16 --kernel "$kernels/bad_endless.c" --timeout 0.5
certify kernel_limited 0 gelu_fwd --dtype f16 --kernel "$kernels/gelu_fwd.c" --skip-mutants --memory 2G --tasks 90 --output-size 64M --folder-depth 3 --total-timeout 3000
certify kernel_late 3 gelu_fwd --dtype f16 --kernel "$kernels/bad_endless.c" --total-timeout 0.5 --timeout 600
certify kernel_broken 3 gelu_fwd --dtype f16 --kernel "$work/broken.c"

# On a GPU that is not there, watched by a stand-in for compute-sanitizer: nothing found, a race, a program that does not work.
fake=${BUILD_DIR:-$root/build}/tests
if [ -e "$fake/kernels/cuda_gelu.so" ]; then
    mkdir "$work/broken_sanitizer"
    printf '#!/bin/sh\nexit 1\n' >"$work/broken_sanitizer/compute-sanitizer"
    chmod +x "$work/broken_sanitizer/compute-sanitizer"
    on_fake() { # NAME STATUS KERNEL FOLDER [OPTION...]
        local name=$1 status=$2 kernel=$3 folder=$4
        shift 4
        TOKITAI_CUDA_LIBRARY=$fake/fake_gpu/libcuda.so.1 PATH=$folder:$PATH certify "$name" "$status" gelu_fwd --dtype f16 \
            --backend cuda --kernel "$fake/kernels/$kernel.so" --skip-mutants "$@"
    }
    on_fake watched 0 cuda_gelu "$root/tests/stand_in" --sanitize
    on_fake watched_race 1 cuda_gelu_that_races "$root/tests/stand_in" --sanitize
    on_fake watched_by_none 0 cuda_gelu "$work/broken_sanitizer" --sanitize
    on_fake unwatched 0 cuda_gelu "$root/tests/stand_in" --no-sanitize
fi

# Every other op, on a small shape, so that indices, options, several sizes and outputs are seen.
"$tokitai" ops --json >"$work/ops.json"
"$python" - "$work/ops.json" >"$work/others" <<'PYTHON'
import json, sys
for op in json.load(open(sys.argv[1])):
    if not op["name"].startswith("gelu_"):
        types = op["types"]
        shape = ",".join(f"{size}={5 + 2 * i}" for i, size in enumerate(op["sizes"]))
        print(op["name"], shape, op["mutants"][0]["name"], types[0], types[min(1, len(types) - 1)])
PYTHON
while read -r op shape mutant first second; do
    certify "$op" 0 "$op" --dtype "$second" --shape "$shape"
    certify "$op.mutant" 1 "$op" --dtype "$first" --index i32 --mutant "$mutant"
done <"$work/others"

# What they say in several places is made once: check finds nothing that does not follow.
"$tokitai" check "$work"/*/*.json >"$work/checked" || { echo "check does not take a certificate as it was written"; exit 1; }
if grep 'cannot reproduce' "$work/checked"; then
    echo "check cannot make the sentences of certificates of this build"
    exit 1
fi

most_clauses=$(sed -nE 's/^ +TK_MAX_CLAUSES = ([0-9]+),.*/\1/p' "$root/include/tokitai.h")
"$python" - "${BUILD_DIR:-$root/build}/generated/certificate.schema.json" "$work" "$most_clauses" <<'PYTHON'
import copy, glob, json, sys
import jsonschema

schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
failed = False

files = sorted(glob.glob(sys.argv[2] + "/*/*.json"))
certificates = {file[len(sys.argv[2]) + 1:]: json.load(open(file)) for file in files}
if len(certificates) < 12:
    sys.exit(f"only {len(certificates)} certificates were made")
MOST_CLAUSES = int(sys.argv[3])
many = copy.deepcopy(next(iter(certificates.values())))
many["predicate"]["clauses"] += [many["predicate"]["clauses"][0]] * (MOST_CLAUSES - len(many["predicate"]["clauses"]))
if not validator.is_valid(many):
    sys.exit(f"a certificate of {MOST_CLAUSES} clauses is not valid")
for name, certificate in certificates.items():
    if "headline" not in certificate["predicate"]:
        print(f"{name} has no headline")
        failed = True
    for error in list(validator.iter_errors(certificate))[:5]:
        print(f"{name}: {error.json_path}: {error.message[:300]}")
        failed = True


def named(start):
    return copy.deepcopy(next(c for name, c in certificates.items() if name.startswith(start + "/")))


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(certificate):
        for step in path:
            certificate = certificate[step]
        certificate[last] = value
    return change


def drop(*path):
    def change(certificate):
        for step in path[:-1]:
            certificate = certificate[step]
        del certificate[path[-1]]
    return change


predicate = "predicate"
broken = [
    ("quick", put("_type", "https://in-toto.io/Statement/v0.1")),
    ("quick", put("signature", "none")),
    ("quick", put("subject", [])),
    ("quick", put("subject", 0, "digest", "sha256", "short")),
    ("quick", put("predicateType", "urn:tokitai:kernel-certificate:v1")),
    ("quick", drop(predicate, "non_claims")),
    ("quick", put(predicate, "non_claims", [])),
    ("quick", drop(predicate, "integrity")),
    ("quick", put(predicate, "note", "an unknown member")),
    ("quick", put(predicate, "run", "dtype", "F16")),
    ("quick", put(predicate, "clauses", [named("quick")[predicate]["clauses"][0]] * (MOST_CLAUSES + 1))),
    ("variant_f8_e4m3", put(predicate, "run", "dtype", "f8_e4m3-")),
    ("variant_f8_e4m3", put(predicate, "run", "subject", "variant.gelu_fwd.f8.e4m3.base_2")),
    ("quick", put(predicate, "verdict", "PASSED")),
    ("quick", put(predicate, "verdict", "PROVED")),
    ("quick", put(predicate, "verdict", "REFUTED")),
    ("quick", put(predicate, "reason", "a HELD certificate gives no reason")),
    ("quick", put(predicate, "headline", "PASSED")),
    ("quick", put(predicate, "headline", "REFUTED")),
    ("mutant_value", put(predicate, "headline", "HELD")),
    ("kept", put(predicate, "run", "mutants", "seed", -1)),
    ("kept", put(predicate, "run", "mutants", "kept", "yesterday")),
    ("kept", put(predicate, "run", "mutants", "note", "an unknown member")),
    ("kept", drop(predicate, "run", "mutants", "build")),
    ("kept", drop(predicate, "run", "mutants", "seed")),
    ("quick", put(predicate, "clauses", 0, "verdict", "REFUTED")),
    ("quick", put(predicate, "clauses", 0, "failures", 1)),
    ("quick", put(predicate, "clauses", 0, "checks", 0)),
    ("quick", put(predicate, "clauses", 0, "id", "gelu_fwd.err")),
    ("gemm", drop(predicate, "rests_on")),
    ("gemm", drop(predicate, "proofs")),
    ("gemm", drop(predicate, "proofs", 0, "sha256")),
    ("gemm", put(predicate, "proofs", 0, "supports", [])),
    ("gemm", put(predicate, "proofs", 0, "supports", ["TILING"])),
    ("gemm", put(predicate, "proofs", 0, "file", "/etc/passwd")),
    ("gemm", put(predicate, "rests_on", "GEMM.ERR", "kernel", "exhaustion")),
    ("gemm", put(predicate, "rests_on", "GEMM.ERR", "kernel", "theorem")),
    ("gemm", put(predicate, "rests_on", "GEMM.ERR", "kernel", "counterexample")),
    ("gemm", put(predicate, "rests_on", "GEMM.ERR", "derivation", "trials")),
    ("quick", put(predicate, "mutants", 0, "rejected", False)),
    ("quick", drop(predicate, "mutants", 0, "clause")),
    ("quick", put(predicate, "run", "level", "thorough")),
    ("quick", put(predicate, "run", "kind", "mutant")),
    ("quick", put(predicate, "run", "trials", 0, "elements", -1)),
    ("quick", drop(predicate, "run", "trials", 0, "seed")),
    ("quick", put(predicate, "result", "elements", "202138")),
    ("quick", put(predicate, "result", "ulp_histogram", 0, "up_to_ulp", 0.5)),
    ("quick", drop(predicate, "result", "ulp_histogram", 9)),
    ("quick", put(predicate, "result", "by_magnitude", "positive", 0, "exponent", 128)),
    ("quick", put(predicate, "result", "by_magnitude", "positive", 0, "elements", 0)),
    ("quick", drop(predicate, "result", "by_magnitude", "positive", 0, "worst_ulp")),
    ("quick", drop(predicate, "result", "by_magnitude", "negative")),
    ("quick", put(predicate, "result", "determinism", "always")),
    ("quick", drop(predicate, "built", "source_sha256")),
    ("quick", put(predicate, "created", "yesterday")),
    ("quick", put(predicate, "worker", {"confinement": [], "clock": "its own"})),
    ("judged", drop(predicate, "run", "given")),
    ("judged", drop(predicate, "run", "shape")),
    ("judged", put(predicate, "run", "seed", 1)),
    ("judged", put(predicate, "run", "kind", "function")),
    ("judged", put(predicate, "run", "level", "quick")),
    ("judged_wrong", put(predicate, "run", "given", "outputs", "y", "sha256", "short")),
    ("quick", put(predicate, "run", "given", {"memory": "host", "inputs": {}, "outputs": {}})),
    ("quick", drop(predicate, "run", "seed")),
    ("kernel", drop(predicate, "worker")),
    ("kernel", drop(predicate, "run", "kernel")),
    ("kernel", put(predicate, "run", "subject", "cpu.gelu_fwd.f16.gelu_fwd")),
    ("kernel", put(predicate, "built", "log", "warnings")),
    ("kernel_wrong", put(predicate, "run", "kernel", "backend", "abacus")),
    ("kernel_limited", put(predicate, "run", "limits", "tasks", 0)),
    ("kernel_limited", put(predicate, "run", "limits", "tasks", "many")),
    ("kernel_limited", put(predicate, "run", "limits", "memory_bytes", -1)),
    ("kernel_limited", put(predicate, "run", "limits", "output_bytes", "not limited")),
    ("kernel_limited", put(predicate, "run", "limits", "call_seconds", 60)),
    ("kernel_limited", put(predicate, "run", "limits", {})),
    ("exhaustive", put(predicate, "run", "level", "full")),
    ("quick", put(predicate, "result", "elements", 0)),
    ("quick", put(predicate, "run", "keep_going", False)),
    ("near_zero", put(predicate, "result", "accepted", "worst_ulp", "infinity")),
    ("near_zero", drop(predicate, "result", "accepted", "near_zero")),
    ("near_zero", put(predicate, "result", "worst", "where", "somewhere")),
    ("mutant_value", put(predicate, "result", "refutation", "grade", "harmless")),
    ("mutant_value", drop(predicate, "result", "refutation", "worst_ulp")),
    ("mutant_value", put(predicate, "result", "refutation", "structural", ["GELU_BWD.WRITE"])),
    ("mutant_write", put(predicate, "result", "refutation", "structural", [])),
    ("mutant_write", put(predicate, "result", "refutation", "grade", "gross")),
    ("mutant_whole", put(predicate, "result", "refutation", "grade", "slight")),
    ("mutant_whole", put(predicate, "result", "refutation", "grade", "inexact")),
    ("mutant_whole", drop(predicate, "result", "refutation", "clauses", 0, "ulp_histogram")),
    ("kernel_crash", put(predicate, "result", "refutation", "worst_ulp", 1)),
    ("exhaustive", put(predicate, "result", "undecided", 1)),
    ("given", drop(predicate, "run", "shape")),
    ("given", put(predicate, "run", "inputs", "x", ["0x3c00"])),
    ("mutant_value", put(predicate, "verdict", "HELD")),
    ("mutant_value", put(predicate, "reason", "")),
    ("mutant_value", drop(predicate, "run", "mutant")),
    ("variant", drop(predicate, "run", "variant")),
    ("variant", put(predicate, "run", "mutant", "base_2")),
    ("mutant_value", drop(predicate, "result", "failure", "admissible")),
    ("mutant_value", put(predicate, "result", "failure", "got_bits", "0xZZZZ")),
]
for i, (start, change) in enumerate(broken):
    certificate = named(start)
    change(certificate)
    if validator.is_valid(certificate):
        print(f"broken certificate {i} ({start}) was found valid")
        failed = True
if failed:
    sys.exit(1)
print(f"{len(certificates)} certificates are valid, {len(broken)} broken ones are not")
PYTHON
