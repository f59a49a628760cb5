/* What a group's box sees of a view, its window, lies in shared memory: a sample is then four loads
 * from one address.  It comes from the texture by gathers of 2 x 2 texels. */

const int ACROSS = WIDTH / 2, AT_ONCE = THREADS / ACROSS; /* lines of pieces, of two rows */
const int PIECES = (HEIGHT / 2 + AT_ONCE - 1) / AT_ONCE;

/* Column and row of this thread's first piece in the window; the next ones lie above it. */
ivec2 first_piece()
{
    int me = int(gl_LocalInvocationIndex);

    return me < AT_ONCE * ACROSS ? ivec2(me % ACROSS, me / ACROSS) * 2 : ivec2(WIDTH, 0);
}

void read_window(int i, ivec2 at, out vec4 pieces[PIECES])
{
    ivec4 w = window[i];
    vec2 from = vec2(w.xy + at);

    for (int j = 0; j < PIECES; j++) {
        pieces[j] = vec4(0.0);
        if (at.x < w.z && at.y + 2 * AT_ONCE * j < w.w)
            pieces[j] = gathered(i, vec2(from.x, from.y + float(2 * AT_ONCE * j)));
    }
}

void store_window(int i, ivec2 at, int stage, vec4 pieces[PIECES])
{
    ivec4 w = window[i];
    int to = (stage * HEIGHT + at.y) * WIDTH + at.x;

    for (int j = 0; j < PIECES; j++)
        if (at.x < w.z && at.y + 2 * AT_ONCE * j < w.w) {
            int here = to + 2 * AT_ONCE * j * WIDTH;
            room[here] = pieces[j].x;
            room[here + 1] = pieces[j].y;
            room[here + WIDTH] = pieces[j].z;
            room[here + WIDTH + 1] = pieces[j].w;
        }
}

/* What the bits of a place lack to be the number of a sample: modulo 2^32. */
uint origin_of(int i, int stage)
{
    ivec2 first = window[i].xy - view[i].at.xy;

    return uint((stage * HEIGHT - first.y) * WIDTH - first.x) - WHOLE_BITS;
}

vec4 taps_in_window(uint origin, float tu, float tv)
{
    precise float place = fma(WHOLE - tv, -float(WIDTH), tu);
    uint at = floatBitsToUint(place) + origin;

    return vec4(room[at], room[at + 1u], room[at + uint(WIDTH)], room[at + uint(WIDTH) + 1u]);
}
