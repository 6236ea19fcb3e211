/* fuzz_csv_table.c - the report's reader of the tables of a run. */
#include "command/report/csv_table.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const wanted[] = {"round", "client", "reason", "gain", NULL};
    static const char *const words[] = {"reason", NULL};
    const char *path = fuzz_file(0, data, size);
    struct error error = {0};
    struct csv_table *all = NULL;
    struct csv_table *some = NULL;
    const osafl_status status = csv_table_read(path, NULL, words, &all, &error);
    FUZZ_REQUIRE(status == OSAFL_OK || error.text[0] != '\0');
    /* What is right as a whole is right in parts. */
    const osafl_status part = csv_table_read(path, wanted, words, &some, &error);
    FUZZ_REQUIRE(status != OSAFL_OK || part == OSAFL_OK);
    if (status == OSAFL_OK) {
        FUZZ_REQUIRE(some->rows == all->rows && some->columns <= all->columns);
        for (size_t i = 0; i < some->columns; i++) {
            const size_t k = csv_table_column(all, some->name[i]);
            FUZZ_REQUIRE(k < all->columns);
            for (size_t row = 0; row < all->rows; row++) {
                const double a = csv_table_value(all, row, k);
                const double b = csv_table_value(some, row, i);
                FUZZ_REQUIRE(a == b || (a != a && b != b));
            }
        }
    }
    csv_table_free(all);
    csv_table_free(some);
    return 0;
}
