/*
 * Weights and filters pairs of rows by transforms in shared memory, one group of THREADS threads per
 * pair; run by gl/filter.c. backend/gpu/tables.h describes the transform of a row of RADIX x 256 points. Its
 * first and last step are sums of RADIX / 2 terms in this file, because the other inputs are zero
 * and the other outputs are not needed. Exchanging real and imaginary parts turns a transform into
 * its inverse.
 *
 * Both rows of a pair are scaled to the same size by powers of two, so that the rounding errors of
 * one do not depend on the other.
 */

layout(local_size_x = THREADS) in;
layout(std430, binding = 1) readonly buffer Response { float response[]; };
layout(std430, binding = 5) writeonly buffer Out { vec2 rows_out[]; };
layout(std430, binding = 6) readonly buffer Turns { vec2 turns_of[]; };

const uint INNER = 256u, APART = 17u, PADDED = 272u; /* GPU_CHAIN_... */
const uint HALF = RADIX / 2u, ACROSS = RADIX * 16u, PEAKS = 16u;
/* Short transforms of HALF or RADIX points per thread in the first and in the last step. */
const uint TURNS = (INNER + THREADS - 1u) / THREADS;

shared vec2 line[RADIX * PADDED];
shared vec2 root[RADIX]; /* exp(-2 pi i k / RADIX) */
/* Bits of the greatest magnitudes of both rows. Each of PEAKS entries serves every PEAKS-th thread,
 * because atomics to one entry run one after another. */
shared uint peak[2u * PEAKS];

