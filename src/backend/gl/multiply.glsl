/* Spectra times the real, even response, in place, with real and imaginary parts exchanged. */

layout(local_size_x = 64) in;
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
