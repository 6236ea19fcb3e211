/* cpu.h - what the processor can do, which BLAS kernels that means, and the floating-point mode. */
#ifndef OSAFL_CORE_CPU_H
#define OSAFL_CORE_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diagnostics;

/* Instruction sets for which numeric kernels exist, each containing the one before. */
enum cpu_isa {
    CPU_BASELINE = 1, /* what every processor of the architecture has */
    CPU_AVX2,         /* x86-64 with AVX2 and FMA */
    CPU_AVX512,       /* and AVX-512 F, BW, DQ, VL */
};

/* "baseline", "avx2", "avx512". */
const char *cpu_isa_name(enum cpu_isa isa);

/* The best one that this processor and its kernel offer. */
enum cpu_isa cpu_isa_offered(void);

/* The one in use: what OSAFL_ISA in the environment asks for, else the best one.  A name that is
 * unknown or more than the processor has is an error in d (0 is returned). */
enum cpu_isa cpu_isa_chosen(struct diagnostics *d);

/* Fills name with the processor's own name as /proc/cpuinfo has it, "unknown" when it has none. */
void cpu_model(char *name, size_t size);

/* Before the first plugin is loaded, and before any thread exists: puts what was chosen into the
 * environment, from which plugins take it.  OSAFL_ISA: the kernels of models.  OPENBLAS_CORETYPE
 * and OPENBLAS_NUM_THREADS, unless the user has set them: OpenBLAS reads both when it is mapped;
 * releases older than the processor fall back to kernels of 2004 without a word, and threads of
 * its own would make sums depend on their number.  isa: cpu_isa_chosen().  False: out of memory. */
bool cpu_set_environment(enum cpu_isa isa);

/* The BLAS library that plugins have brought into the process. */
struct blas_report {
    bool loaded;       /* false: no plugin uses OpenBLAS; the rest is empty */
    bool correct;      /* a small product with a known answer came out right */
    int threads;       /* that it would use */
    char core[64];     /* kernels: "SkylakeX" */
    char version[256]; /* its own description */
};

/* After all plugins are loaded. */
void cpu_read_blas(struct blas_report *out);

/* The C library's version and a hash of what its exp(), sin() and others give, which depends on the
 * processor as well: "glibc 2.36, 0123456789abcdef". */
void cpu_mathematics(char *out, size_t size);

/* Rounding, exception masks and flush-to-zero of the calling thread, in one number to compare. */
uint64_t cpu_fp_mode(void);

#endif
