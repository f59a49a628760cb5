/* Where a thread's voxels are, and what it knows of the views of a pass: a thread SLICES voxels of a
 * column, LAYERS apart.  Sums start from the volume's values, so that passes are no part of the
 * result. */

layout(local_size_x = X, local_size_y = Y, local_size_z = LAYERS) in;

const int THREADS = X * Y * LAYERS, DEPTH = SLICES * LAYERS;

/* Added and taken away again they leave whole numbers, for |x| < 2^22, and multiples of 1/256, for |x|
 * <= 2^14: no conversion, which GPUs do at a quarter of the rate. */
const float WHOLE = 12582912.0, PARTS = 49152.0;
const uint WHOLE_BITS = 0x4b400000u;

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
    int samples, chunk, delay, spare2; /* of planes: of a window, views at a time, row */
    View view[32];
};
layout(std430, binding = 1) buffer Volume { VOXEL volume[]; };

/* The thread's first voxel, counted from its group's.  32 threads cover WARP columns side by side, and
 * four neighbours, which a texture unit may serve at once, are 2 x 2 voxels: of two lines, or of two
 * layers where there are two. */
ivec3 place_of_thread()
{
    const int LINES = 32 / WARP / LAYERS, PAIRS = WARP / 2;
    int me = int(gl_LocalInvocationIndex), warp = me / 32, quad = me % 32 / 4;
    int second = me / 2 % 2, line = LAYERS == 2 ? quad / PAIRS : second + quad / PAIRS * 2;

    return ivec3(warp % (X / WARP) * WARP + me % 2 + quad % PAIRS * 2,
                 warp / (X / WARP) * LINES + line, LAYERS == 2 ? second : 0);
}
