/* test_cpu.c - choice of instruction set and BLAS kernels, floating-point mode. */
#include <dlfcn.h>
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/diagnostics.h"
#include "plugin/cpu.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static enum cpu_isa chosen(const char *wish, size_t errors)
{
    setenv("OSAFL_ISA", wish, 1);
    struct diagnostics *d = diagnostics_create();
    const enum cpu_isa isa = cpu_isa_chosen(d);
    assert_int_equal(diagnostics_errors(d), errors);
    diagnostics_destroy(d);
    unsetenv("OSAFL_ISA");
    return isa;
}

static void test_choice_of_isa(void **state)
{
    (void)state;
    const enum cpu_isa offered = cpu_isa_offered();
    assert_int_equal(chosen("", 0), offered);
    assert_int_equal(chosen("baseline", 0), CPU_BASELINE);
    for (enum cpu_isa isa = CPU_BASELINE; isa <= CPU_AVX512; isa++)
        assert_int_equal(chosen(cpu_isa_name(isa), isa > offered), isa > offered ? 0 : isa);
    assert_int_equal(chosen("AVX9", 1), 0);
    assert_string_equal(cpu_isa_name(CPU_AVX2), "avx2");
    char name[256] = "";
    cpu_model(name, sizeof name);
    assert_string_not_equal(name, "");
}

static void test_environment_of_plugins(void **state)
{
    (void)state;
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_NUM_THREADS");
    cpu_set_environment(CPU_AVX512);
    assert_string_equal(getenv("OPENBLAS_CORETYPE"), "SkylakeX");
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "1");
    assert_string_equal(getenv("OSAFL_ISA"), "avx512");
    unsetenv("OPENBLAS_CORETYPE");
    cpu_set_environment(CPU_AVX2);
    assert_string_equal(getenv("OPENBLAS_CORETYPE"), "Haswell");
    assert_string_equal(getenv("OSAFL_ISA"), "avx2");
    /* What the user has set stays. */
    setenv("OPENBLAS_CORETYPE", "Zen", 1);
    setenv("OPENBLAS_NUM_THREADS", "3", 1);
    cpu_set_environment(CPU_AVX512);
    assert_string_equal(getenv("OPENBLAS_CORETYPE"), "Zen");
    assert_string_equal(getenv("OPENBLAS_NUM_THREADS"), "3");
    unsetenv("OPENBLAS_CORETYPE");
    unsetenv("OPENBLAS_NUM_THREADS");
    unsetenv("OSAFL_ISA");
}

/* Comes last: the library stays. */
static void test_blas_obeys(void **state)
{
    (void)state;
    struct blas_report report;
    cpu_read_blas(&report);
    assert_false(report.loaded);
    const enum cpu_isa isa = cpu_isa_offered();
    cpu_set_environment(isa);
    if (dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL) == NULL) {
        print_message("no OpenBLAS to load: skipped\n");
        skip();
    }
    cpu_read_blas(&report);
    assert_true(report.loaded);
    assert_true(report.correct);
    assert_int_equal(report.threads, 1);
    assert_string_not_equal(report.version, "");
    if (isa == CPU_AVX512)
        assert_string_equal(report.core, "SkylakeX");
    else if (isa == CPU_AVX2)
        assert_string_equal(report.core, "Haswell");
}

static void test_floating_point_mode(void **state)
{
    (void)state;
    const uint64_t normal = cpu_fp_mode();
    volatile double zero = 0.0;
    volatile double nan = zero / zero; /* raises flags, which are no part of the mode */
    (void)nan;
    assert_true(cpu_fp_mode() == normal);
    fesetround(FE_UPWARD);
    assert_true(cpu_fp_mode() != normal);
    fesetround(FE_TONEAREST);
    assert_true(cpu_fp_mode() == normal);
#if defined(__x86_64__)
    const unsigned int control = _mm_getcsr();
    static const unsigned int bits[] = {0x8000 /* flush to zero */,
                                        0x0040 /* denormals are zero */};
    for (size_t i = 0; i < 2; i++) {
        _mm_setcsr(control | bits[i]);
        assert_true(cpu_fp_mode() != normal);
        _mm_setcsr(control);
    }
#endif
    feenableexcept(FE_OVERFLOW);
    assert_true(cpu_fp_mode() != normal);
    fedisableexcept(FE_OVERFLOW);
    assert_true(cpu_fp_mode() == normal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_of_isa),
        cmocka_unit_test(test_environment_of_plugins),
        cmocka_unit_test(test_floating_point_mode),
        cmocka_unit_test(test_blas_obeys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
