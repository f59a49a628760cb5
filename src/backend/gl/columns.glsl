/* The filter along columns: each thread computes COLUMN_ROWS rows of a column, with one load and
 * COLUMN_ROWS products per term. The terms of a sum and their order do not depend on the rows of the
 * batch. */

layout(local_size_x = 64) in;
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