vec2 times(vec2 a, vec2 b)
{
    return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* Returns the index of point i of an interleaved row in shared memory; neighbouring points, and
 * every 16th point, are in different banks. */
uint place(uint i)
{
    return i + i / 16u;
}

/* Returns the exponents of the rows' greatest samples, called by all threads; 0 for rows of zeros.
 * */
uvec2 measure(uint at, vec2 samples_[TURNS * HALF])
{
    uvec2 bits = uvec2(0u);

    for (uint k = 0u; k < TURNS * HALF; k++)
        bits = max(bits, floatBitsToUint(samples_[k]) & 0x7fffffffu);
    atomicMax(peak[at % PEAKS], bits.x);
    atomicMax(peak[PEAKS + at % PEAKS], bits.y);
    memoryBarrierShared();
    barrier();
    for (uint i = 0u; i < PEAKS; i++)
        bits = max(bits, uvec2(peak[i], peak[PEAKS + i]));
    return clamp(bits >> 23u, 1u, 251u) * uvec2(greaterThan(bits, uvec2(0u)));
}

/* Powers of two that scale a row's greatest sample to [1/2, 1), and back; 0 for rows of zeros. */
vec2 scale_to(uvec2 exponent)
{
    return mix(vec2(0.0), uintBitsToFloat((253u - exponent) << 23u),
               greaterThan(exponent, uvec2(0u)));
}

vec2 scale_back(uvec2 exponent)
{
    return mix(vec2(0.0), uintBitsToFloat((exponent + 1u) << 23u),
               greaterThan(exponent, uvec2(0u)));
}

void transform_4(inout vec2 a, inout vec2 b, inout vec2 c, inout vec2 d)
{
    vec2 s = a + c, t = a - c, u = b + d, v = vec2(b.y - d.y, d.x - b.x);
    a = s + u;
    b = t + v;
    c = s - u;
    d = t - v;
}

/* exp(-2 pi i k / 16), k = 0 ... 9 */
const vec2 SIXTEENTHS[10] = vec2[10](
    vec2(1.0, 0.0), vec2(0.92387953, -0.38268343), vec2(0.70710678, -0.70710678),
    vec2(0.38268343, -0.92387953), vec2(0.0, -1.0), vec2(-0.38268343, -0.92387953),
    vec2(-0.70710678, -0.70710678), vec2(-0.92387953, -0.38268343), vec2(-1.0, 0.0),
    vec2(-0.92387953, 0.38268343));

/* Transform 16 points in place, in natural order: two steps of four transforms of 4 points. */
void transform_16(inout vec2 x[16])
{
    vec2 y[16];

    for (int i = 0; i < 4; i++) {
        vec2 a = x[i], b = x[4 + i], c = x[8 + i], d = x[12 + i];
        transform_4(a, b, c, d);
        y[i] = a;
        y[4 + i] = times(b, SIXTEENTHS[i]);
        y[8 + i] = times(c, SIXTEENTHS[2 * i]);
        y[12 + i] = times(d, SIXTEENTHS[3 * i]);
    }
    for (int k = 0; k < 4; k++) {
        transform_4(y[4 * k], y[4 * k + 1], y[4 * k + 2], y[4 * k + 3]);
        for (int i = 0; i < 4; i++)
            x[k + 4 * i] = y[4 * k + i];
    }
}

/* First step of the transform: sums of the samples of every INNERth column, times twiddle factors,
 * to RADIX interleaved rows. */
void take_apart(uint at, vec2 samples_[TURNS * HALF], uint from, vec2 s)
{
    for (uint q = 0u; q < RADIX; q++) {
        vec2 sum = samples_[from] * s;
        for (uint k = 1u; k < HALF; k++)
            sum += times(samples_[from + k] * s, root[q * k % RADIX]);
        line[q * PADDED + place(at)] = q > 0u ? times(sum, turns_of[q * INNER + at]) : sum;
    }
}

/* Convolve an interleaved row, one sixteenth per thread: forward transform, product with the
 * response, inverse transform. Barriers separate the steps. */
void step_1(uint x, uint lane)
{
    vec2 v[16];
    for (int k = 0; k < 16; k++)
        v[k] = line[x + lane + uint(k) * APART];
    transform_16(v);
    line[x + lane] = v[0];
    for (int k = 1; k < 16; k++)
        line[x + lane + uint(k) * APART] =
            times(v[k], turns_of[RADIX * INNER + uint(k) * 16u + lane]);
}

void step_2(uint x, uint lane, uint at)
{
    vec2 v[16];
    for (int k = 0; k < 16; k++)
        v[k] = line[x + lane * APART + uint(k)];
    transform_16(v);
    for (int k = 0; k < 16; k++)
        v[k] = v[k].yx * response[at + uint(k) * ACROSS];
    transform_16(v);
    for (int k = 0; k < 16; k++)
        line[x + lane * APART + uint(k)] = v[k];
}

void step_3(uint x, uint lane)
{
    vec2 v[16];
    v[0] = line[x + lane];
    for (int k = 1; k < 16; k++)
        v[k] = times(line[x + lane + uint(k) * APART],
                     turns_of[RADIX * INNER + uint(k) * 16u + lane]);
    transform_16(v);
    for (int k = 0; k < 16; k++)
        line[x + lane + uint(k) * APART] = v[k];
}

/* Last step: combine the interleaved rows to one row, of which only the first half is needed. */
void put_together(uint at, uint row, vec2 s)
{
    vec2 spectrum[RADIX];

    for (uint q = 0u; q < RADIX; q++) {
        vec2 v = line[q * PADDED + place(at)];
        spectrum[q] = q > 0u ? times(v, turns_of[q * INNER + at]) : v;
    }
    for (uint k = 0u; k < HALF; k++) {
        vec2 sum = spectrum[0];
        for (uint q = 1u; q < RADIX; q++)
            sum += times(spectrum[q], root[q * k % RADIX]);
        if (at + k * INNER < wide_columns)
            rows_out[row + at + k * INNER] = sum.yx * s;
    }
}

void main()
{
    uint number = before + group_number(), me = gl_LocalInvocationID.x;
    if (group_number() >= n)
        return;
    vec2 samples_[TURNS * HALF];

    for (uint i = me; i < 2u * PEAKS; i += THREADS)
        peak[i] = 0u;
    if (me < RADIX)
        root[me] = (me < HALF ? 1.0 : -1.0) * turns_of[me % HALF * 2u * INNER + INNER / 2u];
    Rows2 rows = rows_of(number); /* also a barrier */
    /* through shared memory, because compilers copy the weights' code in each unrolled iteration */
    for (uint c = me; c < wide_columns; c += THREADS)
        line[c] = padded_at(rows, c);
    memoryBarrierShared();
    barrier();
    for (uint t = 0u; t < TURNS; t++)
        for (uint k = 0u; k < HALF; k++) {
            uint at = me + t * THREADS, c = at + k * INNER;
            samples_[t * HALF + k] = at < INNER && c < wide_columns ? line[c] : vec2(0.0);
        }
    uvec2 exponent = measure(me, samples_);
    for (uint t = 0u; t < TURNS; t++)
        if (me + t * THREADS < INNER)
            take_apart(me + t * THREADS, samples_, t * HALF, scale_to(exponent));
    uint lane = me % 16u;
    for (int step = 0; step < 3; step++) {
        memoryBarrierShared();
        barrier();
        for (uint i = me; i < ACROSS; i += THREADS) {
            uint x = i / 16u * PADDED;
            if (step == 0)
                step_1(x, lane);
            else if (step == 1)
                step_2(x, lane, i);
            else
                step_3(x, lane);
        }
    }
    memoryBarrierShared();
    barrier();
    for (uint at = me; at < INNER; at += THREADS)
        put_together(at, number * row_length, scale_back(exponent));
}
