/*
 * Rotationally symmetric scans: an orbit is a column of voxels and its TURNS - 1 images under the scan's
 * rotation.  The texel at a place stores one sample of each of TURNS views, so one place in a view serves
 * all voxels of an orbit (after Xu and Mueller 2005).  Lane j of the texel at place i, the orbit's first
 * position turned i times, belongs to voxel i + j.
 */

#if TURNS == 4
#define WIDE(q) (q)
#define NARROW(s) (s)
#else
#define WIDE(q) vec4(q, 0.0, 0.0)
#define NARROW(s) (s).xy
#endif

/* Where an orbit's place falls in a view: column, relative to the principal one; 1/w; row at the slice
 * of reference, rows a slice. */
struct Spot {
    float u, r, v, dv;
};

Spot spot_of(int i, vec2 t)
{
    vec4 cu = view[i].u, cv = view[i].v, cw = view[i].w;
    precise float w = fma(t.x, cw.x, fma(t.y, cw.y, cw.w));
    float r = 1.0 / w;
    precise float u = fma(t.x, cu.x, fma(t.y, cu.y, cu.w)) * r;
    precise float v = fma(t.x, cv.x, fma(t.y, cv.y, cv.w)) * r, dv = cv.z * r;

    return Spot(u, r, v, dv);
}

/* The next place of an orbit. */
vec2 turned(vec2 t)
{
    if (TURNS == 4)
        return vec2(fma(turn_s, t.y, turn_ex), fma(-turn_s, t.x, turn_ey));
    return vec2(turn_ex - t.x, turn_ey - t.y);
}

/* Samples of the texel at a place, by voxels. */
vec4 by_voxels(int place, vec4 q)
{
    if (TURNS == 4)
        return place == 0 ? q : place == 1 ? q.wxyz : place == 2 ? q.zwxy : q.yzwx;
    return place == 0 ? q : q.yxwz;
}
