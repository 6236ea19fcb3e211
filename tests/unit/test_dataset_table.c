/* Data set csv on tables as people have them: headers, columns without names, categories, missing
 * values, other separators, and labels that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dataset_fixture.h"

static char warnings[DATASET_WARNINGS];

static struct fixture *open_csv(void)
{
    struct fixture *f = fixture_open("dataset", "csv");
    keep_warnings(f, warnings);
    fixture_set(f, "path", in_folder("train.csv"));
    fixture_set(f, "standardise", "false");
    return f;
}

/* A table whose test samples come from a copy of it, so that its rows keep their places, with
 * settings as pairs of name and value. */
static struct fixture *open_table(const char *text, const char *const *settings)
{
    write_text("train.csv", text);
    struct fixture *f = open_csv();
    fixture_set(f, "test_path", in_folder("train.csv"));
    for (; settings != NULL && settings[0] != NULL; settings += 2)
        fixture_set(f, settings[0], settings[1]);
    return f;
}

#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The values of all samples in a row, and their labels. */
static void expect_samples(struct fixture *f, uint32_t n, uint32_t width, const float *x,
                           const int32_t *labels)
{
    if (dataset_create(f) != OSAFL_OK)
        fail_msg("refused: %s", f->error.text);
    const osafl_dataset_info info = dataset_describe(f);
    assert_int_equal(info.n_train, n);
    EXPECT_SHAPE(info, width);
    for (uint64_t i = 0; i < n; i++) {
        float got[16];
        int32_t label;
        dataset_read(f, OSAFL_SPLIT_TRAIN, &i, 1, got, &label);
        assert_memory_equal(got, x + i * width, width * sizeof *x);
        assert_int_equal(label, labels[i]);
    }
}

static void refuse(const char *text, const char *const *settings, const char *message)
{
    expect_refusal(open_table(text, settings), OSAFL_E_DATA, message);
}

static void refuse_setting(const char *text, const char *const *settings, const char *message)
{
    expect_refusal(open_table(text, settings), OSAFL_E_CONFIG, message);
}

/* A header of numbers would be a sample of a class of its own. */
static void asks_whether_a_row_of_numbers_is_a_header(void **state)
{
    (void)state;
    const char *pandas = "0,1,target\n1.5,2,a\n1.6,2.1,b\n1.7,2.2,a\n";
    refuse(pandas, NULL,
           "is the first row a header? Its numbers count the columns, and no other "
           "row has its label; set dataset.csv.header = \"yes\", or \"no\"");
    refuse("target,0,1\na,1.5,2\nb,1.6,2.1\na,1.7,2.2\n", SET("label", "1"), "is the first row a");
    refuse("2019,2020,y\n1.5,2,a\n1.6,2.1,b\n1.7,2.2,a\n1,1,b\n", NULL,
           "is the first row a header");
    refuse("0,1,2,3\n1.5,2,0,1\n1.6,2.1,0,3\n1.7,2.2,0,1\n", NULL, "is the first row a header?");
    struct fixture *f = open_table(pandas, SET("header", "yes"));
    expect_samples(f, 3, 2, (const float[]){1.5F, 2, 1.6F, 2.1F, 1.7F, 2.2F},
                   (const int32_t[]){0, 1, 0});
    fixture_close(f);
    f = open_table(pandas, SET("header", "no"));
    expect_samples(f, 4, 2, (const float[]){0, 1, 1.5F, 2, 1.6F, 2.1F, 1.7F, 2.2F},
                   (const int32_t[]){2, 0, 1, 0});
    fixture_close(f);
    /* Samples that only happen to count: their labels are those of others too. */
    f = open_table("0,1,a\n1.5,2,a\n1.6,2.1,b\n", NULL);
    expect_samples(f, 3, 2, (const float[]){0, 1, 1.5F, 2, 1.6F, 2.1F}, (const int32_t[]){0, 0, 1});
    fixture_close(f);

    refuse("f,g,2020,y\n1,2,3,a\n4,5,6,b\n", NULL,
           "train.csv:1: column 1 holds \"f\", which is not a finite number; is the first row a "
           "header? dataset.csv.header = \"yes\"");
    refuse_setting("f,2020,y\n1,2,a\n4,5,b\n", SET("label", "y"),
                   "\"y\" is in the first row, which is taken for a sample; if it is a header, "
                   "set dataset.csv.header = \"yes\"");
    /* Where nothing is a number, a header looks like a sample. */
    refuse("x,red,p\ny,blue,e\n", SET("categorical", "*"), "a header cannot be told from a sample");
    f = open_table("x,red,p\ny,blue,e\n", SET("categorical", "*", "header", "no"));
    expect_samples(f, 2, 4, (const float[]){1, 0, 0, 1, 0, 1, 1, 0}, (const int32_t[]){1, 0});
    fixture_close(f);
}

