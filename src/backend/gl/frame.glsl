/* Where a thread's voxels are, and what it knows of the views of a pass: a thread SLICES voxels of a
 * column.  Sums start from the volume's values, so that passes are no part of the result. */

layout(local_size_x = X, local_size_y = Y) in;

struct View { /* struct gpu_view */
    vec4 u, v, w;
    ivec4 at; /* column, row of the principal point */
};

layout(std140, binding = 0) uniform Pass
{
    int nx, ny, nz, z0;
    int y0, y1, n, stride;
    int columns, rows;
    uint group, views_skip;
    uint volume_skip;
    int first; /* layer of a texture */
    float texels, unscaled; /* a column; of the views' scale */
    float x_ref, y_ref, z_ref, spare;
    vec2 unit; /* a texel, in a texture's coordinates */
    int region, cells; /* of a job with a region: 1, and cells of the volume a row */
    int cell_x0, cell_y0; /* of the first column, in voxels */
    int domain_x0, domain_y0; /* of orbits (struct gpu_domain) */
    float turn_s, turn_ex, turn_ey, spare1;
    View view[32];
};
layout(std430, binding = 1) buffer Volume { float volume[]; };
