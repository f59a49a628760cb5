/*
 * Template of an orbit kernel.  Parameters, undefined again at the end:
 *
 *   KERNEL          name of the function
 *   TURNS           lanes of a sample
 *   T               a vector that holds two rows, with TLOAD TSET1 TMUL TFMA
 *   TROTATE(a, i)   lane j of each row to lane (j + i) % TURNS
 *   ADD_ROWS(p, a)  p[TURNS] += the sum of both rows
 *   SLOPE, BASE     (-1 | 1) and (1 | 0)
 *
 * The two rows have the weights (1 - b | b) and are added at the end.  The C kernels in orbit_bp.c
 * are the specification.
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
        SUFFIX(orbit_find)(&places, m, t0 + (float)z0, o, TURNS);
        for (size_t z = 0; z < m; z++, dst += TURNS) {
            T sum = TSET1(0);
#pragma GCC unroll 4
            for (int i = 0; i < TURNS; i++) {
                const float *p = o->left[i] + places.at[i][z], *q = p + stride;
                const T b = TSET1(places.b[i][z]);
                const T rows = TFMA(wr[i], TLOAD(q), TMUL(wl[i], TLOAD(p)));
                sum = TFMA(TFMA(b, SLOPE, BASE), TROTATE(rows, i), sum);
            }
            ADD_ROWS(dst, sum);
        }
    }
}

#undef KERNEL
#undef TURNS
#undef T
#undef TLOAD
#undef TSET1
#undef TMUL
#undef TFMA
#undef TROTATE
#undef ADD_ROWS
#undef SLOPE
#undef BASE
