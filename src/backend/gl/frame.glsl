/* Voxels of a thread and parameters of a pass, included by the kernels that gl/backproject.c runs.
 * A thread computes SLICES voxels of a column, LAYERS slices apart. Sums start from the values in
 * the volume, so that the division into passes does not change the result. */

#extension GL_ARB_bindless_texture : enable

layout(local_size_x = X, local_size_y = Y, local_size_z = LAYERS) in;

const int THREADS = X * Y * LAYERS, DEPTH = SLICES * LAYERS;

/* Adding and subtracting these constants rounds to an integer, for |x| < 2^22, or to a multiple of
 * 1/256, for |x| <= 2^14. This is faster than conversions, which GPUs do at a quarter of the rate. */
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
    int first; /* layer of the texture of the first view */
    float texels, unscaled; /* texels per column; inverse scale of the views */
    float x_ref, y_ref, z_ref, spare;
    vec2 unit; /* size of a texel in texture coordinates */
    int region, cells; /* 1: the job has a region; cells per row of the volume */
    int cell_x0, cell_y0; /* position of the first voxel column, in voxels */
    int domain_x0, domain_y0; /* domain of symmetric voxels (struct gpu_domain) */
    float turn_s, turn_ex, turn_ey;
    int samples, chunk, delay; /* planes: samples per window, views per chunk, row */
    uvec2 texture_handle; /* handle of the texture of views with its sampler; 0: it is bound */
    View view[32];
};
layout(std430, binding = 1) buffer Volume { VOXEL volume[]; };
/* Binding a texture between the launches of two programs keeps them from running at once. */
#ifdef GL_ARB_bindless_texture
#define VIEWS_TEXTURE sampler2DArray(texture_handle)
#else
layout(binding = 0) uniform sampler2DArray VIEWS_TEXTURE;
#endif

/* Returns the first voxel of the thread, relative to its group. 32 threads cover WARP columns side
 * by side. Four neighbouring threads, which a texture unit may serve at once, are 2 x 2 voxels: of
 * two lines, or of two layers if LAYERS is 2. */
ivec3 place_of_thread()
{
    const int LINES = 32 / WARP / LAYERS, PAIRS = WARP / 2;
    int me = int(gl_LocalInvocationIndex), warp = me / 32, quad = me % 32 / 4;
    int second = me / 2 % 2, line = LAYERS == 2 ? quad / PAIRS : second + quad / PAIRS * 2;

    return ivec3(warp % (X / WARP) * WARP + me % 2 + quad % PAIRS * 2,
                 warp / (X / WARP) * LINES + line, LAYERS == 2 ? second : 0);
}

/* The box of voxels of a group, and whether the job's region contains any of it. */

layout(std430, binding = 2) readonly buffer Wanted { ivec2 wanted[]; }; /* struct gpu_wanted */

const int CELL = 8; /* GPU_CELL */

/* Corners of least and greatest indices. */
struct Box {
    ivec3 low, high;
};

Box box_of_group()
{
    Box b;
    b.low = ivec3(gl_WorkGroupID) * ivec3(X, Y, DEPTH) + ivec3(0, y0, 0);
    b.high = min(b.low + ivec3(X, Y, DEPTH), ivec3(nx, y1, b.low.z + DEPTH)) - 1;
    return b;
}

bool is_wanted(Box b)
{
    int first_z = z0 + b.low.z, end_z = z0 + b.high.z + 1;

    for (int y = (b.low.y + cell_y0) / CELL; y <= (b.high.y + cell_y0) / CELL; y++)
        for (int x = (b.low.x + cell_x0) / CELL; x <= (b.high.x + cell_x0) / CELL; x++) {
            ivec2 cell = wanted[y * cells + x];
            if (cell.x < end_z && cell.y > first_z)
                return true;
        }
    return false;
}
