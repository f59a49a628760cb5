/* Interpolation in fp32.  With COLUMN u and w do not depend on z.  All shapes, with windows and
 * without, do the same arithmetic, which `precise` keeps compilers from changing. */

/* WHOLE + floor(x) of x = u r; where that is whole, one less may be as well: 1 is as good a fraction
 * as 0. */
float whole_of(float u, float r)
{
    precise float x = fma(u, r, -0.5), t = x + WHOLE;

    return t;
}

/* Floors are clamped, not coordinates, to where all four taps are zeros. */
float clamped(float t, int principal, int n)
{
    return clamp(t, WHOLE + float(-2 - principal), WHOLE + float(n - principal));
}

/* Taps come from the window of the view, if it has one. */
vec4 taps_at(int i, bool windowed, uint origin, float tu, float tv)
{
#if WIDTH > 0
    if (windowed)
        return taps_in_window(origin, tu, tv);
#endif
    return taps(i, tu, tv);
}

void add_any(int i, bool windowed, uint origin, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    ivec2 at = view[i].at.xy;

    for (int k = 0; k < SLICES; k++) {
        precise float t = tz + float(k * LAYERS), w = fma(t, dz.z, c0.z);
        precise float u = fma(t, dz.x, c0.x), v = fma(t, dz.y, c0.y);
        float r = 1.0 / w, tu = whole_of(u, r), tv = whole_of(v, r);
        if (!windowed)
            tu = clamped(tu, at.x, columns), tv = clamped(tv, at.y, rows);
        precise float a = fma(u, r, WHOLE - tu), b = fma(v, r, WHOLE - tv), rr = r * r;
        vec4 q = taps_at(i, windowed, origin, tu, tv);
        precise float left = fma(b, q.z - q.x, q.x), right = fma(b, q.w - q.y, q.y);
        precise float more = fma(rr, fma(a, right - left, left), sum[k]);
        sum[k] = more;
    }
}

void add_column(int i, bool windowed, uint origin, vec3 c0, vec3 dz, float tz,
                inout float sum[SLICES])
{
    float r = 1.0 / c0.z;
    precise float u = c0.x * r, v0 = c0.y * r, dv = dz.y * r;
    float tu = whole_of(u, 1.0);
    ivec2 at = view[i].at.xy;

    if (!windowed)
        tu = clamped(tu, at.x, columns);
    precise float a = u + (WHOLE - tu), rr = r * r, right = a * rr, left = rr - right;
    for (int k = 0; k < SLICES; k++) {
        precise float v = fma(tz + float(k * LAYERS), dv, v0);
        float tv = whole_of(v, 1.0);
        if (!windowed)
            tv = clamped(tv, at.y, rows);
        precise float b = v + (WHOLE - tv);
        vec4 q = taps_at(i, windowed, origin, tu, tv);
        precise float one = fma(b, q.z - q.x, q.x), other = fma(b, q.w - q.y, q.y);
        precise float more = fma(right, other, fma(left, one, sum[k]));
        sum[k] = more;
    }
}

void add_from(int i, bool windowed, uint origin, vec3 c0, vec3 dz, float tz,
              inout float sum[SLICES])
{
    if (COLUMN)
        add_column(i, windowed, origin, c0, dz, tz, sum);
    else
        add_any(i, windowed, origin, c0, dz, tz, sum);
}

void add_view(int i, int stage, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
#if WIDTH > 0
    if (window[i].z > 0) {
        add_from(i, true, origin_of(i, stage), c0, dz, tz, sum);
        return;
    }
#endif
    add_from(i, false, 0u, c0, dz, tz, sum);
}