/* An index that was saved with the table is not a feature. */
static void names_columns_without_a_name_by_number(void **state)
{
    (void)state;
    const char *const tables[] = {",f,y\n0,1.5,a\n1,1.6,b\n", "\"\",f,y\n0,1.5,a\n1,1.6,b\n",
                                  "Unnamed: 0,f,y\n0,1.5,a\n1,1.6,b\n"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        struct fixture *f = open_table(tables[i], NULL);
        expect_samples(f, 2, 2, (const float[]){0, 1.5F, 1, 1.6F}, (const int32_t[]){0, 1});
        assert_non_null(strstr(warnings, "train.csv: column 1 has no name of its own and is a "
                                         "feature"));
        assert_non_null(strstr(warnings, "dataset.csv.ignore = \"#1\""));
        fixture_close(f);
        for (int hash = 0; hash < 2; hash++) {
            f = open_table(tables[i], SET("ignore", hash ? "#1" : "1", "label", "#3"));
            expect_samples(f, 2, 1, (const float[]){1.5F, 1.6F}, (const int32_t[]){0, 1});
            assert_string_equal(warnings, "");
            fixture_close(f);
        }
    }
    refuse_setting(tables[0], SET("ignore", ","),
                   "a column without a name is called by its number");
    refuse_setting(tables[0], SET("ignore", "#4"), "no column is named \"#4\"; the third of 3");
    refuse_setting("f,f,y\n1,2,a\n3,4,b\n", SET("ignore", "f"),
                   "columns 1 and 2 are both named \"f\"; say which one: \"#1\"");
    /* Where names are numbers, a number is a name. */
    struct fixture *f = open_table("2,1,y\n5,6,a\n7,8,b\n", SET("ignore", "2", "header", "yes"));
    expect_samples(f, 2, 1, (const float[]){6, 8}, (const int32_t[]){0, 1});
    fixture_close(f);
    refuse_setting("2,1,y\n5,6,a\n7,8,b\n", SET("ignore", "3", "header", "yes"),
                   "no column is named \"3\"");
}

static char *numbered(char *text, int rows, const char *before, const char *behind)
{
    size_t n = (size_t)sprintf(text, "f,price\n");
    for (int i = 0; i < rows; i++)
        n += (size_t)sprintf(text + n, "%d,%s%d%s\n", i % 7, before, i, behind);
    return text;
}

