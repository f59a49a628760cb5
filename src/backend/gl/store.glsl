/* One part of filtered pairs into plain memory, between borders of zeros (gpu_plain.h). */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };
layout(std430, binding = 1) writeonly buffer Views { float views[]; };

const uint BORDER = 2u; /* GPU_BORDER */

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    Pair p = pair_of(number);
    if (!p.there)
        return;
    uint from = number * row_length;
    uint to = views_skip + ((p.group - bound_group) * group + (BORDER + p.upper) * stride) * lanes +
              p.lane;
    for (uint i = gl_LocalInvocationID.x; i < stride; i += 64u) {
        vec2 q = i >= BORDER && i - BORDER < wide_columns ? rows_in[from + i - BORDER] : vec2(0.0);
        views[to + i * lanes] = part == 0u ? q.x : q.y;
    }
}
