/* Samples of orbits in plain memory (gpu_plain.h), interpolated in fp32.  With KEEP the samples of a
 * slice that the next one needs as well are kept. */

layout(std430, binding = 0) readonly buffer Views { VOXEL views[]; };

const int BORDER = 2; /* GPU_BORDER */

/* WHOLE + floor(x), as in exact.glsl. */
float whole_of(float x)
{
    precise float t = (x - 0.5) + WHOLE;

    return t;
}

/* Samples of a row and the next column. */
struct Row {
    vec4 left, right;
};

Row row_at(uint at)
{
    return Row(WIDE(views[at]), WIDE(views[at + 1u]));
}

/* What four samples with their weights add to an orbit's voxels. */
vec4 sum_of(int place, Row lower, Row upper, vec4 weights, vec4 sum)
{
    precise vec4 s = fma(weights.xxxx, by_voxels(place, lower.left), sum);
    s = fma(weights.yyyy, by_voxels(place, lower.right), s);
    s = fma(weights.zzzz, by_voxels(place, upper.left), s);
    s = fma(weights.wwww, by_voxels(place, upper.right), s);
    return s;
}

void add_place(int i, int place, vec2 t, float tz, inout vec4 sum[SLICES])
{
    Spot s = spot_of(i, t);
    ivec2 principal = view[i].at.xy;
    float low = float(-1 - principal.y), high = float(rows - principal.y);
    float last = tz + float((SLICES - 1) * LAYERS);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(s.u > float(-1 - principal.x) && s.u < float(columns - principal.x) &&
          fma(last, s.dv, s.v) > low && fma(tz, s.dv, s.v) < high))
        return;
    float tu = whole_of(s.u);
    precise float a = s.u + (WHOLE - tu), rr = s.r * s.r, right = a * rr, left = rr - right;
    uint at = views_skip / uint(TURNS) + uint(i) * group + floatBitsToUint(tu) - WHOLE_BITS +
              uint(principal.x + BORDER), before = 0u;
    uint row0 = uint(principal.y + BORDER) - WHOLE_BITS;
    Row lower, upper;

    for (int k = 0; k < SLICES; k++) {
        precise float v = clamp(fma(tz + float(k * LAYERS), s.dv, s.v), low, high);
        float tv = whole_of(v);
        uint row = floatBitsToUint(tv) + row0, q = at + row * uint(stride);
        precise float b = v + (WHOLE - tv), lb = left * b, rb = right * b, l0 = left - lb, r0 = right - rb;
        bool same = KEEP == 1 && k > 0 && row == before, next = KEEP == 1 && k > 0 && row == before + 1u;
        if (next)
            lower = upper;
        else if (!same)
            lower = row_at(q);
        if (!same)
            upper = row_at(q + uint(stride));
        before = row;
        sum[k] = sum_of(place, lower, upper, vec4(l0, r0, lb, rb), sum[k]);
    }
}
