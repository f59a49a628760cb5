/* Rows of zeros below and above the views of a batch: one group per row, four rows per view. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) writeonly buffer Views { float views[]; };

const uint BORDER = 2u; /* GPU_BORDER */

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    uint line = number % (2u * BORDER), row = line < BORDER ? line : line + n_rows;
    uint to = views_skip + (number / (2u * BORDER) * group + row * stride) * lanes;

    for (uint i = gl_LocalInvocationID.x; i < stride * lanes; i += 64u)
        views[to + i] = 0.0;
}
