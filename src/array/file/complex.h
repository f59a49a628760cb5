/** @file complex.h  Complex samples whose parts take turns (internal). */
#ifndef FBP_SRC_COMPLEX_H
#define FBP_SRC_COMPLEX_H

#include "array/file/format.h"

/** Make a source of complex numbers one of their real parts, or where src->imaginary is set of the
 *  other ones: info.type is the type of a part.  Rows are read as a whole, and every other number
 *  of them taken. */
void fbp_take_part(struct fbp_source *src);

#endif /* FBP_SRC_COMPLEX_H */
