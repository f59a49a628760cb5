/* Rows of a batch on their way through the filter: struct gl_rows of filter_rows.h, and where they lie. */

layout(std140, binding = 0) uniform Rows
{
    uint n_views, load_rows, n_columns, first_row;
    uint view0, part_views, panel_rows, has_counts;
    uint intensity, has_dark, has_gain, use_ledger;
    uint weights, cone, means, redundancy;
    uint pad_left, pairs, n_groups, n_rows;
    uint row0, first, n, row_length;
    uint wide_columns, part, half_width, bound_view;
    uint samples_skip, counts_skip, bound_group, r0;
    uint r_rows, n_bridges, weighted_rows, stride;
    uint group, views_skip, lanes, edge;
    uint fit, end0, end1, n_lengths;
    uint first_view, texels, height, span;
    uint radix, exchange, apart, n_hardening;
    float inverse_i0, scale;
    double delta0, delta1, inverse_overlap;
    vec4 lengths[16];
    vec4 hardening[2];
};

/* A pair's complex row: struct cuda_rows' order, lane after lane, pair after pair, row after row. */
struct Pair {
    uint lane, group;
    uint row, panel_row; /* of the batch; of the detector */
    uint view;           /* of the scan: of this part of the pair */
    uint stored;         /* the same view in the raw batch */
    bool there;          /* a pair may have no second part */
};

Pair pair_of(uint local)
{
    Pair p;
    uint at = first + local;

    p.lane = at / n_rows / pairs;
    p.group = 2u * (at / n_rows % pairs) + part;
    p.row = at % n_rows;
    p.panel_row = row0 + p.row;
    p.view = view0 + p.lane * part_views + p.group;
    p.stored = p.lane * n_groups + p.group;
    p.there = p.group < n_groups;
    return p;
}

/* First sample of detector row `row` of a stored view, in what is bound. */
uint sample_of(uint stored, uint row)
{
    return samples_skip + ((stored - bound_view) * load_rows + (row - first_row)) * n_columns;
}
