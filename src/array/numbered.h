/** @file numbered.h  The numbers in the names of files: order, and which number counts (internal).
 */
#ifndef FBP_SRC_NUMBERED_H
#define FBP_SRC_NUMBERED_H

#include "base/base.h"

#include <stdbool.h>
#include <stddef.h>

/** What the numbers in the names of sorted files say; zeros if the names are not alike. */
struct fbp_numbering {
    bool counted;     /**< one number is another in each name, and orders the files */
    size_t *places;   /**< [n] position of each file among all that were numbered, 0 of the first;
                           NULL: no number is missing, or the numbers are no count */
    char gaps[200];   /**< a sentence about missing numbers; "": there are none */
    char order[40];   /**< of several changing numbers: which one orders the files; else "" */
    size_t n_columns; /**< changing numbers of a name */
    double *columns;  /**< [n_columns][n] their values */
    int digits[8];    /**< of each, behind the decimal point */
    size_t counter;   /**< column that orders the files, if `counted` */
};

/**
 * Sort the paths of n files by the number that counts them.  Numbers may have a sign and decimals;
 * a date with its time is one number.  If several numbers change, the one that counts in even steps
 * orders the files.
 *
 * @param where  folder, for messages
 * @return FBP_ERR_INVALID if two numbers may count the files and differ in their order; NOMEM
 */
fbp_status fbp_number_files(char **paths, size_t n, const char *where, struct fbp_numbering *out);
void fbp_numbering_clear(struct fbp_numbering *numbering);

/** The name of a file with '#' for each number, into out[256]. */
void fbp_number_skeleton(const char *name, char *out);

#endif /* FBP_SRC_NUMBERED_H */
