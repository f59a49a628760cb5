/*
 * Views filtered by the texture units: fp32, or fp16 scaled by a power of two.  The units take
 * coordinates to 1/256 of a texel and mean its middle by i + 1/2; what lies beside the texture is
 * zero, so that the edge is continuous.  u and v are rounded to the nearest 1/256 of a texel, v
 * before the first row of the batch is subtracted, and a texture has a power of two of rows, so that
 * no division into slabs changes it.
 */

layout(binding = 0) uniform sampler2DArray views;

float rounded(float x)
{
    return floor(x * 256.0 + 0.5) / 256.0;
}

void add_view(int i, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    float column = texels * float(view[i].at.x) + texels - 0.5, row = float(view[i].at.y) + 0.5;
    float r0 = 1.0 / c0.z, u0 = rounded(texels * c0.x * r0), dv = dz.y * r0, v0 = c0.y * r0;

    for (int k = 0; k < SLICES; k++) {
        float t = tz + float(k), r = COLUMN ? r0 : 1.0 / fma(t, dz.z, c0.z);
        float u = COLUMN ? u0 : rounded(texels * fma(t, dz.x, c0.x) * r);
        float v = rounded(COLUMN ? fma(t, dv, v0) : fma(t, dz.y, c0.y) * r);
        vec2 at = vec2(u + column, min(v + row, float(rows) + 0.5));
        float q = textureLod(views, vec3(at * unit, float(first + i)), 0.0).x;
        sum[k] = fma(r * r * unscaled, q, sum[k]);
    }
}
