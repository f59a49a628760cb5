/* Slices of a volume of orbits on their way out, scaled and shifted: a thread a voxel.  The orbit that
 * holds (x, y), and which of its turns it is: turned back until it is inside. */

layout(local_size_x = 64) in;
layout(std140, binding = 0) uniform Unpack
{
    uint n, from, lanes, lane;  /* lane: the first of the half */
    int nx, ny, turns;
    uint to;
    int x0, y0, dnx, dny;       /* the domain */
    int layer, layer_step;      /* of the first slice; to the next slice's */
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
        uint at = lane;
        for (; x < x0 || y < y0; at++) {
            int old = x;
            if (turns == 2) {
                x = nx - 1 - x;
                y = ny - 1 - y;
            } else {
                x = turn_s < 0.0 ? y : nx - 1 - y;
                y = turn_s < 0.0 ? nx - 1 - old : old;
            }
        }
        int orbit = ((layer + layer_step * z) * dny + y - y0) * dnx + x - x0;
        scaled[to + i] = scale * voxels[from + uint(orbit) * lanes + at] + shift;
    }
}
