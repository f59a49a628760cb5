#include "fuzz/seeds_foreign.h"

#include "unit/mat_files.h"

/* One array a file, or its name would be asked for. */
void fuzz_seeds_mat_arrays(const char *folder)
{
    VALUES(double);
    VALUES(float);
    VALUES(uint16_t);
    for (int z = 0; z < 2; z++)
        for (int i = 0; i < 3; i++) {
            FILE *f = mat_create(fuzz_seed_path(folder, "array", 3 * z + i, ".mat"));
            mat_put(f,
                    i == 0   ? array("a", FBP_MX_DOUBLE, FBP_MI_DOUBLE, values_double)
                    : i == 1 ? array("a", FBP_MX_SINGLE, FBP_MI_SINGLE, values_float)
                             : array("a", FBP_MX_UINT16, FBP_MI_UINT16, values_uint16_t),
                    z);
            fclose(f);
        }
    /* The other byte order. */
    mat_swapped = true;
    FILE *f = mat_create(fuzz_seed_path(folder, "array", 6, ".mat"));
    mat_put(f, array("a", FBP_MX_SINGLE, FBP_MI_SINGLE, values_float), true);
    fclose(f);
    mat_swapped = false;
}

void fuzz_seeds_mat_scans(const char *folder)
{
    for (int z = 0; z < 2; z++)
        put_struct(fuzz_seed_path(folder, "scan", z, ".mat"), 400, MAT_VIEWS, z);
}

void fuzz_seeds_mat_eprit(const char *folder)
{
    for (int i = 0; i < 2; i++) {
        struct prj prj = prj_usual();
        prj.complex = i == 1;
        put_prj(fuzz_seed_path(folder, "prj", i, ".mat"), &prj);
    }
    /* As this program writes it: with the unit of B, and a volume. */
    struct prj prj = prj_usual();
    static const double size[3] = {4, 5, 6}, voxel[3] = {1, 1, 2}, centre[3] = {0, -1, 0};
    const char *path = fuzz_seed_path(folder, "prj", 2, ".mat");
    put_prj(path, &prj);
    mat_put_more(path, mat_text("B_unit", "MHz"), false);
    mat_put_more(path, mat_matrix("volume_size", 1, 3, size), false);
    mat_put_more(path, mat_matrix("volume_voxel_mm", 1, 3, voxel), true);
    mat_put_more(path, mat_matrix("volume_centre_mm", 1, 3, centre), true);
}

void fuzz_seeds_mat_tigre(const char *folder)
{
    for (int columns = 0; columns < 2; columns++)
        put_tigre(fuzz_seed_path(folder, "geo", columns, ".mat"), columns);
}
