/* Taps from views in plain memory (gpu_plain.h). */

layout(std430, binding = 0) readonly buffer Views { float views[]; };

const int BORDER = 2; /* GPU_BORDER */

vec4 taps(int i, float tu, float tv)
{
    uvec2 at = uvec2(floatBitsToUint(tu), floatBitsToUint(tv)) - WHOLE_BITS + uvec2(view[i].at.xy + BORDER);
    uint q = views_skip + uint(i) * group + at.y * uint(stride) + at.x;

    return vec4(views[q], views[q + 1u], views[q + uint(stride)], views[q + uint(stride) + 1u]);
}
