/** @file filter_rows.h  What the programs of the filter are told (internal). */
#ifndef FBP_SRC_GL_FILTER_ROWS_H
#define FBP_SRC_GL_FILTER_ROWS_H

#include "filter/pad.h"

#include <stdint.h>

/** As `Rows` in rows.glsl, member by member (std140). */
struct gl_rows {
    uint32_t halves, n_views, load_rows, n_columns;
    uint32_t first_row[2], view0, a_part;
    uint32_t part_views, panel_rows, has_counts, intensity;
    uint32_t has_dark, has_gain, use_ledger, weights;
    uint32_t cone, means, redundancy, pad_left;
    uint32_t pairs, turns, n_groups, n_rows;
    uint32_t row0, first, n, half;
    uint32_t row_length, wide_columns, part, half_width;
    uint32_t bound_view, samples_skip, counts_skip, bound_group;
    uint32_t r0, r_rows, n_bridges, weighted_rows;
    uint32_t stride, group, views_skip, lanes;
    uint32_t edge, fit, ends[2];
    uint32_t n_lengths, first_view, texels, height;
    uint32_t span, radix, exchange, apart; /* columns from one measured to the next */
    float inverse_i0, scale, shift, spare2;
    double delta[2], inverse_overlap, spare3;
    float lengths[FBP_PAD_LENGTHS];
    float hardening[8];
    uint32_t n_hardening, spare4[3];
};

/** How weights are told. */
enum { GL_NO_WEIGHTS = 0, GL_PRODUCTS, GL_RAY_BY_RAY };

#endif /* FBP_SRC_GL_FILTER_ROWS_H */
