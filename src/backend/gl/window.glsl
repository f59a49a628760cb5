/* What a group's box sees of a view, its window, lies in shared memory: a sample is then four loads
 * from one address.  It comes from the texture by gathers of 2 x 2 texels. */

const int ACROSS = WIDTH / 2, PIECES = (ACROSS * HEIGHT / 2 + THREADS - 1) / THREADS;

/* This thread's pieces: column and row of one in the window. */
ivec2 place_of_piece(int j)
{
    int piece = int(gl_LocalInvocationIndex) + j * THREADS;

    return ivec2(piece % ACROSS, piece / ACROSS) * 2;
}

void read_window(int i, out vec4 pieces[PIECES])
{
    ivec4 w = window[i];

    for (int j = 0; j < PIECES; j++) {
        ivec2 at = place_of_piece(j);
        pieces[j] = vec4(0.0);
        if (all(lessThan(at, w.zw)))
            pieces[j] = gathered(i, vec2(w.xy + at));
    }
}

void store_window(int i, int stage, vec4 pieces[PIECES])
{
    ivec4 w = window[i];

    for (int j = 0; j < PIECES; j++) {
        ivec2 at = place_of_piece(j);
        int to = (stage * HEIGHT + at.y) * WIDTH + at.x;
        if (all(lessThan(at, w.zw))) {
            room[to] = pieces[j].x;
            room[to + 1] = pieces[j].y;
            room[to + WIDTH] = pieces[j].z;
            room[to + WIDTH + 1] = pieces[j].w;
        }
    }
}

/* What the bits of two places lack to be the number of a sample: modulo 2^32. */
uint origin_of(int i, int stage)
{
    ivec2 first = window[i].xy - view[i].at.xy;

    return uint(stage * HEIGHT - first.y) * uint(WIDTH) - uint(first.x) -
           WHOLE_BITS * uint(WIDTH + 1);
}

vec4 taps_in_window(uint origin, float tu, float tv)
{
    uint at = floatBitsToUint(tv) * uint(WIDTH) + floatBitsToUint(tu) + origin;

    return vec4(room[at], room[at + 1u], room[at + uint(WIDTH)], room[at + uint(WIDTH) + 1u]);
}
