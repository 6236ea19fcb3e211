/* energy_meter.h - what the processors of this machine take, by RAPL where it can be read.
 *
 * Linux counts the energy of each processor package in /sys/class/powercap/intel-rapl:N/energy_uj
 * (of AMD's too).  It is that of the whole package, whoever works there, and often only root may
 * read it. */
#ifndef OSAFL_CORE_ENERGY_METER_H
#define OSAFL_CORE_ENERGY_METER_H

#include <stdbool.h>
#include <stdint.h>

#define ENERGY_ROOT "/sys/class/powercap"

enum { ENERGY_MOST_PACKAGES = 64 };

struct energy_meter {
    const char *root;
    unsigned packages; /* 0: cannot be read */
    uint64_t last_uj[ENERGY_MOST_PACKAGES];
    uint64_t range_uj[ENERGY_MOST_PACKAGES]; /* the counter begins again behind it */
    double joules; /* since energy_begin(), up to the last energy_sample() */
};

/* root: ENERGY_ROOT; outlives the meter. */
void energy_begin(struct energy_meter *m, const char *root);
/* At least once while a counter goes round, which takes some minutes. */
void energy_sample(struct energy_meter *m);

#endif
