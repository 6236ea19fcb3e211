/* evaluate_command.h - "osafl evaluate": how good given weights are on an experiment's data. */
#ifndef OSAFL_CORE_EVALUATE_COMMAND_H
#define OSAFL_CORE_EVALUATE_COMMAND_H

struct experiment;
struct loader;

/* Prints the measures of a run's model or of a safetensors file on the split that e evaluates on;
 * what is wrong goes to stderr.  weights: the folder of a finished run, or a file.  Returns an exit
 * status (exit_status.h). */
int evaluate_command(struct experiment *e, struct loader *l, const char *weights, unsigned threads);

#endif
