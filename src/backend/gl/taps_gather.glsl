/* Taps from views in a layered texture: gathers, at the corner of four texels, which no rounding of
 * coordinates makes others.  What lies beside the texture is zero, and so are the rows above a view
 * that has fewer than the texture. */

layout(binding = 0) uniform sampler2DArray views;

/* Four texels from a column and row on: (0, 0), (1, 0), (0, 1), (1, 1). */
vec4 gathered(int i, vec2 at)
{
    vec2 corner = vec2(at.x, min(at.y, float(rows))) + 1.0;

    return textureGather(views, vec3(corner * unit, float(first + i))).wzxy;
}

vec4 taps(int i, float tu, float tv)
{
    return gathered(i, vec2(view[i].at.xy) + vec2(tu - WHOLE, tv - WHOLE));
}
