/** @file mat_print.h  What a variable holds as one number, as it lies in the file and as matio
 * gives it (internal).
 *
 * matio fills what it could not read with zeros, leaves arrays out, and says no word of it where a
 * read ends early.  mat_check.c reads the file by itself; if both find the same class, sizes,
 * members and values, nothing is lost.  Values count as those of their class, whatever type they
 * are stored as.
 */
#ifndef FBP_SRC_MAT_PRINT_H
#define FBP_SRC_MAT_PRINT_H

#include "array/format/mat/mat_lib.h"

/** Types of elements in files, and classes of arrays, by their numbers there. */
enum {
    FBP_MI_INT8 = 1,
    FBP_MI_UINT8,
    FBP_MI_INT16,
    FBP_MI_UINT16,
    FBP_MI_INT32,
    FBP_MI_UINT32,
    FBP_MI_SINGLE,
    FBP_MI_DOUBLE = 9,
    FBP_MI_INT64 = 12,
    FBP_MI_UINT64,
    FBP_MI_MATRIX,
    FBP_MI_COMPRESSED,
    FBP_MI_UTF8,
    FBP_MI_UTF16,
    FBP_MI_UTF32
};
enum {
    FBP_MX_CELL = 1,
    FBP_MX_STRUCT = 2,
    FBP_MX_CHAR = 4,
    FBP_MX_SPARSE = 5,
    FBP_MX_DOUBLE = 6,
    FBP_MX_UINT64 = 15,
    FBP_MX_OPAQUE = 17
};

/** Values are taken in pieces of so many. */
enum { FBP_MAT_PIECE = 512 };

/** Bytes of an element in a file; 0: no type of numbers. */
size_t fbp_mat_stored_size(uint32_t type);

/** Are values of this class compared? */
static inline bool fbp_mat_has_values(unsigned class)
{
    return class == FBP_MX_CHAR || (class >= FBP_MX_DOUBLE && class <= FBP_MX_UINT64);
}

/** An array without anything in it, or with a class and sizes. */
uint64_t fbp_mat_print_none(uint64_t print);
uint64_t fbp_mat_print_array(uint64_t print, unsigned class, bool complex, const uint64_t *sizes,
                             size_t rank);

/** At most FBP_MAT_PIECE values, as stored; swap: in the other byte order. */
uint64_t fbp_mat_print_values(uint64_t print, unsigned class, uint32_t type, bool swap,
                              const unsigned char *in, size_t n);

/** All of a variable that matio has read; false: something of it is missing. */
bool fbp_mat_print_of(const matvar_t *v, uint64_t *print);

#endif /* FBP_SRC_MAT_PRINT_H */
