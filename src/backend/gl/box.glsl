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
