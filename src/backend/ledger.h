/** @file ledger.h  One bit per detector row and view: rows whose repaired samples have not been
 * counted yet (internal).  Used by fbp_backend.repair.set_bitmap() and pipeline/slabs.c.
 *
 * A row may be read once per slab, and rows next to the needed ones are also read.  The number of
 * repaired samples must not depend on that: before a device counts the samples that it repaired in
 * a row, it clears the bit of that row, and it counts them only if the bit was set.  Rows without
 * repaired samples keep their bits.
 */
#ifndef FBP_SRC_LEDGER_H
#define FBP_SRC_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

struct fbp_row_bitmap {
    size_t n_views, n_rows;
    unsigned *bits; /**< bit view * n_rows + row; NULL: every row counts, each time it is read */
};

enum { FBP_ROW_BITMAP_BITS = 32 }; /* rows per word of `bits` */

/** Number of words of `bits`. */
static inline size_t fbp_row_bitmap_words(size_t n_views, size_t n_rows)
{
    return (n_views * n_rows + FBP_ROW_BITMAP_BITS - 1) / FBP_ROW_BITMAP_BITS;
}

#endif /* FBP_SRC_LEDGER_H */
