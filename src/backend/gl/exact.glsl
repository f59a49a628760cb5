/* Interpolation in fp32.  With COLUMN u and w do not depend on z. */

void add_any(int i, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    for (int k = 0; k < SLICES; k++) {
        float t = tz + float(k), r = 1.0 / fma(t, dz.z, c0.z);
        float u = fma(t, dz.x, c0.x), v = fma(t, dz.y, c0.y);
        float iu = clamped_column(i, floor(u * r)), iv = clamped_row(i, floor(v * r));
        float a = fma(u, r, -iu), b = fma(v, r, -iv);
        vec4 q = taps(i, iu, iv);
        float left = fma(b, q.z - q.x, q.x), right = fma(b, q.w - q.y, q.y);
        sum[k] = fma(r * r, fma(a, right - left, left), sum[k]);
    }
}

void add_column(int i, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    float r = 1.0 / c0.z, u = c0.x * r, v0 = c0.y * r, dv = dz.y * r;
    float iu = clamped_column(i, floor(u)), a = u - iu;
    float rr = r * r, right = a * rr, left = rr - right;

    for (int k = 0; k < SLICES; k++) {
        float v = fma(tz + float(k), dv, v0), iv = clamped_row(i, floor(v)), b = v - iv;
        vec4 q = taps(i, iu, iv);
        sum[k] = fma(right, fma(b, q.w - q.y, q.y), fma(left, fma(b, q.z - q.x, q.x), sum[k]));
    }
}

void add_view(int i, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    if (COLUMN)
        add_column(i, c0, dz, tz, sum);
    else
        add_any(i, c0, dz, tz, sum);
}
