/** @file filter_rows.h  What the programs of the filter are told (internal). */
#ifndef FBP_SRC_GL_FILTER_ROWS_H
#define FBP_SRC_GL_FILTER_ROWS_H

#include "filter/pad.h"

#include <stdint.h>

/** As `Rows` in rows.glsl, member by member (std140). */
struct gl_rows {
    uint32_t n_views, load_rows, n_columns, first_row;
    uint32_t view0, part_views, panel_rows, has_counts;
    uint32_t intensity, has_dark, has_gain, use_ledger;
    uint32_t weights, cone, means, redundancy;
    uint32_t pad_left, pairs, n_groups, n_rows;
    uint32_t row0, first, n, row_length;
    uint32_t wide_columns, part, half_width, bound_view;
    uint32_t samples_skip, counts_skip, bound_group, r0;
    uint32_t r_rows, n_bridges, weighted_rows, stride;
    uint32_t group, views_skip, lanes, edge;
    uint32_t fit, ends[2], n_lengths;
    uint32_t first_view, texels, height, span;
    uint32_t radix, exchange, apart, n_hardening;
    float inverse_i0, scale;
    double delta[2], inverse_overlap;
    float lengths[FBP_PAD_LENGTHS];
    float hardening[8];
};

/** How weights are told. */
enum { GL_NO_WEIGHTS = 0, GL_PRODUCTS, GL_RAY_BY_RAY };

#endif /* FBP_SRC_GL_FILTER_ROWS_H */
