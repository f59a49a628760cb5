/* Rows of a batch on their way through the filter: struct gl_rows of filter_rows.h, and where they lie. */

layout(std140, binding = 0) uniform Rows
{
    uint halves, n_views, load_rows, n_columns;
    uint first_row0, first_row1, view0, a_part;
    uint part_views, panel_rows, has_counts, intensity;
    uint has_dark, has_gain, use_ledger, weights;
    uint cone, means, redundancy, pad_left;
    uint pairs, turns, n_groups, n_rows;
    uint row0, first, n, half_;
    uint row_length, wide_columns, part, half_width;
    uint bound_view, samples_skip, counts_skip, bound_group;
    uint r0, r_rows, n_bridges, weighted_rows;
    uint stride, group, views_skip, lanes;
    uint edge, fit, end0, end1;
    uint n_lengths, first_view, texels, height;
    uint span, radix, exchange, apart; /* columns from one measured to the next */
    float inverse_i0, scale, shift, spare2;
    double delta0, delta1, inverse_overlap, spare3;
    vec4 lengths[16];
    vec4 hardening[2];
    uint n_hardening, spare4, spare5, spare6;
};

/* A pair's complex row: struct cuda_rows' order, lane after lane, pair after pair, row after row. */
struct Pair {
    uint lane, group, upper; /* row of the batch */
    uint half_, row, view;   /* of the detector, of the scan: of this part of the pair */
    uint stored;             /* view of the raw batch */
    bool there;              /* a pair may have no second part */
};

uint first_row_of(uint h)
{
    return h == 0u ? first_row0 : first_row1;
}

Pair pair_of(uint local)
{
    Pair p;
    uint at = first + local;

    p.lane = at / n_rows / pairs;
    p.group = 2u * (at / n_rows % pairs) + part;
    p.upper = at % n_rows;
    p.half_ = p.lane / turns;
    uint turn = p.lane % turns;
    p.row = p.half_ == 1u ? panel_rows - 1u - (row0 + p.upper) : row0 + p.upper;
    p.view = view0 + turn * part_views + p.group;
    p.stored = p.half_ * n_views + turn * n_groups + p.group;
    p.there = p.group < n_groups;
    return p;
}

/* First sample of row `row` of a stored view, in what is bound. */
uint sample_of(uint stored, uint h, uint row)
{
    return samples_skip + ((stored - bound_view) * load_rows + (row - first_row_of(h))) * n_columns;
}
