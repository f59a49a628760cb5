/* Views of a pass that see a group's box of voxels, and their windows.  Other views would add zeros,
 * and are skipped. The shadow of the box on a view is the hull of its corners' shadows, if the box is
 * in front of the source. */

const int VIEWS = 32, A_VIEW = 33; /* GPU_PASS; floats of corners, and one against bank conflicts */
const int WINDOWS = 2 * WIDTH * HEIGHT, CORNERS = VIEWS * A_VIEW;
const int ROOM = WINDOWS > CORNERS ? WINDOWS : CORNERS;

shared uint seen;           /* one bit per view */
shared float room[ROOM];    /* first the corners, then windows of two views */
shared ivec4 window[VIEWS]; /* first column and row, columns and rows; zeros: no window */

/* Least and greatest place of a corner, with a margin for rounding errors of the threads. */
vec4 shadow_of(int i, int corner, Box b)
{
    ivec3 at = ivec3((corner & 1) == 1 ? b.high.x : b.low.x, (corner & 2) == 2 ? b.high.y : b.low.y,
                     (corner & 4) == 4 ? b.high.z : b.low.z);
    vec4 t = vec4(vec3(at) + vec3(0.0, 0.0, float(z0)) - vec3(x_ref, y_ref, z_ref), 1.0);
    float w = dot(view[i].w, t), terms = dot(abs(view[i].w), abs(t));

    if (!(w > 0.0))
        return vec4(-1e30, -1e30, 1e30, 1e30);
    vec2 place = vec2(dot(view[i].u, t), dot(view[i].v, t)) / w;
    vec2 margin = terms / w / 1048576.0 * abs(place) + 1.0 / 64.0;
    return vec4(place - margin, place + margin);
}

void take_shadow(int i)
{
    vec2 low = vec2(1e30), high = -low, principal = vec2(view[i].at.xy);

    for (int at = A_VIEW * i; at < A_VIEW * i + 32; at += 4) {
        low = min(low, vec2(room[at], room[at + 1]));
        high = max(high, vec2(room[at + 2], room[at + 3]));
    }
    vec2 first = floor(low), n = floor(high) - first + 2.0;
    if (all(greaterThan(high, -1.0 - principal)) &&
        all(lessThan(low, vec2(float(columns), float(rows)) - principal)))
        atomicOr(seen, 1u << i);
    if (n.x <= float(WIDTH) && n.y <= float(HEIGHT))
        window[i] = ivec4(ivec2(first) + view[i].at.xy, ivec2(n));
    else
        window[i] = ivec4(0);
}

void together()
{
    memoryBarrierShared();
    barrier();
}

void find_seen(Box b)
{
    int me = int(gl_LocalInvocationIndex);

    if (me == 0)
        seen = 0u;
    for (int i = me; i < 8 * n; i += THREADS) {
        vec4 s = shadow_of(i / 8, i % 8, b);
        for (int k = 0; k < 4; k++)
            room[A_VIEW * (i / 8) + 4 * (i % 8) + k] = s[k];
    }
    together();
    if (me < n)
        take_shadow(me);
    together();
}
