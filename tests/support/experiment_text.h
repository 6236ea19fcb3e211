/* experiment_text.h - a small experiment of built-in plugins, as text, for tests. */
#ifndef OSAFL_TESTS_EXPERIMENT_TEXT_H
#define OSAFL_TESTS_EXPERIMENT_TEXT_H

/* Line numbers: name 1, rounds 2, clients 3, dataset 4, model 5, channel 6, resource 7, optimizer
 * 8, quantizer 9, deletion 10, aggregator 11.  No data file is opened by resolving it. */
#define EXPERIMENT_HEAD                                                                            \
    "name = \"small\";\n"                                                                          \
    "rounds = 2;\n"                                                                                \
    "clients: { count = 3; };\n"                                                                   \
    "dataset: { plugin = \"idx\"; idx: { path = \"data\"; }; };\n"                                 \
    "model: { plugin = \"logistic\"; };\n"                                                         \
    "channel: { plugin = \"fixed\"; };\n"                                                          \
    "resource: { plugin = \"fixed\"; };\n"
#define EXPERIMENT_OPTIMIZER "optimizer: { plugin = \"sgd\"; sgd: { learning_rate = 0.1; }; };\n"
#define EXPERIMENT_TAIL                                                                            \
    "quantizer: { plugin = \"qsgd\"; qsgd: { levels = 4; }; };\n"                                  \
    "deletion: { plugin = \"fifo\"; };\n"                                                          \
    "aggregator: { plugin = \"osafl\"; osafl: { global_learning_rate = 5; };\n"                    \
    "  fedavg: { server_learning_rate = 2.0; }; };\n"

#define EXPERIMENT_TEXT EXPERIMENT_HEAD EXPERIMENT_OPTIMIZER EXPERIMENT_TAIL

#endif
