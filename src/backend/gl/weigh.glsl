/* Weighted rows of some views, the input of the filter along columns: one group per row. */

layout(local_size_x = 64) in;
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
        find_rays(view, row);
    barrier();
    for (uint c = gl_LocalInvocationID.x; c < n_columns; c += 64u)
        weighted[to + c] = samples[from + c] * weight_of(view, row, c);
}
