/* Taps from views in plain memory (gpu_plain.h).  Floors are clamped, not coordinates, to where all
 * four are zeros. */

layout(std430, binding = 0) readonly buffer Views { float views[]; };

const int BORDER = 2; /* GPU_BORDER */

float clamped_column(int i, float floor_u)
{
    return clamp(floor_u, float(-BORDER - view[i].at.x), float(columns - view[i].at.x));
}

float clamped_row(int i, float floor_v)
{
    return clamp(floor_v, float(-BORDER - view[i].at.y), float(rows - view[i].at.y));
}

/* Of floors relative to the principal point: (0, 0), (1, 0), (0, 1), (1, 1) as (column, row). */
vec4 taps(int i, float floor_u, float floor_v)
{
    int row = view[i].at.y + int(floor_v) + BORDER, column = view[i].at.x + int(floor_u) + BORDER;
    uint q = views_skip + uint(i) * group + uint(row * stride + column);

    return vec4(views[q], views[q + 1u], views[q + uint(stride)], views[q + uint(stride) + 1u]);
}
