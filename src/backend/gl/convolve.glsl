/* Rows convolved in space: out[c] = sum in[i] taps[S + c - i].  A group computes 64 outputs of a row;
 * inputs pass through shared memory, 64 at a time. */

layout(local_size_x = 64) in;
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
