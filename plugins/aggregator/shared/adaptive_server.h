/* adaptive_server.h - settings that FedAdam and FedYogi share. */
#ifndef OSAFL_AGGREGATOR_ADAPTIVE_SERVER_H
#define OSAFL_AGGREGATOR_ADAPTIVE_SERVER_H

#include "server_moments.h"

struct adaptive_server_config {
    double server_learning_rate;
    double beta1;
    double beta2;
    double tau;
};

#define ADAPTIVE_SERVER_PARAMS                                                                     \
    OSAFL_REAL(struct adaptive_server_config, server_learning_rate, 0.01, 0, 1e6,                  \
               "Learning rate of the server's step", .flags = OSAFL_P_LO_OPEN),                    \
        OSAFL_REAL(struct adaptive_server_config, beta1, 0.9, 0, 1,                                \
                   "Decay of the mean of past updates", .flags = OSAFL_P_HI_OPEN),                 \
        OSAFL_REAL(struct adaptive_server_config, beta2, 0.99, 0, 1,                               \
                   "Decay of the mean of their squares", .flags = OSAFL_P_HI_OPEN),                \
        OSAFL_REAL(struct adaptive_server_config, tau, 1e-3, 1e-12, 1e6,                           \
                   "Added to the root of the second moment, which starts at its square")

static inline osafl_status adaptive_server_create(const osafl_host *h, osafl_call *c,
                                                  const osafl_facts *facts,
                                                  const struct adaptive_server_config *config,
                                                  second_moment_rule *rule, void **self)
{
    const struct server_moments_config moments = {
        .server_learning_rate = config->server_learning_rate,
        .first_decay = config->beta1,
        .first_gain = 1.0 - config->beta1,
        .second_decay = config->beta2,
        .tau = config->tau,
    };
    return server_moments_create(h, c, facts, &moments, rule, self);
}

#endif
