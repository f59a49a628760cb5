/* Least value, greatest value and sum of voxels.  Group i always updates entry i, so the order of
 * additions is fixed. */

layout(local_size_x = 256) in;
layout(std140, binding = 0) uniform Voxels { uint n, from, spare0, spare1; };
struct Found { /* struct gpu_found */
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
