/* Converts raw samples to line integrals, and interpolates bad pixels, in place; run by
 * gl/filter.c. Programs: prepare; with BRIDGE: bridge. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) coherent buffer Samples { float samples[]; };

#ifdef BRIDGE
/* Replace bad pixels of the needed rows by weighted sums of good pixels, so that their order does
 * not matter: one thread per pixel of a view. */
layout(std430, binding = 1) readonly buffer Bridges { uint bridges[]; }; /* struct gpu_bridge */

const uint WORDS = 9u;

void main()
{
    uint number = group_number() * 64u + gl_LocalInvocationID.x;
    uint b = number % n_bridges * WORDS, stored = bound_view + number / n_bridges;
    uint pixel = bridges[b], row = pixel / n_columns;

    if (number >= n || row < r0 || row >= r0 + r_rows)
        return;
    uint start = sample_of(stored, first_row);
    uint shift_ = first_row * n_columns;
    float sum = 0.0;
    for (uint k = 0u; k < 4u; k++)
        sum += uintBitsToFloat(bridges[b + 5u + k]) * samples[start + bridges[b + 1u + k] - shift_];
    samples[start + pixel - shift_] = sum;
}
#else
/* Compute the line integrals of a row in place: one group per row. Values that are not finite are
 * interpolated along the row, as in prep/prep.c. */
layout(std430, binding = 1) readonly buffer Counts { uint counts[]; };
layout(std430, binding = 2) readonly buffer Dark { float dark[]; };
layout(std430, binding = 3) readonly buffer Gain { float gain[]; };
layout(std430, binding = 4) buffer Counters { uint counters[]; }; /* two counters of 64 bits */
layout(std430, binding = 5) buffer Bitmap { uint bitmap[]; };

shared uint bad, clipped;

/* Raw counts have 16 bits, two per word. */
float measured(uint at, uint count)
{
    if (has_counts == 0u)
        return samples[at];
    uint word = counts[count >> 1u];
    return float((count & 1u) == 1u ? word >> 16u : word & 0xffffu);
}

/* Returns -log of the transmission, as in prep/prep.h. */
float logarithm(float x, uint pixel)
{
    const float least = 1e-6;
    float g = has_gain == 1u ? gain[pixel] : inverse_i0;
    float t = (x - (has_dark == 1u ? dark[pixel] : 0.0)) * g;

    if (has_gain == 1u && g == 0.0) /* a bad pixel, replaced with BRIDGE */
        return 0.0;
    if (!is_finite(t) || !is_finite(x))
        return uintBitsToFloat(0x7f800000u); /* interpolated by bridge() */
    if (t < least) {
        t = least;
        atomicAdd(clipped, 1u);
    }
    return -log_of(t);
}

/* Beam hardening, as in prep/prep.h. */
float harden(float p)
{
    precise float sum = 0.0;

    for (uint i = n_hardening; i > 0u; i--)
        sum = fma(sum, p, hardening[(i - 1u) / 4u][(i - 1u) % 4u]);
    return is_finite(p) ? sum * p : p;
}

void count(uint which, uint n)
{
    if (n > 0u && atomicAdd(counters[2u * which], n) > 0xffffffffu - n)
        atomicAdd(counters[2u * which + 1u], 1u);
}

/* Interpolate values that are not finite along a row. One thread does it, because such values are
 * rare. */
uint bridge(uint at)
{
    uint repaired = 0u, last = n_columns; /* last: the last finite column; n_columns: none */

    for (uint c = 0u; c < n_columns; c++) {
        float next = samples[at + c];
        if (!is_finite(next))
            continue;
        float before = last == n_columns ? next : samples[at + last];
        for (uint i = last == n_columns ? 0u : last + 1u; i < c; i++, repaired++)
            samples[at + i] = last == n_columns ? next
                                                : before + (next - before) * float(i - last) /
                                                               float(c - last);
        last = c;
    }
    float tail = last == n_columns ? 0.0 : samples[at + last];
    for (uint i = last == n_columns ? 0u : last + 1u; i < n_columns; i++, repaired++)
        samples[at + i] = tail;
    return repaired;
}

/* Repair a row, and count repairs.  The bitmap has a bit for each row of the scan that is not
 * counted
 * yet. */
void mend(uint view, uint row, uint at)
{
    uint repaired = bad == 1u ? bridge(at) : 0u, place = view * panel_rows + row;

    if (use_bitmap == 1u && (bitmap[place / 32u] >> place % 32u & 1u) == 0u)
        return;
    count(0u, repaired);
    count(1u, clipped);
    if (use_bitmap == 1u)
        atomicAnd(bitmap[place / 32u], ~(1u << place % 32u));
}

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    uint stored = bound_view + number / load_rows, row = first_row + number % load_rows;
    uint at = sample_of(stored, row), count_at = counts_skip + at - samples_skip;
    uint view = view0 + stored % n_groups + stored / n_groups * part_views;

    if (gl_LocalInvocationID.x == 0u)
        bad = clipped = 0u;
    barrier();
    for (uint c = gl_LocalInvocationID.x; c < n_columns; c += 64u) {
        float x = measured(at + c, count_at + c);
        if (intensity == 1u)
            x = logarithm(x, row * n_columns + c);
        if (n_hardening > 0u)
            x = harden(x);
        if (intensity == 1u || n_hardening > 0u || has_counts == 1u)
            samples[at + c] = x;
        if (!is_finite(x))
            atomicOr(bad, 1u);
    }
    memoryBarrierBuffer();
    barrier();
    if (gl_LocalInvocationID.x == 0u && (bad == 1u || clipped > 0u))
        mend(view, row, at);
}
#endif
