/* sample_set.h - labelled samples in memory, and their splits: what a data set of files is once
 * the files are read.
 *
 * Test and validation samples that have no file of their own are held out of the training file by a
 * rule that knows neither the run's seed nor the labels: the same samples in every run, a uniform
 * choice, each split in the file's order.  Test samples are chosen first, so that the size of the
 * validation split does not change them. */
#ifndef OSAFL_DATASET_SAMPLE_SET_H
#define OSAFL_DATASET_SAMPLE_SET_H

#include "byte_source.h"
#include "osafl/dataset.h"

/* Samples of one file or several in a row.  Arrays are from malloc() and owned. */
struct samples {
    uint64_t n;
    uint8_t *pixels;  /* n * size; or NULL, then values */
    float *values;    /* n * size; or NULL, then tokens */
    int32_t *tokens;  /* n * size */
    int32_t *label;   /* n; all 0 where there are targets */
    float *target;    /* n * targets; NULL: samples have classes */
    uint32_t *client; /* n; NULL: samples belong to nobody */
    double *time;     /* n; NULL, or all NAN: samples have no times */
};

/* Sample i of a split is sample index[i] of `from`. */
struct sample_split {
    const struct samples *from;
    uint32_t *index;
    uint32_t n;
};

struct sample_set {
    uint32_t rank; /* of a sample: 1 width, 2 height and width, 3 all */
    uint32_t channels;
    uint32_t height;
    uint32_t width;
    uint32_t classes;
    uint32_t targets; /* real numbers to predict of each sample; 0: classes */
    struct samples train_file;
    struct samples test_file; /* n = 0: there is none, test samples come from train_file */
    struct sample_split train;
    struct sample_split validation;
    struct sample_split test;
    float *pixel_value;       /* [pixel_tables][256], what a pixel's byte means; NULL: no bytes */
    uint32_t pixel_tables;    /* channels, each its own; or 1 for all */
    char *name_text;          /* label_names' characters */
    const char **label_names; /* classes pointers, or NULL */
    const osafl_host *host;   /* where warnings go while the files are read, and */
    osafl_call *call;         /* the call in which they are */
};

/* Fills a zeroed set from the files that a plugin's config names; on failure the message is written
 * and the set holds whatever was read so far. */
typedef osafl_status sample_set_reader(struct sample_set *s, const void *config,
                                       struct io_message *m);

/* The life of a data set whose instance is a sample set: osafl_lifecycle.create with the reader,
 * and osafl_lifecycle.destroy. */
osafl_status sample_set_create(const osafl_host *h, osafl_call *c, sample_set_reader *read_files,
                               const void *config, void **self);
void sample_set_destroy(void *self);

/* Reports a fact of osafl/preparation.h, while the files are read. */
void sample_set_record_text(const struct sample_set *s, const char *key, const char *text);
void sample_set_record_texts(const struct sample_set *s, const char *key, const char *const *text,
                             uint64_t n);
void sample_set_record_reals(const struct sample_set *s, const char *key, const double *v,
                             uint64_t n);

/* Warns of what is probably not meant, while the files are read. */
void sample_set_warn(const struct sample_set *s, const char *fmt, ...) OSAFL_PRINTF(2, 3);

/* Gives samples of so many values a shape.  OSAFL_E_CONFIG where they do not make it; file: for the
 * message. */
osafl_status sample_set_shape(struct sample_set *s, const char *file, uint32_t channels,
                              uint32_t height, uint32_t values, struct io_message *m);

/* Makes the splits, once the files are read, and reports which samples were held out.
 * test_held_out: samples of train_file that become the test split; 0 where there is a test_file. */
osafl_status sample_set_split(struct sample_set *s, uint64_t test_held_out, uint64_t validation,
                              struct io_message *m);

/* What a byte v means: PIXELS_SIGNED: (v / 255 - 0.5) / 0.5, in [-1, 1]; PIXELS_UNIT: v / 255;
 * PIXELS_STANDARD: (v / 255 - mean) / deviation, with those of the channel over the training split,
 * or 0 where that never changes; PIXELS_RAW: v. */
enum sample_pixels { PIXELS_SIGNED, PIXELS_UNIT, PIXELS_STANDARD, PIXELS_RAW };

/* Their names, for a setting. */
extern const char *const sample_pixels_choices[];

/* Chooses it, and warns where bytes are divided by 255 and none comes near that.  Needs the bytes;
 * PIXELS_STANDARD the splits too. */
osafl_status sample_set_pixels(struct sample_set *s, enum sample_pixels how, struct io_message *m);

/* Puts the mean over the training split in the place of every value that is NaN.  A value that all
 * training samples lack is OSAFL_E_DATA; *lacking is its number within a sample, for the message.
 * Needs values and splits. */
osafl_status sample_set_fill_missing(struct sample_set *s, size_t *lacking, struct io_message *m);

/* Reports that values are as the files have them. */
void sample_set_keep_values(const struct sample_set *s);

/* Shifts and scales every value so that it has mean 0 and standard deviation 1 over the training
 * split; one that never changes there becomes 0.  Needs values and splits. */
osafl_status sample_set_standardise(struct sample_set *s, struct io_message *m);

/* What there is to predict, for a setting: sample_targets_choices. */
enum sample_targets { TARGETS_CLASS, TARGETS_REAL };
extern const char *const sample_targets_choices[];

/* Names of the classes from text with commas between them; "" for none.  setting: its name, for
 * the message. */
osafl_status sample_set_name_labels(struct sample_set *s, const char *names, const char *setting,
                                    struct io_message *m);

/* Brings samples into the order (channel, y, x).  stride: how far neighbours lie apart in what was
 * read, by channel, y and x.  Needs the shape of the set. */
osafl_status sample_set_arrange(const struct sample_set *s, struct samples *samples,
                                const size_t stride[3], struct io_message *m);

/* Finds PATH.gz or PATH, and warns if both are there: the former is read.  *name is from malloc();
 * NULL if there is neither. */
osafl_status sample_set_find_file(const struct sample_set *s, const char *path, char **name,
                                  struct io_message *m);

/* Takes labels [n], from the file `name`, for those of samples, less first_label.  OSAFL_E_DATA
 * unless all are below classes then; plugin: whose settings are the remedy. */
osafl_status sample_set_take_labels(const struct sample_set *s, struct samples *samples,
                                    const int32_t *labels, int64_t first_label, const char *name,
                                    const char *plugin, struct io_message *m);

/* Fails if the labels of the training file, of which nobody said how many there are, look like
 * quantities (label_facts.h), and warns of classes without a sample.  file: that of the labels;
 * plugin: whose settings classes and first_label are the remedy; declared: classes is set. */
osafl_status sample_set_doubt_labels(const struct sample_set *s, const char *file,
                                     const char *plugin, bool declared, struct io_message *m);

/* The operations of osafl_dataset_vt; self is a struct sample_set. */
osafl_status sample_set_describe(void *self, osafl_call *c, osafl_dataset_info *out);
osafl_status sample_set_label(void *self, osafl_call *c, uint64_t i, int32_t *label);
osafl_status sample_set_read(void *self, osafl_call *c, uint32_t split, const uint64_t *index,
                             const osafl_batch *b);
osafl_status sample_set_client(void *self, osafl_call *c, uint64_t i, uint32_t *client);
osafl_status sample_set_time(void *self, osafl_call *c, uint64_t i, double *when);

#endif
