/** @file sizes.h  Structs that cross the border of the library (internal).
 *
 * Each begins with `size_t struct_size`, which the caller sets to the size of the struct, for
 * inputs and outputs alike.  Until release 1.0 it must be the size that this library was built
 * with, so that a program built with other headers gets an error and not wrong values.
 */
#ifndef FBP_SRC_SIZES_H
#define FBP_SRC_SIZES_H

#include "base/status.h"

#include <stddef.h>

/** Check struct_size of a caller's struct `name` of n bytes. */
fbp_status fbp_check_struct(const char *name, const void *theirs, size_t n);

/** Check a caller's struct and copy it to `own`. */
fbp_status fbp_take_struct(const char *name, void *own, size_t n, const void *theirs);

/** Copy `own` to a caller's struct, whose struct_size is set. */
void fbp_give_struct(void *theirs, const void *own, size_t n);

/** The same for a struct fbp_WHAT. */
#define FBP_TAKE(what, own, theirs) \
    fbp_take_struct("fbp_" #what, own, sizeof(struct fbp_##what), theirs)
#define FBP_CHECK(what, theirs)     fbp_check_struct("fbp_" #what, theirs, sizeof(struct fbp_##what))
#define FBP_GIVE(what, theirs, own) fbp_give_struct(theirs, own, sizeof(struct fbp_##what))

#endif /* FBP_SRC_SIZES_H */
