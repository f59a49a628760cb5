/** @file png_memory.h  Memory for libpng (internal).
 *
 * libpng says of memory that has ended what it says of a mistake in the file, and goes on without
 * what it can do without, such as a text: nobody would know.
 */
#ifndef FBP_SRC_PNG_MEMORY_H
#define FBP_SRC_PNG_MEMORY_H

#include <png.h>

/** For png_create_*_struct_2(), whose mem_ptr is a bool that becomes true when memory was missing;
 *  then there is a message, too. */
png_voidp fbp_png_take(png_structp png, png_alloc_size_t n);
void fbp_png_give_back(png_structp png, png_voidp p);

#endif /* FBP_SRC_PNG_MEMORY_H */
