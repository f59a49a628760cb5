/* Weights rows for the filter along columns or along rows, run by gl/filter.c. Programs: pad; with
 * WEIGH: weigh. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Samples { float samples[]; };

#ifdef WEIGH
/* Write weighted rows of some views, the input of the filter along columns: one group per row. */
layout(std430, binding = 5) writeonly buffer Weighted { float weighted[]; };

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    uint k = first_view + number / r_rows, row = r0 + number % r_rows;
    uint view = view0 + k % n_groups + k / n_groups * part_views;
    uint from = sample_of(k, row), to = number * n_columns;

    if (gl_LocalInvocationID.x == 0u)
        find_rays(view, row);
    barrier();
    for (uint c = gl_LocalInvocationID.x; c < n_columns; c += 64u)
        weighted[to + c] = samples[from + c] * weight_of(view, row, c);
}
#else
/* Write one part (real or imaginary) of pairs of rows, weighted if there are weights, padded with
 * zeros: one group per row. */
layout(std430, binding = 5) writeonly buffer Out { float rows_out[]; }; /* complex */

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    Pair p = pair_of(number);
    uint from = p.there ? sample_of(p.stored, p.panel_row) : 0u;
    uint to = 2u * number * row_length + part;

    if (gl_LocalInvocationID.x == 0u && p.there)
        find_rays(p.view, p.panel_row);
    barrier();
    for (uint i = gl_LocalInvocationID.x; i < row_length; i += 64u) {
        uint at = i - pad_left; /* unsigned: columns before the panel become large */
        uint c = at / apart;
        float x = 0.0;
        if (p.there && c < n_columns && c * apart == at)
            x = samples[from + c] * (weights != 0u ? weight_of(p.view, p.panel_row, c) : 1.0);
        rows_out[to + 2u * i] = x;
    }
}
#endif
