/* One part of filtered pairs as they are: [halves][n_views][n_rows][wide columns], upwards in both
 * halves. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };
layout(std430, binding = 1) writeonly buffer Out { float plain_out[]; };

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    Pair p = pair_of(number);
    if (!p.there)
        return;
    uint row = p.half_ == 1u ? n_rows - 1u - p.upper : p.upper;
    uint to = views_skip + ((p.stored - bound_view) * n_rows + row) * wide_columns;
    for (uint i = gl_LocalInvocationID.x; i < wide_columns; i += 64u) {
        vec2 q = rows_in[number * row_length + i];
        plain_out[to + i] = part == 0u ? q.x : q.y;
    }
}
