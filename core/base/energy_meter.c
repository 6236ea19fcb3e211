/* energy_meter.c - what the processors of this machine take, by RAPL where it can be read. */
#include "energy_meter.h"

#include <inttypes.h>
#include <stdio.h>

static bool read_counter(const char *root, unsigned package, const char *name, uint64_t *out)
{
    char path[512];
    const int n = snprintf(path, sizeof path, "%s/intel-rapl:%u/%s", root, package, name);
    FILE *file = n > 0 && n < (int)sizeof path ? fopen(path, "re") : NULL;
    if (file == NULL)
        return false;
    const bool read = fscanf(file, "%" SCNu64, out) == 1;
    fclose(file);
    return read;
}

void energy_begin(struct energy_meter *m, const char *root)
{
    *m = (struct energy_meter){.root = root};
    while (m->packages < ENERGY_MOST_PACKAGES &&
           read_counter(root, m->packages, "energy_uj", &m->last_uj[m->packages]) &&
           read_counter(root, m->packages, "max_energy_range_uj", &m->range_uj[m->packages]))
        m->packages++;
}

void energy_sample(struct energy_meter *m)
{
    for (unsigned i = 0; i < m->packages; i++) {
        uint64_t now = 0;
        if (!read_counter(m->root, i, "energy_uj", &now))
            continue;
        const uint64_t before = m->last_uj[i];
        const uint64_t used = now >= before ? now - before : m->range_uj[i] - before + now;
        m->joules += (double)used * 1e-6;
        m->last_uj[i] = now;
    }
}
