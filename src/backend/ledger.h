/** @file ledger.h  Rows in which what is mended is still to be counted (internal).
 *
 * A row may be read more than once, for one slab after another, or in both halves of a mirrored
 * batch, and beside those that are needed others are read.  How many samples were mended does not
 * depend on that: before a device counts what it mended in a row it takes the row's bit, which it
 * finds once.  Rows in which there was nothing to mend keep theirs.
 */
#ifndef FBP_SRC_LEDGER_H
#define FBP_SRC_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

/** Bit view * n_rows + row; NULL bits: every row counts, each time. */
struct fbp_ledger {
    size_t n_views, n_rows;
    unsigned *bits;
};

enum { FBP_LEDGER_BITS = 32 }; /* of a word that are used */

/** Words of a ledger. */
static inline size_t fbp_ledger_words(size_t n_views, size_t n_rows)
{
    return (n_views * n_rows + FBP_LEDGER_BITS - 1) / FBP_LEDGER_BITS;
}

#endif /* FBP_SRC_LEDGER_H */
