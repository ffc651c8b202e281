#!/usr/bin/env bash
# libtokitai-judge.a is what decides and nothing else: it links alone, judges alone, and has every source whose first line says DECIDES and no
# other. Prints how many lines these and their headers have.
set -euo pipefail
archive=$BUILD_DIR/libtokitai-judge.a
"$BUILD_DIR/tests/judge_alone"

mapfile -t files < <(cd "$SOURCE_DIR" && grep -rlE --include='*.[ch]' -m1 '^/\* DECIDES\. ' src | sort)
has=$(ar t "$archive" | sed 's/\.o$//' | sort)
says=$(printf '%s\n' "${files[@]}" | sed -n 's|.*/\(.*\.c\)$|\1|p' | sort)
diff <(echo "$says") <(echo "$has") || { echo "what says DECIDES (<) is not what the archive has (>)"; exit 1; }
symbols=$(nm "$archive" 2>/dev/null | sed -n 's/^ *U \(json_\|EVP_\|fork\|exec\|posix_spawn\)/\1/p')
[ -z "$symbols" ] || { echo "what decides needs $symbols"; exit 1; }
(cd "$SOURCE_DIR" && cat "${files[@]}") | wc -l | sed 's/$/ lines decide/'