/* What is to be predicted must be a class. */
static void refuses_quantities_as_labels(void **state)
{
    (void)state;
    char text[8192];
    refuse(numbered(text, 40, "", ".5"), NULL,
           "the labels in column 2 (\"price\") do not look like classes: 40 different numbers");
    refuse(text, NULL, "confirm them: dataset.csv.classes = 40");
    refuse(numbered(text, 40, "", ""), NULL, "do not look like classes: 40 different numbers");
    refuse(numbered(text, 40, "name", ""), NULL, "do not look like classes: 40 different texts");
    refuse(text, SET("classes", "41"), "has 40 different labels, dataset.csv.classes says 41");
    struct fixture *f = open_table(text, SET("classes", "40"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_close(f);
    f = open_table(numbered(text, 9, "class", ""), NULL);
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_int_equal(dataset_describe(f).labels, 9);
    fixture_close(f);
}

/* Each category a value; what is empty has none. */
static void reads_categories(void **state)
{
    (void)state;
    const char *table = "age,city,size,y\n30,Rome,10,a\n40,Oslo,9,b\n50, Rome ,9,a\n";
    const float expected[] = {30, 0, 1, 0, 1, 40, 1, 0, 1, 0, 50, 0, 1, 1, 0};
    const int32_t labels[] = {0, 1, 0};
    struct fixture *f = open_table(table, SET("categorical", "city, size"));
    expect_samples(f, 3, 5, expected, labels);
    fixture_close(f);
    f = open_table(table, SET("categorical", "#3,city"));
    expect_samples(f, 3, 5, expected, labels);
    fixture_close(f);
    f = open_table(table, SET("categorical", "*"));
    expect_samples(f, 3, 4, (const float[]){30, 0, 1, 10, 40, 1, 0, 9, 50, 0, 1, 9}, labels);
    fixture_close(f);
    refuse_setting(table, SET("categorical", "y"), "column \"y\" has another role already");
    refuse(table, NULL,
           "train.csv:2: column 2 (\"city\") holds \"Rome\", which is not a finite number");
    refuse(table, NULL, "dataset.csv.categorical = \"city\"");
    /* One text among numbers is mistyped, and no category. */
    write_text("train.csv", "f,y\n1,a\n2,b\nx,a\n");
    f = open_csv();
    assert_int_equal(dataset_create(f), OSAFL_E_DATA);
    assert_non_null(strstr(f->error.text, "train.csv:4: column 1 (\"f\") holds \"x\""));
    assert_null(strstr(f->error.text, "categorical"));
    fixture_close(f);

    write_text("test.csv", "age,city,size,y\n30,Paris,10,a\n");
    f = open_table(table, SET("categorical", "*", "test_path", in_folder("test.csv")));
    expect_refusal(f, OSAFL_E_DATA,
                   "test.csv:2: no training sample has the column 2 (\"city\") \"Paris\"");
    write_text("test.csv", "age,city,size,y\n30,oslo,10,a\n");
    f = open_table(table, SET("categorical", "*", "test_path", in_folder("test.csv")));
    expect_refusal(f, OSAFL_E_DATA, "\"oslo\", but some have \"Oslo\"");

    char *text = malloc(32768);
    assert_non_null(text);
    size_t n = (size_t)sprintf(text, "id,f,y\n");
    for (int i = 0; i < 1200; i++)
        n += (size_t)sprintf(text + n, "id%d,1,%c\n", i, "ab"[i % 2]);
    refuse(text, SET("categorical", "id"),
           "train.csv:1002: more than 1000 different categories; is this one: \"id1000\" in column "
           "1 (\"id\")");
    free(text);
}

/* A value that is no number does not make categories of a column of numbers, nor a class. */
static void refuses_odd_values(void **state)
{
    (void)state;
    static const char *const odd[] = {"inf",   "-inf", "1e999", "0x1A", "\"1,234\"",
                                      "1_000", "$12",  "12%",   "x",    "unknown"};
    char text[256];
    char message[256];
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const bool quoted = odd[i][0] == '"';
        const int n = (int)strlen(odd[i]) - (quoted ? 2 : 0);
        snprintf(text, sizeof text, "c,f,y\nu,1,a\nv,%s,b\nu,3,a\n", odd[i]);
        snprintf(message, sizeof message, "train.csv:3: column 2 (\"f\") holds \"%.*s\"", n,
                 odd[i] + (quoted ? 1 : 0));
        refuse(text, SET("categorical", "c"), message);
        refuse(text, SET("categorical", "*"), message);
        refuse(text, SET("categorical", "*"),
               "among numbers; correct it, leave the field empty if the value is unknown, or say "
               "that the column holds categories: dataset.csv.categorical = \"*, f\"");
        struct fixture *f = open_table(text, SET("categorical", "*, f"));
        assert_int_equal(dataset_create(f), OSAFL_OK);
        const osafl_dataset_info info = dataset_describe(f);
        EXPECT_SHAPE(info, 5);
        fixture_close(f);
        snprintf(text, sizeof text, "f,y\n1,1\n2,%s\n3,2\n4,1\n5,3\n", odd[i]);
        snprintf(message, sizeof message,
                 "train.csv:3: the label \"%.*s\" in column 2 (\"y\") stands among numbers", n,
                 odd[i] + (quoted ? 1 : 0));
        refuse(text, NULL, message);
        f = open_table(text, SET("classes", "4"));
        assert_int_equal(dataset_create(f), OSAFL_OK);
        fixture_close(f);
    }
    refuse("f,y\na,p\nb,q\n3,q\nc,p\n", SET("categorical", "*"),
           "train.csv:4: column 1 (\"f\") holds \"3\" among texts");
    refuse("f,y\n1,a\n2,3\n3,b\n4,3\n", NULL,
           "train.csv:3: the label \"3\" in column 2 (\"y\") "
           "stands among texts");
    refuse("f,g,2020,y\n1,2,3,a\n4,5,6,b\n", SET("categorical", "*"),
           "train.csv:1: column 1 holds \"f\" among numbers; is the first row a header?");
}

/* What is kept of a table goes into JSON, which is UTF-8. */
static void refuses_other_bytes_than_utf8(void **state)
{
    (void)state;
    const char *const tables[] = {"f,\xf6,y\n1,u,a\n2,v,b\n", "f,c,y\n1,r\xf6t,a\n2,v,b\n",
                                  "f,c,y\n1,u,a\n2,v,J\xe4\n", "f,c,y\n1,\xc0\x80,a\n2,v,b\n",
                                  "f,c,y\n1,\xed\xa0\x80,a\n2,v,b\n"};
    static const char *const messages[] = {
        "train.csv:1: the byte 0xf6 is not UTF-8; save the table as UTF-8, or convert it: iconv",
        "train.csv:2: the byte 0xf6 is not UTF-8", "train.csv:3: the byte 0xe4 is not UTF-8",
        "train.csv:2: the byte 0xc0 is not UTF-8", "train.csv:2: the byte 0xed is not UTF-8"};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        refuse(tables[i], SET("categorical", "c"), messages[i]);
    refuse("f,c,y\n1,\x1b[31m,a\n2,v,b\n", SET("categorical", "c"),
           "train.csv:2: the byte 0x1b is a control character");
    refuse("f,c,y\n1,u,\xc2\x9b\n2,v,b\n", SET("categorical", "c"),
           "train.csv:2: the byte 0xc2 is a control character");
    struct fixture *f =
        open_table("größe,c,y\n1,rötlich,a\n2,\xf0\x9f\x8c\x8d,jä\n", SET("categorical", "*"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_close(f);
    /* A column that is not used may hold anything. */
    f = open_table("f,c,y\n1,r\xf6t,a\n2,v,b\n", SET("ignore", "c"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    fixture_close(f);
}

static void follows_the_rule_for_missing_values(void **state)
{
    (void)state;
    const char *table = "age,city,y\n30,Rome,a\n,Oslo,b\nNA,Rome,a\n50,,b\n70,NA,a\n1,Rome,\n";
    const char *const all[] = {"categorical", "city", "missing", "drop", NULL};
    const float dropped[] = {30, 0, 1, 70, 1, 0};
    struct fixture *f = open_table(table, all);
    fixture_set(f, "classes", "1");
    expect_refusal(f, OSAFL_E_DATA, "all samples have the label \"a\"");

    const char *rows = "age,city,y\n30,Rome,a\n,Oslo,b\n?,Rome,a\n50,,b\n70,NA,b\n";
    f = open_table(rows, all);
    expect_samples(f, 2, 3, dropped, (const int32_t[]){0, 1});
    fixture_close(f);
    f = open_table(rows, SET("categorical", "city", "missing", "mean"));
    expect_samples(f, 5, 4,
                   (const float[]){30, 0, 0, 1, 50, 0, 1, 0, 50, 0, 0, 1, 50, 0, 0, 0, 70, 1, 0, 0},
                   (const int32_t[]){0, 1, 0, 1, 1});
    fixture_close(f);

    refuse(rows, SET("categorical", "city"),
           "train.csv:3: column 1 (\"age\") holds \"\", which is not a finite number; "
           "dataset.csv.missing = \"drop\" leaves rows with missing values out, \"mean\"");
    refuse("age,y\n1,a\nnan,b\n", NULL, "train.csv:3: column 1 (\"age\") holds \"nan\"");
    refuse("age,y\n1,a\n2,\n", SET("missing", "mean"), "train.csv:3: the label is empty");
    refuse("f,age,y\n1,NA,a\n1,null,b\n2,,b\n", SET("missing", "mean"),
           "no training sample has a value in column 2 (\"age\")");
    refuse("f,age,y\n1,NA,a\n1,null,b\n,,b\n", SET("missing", "drop"),
           "holds no sample without missing values; most are missing in column 2 (\"age\") (3 of 3 "
           "rows)");
    refuse("f,age,owner,at,y\n1,NA,a,1,a\n1,2,,,b\n1,2,a,,b\n",
           SET("missing", "drop", "client", "owner", "time", "at"),
           "most are missing in column 4 (\"at\") (2 of 3 rows)");
    refuse("f,age,y\n1,2,\n,3,\n", SET("missing", "drop"),
           "most are missing in column 3 (\"y\") (2 of 2 rows)");
}

/* The mean is that of the training split, however the test samples are. */
static void fills_by_the_training_samples_alone(void **state)
{
    (void)state;
    write_text("train.csv", "f,y\n1,a\n3,b\n,b\n");
    write_text("test.csv", "f,y\n100,a\n,b\n");
    struct fixture *f = open_csv();
    fixture_set(f, "test_path", in_folder("test.csv"));
    fixture_set(f, "missing", "mean");
    fixture_set(f, "standardise", "true");
    assert_int_equal(dataset_create(f), OSAFL_OK);
    for (uint32_t split = OSAFL_SPLIT_TRAIN; split <= OSAFL_SPLIT_TEST; split += 2) {
        float x;
        int32_t label;
        const uint64_t i = split == OSAFL_SPLIT_TRAIN ? 2 : 1;
        dataset_read(f, split, &i, 1, &x, &label);
        assert_true(x == 0.0F); /* the mean, shifted */
    }
    fixture_close(f);
}

static void reads_other_ways_to_write_tables(void **state)
{
    (void)state;
    const float x[] = {0.5F, 10, 1.5F, -2e3F};
    const int32_t labels[] = {0, 1};
    const struct {
        const char *text;
        const char *const *settings;
    } cases[] = {
        {"  0.5   10\tcp \n1.5  -2e3 \t im\n \t \n", SET("separator", "space")},
        {"f  g   y\n0.5 10 \"cp\"\n1.5 -2e3   im", SET("separator", "space")},
        {"0,5;10;cp\n1,5;-2e3;im\n", SET("separator", "semicolon", "decimal", "comma")},
        {"f;g;y\n0,5;10;cp\n1,5;-2e3;im\n", SET("separator", "semicolon", "decimal", "comma")},
        {"# by me\nf,g,y\n0.5,10,cp\n#, or\n1.5,-2e3,im\n", SET("comment", "#")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = open_table(cases[i].text, cases[i].settings);
        expect_samples(f, 2, 2, x, labels);
        fixture_close(f);
    }
    /* Tables in tabs may have empty fields. */
    refuse("1\t\ta\n1\t2\tb\n", SET("separator", "tab"),
           "column 2 holds \"\", which is not a finite number; ");
    refuse("1\t\ta\n1\t2\tb\n", SET("separator", "tab"), "dataset.csv.separator = \"space\"");
    refuse("f;g;y\n2;10;cp\n1,5;3;im\n", SET("separator", "semicolon", "categorical", "*"),
           "train.csv:3: column 1 (\"f\") holds \"1,5\" among numbers; where numbers have a comma, "
           "set dataset.csv.decimal = \"comma\"");
    struct fixture *f = open_table("f;g;y\n0,5;10;cp\n1,5;3;im\n",
                                   SET("separator", "semicolon", "categorical", "*"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_non_null(strstr(warnings, "column 1 (\"f\") holds \"0,5\" and is taken for categories"));
    fixture_close(f);
    refuse_setting("f;g;y\n1;2;a\n3;4;b\n", SET("label", "y"),
                   "no column is named \"y\": the header, \"f;g;y\", is one column; is "
                   "dataset.csv.separator right");
    refuse("1;2;cp\n1,5;3;im\n", SET("separator", "semicolon"),
           "column 1 holds \"1,5\", which is not a finite number; where numbers have a comma, set "
           "dataset.csv.decimal = \"comma\"");
    refuse("1.234,5;2;cp\n1,5;3;im\n",
           SET("separator", "semicolon", "decimal", "comma", "header", "no"),
           "column 1 holds \"1.234,5\"");
    refuse_setting("1,2,a\n", SET("decimal", "comma"), "need another separator than \"comma\"");
}

static void names_what_is_odd_about_a_row(void **state)
{
    (void)state;
    refuse("# by me\nf,g,y\n1,2,a\n", NULL,
           "train.csv:1: has no column of features; it begins with \"#\": to leave comments out, "
           "set dataset.csv.comment = \"#\"");
    refuse("f,g,y\n# more\n1,2,a\n", NULL,
           "train.csv:2: has 1 column, the header 3; it begins with \"#\", as comments do; to "
           "leave those out, set dataset.csv.comment = \"#\"");
    refuse("1,2,a\n# so, so, so\n", NULL,
           "train.csv:2: column 1 holds \"# so\", which is not a finite number; to leave comments "
           "out");
    refuse("1,2,a,\n3,4,b,\n", NULL,
           "train.csv:1: its last field is empty: does the row end in a separator? Say where the "
           "labels are and leave that column out: dataset.csv.label = \"#3\", dataset.csv.ignore = "
           "\"#4\"");
    refuse("f,g,y,\n3,4,b,\n", NULL, "train.csv:1: its last field is empty");
    refuse("f,g,y\n3,4,b,\n", NULL,
           "train.csv:2: has 4 columns, the header 3; it ends in a separator");
    refuse(
        "f,g,y,\n3,4,b,\n", SET("label", "y"),
        "column 4 holds \"\", which is not a finite number; if rows end in a separator, leave that "
        "column out: dataset.csv.ignore = \"#4\"");
    struct fixture *f = open_table("1,2,a,\n3,4,b,\n", SET("label", "#3", "ignore", "#4"));
    expect_samples(f, 2, 2, (const float[]){1, 2, 3, 4}, (const int32_t[]){0, 1});
    fixture_close(f);
    refuse("1;2;a\n3;4;b\n", NULL, "dataset.csv.separator = \"semicolon\"");
    refuse("f,y\n1;2,a\n3;4,b\n", NULL,
           "column 1 (\"f\") holds \"1;2\", which is not a finite number; is the separator right? "
           "dataset.csv.separator = \"semicolon\"");
    refuse("f,g,y\n3,1e300,b\n", NULL,
           "too large for a 32-bit float: \"1e300\" in column 2 (\"g\")");
}

/* Texts that differ in letters or digits alone are probably meant to be the same. */
static void hints_at_labels_that_are_alike(void **state)
{
    (void)state;
    const struct {
        const char *text;
        const char *warning;
    } cases[] = {
        {"c,y\n1,a\n2,A\n1,b\n", "labels \"A\" and \"a\" are taken for two"},
        {"c,y\n1,1\n2,1.0\n1,2\n", "labels \"1\" and \"1.0\" are taken for two"},
        {"c,y\n1,a\n2,NaN\n1,b\n", "the label \"NaN\" is a class of its own"},
        {"c,x,y\nu,1,a\nU,2,b\n", "column 1 (\"c\") \"U\" and \"u\" are taken for two"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fixture *f = open_table(cases[i].text, SET("categorical", i == 3 ? "c" : ""));
        assert_int_equal(dataset_create(f), OSAFL_OK);
        if (strstr(warnings, cases[i].warning) == NULL)
            fail_msg("\"%s\" is not in \"%s\"", cases[i].warning, warnings);
        fixture_close(f);
    }
    struct fixture *f = open_table("w,x,y\nme,1,a\nMe,2,b\n", SET("client", "w"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_non_null(strstr(warnings, "clients \"Me\" and \"me\" are taken for two"));
    fixture_close(f);
    write_text("test.csv", "c,y\n1,1.0\n");
    f = open_table("c,y\n1,1\n2,2\n", SET("test_path", in_folder("test.csv")));
    expect_refusal(f, OSAFL_E_DATA,
                   "no training sample has the label \"1.0\", but some have \"1\"");
}

static void hints_at_a_column_that_names_the_rows(void **state)
{
    (void)state;
    char text[256] = "who,colour,y\n";
    for (int i = 0; i < 12; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "n%d,%s,%d\n", i,
                 i % 2 == 0 ? "red" : "blue", i % 3);
    struct fixture *f = open_table(text, SET("categorical", "*"));
    assert_int_equal(dataset_create(f), OSAFL_OK);
    assert_non_null(strstr(warnings, "column 1 (\"who\") has "));
    assert_null(strstr(warnings, "column 2"));
    fixture_close(f);
}

#define WITH_FOLDER(test)                                                                          \
    cmocka_unit_test_setup_teardown(test, make_test_folder, remove_test_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(asks_whether_a_row_of_numbers_is_a_header),
        WITH_FOLDER(names_columns_without_a_name_by_number),
        WITH_FOLDER(refuses_quantities_as_labels),
        WITH_FOLDER(reads_categories),
        WITH_FOLDER(refuses_odd_values),
        WITH_FOLDER(refuses_other_bytes_than_utf8),
        WITH_FOLDER(follows_the_rule_for_missing_values),
        WITH_FOLDER(fills_by_the_training_samples_alone),
        WITH_FOLDER(reads_other_ways_to_write_tables),
        WITH_FOLDER(names_what_is_odd_about_a_row),
        WITH_FOLDER(hints_at_labels_that_are_alike),
        WITH_FOLDER(hints_at_a_column_that_names_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
