/* describe.h - what the files that describe layers share. */
#ifndef OSAFL_NN_DESCRIBE_H
#define OSAFL_NN_DESCRIBE_H

#include "network.h"

/* Each fails the network, and returns NULL or 0, when there is no room. */
struct layer *describe_layer(struct network *net, enum layer_type type, int input);
/* The output of a layer, of the shape that the layer says. */
int describe_output(struct network *net, struct layer *l);
/* A tensor called "NAME" and suffix. */
int describe_parameter(struct network *net, const char *name, const char *suffix,
                       struct parameter p);
struct parameter describe_vector(uint64_t size, enum initializer init, uint64_t fan_in);
/* out x in weights of a product. */
struct parameter describe_matrix(uint64_t out, uint64_t in, enum initializer init, uint64_t fan_in);
/* A layer that keeps the shape of its input; NULL when the network has failed. */
struct layer *describe_alike(struct network *net, enum layer_type type, int input);

#endif
