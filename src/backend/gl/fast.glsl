/*
 * Views interpolated by the texture units: fp32, or fp16 scaled by a power of two.  The units round
 * coordinates to 1/256 of a texel, and texel i has its centre at i + 1/2.  Outside the texture samples
 * are zero, so the edge is continuous.  u and v are rounded to 1/256 of a texel here, v before the
 * first row of the batch is subtracted, and a texture has a power of two of rows.  Therefore divisions
 * into slabs do not change any bit.
 */

layout(binding = 0) uniform sampler2DArray views;

void add_view(int i, int stage, vec3 c0, vec3 dz, float tz, inout float sum[SLICES])
{
    float r0 = 1.0 / c0.z, most = float(rows) + 0.5, layer = float(first + i);
    precise float column = texels * float(view[i].at.x) + texels - 0.5 - PARTS;
    precise float row = float(view[i].at.y) + 0.5 - PARTS;
    precise float u0 = texels * c0.x, du = texels * dz.x, all_u = fma(u0, r0, PARTS) + column;
    precise float v0 = c0.y * r0, dv = dz.y * r0;

    for (int k = 0; k < SLICES; k++) {
        precise float t = tz + float(k * LAYERS), w = fma(t, dz.z, c0.z);
        float r = COLUMN ? r0 : 1.0 / w;
        precise float u = COLUMN ? all_u : fma(fma(t, du, u0), r, PARTS) + column;
        precise float v =
            (COLUMN ? fma(t, dv, v0) + PARTS : fma(fma(t, dz.y, c0.y), r, PARTS)) + row;
        vec2 at = vec2(u, min(v, most)) * unit;
        float q = textureLod(views, vec3(at, layer), 0.0).x;
        sum[k] = fma(r * r * unscaled, q, sum[k]);
    }
}
