/** @file pad_design.h  Tables for pad.h (internal; double, pure). */
#ifndef FBP_SRC_PAD_DESIGN_H
#define FBP_SRC_PAD_DESIGN_H

#include "filter/filter.h"
#include "filter/pad.h"

struct fbp_pad {
    struct fbp_pad_rule rule;
    size_t n_columns; /**< of filtered rows */
    float *tables;    /**< [end][n_lengths][n_columns]; of ends that are carried on */
};

/** What a pad is made for. */
struct fbp_pad_request {
    enum fbp_pad_kind kind; /**< COSINE or ELLIPSE */
    enum fbp_filter filter;
    double cutoff;
    size_t half_width;    /**< of a filter in space; 0: the whole row */
    size_t n_columns;     /**< of the panel */
    size_t before, after; /**< columns by which filtered rows are wider */
};

/** @return FBP_ERR_INVALID for rows of fewer than 8 columns. */
fbp_status fbp_pad_create(struct fbp_pad **out, const struct fbp_pad_request *rq);
void fbp_pad_destroy(struct fbp_pad **pad);

/** A table of an end. */
static inline const float *fbp_pad_table(const struct fbp_pad *p, int end, size_t at)
{
    return p->tables + ((size_t)end * p->rule.n_lengths + at) * p->n_columns;
}

/** Floats of all tables. */
size_t fbp_pad_floats(const struct fbp_pad *pad);

/** A row of weighted samples `line` (of the panel) and their weights: how it goes on at its ends.
 */
void fbp_pad_ends(const struct fbp_pad_rule *rule, const float *line, const float *weights,
                  struct fbp_pad_end out[2]);

/** Add what lies beyond the ends to a filtered row. */
void fbp_pad_apply(const struct fbp_pad *pad, const struct fbp_pad_end ends[2], float *row);

#endif /* FBP_SRC_PAD_DESIGN_H */
