/* Maximum intensity projection, run by gl/mip.c: greatest values of rotated slices along one axis,
 * one thread per result. Positions, weights and the order of roundings are those of picture/turn.c,
 * so that the bits are the same. */

layout(local_size_x = 16, local_size_y = 4) in;
layout(std140, binding = 0) uniform Mip
{
    uvec2 columns_rows; /* columns and rows of results, from row0 on */
    uint row0, skip;    /* skip: results before the first one in the buffer */
    uint axis;          /* axis of projection: 0 x, 1 y, 2 z */
    uint depth;         /* samples along the axis */
    bool whole;         /* voxels are not interpolated */
    bool more;          /* results of earlier slices are in the buffer */
    ivec2 n, turned;    /* size of a slice, and of a rotated slice */
};
layout(binding = 0) uniform usampler2DArray slices; /* fp32 as bits */
layout(std430, binding = 0) readonly buffer Places { int places[]; };
layout(std430, binding = 1) buffer Greatest { uint greatest[]; };

const uint INFINITE = 0x7f800000u, LEAST = 0x17800000u; /* bits of infinity, of 2^-80 */

/* Returns an integer whose order is that of the values; 0: no value. */
uint key_of(uint bits)
{
    if ((bits & 0x7fffffffu) > INFINITE)
        return 0u;
    return (bits & 0x80000000u) != 0u ? ~bits : bits | 0x80000000u;
}

bool is_infinite(uint bits)
{
    return (bits & INFINITE) == INFINITE;
}

float value_of(uint bits)
{
    return (bits & 0x7fffffffu) < LEAST ? 0.0 : uintBitsToFloat(bits);
}

/* Returns the value interpolated between voxels `low` and `high`. */
uint between(ivec2 low, ivec2 high, vec2 weight, int slice)
{
    uint a = texelFetch(slices, ivec3(low, slice), 0).r;
    uint b = texelFetch(slices, ivec3(high.x, low.y, slice), 0).r;
    uint c = texelFetch(slices, ivec3(low.x, high.y, slice), 0).r;
    uint d = texelFetch(slices, ivec3(high, slice), 0).r;

    if (is_infinite(a) || is_infinite(b) || is_infinite(c) || is_infinite(d))
        return 0u;
    precise vec2 rest = 1.0 - weight;
    precise float below = value_of(a) * rest.x + value_of(b) * weight.x;
    precise float above = value_of(c) * rest.x + value_of(d) * weight.x;
    precise float value = below * rest.y + above * weight.y;
    return key_of(floatBitsToUint(value));
}

uint sample_at(ivec3 p)
{
    int rows_from = 2 * turned.x;
    ivec2 place = ivec2(places[p.x] + places[rows_from + p.y],
                        places[turned.x + p.x] + places[rows_from + turned.y + p.y]);
    ivec2 last = 256 * (n - 1);

    if (any(lessThan(place, ivec2(-128))) || any(greaterThan(place, last + 128)))
        return 0u;
    place = clamp(place, ivec2(0), last);
    ivec2 low = place >> 8, part = place & 255;
    if (whole)
        return key_of(texelFetch(slices, ivec3(low, p.z), 0).r);
    return between(low, low + min(part, ivec2(1)), vec2(part) * 0.00390625, p.z);
}

void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    if (any(greaterThanEqual(at, columns_rows)))
        return;
    ivec2 r = ivec2(at.x, at.y + row0);
    uint to = skip + at.y * columns_rows.x + at.x;
    uint most = more ? greatest[to] : 0u;
    for (int d = 0; d < int(depth); d++)
        most = max(most, sample_at(axis == 0u   ? ivec3(d, r.x, r.y)
                                   : axis == 1u ? ivec3(r.x, d, r.y)
                                                : ivec3(r.x, r.y, d)));
    greatest[to] = most;
}
