/* Parameters of the filter's programs: struct rows of filter.c. */

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

/* One part of a pair: of a complex row of two views.  Pairs are ordered by lane, groups, row. */
struct Pair {
    uint lane, group;
    uint row, panel_row; /* row of the batch; row of the detector */
    uint view;           /* index in the scan */
    uint stored;         /* index in the raw batch */
    bool there;          /* false: the pair has no second part */
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

/* Index of the first sample of detector row `row` of a stored view, in the bound part of the buffer. */
uint sample_of(uint stored, uint row)
{
    return samples_skip + ((stored - bound_view) * load_rows + (row - first_row)) * n_columns;
}
