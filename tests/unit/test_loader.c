/* test_loader.c - every built-in plugin loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "diagnostics.h"
#include "loader.h"

static void test_every_plugin_loads(void **state)
{
    (void)state;
    const char *const dir = OSAFL_TEST_PLUGIN_DIR;
    struct diagnostics *d = diagnostics_create();
    struct loader *l = loader_create(&dir, 1, d);
    assert_non_null(l);
    for (uint32_t kind = 1; kind <= LOADER_KINDS; kind++) {
        char **names = NULL;
        size_t n = 0;
        assert_int_equal(loader_names(l, kind, &names, &n), OSAFL_OK);
        for (size_t i = 0; i < n; i++) {
            const struct loaded_plugin *p = loader_load(l, kind, names[i], d, NULL, 0);
            if (p == NULL)
                diagnostics_print(d, stderr);
            assert_non_null(p);
            assert_string_equal(p->plugin->name, names[i]);
            assert_ptr_equal(loader_load(l, kind, names[i], d, NULL, 0), p);
        }
        loader_free_names(names, n);
    }
    loader_destroy(l);
    diagnostics_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_plugin_loads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
