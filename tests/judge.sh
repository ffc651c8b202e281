#!/usr/bin/env bash
# tokitai judge: outputs in .npy and safetensors files. What holds, what does not, and what does not fit the op.
source "$(dirname "$(readlink -f "$0")")/program_test.bash"
subcommand=(judge)

# An .npy file: TYPE SHAPE BYTES, the bytes as printf takes them.
npy() {
    local text length
    printf -v text "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n" "$1" "${4-False}" "$2"
    printf -v length '\\x%02x\\x%02x' $((${#text} % 256)) $((${#text} / 256))
    printf "\x93NUMPY\x01\0$length%s$3" "$text"
}

echo "-- one tensor for each file"
npy '<f2' '(2,)' '\x00\x3c\x00\x00' >x.npy   # 1, 0
npy '<f2' '(2,)' '\xbb\x3a\x00\x00' >y.npy   # 0.8412, 0
npy '<f2' '(2,)' '\xbb\x3a\x01\x00' >bad.npy # 0.8412, 2^-24
expect 0 "outputs that are right" gelu_fwd --inputs x.npy --outputs y.npy
says out '^given.gelu_fwd.f16 +HELD +2 '
says out 'for one case: n=2, inputs and outputs given'
expect 0 "the same by name" gelu_fwd --inputs x=x.npy --outputs y=y.npy
expect 1 "an element that is wrong" gelu_fwd --inputs x.npy --outputs bad.npy
says out 'y\[1\] is 0x1'
npy '<f2' '(2,)' '\x55\x3c\x00\x00' >gradient.npy # 1.0830, 0 times the derivative at 0
expect 0 "two inputs, by name and in the op's order" gelu_bwd --inputs grad_output=x.npy --inputs x.npy --outputs gradient.npy

echo "-- named tensors"
st "{$(tensor x BF16 '[2]' 0 4),$(tensor y BF16 '[2]' 4 8)}" '\x80\x3f\x00\x00\x57\x3f\x00\x00' >both.safetensors # 1, 0; 0.8398, 0
expect 0 "one file has inputs and outputs" gelu_fwd --inputs both.safetensors --outputs both.safetensors
says out '^given.gelu_fwd.bf16 +HELD'
st "{$(tensor z BF16 '[2]' 0 4)}" '\x80\x3f\x00\x00' >other.safetensors
bad_usage "a tensor that the op does not have" "unknown input 'z'" gelu_fwd --inputs other.safetensors --outputs both.safetensors
# Tensors behind a header of an odd length.
st "{$(tensor x BF16 '[2]' 0 4),$(tensor y BF16 '[2]' 4 8)} " '\x80\x3f\x00\x00\x57\x3f\x00\x00' >odd.safetensors
expect 0 "elements at odd places" gelu_fwd --inputs odd.safetensors --outputs odd.safetensors

echo "-- 16-bit elements without a type"
npy '|V2' '(2,)' '\x80\x3f\x00\x00' >x_bf16.npy
npy '<u2' '(2,)' '\x57\x3f\x00\x00' >y_bf16.npy
expect 0 "they are bf16" gelu_fwd --inputs x_bf16.npy --outputs y_bf16.npy
says out '^given.gelu_fwd.bf16 +HELD'
expect 0 "as asked for" gelu_fwd --inputs x_bf16.npy --outputs y_bf16.npy --dtype bf16
bad_usage "and never f16" "does not take these types: x U16, y U16" gelu_fwd --inputs x_bf16.npy --outputs y_bf16.npy --dtype f16
bad_usage "nor beside f16" "does not take these types: x F16, y U16" gelu_fwd --inputs x.npy --outputs y_bf16.npy

echo "-- 8 bits: -0, 1, 3, the largest number, what overflows, NaN"
npy '|u1' '(5,)' '\x80\x38\x44\x7e\x7f' >x_e4m3.npy  # -0, 1, 3, 448, NaN
npy '|u1' '(5,)' '\x80\x35\x44\x7e\x7f' >y_e4m3.npy  # -0, 0.8125, 3, 448, NaN
npy '|u1' '(5,)' '\x80\x36\x44\x7e\x7f' >bad_e4m3.npy # 0.875 for 0.8412
npy '|u1' '(5,)' '\x80\x3c\x42\x7b\x7c' >x_e5m2.npy  # -0, 1, 3, 57344, infinity
npy '|u1' '(5,)' '\x80\x3b\x42\x7b\x7c' >y_e5m2.npy  # -0, 0.875, 3, 57344, infinity
npy '|u1' '(5,)' '\x80\x3b\x42\x7b\x7b' >saturated.npy
npy '|u1' '(1, 2)' '\x38\x40' >row.npy    # 1, 2
npy '|u1' '(2, 1)' '\x44\x7e' >column.npy # 3, 448
npy '|u1' '(1, 1)' '\x7e' >most.npy       # 448, which 899 saturates to
npy '|u1' '(1, 1)' '\x7f' >nan.npy
product() { expect "$1" "$2" gemm --inputs a=row.npy --inputs b=column.npy --outputs c="$3.npy" --dtype f8_e4m3 "${@:4}"; }
product 0 "a product saturates" most
says out "overflow=saturate"
product 1 "unless it is asked not to" most --overflow nan
product 0 "    then it is NaN" nan --overflow nan
product 1 "    and only then" nan
for overflow in nan saturate; do
    expect 0 "f8_e4m3, overflow $overflow" gelu_fwd --inputs x=x_e4m3.npy --outputs y=y_e4m3.npy --dtype f8_e4m3 --overflow $overflow
    says out "^given.gelu_fwd.f8_e4m3 +HELD"
    says out "overflow=$overflow"
done
expect 1 "f8_e4m3, a wrong one" gelu_fwd --inputs x=x_e4m3.npy --outputs y=bad_e4m3.npy --dtype f8_e4m3
says out 'y\[1\] is 0x36'
expect 0 "f8_e5m2, an infinity stays one" gelu_fwd --inputs x=x_e5m2.npy --outputs y=y_e5m2.npy --dtype f8_e5m2
says out "^given.gelu_fwd.f8_e5m2 +HELD"
expect 0 "    or is the largest number" gelu_fwd --inputs x=x_e5m2.npy --outputs y=saturated.npy --dtype f8_e5m2 --overflow saturate
says out "overflow=saturate"
expect 1 "    each by its own choice alone" gelu_fwd --inputs x=x_e5m2.npy --outputs y=saturated.npy --dtype f8_e5m2
says out 'y\[4\] is 0x7b'
expect 1 "    and the other" gelu_fwd --inputs x=x_e5m2.npy --outputs y=y_e5m2.npy --dtype f8_e5m2 --overflow saturate
says out 'y\[4\] is 0x7c'
st "{$(tensor x F8_E4M3 '[5]' 0 5),$(tensor y F8_E4M3 '[5]' 5 10)}" '\x80\x38\x44\x7e\x7f\x80\x35\x44\x7e\x7f' >e4m3.safetensors
expect 0 "a file that names the type" gelu_fwd --inputs e4m3.safetensors --outputs e4m3.safetensors
says out "^given.gelu_fwd.f8_e4m3 +HELD"
bad_usage "bytes that nothing names" "takes several types that these tensors may have \(x U8, y U8\); give --dtype" gelu_fwd --inputs x=x_e4m3.npy --outputs y=y_e4m3.npy
bad_usage "the choice for other types" "overflow is for results of f8_e4m3 and f8_e5m2" gelu_fwd --inputs x.npy --outputs y.npy --overflow saturate

echo "-- attributes and tensors that come with them"
npy '<f4' '(1, 1)' '\0\0\x80\x3f' >one.npy
npy '<f4' '(1,)' '\0\0\x80\x3f' >bias.npy
npy '<f4' '(1, 1)' '\0\0\0\x40' >two.npy
expect 0 "no epilogue" linear_fwd --inputs one.npy --inputs one.npy --outputs one.npy --epilogue none
expect 0 "a bias" linear_fwd --inputs x=one.npy --inputs w=one.npy --inputs bias=bias.npy --outputs two.npy --epilogue bias
bad_usage "a bias that is missing" "input bias of linear_fwd is missing" linear_fwd --inputs one.npy --inputs one.npy --outputs two.npy --epilogue bias
bad_usage "a bias too many" "bias is given, but exists only with epilogue" linear_fwd --inputs x=one.npy --inputs w=one.npy --inputs bias=bias.npy --outputs two.npy --epilogue none
bad_usage "an attribute of another op" "label-smoothing" gelu_fwd --inputs x.npy --outputs y.npy --label-smoothing 0.1

echo "-- what does not fit"
npy '<f2' '(3,)' '\0\0\0\0\0\0' >three.npy
npy '<f2' '(2, 1)' '\0\0\0\0' >matrix.npy
npy '<f2' '(2, 1)' '\0\0\0\0' True >columns.npy
npy '>f2' '(2,)' '\0\0\0\0' >big.npy
npy '<f2' '(9,)' '\0\0\0\0' >short.npy
npy '<c8' '(1,)' '\0\0\0\0\0\0\0\0' >complex.npy
printf 'no array' >text.npy
bad_usage "another size" "n is 2 in the other tensors" gelu_fwd --inputs x.npy --outputs three.npy
bad_usage "another rank" "y has 2 axes, not 1" gelu_fwd --inputs x.npy --outputs matrix.npy
bad_usage "another type" "does not take these types: x F16, y F32" gelu_fwd --inputs x.npy --outputs bias.npy
bad_usage "Fortran order" "Fortran order" gelu_fwd --inputs x.npy --outputs columns.npy
bad_usage "big-endian" "big-endian" gelu_fwd --inputs x.npy --outputs big.npy
bad_usage "fewer bytes than the shape says" "the shape does not match the size of the file" gelu_fwd --inputs x.npy --outputs short.npy
bad_usage "complex numbers" "unknown element type" gelu_fwd --inputs x.npy --outputs complex.npy
bad_usage "no .npy file" "not an .npy file" gelu_fwd --inputs x.npy --outputs text.npy
bad_usage "a device" "not a regular file" gelu_fwd --inputs x.npy --outputs /dev/null
bad_usage "no such file" "cannot read absent.npy" gelu_fwd --inputs x.npy --outputs absent.npy
bad_usage "an input too many" "gelu_fwd has no further input" gelu_fwd --inputs x.npy --inputs x.npy --outputs y.npy
bad_usage "an input twice" "x is given twice" gelu_fwd --inputs x=x.npy --inputs x=x.npy --outputs y.npy
bad_usage "an input that is missing" "input x of gelu_fwd is missing" gelu_fwd --outputs y.npy
bad_usage "no outputs" "--outputs \[NAME=\]FILE is missing" gelu_fwd --inputs x.npy
bad_usage "no op" "an argument is missing: OP" --inputs x.npy --outputs y.npy
bad_usage "an op that is none" "unknown op" no_such_op --inputs x.npy --outputs y.npy
npy '<i4' '(1,)' '\x05\0\0\0' >index.npy
npy '<f2' '(1, 1)' '\0\0' >weight.npy
bad_usage "an index out of range" 'index\[0\]' embedding_fwd --inputs index.npy --inputs weight.npy --outputs weight.npy

echo "-- the certificate"
expect 1 "written to a folder" gelu_fwd --inputs x.npy --outputs bad.npy --out certificates
# The name ends with the beginning of the hash of the tensors' hashes.
hash_of() { tail -c 4 "$1" | sha256sum | cut -c1-64; }
name_of() { # INPUT OUTPUT
    printf '%s  x\n%s  y\n%s  outputs\n' "$(hash_of "$1")" "$(hash_of "$2")" "$(hash_of "$2")" | sha256sum | cut -c1-12
}
certificate=certificates/given.gelu_fwd.f16.$(name_of x.npy bad.npy).json
says out "^written to $certificate\$"
is "    it is there" test -s "$certificate" -a -s "${certificate%.json}.md"
expect 1 "the same once more" gelu_fwd --inputs x.npy --outputs bad.npy --out certificates
is "    replaces it" test "$(ls certificates | wc -l)" = 2
expect 0 "others beside it" gelu_fwd --inputs x.npy --outputs y.npy --out certificates
held=certificates/given.gelu_fwd.f16.$(name_of x.npy y.npy).json
is "    have another name" test "$(ls certificates | wc -l)" = 4 -a -s "$held"
expect 1 "as JSON" gelu_fwd --inputs x.npy --outputs bad.npy --json
says out '"kind": ?"given"'
hash=$(tail -c 4 x.npy | sha256sum)
says out "${hash%% *}"
subcommand=()
expect 0 "it is intact" check "$certificate"
says out '^    refuted by a counterexample: GELU_FWD.ERR'
says out '^    unsigned: hashes, figures, machine and date not verified'
expect 0 "the one that holds" check "$held"
says out "^    rests on theorems for steps of its derivation, on the judgement of these outputs; nothing was run: GELU_FWD.ERR"
count 0 out "this kernel"
expect 3 "nothing can be run again" replay "$certificate"
says err "tokitai judge"
expect 0 "a key" keygen key
expect 0 "signed" judge gelu_fwd --inputs x.npy --outputs y.npy --out signed --sign key
expect 0 "    by that key" check --key key.pub signed/"$(basename "${held%.json}")".dsse.json
count 0 out "unsigned"
expect 2 "--sign alone" judge gelu_fwd --inputs x.npy --outputs y.npy --sign key
expect 2 "a key that is not there" judge gelu_fwd --inputs absent.npy --outputs y.npy --out unmade --sign absent
says err "^tokitai judge: --sign: .*absent"
count 0 err "absent.npy"
is "    and nothing was made" test ! -e unmade
expect 2 "a public key" judge gelu_fwd --inputs absent.npy --outputs y.npy --out unmade --sign key.pub
says err "is a public key"
expect 2 "a folder that cannot be" judge gelu_fwd --inputs absent.npy --outputs y.npy --out x.npy/below
says err "cannot write to --out 'x.npy/below': Not a directory"

finish
