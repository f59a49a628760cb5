/* Convolutions in space, along rows or along columns, run by gl/filter.c. Programs: convolve, with
 * REAL and REAL2; with COLUMNS: columns. */

layout(local_size_x = 64) in;

#ifdef COLUMNS
/* The filter along columns: each thread computes COLUMN_ROWS rows of a column, with one load and
 * COLUMN_ROWS products per term. The terms of a sum and their order do not depend on the rows of the
 * batch. */
layout(std430, binding = 0) writeonly buffer Samples { float samples[]; };
layout(std430, binding = 1) readonly buffer Taps { float taps[]; };
layout(std430, binding = 2) readonly buffer Weighted { float weighted[]; };

const int COLUMN_ROWS = 8; /* GPU_COLUMN_ROWS */

void main()
{
    uint pieces = (n_columns + 63u) / 64u, blocks = (r_rows + 7u) / 8u, number = group_number();
    uint c = number % pieces * 64u + gl_LocalInvocationID.x, v = number / pieces / blocks;

    if (number >= n || c >= n_columns)
        return;
    int S = int(half_width), r = int(number / pieces % blocks) * COLUMN_ROWS, rows = int(r_rows);
    int lo = max(r - S, 0), end = min(r + COLUMN_ROWS + S, rows);
    int tap = COLUMN_ROWS + S + r - lo;
    uint in_ = v * r_rows * n_columns + c;
    float sum[COLUMN_ROWS];

    for (int j = 0; j < COLUMN_ROWS; j++)
        sum[j] = 0.0;
    for (int i = lo; i < end; i++, tap--) {
        float x = weighted[in_ + uint(i) * n_columns];
        for (int j = 0; j < COLUMN_ROWS; j++)
            sum[j] = fma(taps[tap + j], x, sum[j]);
    }
    uint out_ = sample_of(first_view + v, r0 + uint(r)) + c;
    for (int j = 0; j < COLUMN_ROWS; j++)
        if (r + j < rows)
            samples[out_ + uint(j) * n_columns] = sum[j];
}
#else
/* Convolve rows in space: out[c] = sum in[i] taps[S + c - i]. A group computes 64 outputs of a row;
 * inputs pass through shared memory, 64 at a time. */
layout(std430, binding = 0) readonly buffer In { vec2 rows_in[]; };
layout(std430, binding = 1) readonly buffer Taps { REAL taps[]; }; /* float or double */
layout(std430, binding = 2) writeonly buffer Out { vec2 rows_out[]; };

shared vec2 tile[64];

void main()
{
    uint pieces = (row_length + 63u) / 64u, number = group_number();
    if (number >= n)
        return;
    int me = int(gl_LocalInvocationID.x), c0 = int(number % pieces) * 64, c = c0 + me;
    int length_ = int(row_length), s = int(half_width);
    int first_ = max(c0 - s, 0) / 64 * 64, end = min(c0 + 64 + s, length_);
    uint row = number / pieces * row_length;
    REAL2 sum = REAL2(0.0);

    for (int at = first_; at < end; at += 64) {
        int i = at + me;
        barrier();
        tile[me] = i < length_ ? rows_in[row + uint(i)] : vec2(0.0);
        memoryBarrierShared();
        barrier();
        int lo = max(c - s, at), hi = min(c + s + 1, min(at + 64, length_));
        for (int k = lo; k < hi; k++)
            sum += REAL2(tile[k - at]) * taps[s + c - k];
    }
    if (c < length_)
        rows_out[row + uint(c)] = vec2(sum);
}
#endif
