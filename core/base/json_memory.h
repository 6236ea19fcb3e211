/* json_memory.h - jansson never sees an allocation fail. */
#ifndef OSAFL_CORE_JSON_MEMORY_H
#define OSAFL_CORE_JSON_MEMORY_H

/* From now on an allocation of jansson that fails ends the process with EXIT_RUN_FAILED and a word
 * on stderr: after one its parser (2.14) writes behind its buffer.  What a run has saved is
 * complete at any moment.  Call once, before the first JSON value. */
void json_memory_end_on_failure(void);

#endif
