/* python_weights.c - an aggregator whose weights a Python function computes from the facts.
 *
 *     w <- w + sum over k of weight_k * update_k,   weight = weights(facts) of the script
 *
 * The interpreter is CPython's, within the program: it handles no signals, reads no environment
 * variables and writes no files.  It is never ended, as libraries such as NumPy cannot be loaded
 * twice.  The script's text is saved, so that a run does not go on with another. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdlib.h>
#include <string.h>

#include <osafl/aggregator.h>

struct config {
    const char *script;
};

static const osafl_param params[] = {
    OSAFL_PATH(struct config, script, NULL, "A Python file that defines weights(facts)",
               .flags = OSAFL_P_REQUIRED),
};

/* The part that is shorter in Python: errors are texts, weights are packed doubles. */
static const char helpers[] =
    "import math, struct, traceback\n"
    "def last_error():\n"
    "    lines = traceback.format_exc(limit=-1).splitlines()[1:]\n"
    "    return ' '.join(line.strip() for line in lines if line.strip(' ^~'))\n"
    "def read(path):\n"
    "    names = {'__name__': 'script'}\n"
    "    try:\n"
    "        with open(path, 'rb') as file:\n"
    "            text = file.read()\n"
    "        exec(compile(text, path, 'exec'), names)\n"
    "    except BaseException:\n"
    "        return last_error()\n"
    "    if not callable(names.get('weights')):\n"
    "        return f'{path} defines no weights(facts)'\n"
    "    return (names['weights'], text)\n"
    "def ask(weights, facts, *arrays):\n"
    "    for name, form, data in arrays:\n"
    "        facts[name] = memoryview(data).cast(form).tolist()\n"
    "    n = len(facts['client'])\n"
    "    try:\n"
    "        answer = [float(x) for x in weights(facts)]\n"
    "    except BaseException:\n"
    "        return last_error()\n"
    "    if len(answer) != n or not all(map(math.isfinite, answer)):\n"
    "        return f'weights() gives no {n} finite numbers, but {answer}'\n"
    "    return struct.pack(f'{n}d', *answer)\n";

struct rule {
    const osafl_host *host;
    const struct config *config;
    PyObject *names;  /* of the helpers */
    PyObject *script; /* its function and its text */
};

static bool start_python(void)
{
    PyPreConfig before;
    PyConfig config;
    if (Py_IsInitialized())
        return true; /* by another instance, or by another plugin */
    PyPreConfig_InitIsolatedConfig(&before);
    before.utf8_mode = 1; /* whatever the locale */
    if (PyStatus_Exception(Py_PreInitialize(&before)))
        return false;
    PyConfig_InitIsolatedConfig(&config);
    config.use_hash_seed = 1; /* sets have the same order in each process */
    config.hash_seed = 0;
    config.write_bytecode = 0;
    const bool started = !PyStatus_Exception(Py_InitializeFromConfig(&config));
    PyConfig_Clear(&config);
    if (started)
        (void)PyEval_SaveThread(); /* other threads may call Python now */
    return started;
}

/* Where a helper does not answer as expected, its answer is a message. */
static osafl_status fail(const struct rule *r, osafl_call *c, osafl_status status, PyObject *answer)
{
    const char *text = answer != NULL ? PyUnicode_AsUTF8(answer) : NULL;
    PyErr_Clear(); /* the helpers catch all errors but one */
    return text != NULL ? r->host->fail(c, status, "%s", text)
                        : r->host->fail(c, OSAFL_E_NOMEM, "out of memory in Python");
}

static osafl_status read_script(struct rule *r, osafl_call *c)
{
    r->names = Py_BuildValue("{sO}", "__builtins__", PyEval_GetBuiltins());
    PyObject *done =
        r->names != NULL ? PyRun_String(helpers, Py_file_input, r->names, r->names) : NULL;
    Py_XDECREF(done);
    PyObject *read = done != NULL ? PyDict_GetItemString(r->names, "read") : NULL;
    r->script = read != NULL ? PyObject_CallFunction(read, "s", r->config->script) : NULL;
    if (r->script == NULL || !PyTuple_Check(r->script))
        return fail(r, c, OSAFL_E_CONFIG, r->script);
    return OSAFL_OK;
}

static void destroy(void *self)
{
    struct rule *r = self;
    const PyGILState_STATE python = PyGILState_Ensure();
    Py_XDECREF(r->script);
    Py_XDECREF(r->names);
    (void)PyGC_Collect(); /* functions and their names hold each other */
    PyGILState_Release(python);
    free(r);
}

