/* undefined_symbol.c - needs a function that nobody has. */
void function_that_nobody_has(void);

#define BASE_NAME "undefined_symbol"
#define BASE_BEFORE_RETURN function_that_nobody_has();
#include "deletion_base.h"
