/* Programs that read or write voxels one by one, run by gl/backproject.c: with ZERO, SCALE, UNPACK
 * and FOUND. */

layout(std140, binding = 0) uniform Voxels /* struct voxels of backproject.c */
{
    uint n, from, to, turns; /* number of voxels; offsets in the buffers; voxels per set */
    int nx, ny, x0, y0;      /* size of a slice; x0, y0, dnx, dny: the domain of symmetric voxels */
    int dnx, dny;
    float turn_s, scale;
    float shift, spare0, spare1, spare2;
};

/* Returns the number of this group in a grid of up to 32768 groups along x; the inverse of
 * gl_groups(). */
uint group_number()
{
    return gl_WorkGroupID.y * 32768u + gl_WorkGroupID.x;
}

#ifdef FOUND
/* Store the least value, greatest value and sum of voxels. Group i always updates entry i, so the
 * order of additions is fixed. */

layout(local_size_x = 256) in;
struct Found { /* struct gpu_block_statistics */
    float least, most;
    double sum;
};
layout(std430, binding = 0) readonly buffer In { float voxels[]; };
layout(std430, binding = 1) buffer Out { Found found[]; };

shared float least[256], most[256];
shared double sum[256];

void main()
{
    uint me = gl_LocalInvocationID.x, groups = gl_NumWorkGroups.x, i = gl_WorkGroupID.x;
    float low = uintBitsToFloat(0x7f800000u), high = -low;
    double s = 0.0LF;

    if (me == 0u) {
        low = found[i].least;
        high = found[i].most;
        s = found[i].sum;
    }
    for (uint k = i * 256u + me; k < n; k += groups * 256u) {
        float x = voxels[from + k];
        low = min(low, x);
        high = max(high, x);
        s += double(x);
    }
    least[me] = low;
    most[me] = high;
    sum[me] = s;
    for (uint half_ = 128u; half_ > 0u; half_ /= 2u) {
        memoryBarrierShared();
        barrier();
        if (me < half_) {
            least[me] = min(least[me], least[me + half_]);
            most[me] = max(most[me], most[me + half_]);
            sum[me] += sum[me + half_];
        }
    }
    if (me == 0u) {
        found[i].least = least[0];
        found[i].most = most[0];
        found[i].sum = sum[0];
    }
}
#else
layout(local_size_x = 64) in;
#ifndef ZERO
layout(std430, binding = 0) readonly buffer In { float voxels[]; };
#endif
layout(std430, binding = 1) writeonly buffer Out { float written[]; };

#ifdef ZERO
/* Clear a slab before its first views.  Some drivers clear buffers by drawing, which took 17 ms for
 * 0.5 GB on an H200. */
float value_of(uint i)
{
    return 0.0;
}
#elif defined SCALE
/* Slices of the output: scale x + shift. */
float value_of(uint i)
{
    return scale * voxels[from + i] + shift;
}
#else
/* Convert slices of a volume of symmetric voxels to plain slices, scaled and shifted. (x, y) is
 * rotated back until it lies in the domain; the number of rotations is its lane in the set. */
float value_of(uint i)
{
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
    int set = (z * dny + y - y0) * dnx + x - x0;
    return scale * voxels[from + uint(set) * turns + lane] + shift;
}
#endif

void main()
{
    for (uint i = group_number() * 64u + gl_LocalInvocationID.x; i < n;
         i += gl_NumWorkGroups.x * gl_NumWorkGroups.y * 64u)
        written[to + i] = value_of(i);
}
#endif
