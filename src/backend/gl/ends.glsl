/* Extrapolation of rows beyond the panel's ends (filter/pad.h), run by gl/filter.c: fits the
 * extrapolation, and adds its filtered values to filtered rows. Programs: ends; with ADD: add_ends.
 * */

#ifdef ADD
/* Add the filtered values of the extrapolated rows to filtered pairs: one group per pair. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Ends { uint ends[]; }; /* struct fbp_pad_end */
layout(std430, binding = 1) readonly buffer Tables { float tables[]; };
layout(std430, binding = 2) buffer InOut { vec2 rows_io[]; };

float added(uint number, uint i, uint end, uint c)
{
    uint e = (4u * number + 2u * i + end) * 3u;
    float amount = uintBitsToFloat(ends[e]), between = uintBitsToFloat(ends[e + 1u]);
    uint a = (end * n_lengths + ends[e + 2u]) * wide_columns + c;
    float of_b = amount * between, b = between > 0.0 ? tables[a + wide_columns] : 0.0;

    return amount > 0.0 ? (amount - of_b) * tables[a] + of_b * b : 0.0;
}

void main()
{
    uint number = group_number();
    if (number >= n)
        return;
    for (uint c = gl_LocalInvocationID.x; c < wide_columns; c += 64u) {
        uint at = number * row_length + c;
        vec2 v = rows_io[at];
        for (uint end = 0u; end < 2u; end++)
            v += vec2(added(number, 0u, end, c), added(number, 1u, end, c));
        rows_io[at] = v;
    }
}
#else
/* Fit the extrapolation of rows beyond the panel's ends (filter/pad.h): one group per row, two
 * groups per pair, one thread per point of the fit. Samples are line integrals, or are already
 * weighted and then divided by their weights; a column without weight counts as 0. */

layout(local_size_x = 32) in;
layout(std430, binding = 0) readonly buffer Samples { float samples[]; };
layout(std430, binding = 5) writeonly buffer Ends { uint ends[]; }; /* struct fbp_pad_end */

const uint POINTS = 32u; /* FBP_PAD_POINTS */

shared float terms[5][POINTS];

uint column_at(uint end, uint i)
{
    return end == 1u ? n_columns - 1u - i : i;
}

uint point_of(uint end, uint i)
{
    return column_at(end, (i + 1u) * (n_columns / 2u) / POINTS);
}

float share_of(uint i)
{
    float n_ = float(edge), mean = (n_ - 1.0) / 2.0, spread = n_ * (n_ * n_ - 1.0) / 12.0;
    return 1.0 / n_ + (edge > 1u ? mean * (mean - float(i)) / spread : 0.0);
}

/* Returns the sum over all threads, always in the same order. */
float sum_of(uint k)
{
    float sum = 0.0;
    for (uint i = 0u; i < POINTS; i++)
        sum += terms[k][i];
    return sum;
}

float measured(Pair p, uint from, uint c)
{
    float w = weight_of(0u, p.view, p.panel_row, c);
    if (!(w > 0.0))
        return 0.0;
    return weighted_rows == 1u ? samples[from + c] / w : samples[from + c];
}

/* Returns the distance beyond the end, in columns, at which y = b x + c x^2 reaches -p0^2. */
float reach_of(float p0)
{
    float xx = sum_of(0u), xxx = sum_of(1u), xxxx = sum_of(2u), xy = sum_of(3u), xxy = sum_of(4u);
    float det = xx * xxxx - xxx * xxx, square = p0 * p0, n_ = float(n_columns);

    if (!(det > 0.0) || !(square > 0.0))
        return 0.1 * n_;
    float b = (xy * xxxx - xxy * xxx) / det / square;
    float c = min((xx * xxy - xxx * xy) / det / square, -1e-6);
    float cap = 0.1 + 0.3 * clamp(-b, 0.0, 1.0);
    float reach = (-b - sqrt(b * b - 4.0 * c)) / (2.0 * c) / 2.0;
    return clamp(reach, 0.0, cap) * n_;
}

float length_of(uint i)
{
    return lengths[i / 4u][i % 4u];
}

void write_end(uint to, float amount, float between, uint length)
{
    ends[to] = floatBitsToUint(amount);
    ends[to + 1u] = floatBitsToUint(between);
    ends[to + 2u] = length;
}

void place(uint to, float amount, float reach)
{
    uint at = 0u;
    float between = 0.0;

    while (at + 2u < n_lengths && reach >= length_of(at + 1u))
        at++;
    if (n_lengths > 1u)
        between = clamp((reach - length_of(at)) / (length_of(at + 1u) - length_of(at)), 0.0, 1.0);
    write_end(to, amount, between, at);
}

/* Returns the value of the row at its end, by a line through the samples near the end. */
float value_at(Pair p, uint from, uint end)
{
    float sum = 0.0;
    for (uint i = 0u; i < edge; i++)
        sum += share_of(i) * measured(p, from, column_at(end, i));
    return sum;
}

void find_point(Pair p, uint from, uint end, float p0)
{
    uint i = gl_LocalInvocationID.x, c = point_of(end, i);
    float w = weight_of(0u, p.view, p.panel_row, c), q = w > 0.0 ? measured(p, from, c) : 0.0;
    float x = -float((i + 1u) * (n_columns / 2u) / POINTS) / float(n_columns / 2u);
    float y = (q > 0.0 ? q * q : 0.0) - p0 * p0, counts = w > 0.0 ? 1.0 : 0.0;

    terms[0][i] = counts * x * x;
    terms[1][i] = counts * x * x * x;
    terms[2][i] = counts * x * x * x * x;
    terms[3][i] = counts * x * y;
    terms[4][i] = counts * x * x * y;
}

void main()
{
    uint index = group_number(), number = before + index / 2u, part = index % 2u;
    if (index >= n)
        return;
    Pair p = pair_of(number, part);
    uint from = p.there ? sample_of(p.stored, p.panel_row) : 0u;

    if (gl_LocalInvocationID.x == 0u && p.there)
        find_rays(0u, p.view, p.panel_row);
    barrier();
    for (uint end = 0u; end < 2u; end++) {
        uint to = (4u * number + 2u * part + end) * 3u;
        bool wanted = p.there && (end == 0u ? end0 : end1) == 1u;
        float p0 = wanted ? value_at(p, from, end) : 0.0;
        barrier();
        if (wanted && fit == 1u)
            find_point(p, from, end, p0);
        memoryBarrierShared();
        barrier();
        if (gl_LocalInvocationID.x > 0u)
            continue;
        float at_end = wanted ? weight_of(0u, p.view, p.panel_row, column_at(end, 0u)) : 0.0;
        if (p0 > 0.0 && at_end > 0.0)
            place(to, p0 * at_end, fit == 1u ? reach_of(p0) : length_of(0u));
        else
            write_end(to, 0.0, 0.0, 0u);
    }
}
#endif
