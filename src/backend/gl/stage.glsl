/* Transforms of rows that do not fit shared memory, run by gl/filter.c: one step of a transform, or
 * the product with the response. Programs: stage; with MULTIPLY: multiply. */

layout(local_size_x = 64) in;

#ifdef MULTIPLY
/* Multiply spectra by the real, even response, in place, and exchange real and imaginary parts. */
layout(std430, binding = 0) buffer InOut { vec2 rows_io[]; };
layout(std430, binding = 1) readonly buffer Response { float response[]; };

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    for (uint i = gl_LocalInvocationID.x; i < row_length; i += 64u) {
        float r = response[i <= row_length / 2u ? i : row_length - i];
        rows_io[number * row_length + i] = rows_io[number * row_length + i].yx * r;
    }
}
#else
/*
 * One step of a transform of rows that do not fit shared memory (Stockham's, see Govindaraju et al.
 * 2008).  `span` points are transformed so far; now `radix` of these are combined, from one buffer to
 * another, one thread per butterfly.  Exchanging real and imaginary parts turns a transform into its
 * inverse; the last step exchanges them again.
 */

layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };
layout(std430, binding = 1) writeonly buffer Out { vec2 rows_out[]; };

const uint MOST = 5u;

vec2 times(vec2 a, vec2 b)
{
    return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

/* Returns exp(-2 pi i k / n), k < n < 2^28, from its octant, so that the error is a few units in
 * the last place. */
vec2 turn(uint k, uint n_)
{
    uint eighth = 8u * k / n_, rest = 8u * k - eighth * n_;
    bool odd = (eighth & 1u) == 1u;
    float x = 0.78539816 * float(odd ? n_ - rest : rest) / float(n_);
    float c = cos_of(x), s = sin_of(x);
    vec2 v = ((eighth + 1u) & 2u) == 2u ? vec2(s, c) : vec2(c, s); /* angle from the nearest axis */

    if (eighth >= 2u && eighth < 6u)
        v.x = -v.x;
    return vec2(v.x, eighth < 4u ? -v.y : v.y);
}

void main()
{
    uint apart = row_length / radix, pieces = (apart + 63u) / 64u, number = group_number();
    uint j = number % pieces * 64u + gl_LocalInvocationID.x, row = number / pieces * row_length;
    vec2 v[MOST];

    if (number >= n || j >= apart)
        return;
    uint k = j % span, to = row + j / span * span * radix + k;
    for (uint r = 0u; r < MOST; r++)
        if (r < radix)
            v[r] = times(rows_in[row + j + r * apart], turn(r * k, span * radix));
    for (uint q = 0u; q < radix; q++) {
        vec2 sum = v[0];
        for (uint r = 1u; r < MOST; r++)
            if (r < radix)
                sum += times(v[r], turn(q * r % radix, radix));
        rows_out[to + q * span] = exchange == 1u ? sum.yx : sum;
    }
}
#endif
