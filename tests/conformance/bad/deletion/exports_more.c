/* exports_more.c - exports a second symbol.  Caught by file.exports. */
#include "template_with.h"

OSAFL_EXPORT int one_symbol_too_many;
int one_symbol_too_many = 1;

CHANGE()
