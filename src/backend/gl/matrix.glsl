/*
 * Any 3x4 matrix, interpolation in fp32, views in plain memory (gpu_plain.h): a thread SLICES voxels
 * of a column.  Floors are clamped, not coordinates, to where all four taps are zeros.
 */

layout(local_size_x = 8, local_size_y = 8) in;

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
    uint volume_skip, spare0, spare1, spare2;
    float x_ref, y_ref, z_ref, spare3;
    View view[32];
};
layout(std430, binding = 0) readonly buffer Views { float views[]; };
layout(std430, binding = 1) buffer Volume { float volume[]; };

const int SLICES = 4, BORDER = 2; /* GPU_BORDER */

void main()
{
    int x = int(gl_GlobalInvocationID.x), y = y0 + int(gl_GlobalInvocationID.y);
    int z = int(gl_GlobalInvocationID.z) * SLICES;
    float tx = float(x) - x_ref, ty = float(y) - y_ref, tz = float(z0 + z) - z_ref;
    uint slice = uint(nx * ny), at = volume_skip + uint(z * ny + y - y0) * uint(nx) + uint(x);
    float sum[SLICES];

    if (x >= nx || y >= y1)
        return;
    for (int k = 0; k < SLICES; k++)
        sum[k] = z + k < nz ? volume[at + uint(k) * slice] : 0.0;
    for (int i = 0; i < n; i++) {
        vec4 cu = view[i].u, cv = view[i].v, cw = view[i].w;
        float u0 = fma(tx, cu.x, fma(ty, cu.y, cu.w)), v0 = fma(tx, cv.x, fma(ty, cv.y, cv.w));
        float w0 = fma(tx, cw.x, fma(ty, cw.y, cw.w));
        int column = view[i].at.x, row = view[i].at.y;
        uint origin = views_skip + uint(i) * group + uint((row + BORDER) * stride + column + BORDER);
        for (int k = 0; k < SLICES; k++) {
            float t = tz + float(k), r = 1.0 / fma(t, cw.z, w0);
            float u = fma(t, cu.z, u0), v = fma(t, cv.z, v0);
            float iu = clamp(floor(u * r), float(-BORDER - column), float(columns - column));
            float iv = clamp(floor(v * r), float(-BORDER - row), float(rows - row));
            float a = fma(u, r, -iu), b = fma(v, r, -iv);
            uint q = origin + uint(int(iv) * stride + int(iu));
            float q00 = views[q], q01 = views[q + 1u];
            float q10 = views[q + uint(stride)], q11 = views[q + uint(stride) + 1u];
            float left = fma(b, q10 - q00, q00), right = fma(b, q11 - q01, q01);
            sum[k] = fma(r * r, fma(a, right - left, left), sum[k]);
        }
    }
    for (int k = 0; k < SLICES; k++)
        if (z + k < nz)
            volume[at + uint(k) * slice] = sum[k];
}
