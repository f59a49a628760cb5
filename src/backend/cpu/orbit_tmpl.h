/*
 * Template for one orbit kernel.  Parameters, undefined again at the end:
 *
 *   KERNEL        name of the function
 *   LANES, TURNS  of a sample
 *
 * and those that kernels of one vector type share:
 *
 *   ROWS          rows of lanes that one vector T holds: 1 or 2
 *   T             its type, with TLOAD TSET1 TADD TSUB TMUL TFMA
 *   TROTATE(a, i) lane j of every group of TURNS to lane (j + i) % TURNS
 *   START(p)      what sums start from, and
 *   FINISH(p, a)  store them: of one row p itself, of two rows zero, and their sum is added to p
 *   SLOPE, BASE   ROWS == 2: (-1 | 1) and (1 | 0)
 *
 * Two rows in one vector have the weights (1 - b | b) and are added at the end.  The C kernels in
 * orbit_bp.c are the specification.
 */

static void KERNEL(float *dst, size_t n, float t0, const struct fbp_bp_orbit *o, size_t stride)
{
    T wl[TURNS], wr[TURNS];

    for (int i = 0; i < TURNS; i++) {
        wl[i] = TSET1(o->wl[i]);
        wr[i] = TSET1(o->wr[i]);
    }
    for (size_t z0 = 0; z0 < n; z0 += ORBIT_BLOCK) {
        const size_t m = n - z0 < ORBIT_BLOCK ? n - z0 : ORBIT_BLOCK;
        struct SUFFIX(orbit_places) places;
        SUFFIX(orbit_find)(&places, m, t0 + (float)z0, o, TURNS, LANES);
        for (size_t z = 0; z < m; z++, dst += LANES) {
            T sum = START(dst);
#pragma GCC unroll 4
            for (int i = 0; i < TURNS; i++) {
                const float *p = o->left[i] + places.at[i][z], *q = p + stride;
                const T b = TSET1(places.b[i][z]);
                const T row = TFMA(wr[i], TLOAD(q), TMUL(wl[i], TLOAD(p)));
#if ROWS == 2
                sum = TFMA(TFMA(b, SLOPE, BASE), TROTATE(row, i), sum);
#else
                const T next = TFMA(wr[i], TLOAD(q + LANES), TMUL(wl[i], TLOAD(p + LANES)));
                sum = TADD(sum, TROTATE(TFMA(b, TSUB(next, row), row), i));
#endif
            }
            FINISH(dst, sum);
        }
    }
}

#undef KERNEL
#undef LANES
#undef TURNS
