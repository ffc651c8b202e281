/* Compilers and flags of a certificate from elsewhere: which are taken without asking. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "certify/vetted_flags.h"
#include "tests/unit_test.h"

TEST(flags_that_are_taken)
{
    static const char *const list[] = {
        "",
        " \t\n",
        "-O2",
        "-O3 -march=native -mtune=znver4 -mavx512f -mno-fma -mprefer-vector-width=512 -ffast-math -fno-math-errno",
        "-Ofast -funroll-loops -fopenmp -ffp-contract=off -std=c++17 -std=gnu11 -Wall -Wno-unused-function "
        "-Werror=vla",
        "-g -g3 -ggdb -DNAME -DX=1 -DY=(1+2) -UX -lm -lopenblas -pthread -w -pedantic -fPIC -shared",
        "-O2 -lineinfo -arch=sm_90a --use_fast_math -Xptxas -v,-O3 -Xcompiler -O3,-ffast-math,-march=native",
        "-arch sm_80 -gencode arch=compute_80,code=[sm_80,compute_80] --expt-relaxed-constexpr --maxrregcount=64 "
        "-rdc=true",
        "--offload-arch=gfx90a:sramecc+:xnack- -O3",
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char refused[80];
        if (!tki_vetted_flags(list[i], refused, sizeof refused))
            fail_msg("'%s' is refused for '%s'", list[i], refused);
        assert_string_equal(refused, "");
    }
}

TEST(flags_that_are_not)
{
    static const char *const list[] = {
        "-fplugin=x",
        "-fplugin",
        "-fpass-plugin=x",
        "-fplugin-arg-x-y=z",
        "-B/tmp",
        "-B",
        "-B.",
        "-wrapper",
        "-specs=x",
        "--specs=x",
        "@file",
        "@",
        "-o",
        "-ox",
        "--config=x",
        "--config",
        "-Wl,-plugin,x",
        "-Wa,x",
        "-Wp,-MD,x",
        "-fuse-ld=x",
        "-I/usr/include",
        "-I",
        "-Isrc",
        "-isystem",
        "-include",
        "-imacros",
        "-iquote",
        "-L/tmp",
        "-L",
        "-l:x.so",
        "-l/tmp/x",
        "-Xlinker",
        "-Xclang",
        "-Xassembler",
        "-Xpreprocessor",
        "-mllvm",
        "-mllvm=x",
        "-x",
        "-save-temps",
        "-save-temps=obj",
        "-MD",
        "-MF",
        "-dumpdir",
        "-E",
        "-S",
        "-c",
        "-fdump-tree-all",
        "-fprofile-use=x",
        "-fprofile-generate",
        "-fauto-profile=x",
        "-fopt-info=x",
        "-frandom-seed=x",
        "-fsanitize=address",
        "-finstrument-functions",
        "-fmodules",
        "-flto",
        "-rpath",
        "-T",
        "-Tx",
        "-e",
        "-nostdlib",
        "-r",
        "--sysroot=/tmp",
        "-isysroot",
        "--gcc-toolchain=/tmp",
        "-ccbin",
        "-ccbin=x",
        "--compiler-bindir=x",
        "-keep",
        "--keep-dir",
        "-odir",
        "--options-file",
        "-optf",
        "--run",
        "-run",
        "-dc",
        "-Xnvlink",
        "-Xptxas=-o",
        "-W/tmp",
        "-O2;",
        "-D\"x\"",
        "-D/x",
        "-DX=a/b",
        "$(x)",
        "`x`",
        "x.c",
        "/etc/passwd",
        "-",
        "--",
        "-f",
        "-fno-",
        "-fPIC=/x",
        "-fvisibility=/x",
        "\001",
        "-O\033",
        "-W\302\205",
        "-march=/x",
    };
    char both[160], refused[80];
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (tki_vetted_flags(list[i], refused, sizeof refused))
            fail_msg("'%s' is taken", list[i]);
        assert_string_equal(refused, list[i]);
        snprintf(both, sizeof both, "-O2 %s -g", list[i]);
        assert_false(tki_vetted_flags(both, refused, sizeof refused));
        snprintf(both, sizeof both, "-O2 -Xcompiler -O2,%s", list[i]);
        assert_false(tki_vetted_flags(both, refused, sizeof refused));
    }
    assert_false(tki_vetted_flags("-arch -fplugin=x", refused, sizeof refused));
    assert_false(tki_vetted_flags("-arch /tmp/x", refused, sizeof refused));
    assert_false(tki_vetted_flags("-Xcompiler -Xcompiler,-B", refused, sizeof refused));
    char *many = malloc(8192);
    assert_non_null(many);
    memset(many, 'w', 8191);
    many[8191] = 0;
    memcpy(many, "-D", 2);
    assert_false(tki_vetted_flags(many, refused, sizeof refused));
    for (int i = 0; i < 300; i++)
        memcpy(many + (ptrdiff_t)i * 3, "-w ", 4);
    assert_false(tki_vetted_flags(many, refused, sizeof refused));
    free(many);
}

TEST(compilers)
{
    char path[128];
    static const char *const refused[] = {
        "",       ".",         "..",   "/usr/bin/cc", "../bin/cc", "./cc",     "cc ", "-cc", "no-cc", "c\nc",
        "bin/cc", "cc;x",      "~/cc", "$HOME",       "cc\\",      "\303\244", "a b", ".cc", "env",   "sh",
        "gcc-ar", "gcc-nm-12", "cc-",  "-12",         "python",    "clang-x",  "cpp", "cc1", "12",    "gcc-12-"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (tki_vetted_compiler(refused[i], path, sizeof path))
            fail_msg("'%s' is taken, as %s", refused[i], path);
    const bool here = access("/usr/bin/cc", X_OK) == 0;
    assert_int_equal(tki_vetted_compiler("cc", path, sizeof path), here);
    if (!here)
        skip();
    assert_string_equal(path, "/usr/bin/cc");
    assert_false(tki_vetted_compiler("cc", path, 8));
    static const char *const forms[] = {"gcc-12", "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++-12", "clang++-14"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char expected[128];
        snprintf(expected, sizeof expected, "/usr/bin/%s", forms[i]);
        if (access(expected, X_OK) == 0)
            assert_true(tki_vetted_compiler(forms[i], path, sizeof path));
    }
    /* Only what lies in these folders, whatever the PATH says. */
    setenv("PATH", "/tmp:/", 1);
    assert_true(tki_vetted_compiler("cc", path, sizeof path));
    assert_string_equal(path, "/usr/bin/cc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_that_are_taken),
        cmocka_unit_test(flags_that_are_not),
        cmocka_unit_test(compilers),
    };
    return cmocka_run_group_tests_name("vetted", tests, NULL, NULL);
}
