/* classifier.h - the model interface of osafl/model.h over a struct network.
 *
 * A plugin describes its network in a function and lists the functions below in its vtable. */
#ifndef OSAFL_NN_CLASSIFIER_H
#define OSAFL_NN_CLASSIFIER_H

#include "network.h"

/* Describes the network for net's pictures and classes; config is the plugin's own struct. */
typedef void network_description(struct network *net, const void *config);

/* Settings of every classifier; the first member, called "nn", of a plugin's config. */
struct classifier_settings {
    osafl_choice conv;  /* 0: auto, 1: direct */
    osafl_choice fused; /* 0: auto, 1: off */
    osafl_choice gemm;  /* 0: auto, 1: openblas */
    osafl_choice loss;  /* enum loss; 0 in plugins without the setting */
};

extern const char *const classifier_conv_choices[];
extern const char *const classifier_fused_choices[];
extern const char *const classifier_gemm_choices[];
extern const char *const classifier_loss_choices[];

#define CLASSIFIER_CHOICE_(S, member, text)                                                        \
    {                                                                                              \
        .name = #member, .type = OSAFL_T_CHOICE, .offset = (uint32_t)offsetof(S, nn.member),       \
        .choices = classifier_##member##_choices, .doc = text                                      \
    }
/* Rows of a plugin's table of settings: for all classifiers, and for those with convolutions. */
#define CLASSIFIER_PARAMS(S)                                                                       \
    CLASSIFIER_CHOICE_(S, fused,                                                                   \
                       "Whether plain SGD steps are added to the weights while their gradients "   \
                       "are computed"),                                                            \
        CLASSIFIER_CHOICE_(S, gemm, "Matrix products by the plugin's kernels, or by OpenBLAS")
#define CLASSIFIER_CONVOLUTION_PARAMS(S)                                                           \
    CLASSIFIER_CHOICE_(S, conv,                                                                    \
                       "Whether 3x3 convolutions go by minimal filtering (Winograd) where that "   \
                       "is faster")

#define CLASSIFIER_LOSS_PARAMS(S)                                                                  \
    CLASSIFIER_CHOICE_(S, loss,                                                                    \
                       "What is minimised; the latter two also for targets that are real numbers")

/* Makes an instance; model is the plugin's name, a literal.  config begins with the struct
 * classifier_settings.  [coord] */
osafl_status classifier_create(const osafl_host *h, osafl_call *c, const osafl_facts *facts,
                               const char *model, network_description *describe_network,
                               const void *config, void **self);
void classifier_destroy(void *self);
osafl_status classifier_describe(void *self, osafl_call *c, osafl_model_info *out);
uint64_t classifier_workspace_bytes(void *self, uint32_t batch, uint32_t evaluation_batch);
osafl_status classifier_init(void *self, osafl_call *c, float *w);
osafl_status classifier_gradient(void *self, osafl_call *c, void *workspace, const float *w,
                                 const osafl_batch *b, const osafl_step *step, float *grad,
                                 double *loss);
osafl_status classifier_evaluate(void *self, osafl_call *c, void *workspace, const float *w,
                                 const osafl_batch *b, double *value);
osafl_status classifier_score(void *self, osafl_call *c, void *workspace, const float *w,
                              const osafl_batch *b, double *value);
osafl_status classifier_sgd_step(void *self, osafl_call *c, void *workspace, float *w,
                                 const osafl_batch *b, const osafl_step *step, double rate,
                                 double *loss);
void classifier_export_tensor(void *self, uint32_t t, const float *w, float *out);
void classifier_import_tensor(void *self, uint32_t t, const float *in, float *w);

/* All members of osafl_model_vt but life.create. */
#define CLASSIFIER_FUNCTIONS                                                                       \
    .describe = classifier_describe, .workspace_bytes = classifier_workspace_bytes,                \
    .init = classifier_init, .gradient = classifier_gradient, .evaluate = classifier_evaluate,     \
    .sgd_step = classifier_sgd_step, .export_tensor = classifier_export_tensor,                    \
    .import_tensor = classifier_import_tensor, .score = classifier_score

#endif
