/* lacks_operation.c - leaves out an operation that its kind requires. */
#define BASE_NAME "lacks_operation"
#define BASE_SELECT NULL
#include "deletion_base.h"
