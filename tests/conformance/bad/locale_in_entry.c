/* locale_in_entry.c - changes the locale of the program when it is asked what it is. */
#include <locale.h>

#define BASE_NAME "locale_in_entry"
#define BASE_BEFORE_RETURN setlocale(LC_NUMERIC, "C.UTF-8");
#include "deletion_base.h"
