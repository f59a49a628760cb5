/* Slices of the output: scale x + shift. */

layout(local_size_x = 64) in;
layout(std140, binding = 0) uniform Scale
{
    uint n, from, to, spare1;
    float scale, shift, spare2, spare3;
};
layout(std430, binding = 0) readonly buffer In { float voxels[]; };
layout(std430, binding = 1) writeonly buffer Out { float scaled[]; };

void main()
{
    for (uint i = group_number() * 64u + gl_LocalInvocationID.x; i < n;
         i += gl_NumWorkGroups.x * gl_NumWorkGroups.y * 64u)
        scaled[to + i] = scale * voxels[from + i] + shift;
}
