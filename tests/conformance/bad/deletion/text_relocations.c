/* text_relocations.c - has an address in its code that the linker must fill in.  Caught by
 * file.relocations. */
#include "template_with.h"

__asm__(".section .text\n.quad plugin_of_text_relocations\n");
__attribute__((visibility("hidden"))) int plugin_of_text_relocations = 1;

CHANGE()