static osafl_status create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                           const void *config, void **self)
{
    (void)facts;
    struct rule *r = calloc(1, sizeof *r);
    if (r == NULL)
        return h->fail(c, OSAFL_E_NOMEM, "out of memory");
    r->host = h;
    r->config = config;
    if (!start_python()) {
        free(r);
        return h->fail(c, OSAFL_E_UNSUPPORTED, "Python does not start");
    }
    const PyGILState_STATE python = PyGILState_Ensure();
    const osafl_status status = read_script(r, c);
    PyGILState_Release(python);
    if (status == OSAFL_OK)
        *self = r;
    else
        destroy(r);
    return status;
}

static osafl_status describe(void *self, osafl_call *c, osafl_aggregator_info *out)
{
    (void)self;
    (void)c;
    out->sends = OSAFL_SENDS_DELTA;
    out->optimizer = "sgd";
    return OSAFL_OK;
}

#define ARRAY(name, form) #name, form, (const char *)u->name, (Py_ssize_t)(u->n * sizeof *u->name)

static osafl_status ask(struct rule *r, osafl_call *c, const osafl_updates *u, double *weight)
{
    uint32_t seed;
    r->host->random_fill(c, 0, OSAFL_NO_CLIENT, u->round, 0, &seed, 1);
    PyObject *answer = PyObject_CallFunction(
        PyDict_GetItemString(r->names, "ask"), "O{sIsIsIsI}(ssy#)(ssy#)(ssy#)(ssy#)(ssy#)(ssy#)",
        PyTuple_GET_ITEM(r->script, 0), "round", u->round, "rounds", u->rounds, "clients",
        u->clients, "seed", seed, ARRAY(client, "I"), ARRAY(local_rounds, "I"), ARRAY(steps, "I"),
        ARRAY(samples, "Q"), ARRAY(alpha, "d"), ARRAY(train_loss, "d"));
    osafl_status status = OSAFL_OK;
    if (answer == NULL || !PyBytes_Check(answer))
        status = fail(r, c, OSAFL_E_NUMERIC, answer);
    else
        memcpy(weight, PyBytes_AS_STRING(answer), u->n * sizeof *weight);
    Py_XDECREF(answer);
    return status;
}

static osafl_status aggregate(void *self, osafl_call *c, const osafl_updates *u, float *w)
{
    struct rule *r = self;
    double *weight = r->host->scratch(c, (uint64_t)u->n * sizeof *weight);
    if (weight == NULL)
        return OSAFL_E_NOMEM;
    const PyGILState_STATE python = PyGILState_Ensure();
    const osafl_status status = ask(r, c, u, weight);
    PyGILState_Release(python);
    return status == OSAFL_OK ? u->ops->add(u, 0, weight, w) : status;
}

static osafl_status save(void *self, osafl_call *c, osafl_writer *to)
{
    const struct rule *r = self;
    (void)c;
    PyObject *text = PyTuple_GET_ITEM(r->script, 1); /* of bytes, which never change */
    return to->bytes(to, "script", PyBytes_AS_STRING(text), (uint64_t)PyBytes_GET_SIZE(text));
}

static osafl_status load(void *self, osafl_call *c, osafl_reader *from)
{
    const struct rule *r = self;
    PyObject *text = PyTuple_GET_ITEM(r->script, 1);
    uint64_t n = 0;
    OSAFL_TRY(from->count(from, "script", &n));
    char *saved = r->host->scratch(c, n);
    if (saved == NULL)
        return OSAFL_E_NOMEM;
    OSAFL_TRY(from->bytes(from, "script", saved, n));
    if (n != (uint64_t)PyBytes_GET_SIZE(text) || memcmp(saved, PyBytes_AS_STRING(text), n) != 0)
        return r->host->fail(c, OSAFL_E_STATE, "%s is not what it was when the run began",
                             r->config->script);
    return OSAFL_OK;
}

static const osafl_aggregator_vt vtable = {
    .life = {.struct_size = sizeof(osafl_aggregator_vt),
             .state_version = 1,
             .create = create,
             .destroy = destroy,
             .save = save,
             .load = load},
    .describe = describe,
    .aggregate = aggregate,
};

static const osafl_plugin plugin = {
    OSAFL_PLUGIN_HEAD,
    .kind = OSAFL_KIND_AGGREGATOR,
    .name = "python_weights",
    .version = "1.0.0",
    .summary = "Adds updates with weights that a Python script computes",
    .license = "MIT",
    OSAFL_PLUGIN_PARAMS(params, struct config),
    .vtable = &vtable.life,
};

OSAFL_PLUGIN_ENTRY(plugin);
