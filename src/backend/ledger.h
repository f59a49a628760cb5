/** @file ledger.h  Rows whose repaired samples have not been counted yet (internal).
 *
 * A row may be read once per slab, and rows beside the needed ones are read, too.  The number of
 * repaired samples must not depend on that: before a device counts the samples that it repaired in
 * a row, it clears the bit of that row, and it counts them only if the bit was set.  Rows without
 * repaired samples keep their bits.
 */
#ifndef FBP_SRC_LEDGER_H
#define FBP_SRC_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

/** Bit view * n_rows + row; NULL bits: every row counts, each time. */
struct fbp_row_bitmap {
    size_t n_views, n_rows;
    unsigned *bits;
};

enum { FBP_ROW_BITMAP_BITS = 32 }; /* of a word that are used */

/** Words of a ledger. */
static inline size_t fbp_row_bitmap_words(size_t n_views, size_t n_rows)
{
    return (n_views * n_rows + FBP_ROW_BITMAP_BITS - 1) / FBP_ROW_BITMAP_BITS;
}

#endif /* FBP_SRC_LEDGER_H */
