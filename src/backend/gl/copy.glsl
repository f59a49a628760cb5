/* Copies pieces of memory, in units of the type UNIT, between host and device; run by gl/memory.c. A
 * thread loads four units before it stores them, because a bus has a long latency. */

layout(local_size_x = 256) in;
layout(std140, binding = 0) uniform Copy /* struct gl_copy_parameters of program.h */
{
    uint begin, end, from, to; /* units [begin, end) of all pieces; offsets in the buffers */
    uint per_piece, stride; /* units per piece; distance of the pieces in the input */
};
layout(std430, binding = 0) readonly buffer In { UNIT units[]; };
layout(std430, binding = 1) writeonly buffer Out { UNIT copied[]; };

UNIT unit_at(uint i)
{
    return i < end ? units[from + i / per_piece * stride + i % per_piece] : UNIT(0u);
}

void put(uint i, UNIT unit)
{
    if (i < end)
        copied[to + i] = unit;
}

void main()
{
    uint all = gl_NumWorkGroups.x * 256u;

    for (uint i = begin + gl_GlobalInvocationID.x; i < end; i += 4u * all) {
        UNIT a = unit_at(i), b = unit_at(i + all), c = unit_at(i + 2u * all);
        UNIT d = unit_at(i + 3u * all);
        put(i, a);
        put(i + all, b);
        put(i + 2u * all, c);
        put(i + 3u * all, d);
    }
}
