#!/usr/bin/env bash
# tokitai tune on a GPU that is only pretended: what is kept, shown, used and removed. Nothing here is about how fast anything is.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
subcommand=(tune)

echo "-- wrong arguments"
bad_usage "an op misspelt" "unknown op 'gem'; did you mean 'gemm'\?" gem
bad_usage "the CPU" "--backend must be a GPU" gemm --backend cpu
bad_usage "seconds" "--seconds must be a number from 1e-06 to 3600" gemm --seconds 0
bad_usage "candidates" "--candidates must be a number from 1 to 512, not '513'" gemm --candidates 513

fakes=${BUILD_DIR:-$root/build}/tests/fake_gpu
if [ ! -e "$fakes/libcuda.so.1" ]; then
    skip "a pretended GPU" "it was not built"
    finish
fi
export LD_LIBRARY_PATH=$fakes TOKITAI_CUDA_COMPILER=$fakes/libnvrtc.so TOKITAI_CACHE=$work/cache
FAKE_GPU_FAIL=cuInit=100 expect 3 "no device" gemm --shape 5x12x200
says err "cuda cannot be used"
export FAKE_GPU_KERNELS=$fakes/kernels.so FAKE_GPU_MEMORY=$((512 << 20))
bad_usage "a shape of another op" "has 2 sizes, but gemm has 3" gemm --shape 3x4
bad_usage "a shape and shapes" "--shapes and --shape exclude each other" gemm --shape 3x4x5 --shapes listed
bad_usage "an op without choices" "has choices on this device" gelu_fwd --shape 100
bad_usage "a type without choices" "has choices on this device" gemm --dtype f32 --shape 3x4x5
bad_usage "an attribute of others" "does not take --label-smoothing" gemm --label-smoothing 0.1 --shape 3x4x5
bad_usage "shapes that are nowhere" "cannot read --shapes 'nowhere'" gemm --shapes nowhere
printf '# nothing\n\n' >empty
bad_usage "shapes that are none" "--shapes 'empty' has no shape" gemm --shapes empty
printf '5x12x200 # the first\nm=5\n' >wrong
bad_usage "a line that is no shape" "'m=5'" gemm --shapes wrong

echo "-- measuring"
few=(--dtype f16 --seconds 0.02)
expect 0 "nothing is kept" gemm --shape 5x12x200 "${few[@]}" --dry-run
says out "^cuda\.gemm\.f16\.hopper +5x12x200 +[0-9]+ +[0-9.]+ us +[0-9.]+ us +[0-9.]+ +[0-9]+ [0-9]+ [0-9]+ [0-9]+$"
says out "^the model's choice is within 3 % of the best for [01] of 1 cases; mean [0-9.]+, worst [0-9.]+, cuda\.gemm\.f16\.hopper 5x12x200$"
is "    really" test -z "$(find cache -name '*.tuning')"
printf '5x12x200 # the first\n\n  m=7,n=20,k=130\n' >shapes
expect 0 "shapes of a file" gemm --shapes shapes "${few[@]}"
says out "^cuda\.gemm\.f16\.hopper +7x20x130 "
kept=$(find cache -name '*.tuning')
is "    are kept in one file" test -s "$kept"
is "    two cases" grep -qx 'cases 2' "$kept"
expect 0 "as JSON" gemm --shape 5x12x200 "${few[@]}" --json
is "    is JSON" json_good out
for member in lowering shape best choices median_seconds right; do says out "\"$member\": "; done
expect 0 "one candidate is the model's own" gemm --shape 9x12x200 "${few[@]}" --candidates 1
says out "^cuda\.gemm\.f16\.hopper +9x12x200 +1 .* 1\.000 "
TOKITAI_CACHE=/dev/null/none expect 2 "a cache that cannot be" gemm --shape 5x12x200 "${few[@]}"
says err "not kept"

echo "-- a choice that is wrong"
# One of the pretended kernels for such sizes leaves its output as it was.
expect 1 "is found" gemm --shape 64x128x256 "${few[@]}"
says err "^tokitai tune: cuda\.gemm\.f16\.hopper 64x128x256: the choice 3 [0-9]+ [0-9]+ [0-9]+ gives wrong results"
is "    and not kept" grep -qE '^case 64x128x256 [^3] ' "$kept"

echo "-- the cache"
subcommand=(cache)
expect 0 "list" list
says out "^[0-9a-f]{12} +cuda\.gemm\.f16\.hopper +Fake GPU 0 +4 +yes "
expect 0 "list as JSON" list --json
is "    is JSON" json_good out
says out '"tuning": "cuda\.gemm\.f16\.hopper"'
expect 0 "verify" verify
cp "$kept" good
"$tokitai" certify gemm --lowering cuda.gemm.f16.hopper --shape 5x12x200 --skip-mutants --out tuned >out 2>err
is "a certificate says so" grep -qE '"note": ?"choices for 4 cases are those that were measured on this device, tuning [0-9a-f]{12}' tuned/*.json
sed -i 's/^case 5x12x200 ./&1/' "$kept"
expect 1 "an edited one" verify
says err "damaged: .*\.tuning: its checksum is wrong"
"$tokitai" certify gemm --lowering cuda.gemm.f16.hopper --shape 5x12x200 --skip-mutants >out 2>err
says err "note: tuning [0-9a-f]{12}\.\.\. of cuda\.gemm\.f16\.hopper is damaged"
TOKITAI_TUNING=off "$tokitai" certify gemm --lowering cuda.gemm.f16.hopper --shape 5x12x200 --skip-mutants >out 2>err
is "    which nobody notes who ignores it" test -z "$(grep tuning err)"
expect 1 "is removed" verify --repair
is "    really" test ! -e "$kept"
cp good "$kept"
expect 0 "clear one" clear "$(basename "$kept" .tuning)"
says out "^1 removed"
is "    it is gone" test ! -e "$kept"
finish
