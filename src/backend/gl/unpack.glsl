/* Slices of a volume of orbits become plain slices, scaled and shifted: one thread per voxel.  (x, y) is
 * turned back until it lies in the domain; the number of turns is its lane in the orbit. */

layout(local_size_x = 64) in;
layout(std140, binding = 0) uniform Unpack
{
    uint n, from, to, turns;
    int nx, ny, x0, y0;  /* x0, y0, dnx, dny: the domain */
    int dnx, dny;
    float turn_s, scale;
    float shift, spare1, spare2, spare3;
};
layout(std430, binding = 0) readonly buffer In { float voxels[]; };
layout(std430, binding = 1) writeonly buffer Out { float scaled[]; };

void main()
{
    for (uint i = group_number() * 64u + gl_LocalInvocationID.x; i < n;
         i += gl_NumWorkGroups.x * gl_NumWorkGroups.y * 64u) {
        int x = int(i) % nx, y = int(i) / nx % ny, z = int(i) / nx / ny;
        uint lane = 0u;
        for (; x < x0 || y < y0; lane++) {
            int old = x;
            if (turns == 2u) {
                x = nx - 1 - x;
                y = ny - 1 - y;
            } else {
                x = turn_s < 0.0 ? y : nx - 1 - y;
                y = turn_s < 0.0 ? nx - 1 - old : old;
            }
        }
        int orbit = (z * dny + y - y0) * dnx + x - x0;
        scaled[to + i] = scale * voxels[from + uint(orbit) * turns + lane] + shift;
    }
}
