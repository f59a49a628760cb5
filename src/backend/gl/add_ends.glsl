/* Add to filtered pairs the contribution of the extrapolated rows beyond the panel: one group per
 * pair. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Ends { uint ends[]; }; /* struct fbp_pad_end */
layout(std430, binding = 1) readonly buffer Tables { float tables[]; };
layout(std430, binding = 2) buffer InOut { vec2 rows_io[]; };

float added(uint number, uint i, uint end, uint c)
{
    uint e = (4u * number + 2u * i + end) * 3u;
    float amount = uintBitsToFloat(ends[e]), between = uintBitsToFloat(ends[e + 1u]);
    uint a = (end * n_lengths + ends[e + 2u]) * wide_columns + c;
    float of_b = amount * between, b = between > 0.0 ? tables[a + wide_columns] : 0.0;

    return amount > 0.0 ? (amount - of_b) * tables[a] + of_b * b : 0.0;
}

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    for (uint c = gl_LocalInvocationID.x; c < wide_columns; c += 64u) {
        uint at = number * row_length + c;
        vec2 v = rows_io[at];
        for (uint end = 0u; end < 2u; end++)
            v += vec2(added(number, 0u, end, c), added(number, 1u, end, c));
        rows_io[at] = v;
    }
}
