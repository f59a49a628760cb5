/* One part of filtered pairs as plain rows: [n_views][n_rows][wide_columns]. */

layout(std430, binding = 1) writeonly buffer Out { float plain_out[]; };

void main()
{
    uint number;
    Pair p;

    if (!own_pair(number, p))
        return;
    uint to = views_skip + ((p.stored - bound_view) * n_rows + p.row) * wide_columns;
    for (uint i = gl_LocalInvocationID.x; i < wide_columns; i += 64u)
        plain_out[to + i] = sample_of_part(number * row_length + i);
}
