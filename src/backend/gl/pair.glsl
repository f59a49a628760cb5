/* Weighted samples of a pair of rows, included by the texts of the filter that read them
 * (gl/filter.c). */

layout(std430, binding = 0) readonly buffer Samples { float samples[]; };

/* Both rows of a pair, and the indices of their first samples. */
struct Rows2 {
    Pair a, b;
    uint from_a, from_b;
};

/* Returns the rows of the pair with index `number` in scratch memory; called by all threads. */
Rows2 rows_of(uint number)
{
    Rows2 r;

    r.a = pair_of(number, 0u);
    r.b = pair_of(number, 1u);
    r.from_a = sample_of(r.a.stored, r.a.panel_row);
    r.from_b = r.b.there ? sample_of(r.b.stored, r.b.panel_row) : 0u;
    if (gl_LocalInvocationID.x == 0u) {
        find_rays(0u, r.a.view, r.a.panel_row);
        if (r.b.there)
            find_rays(1u, r.b.view, r.b.panel_row);
    }
    barrier();
    return r;
}

/* Returns column i of the padded rows: weighted samples, or zeros. */
vec2 padded_at(Rows2 r, uint i)
{
    uint at = i - pad_left, c = at / apart; /* unsigned: columns before the panel become large */
    vec2 x = vec2(0.0);

    if (c >= n_columns || c * apart != at)
        return x;
    x.x = samples[r.from_a + c];
    if (r.b.there)
        x.y = samples[r.from_b + c];
    if (weights != 0u) {
        x.x *= weight_of(0u, r.a.view, r.a.panel_row, c);
        if (r.b.there)
            x.y *= weight_of(1u, r.b.view, r.b.panel_row, c);
    }
    return x;
}
