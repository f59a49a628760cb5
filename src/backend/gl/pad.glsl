/* One part of pairs of rows, weighted if there are weights, padded with zeros: one group per row. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Samples { float samples[]; };
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
