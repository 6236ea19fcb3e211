/* assigned.c - a table says which training sample belongs to which client.
 *
 * Columns: sample, the number of a training sample in the order of the data set, and client, both
 * from 0.  Samples that the table does not name belong to nobody. */
#include <inttypes.h>
#include <stdlib.h>

#include "osafl/partition.h"
#include "whole_table.h"

enum { SAMPLE, CLIENT, COLUMNS };
static const char *const columns[] = {"sample", "client"};

struct config {
    const char *path;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct config, path, NULL,
               "Table with the columns sample (its number in the training split, from 0) and "
               "client (from 0, below clients.count): CSV, plain or gzip",
               .flags = OSAFL_P_REQUIRED),
};

struct assigned {
    uint64_t samples; /* of the training split */
    uint32_t owner[]; /* [samples]; OSAFL_NO_CLIENT: nobody */
};

static osafl_status assign(struct assigned *p, uint32_t clients, const struct whole_table *t,
                           struct io_message *m)
{
    for (uint64_t k = 0; k < t->rows; k++) {
        const uint32_t *row = t->value + k * COLUMNS;
        if (row[SAMPLE] >= p->samples)
            return io_fail(m, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": sample %" PRIu32
                           " is missing, the training split has 0 .. %" PRIu64
                           "; remove the row, or hold out fewer samples for test and validation",
                           t->name, t->line[k], row[SAMPLE], p->samples - 1);
        if (row[CLIENT] >= clients)
            return io_fail(m, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": client %" PRIu32 " is unknown, there are 0 .. %" PRIu32
                           "; raise clients.count or remove the row",
                           t->name, t->line[k], row[CLIENT], clients - 1);
        if (p->owner[row[SAMPLE]] != OSAFL_NO_CLIENT)
            return io_fail(m, OSAFL_E_DATA,
                           "%s:%" PRIu32 ": sample %" PRIu32 " belongs to client %" PRIu32
                           " already; remove one of the rows",
                           t->name, t->line[k], row[SAMPLE], p->owner[row[SAMPLE]]);
        p->owner[row[SAMPLE]] = row[CLIENT];
    }
    return OSAFL_OK;
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    const uint64_t samples = facts->dataset->n_train;
    struct io_message message = {0};
    struct whole_table table = {0};
    if (samples == OSAFL_ENDLESS)
        return h->fail(c, OSAFL_E_CONFIG,
                       "partition.plugin is \"assigned\", but the data set is endless: its samples "
                       "cannot be listed; choose another partition");
    struct assigned *p = malloc(sizeof *p + samples * sizeof p->owner[0]);
    if (p == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    p->samples = samples;
    for (uint64_t i = 0; i < samples; i++)
        p->owner[i] = OSAFL_NO_CLIENT;
    osafl_status status =
        whole_table_read(&table, ((const struct config *)config)->path, columns, COLUMNS, &message);
    if (status == OSAFL_OK)
        status = assign(p, facts->clients, &table, &message);
    whole_table_free(&table);
    if (status != OSAFL_OK) {
        free(p);
        return h->fail(c, status, "%s", message.text);
    }
    *self = p;
    return OSAFL_OK;
}

static osafl_status describe(void *self, osafl_call *c, osafl_partition_info *out)
{
    (void)self;
    (void)c;
    out->gives = OSAFL_PARTITION_OWNER;
    return OSAFL_OK;
}

static osafl_status owner(void *self, osafl_call *c, uint64_t i, uint32_t *client)
{
    (void)c;
    const struct assigned *p = self;
    *client = p->owner[i];
    return OSAFL_OK;
}

static const osafl_partition_vt vtable = {
    .life = {.struct_size = sizeof(osafl_partition_vt), .create = create, .destroy = free},
    .describe = describe,
    .owner = owner,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_PARTITION,
    .name = "assigned",
    .version = "1.0.0",
    .summary = "Gives every client the samples that a table says are its own",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
