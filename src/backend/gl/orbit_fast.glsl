/* Samples of orbits, filtered by the texture units; u and v are rounded as in fast.glsl. */

layout(binding = 0) uniform sampler2DArray views;

void add_place(int i, int place, vec2 t, float tz, inout vec4 sum[SLICES])
{
    Spot s = spot_of(i, t);
    precise float offset = texels * float(view[i].at.x) + texels - 0.5 - PARTS;
    precise float column = fma(texels, s.u, PARTS) + offset;
    precise float row = float(view[i].at.y) + 0.5 - PARTS;
    float last = tz + float((SLICES - 1) * LAYERS), most = float(rows) + 0.5;
    float rr = s.r * s.r * unscaled, layer = float(first + i);

    /* Where no slice sees the batch, only zeros would be added. */
    if (!(column > -1.0 && column < texels * float(columns) + texels &&
          fma(last, s.dv, s.v) > float(-2 - view[i].at.y) &&
          fma(tz, s.dv, s.v) < float(rows + 1 - view[i].at.y)))
        return;
    for (int k = 0; k < SLICES; k++) {
        precise float v = (fma(tz + float(k * LAYERS), s.dv, s.v) + PARTS) + row;
        vec2 at = vec2(column, min(v, most)) * unit;
        vec4 q = textureLod(views, vec3(at, layer), 0.0);
        sum[k] = fma(vec4(rr), by_voxels(place, q), sum[k]);
    }
}
