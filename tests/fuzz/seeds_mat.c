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
            mat_t *file = Mat_CreateVer(fuzz_seed_path(folder, "array", 3 * z + i, ".mat"), NULL,
                                        MAT_FT_MAT5);
            matvar_t *v = i == 0   ? array("a", MAT_C_DOUBLE, MAT_T_DOUBLE, values_double)
                          : i == 1 ? array("a", MAT_C_SINGLE, MAT_T_SINGLE, values_float)
                                   : array("a", MAT_C_UINT16, MAT_T_UINT16, values_uint16_t);
            put(file, v, z ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
            Mat_Close(file);
        }
}

void fuzz_seeds_mat_scans(const char *folder)
{
    for (int z = 0; z < 2; z++)
        put_struct(fuzz_seed_path(folder, "scan", z, ".mat"), 400, VIEWS,
                   z ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
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
    double size[3] = {4, 5, 6}, voxel[3] = {1, 1, 2}, centre[3] = {0, -1, 0};
    size_t n[2] = {1, 3};
    char mhz[] = "MHz";
    const char *path = fuzz_seed_path(folder, "prj", 2, ".mat");
    put_prj(path, &prj);
    mat_t *file = Mat_Open(path, MAT_ACC_RDWR);
    put(file, Mat_VarCreate("B_unit", MAT_C_CHAR, MAT_T_UTF8, 2, n, mhz, 0), MAT_COMPRESSION_NONE);
    put(file, numbers("volume_size", 3, size), MAT_COMPRESSION_NONE);
    put(file, numbers("volume_voxel_mm", 3, voxel), MAT_COMPRESSION_ZLIB);
    put(file, numbers("volume_centre_mm", 3, centre), MAT_COMPRESSION_ZLIB);
    Mat_Close(file);
}

void fuzz_seeds_mat_tigre(const char *folder)
{
    for (int columns = 0; columns < 2; columns++)
        put_tigre(fuzz_seed_path(folder, "geo", columns, ".mat"), columns);
}
