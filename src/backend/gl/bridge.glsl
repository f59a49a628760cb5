/* Bad pixels of the needed rows become weighted sums of good ones, so the order does not matter: one
 * thread per pixel of a view. */

layout(local_size_x = 64) in;
layout(std430, binding = 0) buffer Samples { float samples[]; };
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
