/* test_energy_meter.c - the counters of RAPL: added up over packages, also where they begin again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/energy_meter.h"
#include "base/error.h"
#include "base/folder.h"

static void write_counter(const char *root, unsigned package, const char *name, const char *value)
{
    char path[512];
    snprintf(path, sizeof path, "%s/intel-rapl:%u", root, package);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/intel-rapl:%u/%s", root, package, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(value, file);
    fclose(file);
}

static void counters_add_up(void **state)
{
    (void)state;
    struct error error;
    struct energy_meter m;
    char *root = folder_temporary(&error);
    assert_non_null(root);
    energy_begin(&m, root);
    assert_int_equal(m.packages, 0);
    energy_sample(&m);
    assert_true(m.joules == 0.0);

    write_counter(root, 0, "energy_uj", "1000000\n");
    write_counter(root, 0, "max_energy_range_uj", "9000000\n");
    write_counter(root, 1, "energy_uj", "8500000\n");
    write_counter(root, 1, "max_energy_range_uj", "9000000\n");
    energy_begin(&m, root);
    assert_int_equal(m.packages, 2);
    write_counter(root, 0, "energy_uj", "3500000\n");
    write_counter(root, 1, "energy_uj", "250000\n"); /* began again */
    energy_sample(&m);
    assert_true(fabs(m.joules - (2.5 + 0.75)) < 1e-9);
    energy_sample(&m);
    assert_true(fabs(m.joules - 3.25) < 1e-9);

    /* A counter that cannot be read any more adds nothing. */
    write_counter(root, 0, "energy_uj", "");
    energy_sample(&m);
    assert_true(fabs(m.joules - 3.25) < 1e-9);
    folder_remove(root);
    free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_add_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
