/* csv_config.h - the settings of the data set csv. */
#ifndef OSAFL_DATASET_CSV_CONFIG_H
#define OSAFL_DATASET_CSV_CONFIG_H

#include "osafl/param.h"

#define CSV_MAX_CLASSES 10000

enum { HEADER_AUTO, HEADER_YES, HEADER_NO };
enum { MISSING_REFUSE, MISSING_DROP, MISSING_MEAN };

struct csv_config {
    const char *path;
    const char *test_path;
    double test_share;
    int64_t validation;
    const char *label;
    int64_t classes;
    const char *client;
    const char *ignore;
    const char *categorical;
    osafl_choice missing;
    osafl_choice header;
    osafl_choice separator;
    osafl_choice decimal;
    const char *comment;
    bool standardise;
    int64_t channels;
    int64_t height;
    osafl_choice target; /* enum sample_targets */
    const char *time;
};

#endif
