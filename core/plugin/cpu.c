/* cpu.c - what the processor can do, which BLAS kernels that means, and the floating-point mode. */
#include "cpu.h"

#include <dlfcn.h>
#include <fenv.h>
#include <gnu/libc-version.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diagnostics.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char *const isa_names[] = {
    [CPU_BASELINE] = "baseline",
    [CPU_AVX2] = "avx2",
    [CPU_AVX512] = "avx512",
};

const char *cpu_isa_name(enum cpu_isa isa)
{
    return isa_names[isa];
}

enum cpu_isa cpu_isa_offered(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return CPU_BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return CPU_AVX512;
    return CPU_AVX2;
#else
    return CPU_BASELINE;
#endif
}

enum cpu_isa cpu_isa_chosen(struct diagnostics *d)
{
    const enum cpu_isa offered = cpu_isa_offered();
    const char *wish = getenv("OSAFL_ISA");
    if (wish == NULL || wish[0] == '\0')
        return offered;
    for (enum cpu_isa isa = CPU_BASELINE; isa <= CPU_AVX512; isa++) {
        if (strcmp(wish, isa_names[isa]) != 0)
            continue;
        if (isa <= offered)
            return isa;
        diagnostics_error(
            d, NULL, 0,
            "the environment asks for OSAFL_ISA=%s, but this processor offers no more "
            "than %s",
            wish, isa_names[offered]);
        return (enum cpu_isa)0;
    }
    diagnostics_error(
        d, NULL, 0, "the environment sets OSAFL_ISA to \"%s\"; it may be baseline, avx2 or avx512",
        wish);
    return (enum cpu_isa)0;
}

void cpu_model(char *name, size_t size)
{
    snprintf(name, size, "unknown");
    FILE *info = fopen("/proc/cpuinfo", "re");
    if (info == NULL)
        return;
    char line[512];
    while (fgets(line, sizeof line, info) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", strlen("model name")) != 0 || colon == NULL)
            continue;
        const char *text = colon + 1 + strspn(colon + 1, " \t");
        snprintf(name, size, "%.*s", (int)strcspn(text, "\n"), text);
        break;
    }
    fclose(info);
}

bool cpu_set_environment(enum cpu_isa isa)
{
    /* Without AVX2 the processor is old enough for the library to know it, unless OSAFL_ISA holds
     * back a newer one: then the last kernels before AVX. */
    const char *core = NULL;
    if (isa == CPU_AVX512)
        core = "SkylakeX";
    else if (isa == CPU_AVX2)
        core = "Haswell";
    else if (cpu_isa_offered() > CPU_BASELINE)
        core = "Nehalem";
    const int keep = 0; /* what the user has set stays */
    return setenv("OSAFL_ISA", isa_names[isa], 1) == 0 &&
           (core == NULL || setenv("OPENBLAS_CORETYPE", core, keep) == 0) &&
           setenv("OPENBLAS_NUM_THREADS", "1", keep) == 0;
}

/* Looks up a function.  POSIX has dlsym() return an object pointer that holds a function's
 * address; memcpy() is the way from one to the other that ISO C allows. */
static void find_function(void *library, const char *name, void *function, size_t size)
{
    void *address = dlsym(library, name);
    memcpy(function, &address, size);
}

/* C = A B for small whole numbers, which every correct kernel gives exactly.  The sizes leave a
 * remainder in every blocking. */
static bool product_is_correct(void *library)
{
    enum { ROWS = 37, INNER = 53, COLUMNS = 41 };
    enum { ROW_MAJOR = 101, NO_TRANSPOSE = 111 }; /* of the CBLAS interface */
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                  float, float *, int) = NULL;
    find_function(library, "cblas_sgemm", &sgemm, sizeof sgemm);
    if (sgemm == NULL)
        return false;

    float a[ROWS * INNER];
    float b[INNER * COLUMNS];
    float c[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * INNER; i++)
        a[i] = (float)(i * 7 % 13 - 6);
    for (int i = 0; i < INNER * COLUMNS; i++)
        b[i] = (float)(i * 5 % 11 - 5);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        c[i] = 1e9f; /* beta = 0 must overwrite it */
    sgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, ROWS, COLUMNS, INNER, 1.0f, a, INNER, b, COLUMNS,
          0.0f, c, COLUMNS);
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < COLUMNS; j++) {
            float sum = 0.0f;
            for (int k = 0; k < INNER; k++)
                sum += a[i * INNER + k] * b[k * COLUMNS + j];
            if (sum != c[i * COLUMNS + j])
                return false;
        }
    }
    return true;
}

void cpu_read_blas(struct blas_report *out)
{
    memset(out, 0, sizeof *out);
    /* RTLD_NOLOAD: only looks whether somebody has brought it. */
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == NULL)
        return;
    out->loaded = true;
    char *(*core_name)(void) = NULL;
    char *(*description)(void) = NULL;
    int (*threads)(void) = NULL;
    find_function(library, "openblas_get_corename", &core_name, sizeof core_name);
    find_function(library, "openblas_get_config", &description, sizeof description);
    find_function(library, "openblas_get_num_threads", &threads, sizeof threads);
    snprintf(out->core, sizeof out->core, "%s", core_name != NULL ? core_name() : "unknown");
    snprintf(out->version, sizeof out->version, "%s",
             description != NULL ? description() : "unknown");
    out->threads = threads != NULL ? threads() : 0;
    out->correct = product_is_correct(library);
    dlclose(library); /* gives back our own reference; the plugin's keeps it mapped */
}

/* Functions whose last digit differs between the variants of one library. */
static void evaluate(double x, double out[16])
{
    const float y = (float)x;
    const double values[] = {
        exp(x),         exp2(x),  expm1(x),        log(x),          log2(x),
        log10(x),       log1p(x), pow(x, 1.7),     sin(x),          cos(x),
        tan(x),         tanh(x),  (double)expf(y), (double)logf(y), (double)powf(y, 1.7F),
        (double)sinf(y)};
    memcpy(out, values, sizeof values);
}

void cpu_mathematics(char *out, size_t size)
{
    enum { POINTS = 512 };
    static double values[POINTS][16];
    for (int i = 0; i < POINTS; i++) {
        volatile double x = (i + 0.5) * (7.3 / POINTS); /* else the compiler knows the answers */
        evaluate(x, values[i]);
    }
    snprintf(out, size, "glibc %s, %016llx", gnu_get_libc_version(),
             (unsigned long long)XXH3_64bits(values, sizeof values));
}

uint64_t cpu_fp_mode(void)
{
#if defined(__x86_64__)
    /* Status flags, the low six bits of MXCSR, come and go with every operation. */
    const uint32_t sse = _mm_getcsr() & ~UINT32_C(0x3f);
    uint16_t x87;
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    return (uint64_t)sse << 16 | x87;
#elif defined(__aarch64__)
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround();
#endif
}
