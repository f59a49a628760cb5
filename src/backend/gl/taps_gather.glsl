/* Taps from views in a layered texture: gathers, at the corner of four texels, which no rounding of
 * coordinates makes others.  What lies beside the texture is zero, and so are the rows above a view
 * that has fewer than the texture. */

layout(binding = 0) uniform sampler2DArray views;

float clamped_column(int i, float floor_u)
{
    return clamp(floor_u, float(-2 - view[i].at.x), float(columns - view[i].at.x));
}

float clamped_row(int i, float floor_v)
{
    return clamp(floor_v, float(-2 - view[i].at.y), float(rows - view[i].at.y));
}

vec4 taps(int i, float floor_u, float floor_v)
{
    vec2 at = vec2(float(view[i].at.x) + floor_u + 1.0, float(view[i].at.y) + floor_v + 1.0);
    return textureGather(views, vec3(at * unit, float(first + i))).wzxy;
}
