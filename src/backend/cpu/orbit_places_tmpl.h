/*
 * Template: where the slices of one orbit fall, VL at a time.  Parameters as in bp_tmpl.h.
 */

/* Slices whose places are found at once: the table stays in the first cache. */
enum { ORBIT_BLOCK = 64 };

struct SUFFIX(orbit_places) {
    int at[FBP_ORBIT_TURNS][ORBIT_BLOCK]; /* floats from `left` */
    float b[FBP_ORBIT_TURNS][ORBIT_BLOCK];
};

/* Whole vectors: slices beyond n are found too, and not used. */
static inline void SUFFIX(orbit_find)(struct SUFFIX(orbit_places) * out, size_t n, float t0,
                                      const struct fbp_bp_orbit *o, int turns, int lanes)
{
    const V lo = VSET1(o->v_lo), hi = VSET1(o->v_hi);

    for (int i = 0; i < turns; i++)
        for (size_t z = 0; z < n; z += VL) {
            const V t = VADD(VSET1(t0 + (float)z), VIOTA());
            const V v = VMIN(VMAX(VFMA(t, VSET1(o->dv[i]), VSET1(o->v0[i])), lo), hi);
            const V fv = VFLOOR(v);
            VISTORE(out->at[i] + z, VIMUL(VIADD(VTOI(fv), VISET1(o->row)), VISET1(lanes)));
            VSTORE(out->b[i] + z, VSUB(v, fv));
        }
}
