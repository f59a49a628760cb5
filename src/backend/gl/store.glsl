/* One part of filtered pairs into plain memory, between borders of zeros (gpu_plain.h). */

layout(std430, binding = 1) writeonly buffer Views { float views[]; };

const uint BORDER = 2u; /* GPU_BORDER */

void main()
{
    uint number;
    Pair p;

    if (!own_pair(number, p))
        return;
    uint from = number * row_length;
    uint to = views_skip + ((p.group - bound_group) * group + (BORDER + p.row) * stride) * lanes +
              p.lane;
    for (uint i = gl_LocalInvocationID.x; i < stride; i += 64u) {
        bool inside = i >= BORDER && i - BORDER < wide_columns;
        views[to + i * lanes] = inside ? sample_of_part(from + i - BORDER) : 0.0;
    }
}
