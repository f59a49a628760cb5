/* Weights rows for the filter along columns or along rows, run by gl/filter.c. Programs: pad; with
 * WEIGH: weigh. */

layout(local_size_x = 64) in;

#ifdef WEIGH
/* Write weighted rows of some views, the input of the filter along columns: one group per row. */
layout(std430, binding = 0) readonly buffer Samples { float samples[]; };
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
        find_rays(0u, view, row);
    barrier();
    for (uint c = gl_LocalInvocationID.x; c < n_columns; c += 64u)
        weighted[to + c] = samples[from + c] * weight_of(0u, view, row, c);
}
#else
/* Write pairs of rows, weighted if there are weights, padded with zeros: one group per pair. */
layout(std430, binding = 5) writeonly buffer Out { vec2 rows_out[]; };

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    Rows2 rows = rows_of(before + number);
    uint to = (before + number) * row_length;

    for (uint i = gl_LocalInvocationID.x; i < row_length; i += 64u)
        rows_out[to + i] = padded_at(rows, i);
}
#endif
