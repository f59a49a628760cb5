/* Small MAT files for tests, by matio. */
#ifndef FBP_TESTS_MAT_FILES_H
#define FBP_TESTS_MAT_FILES_H

#include "unit/io_util.h"

#include <matio.h>

enum { VIEWS = 4, ROWS = 2, COLUMNS = 3, N = VIEWS * ROWS * COLUMNS };

#define VALUES(T)                           \
    static T values_##T[N];                 \
    for (int c = 0; c < COLUMNS; c++)       \
        for (int r = 0; r < ROWS; r++)      \
            for (int k = 0; k < VIEWS; k++) \
    values_##T[(c * ROWS + r) * VIEWS + k] = (T)(30 * k + 10 * r + c)

static inline void put(mat_t *file, matvar_t *v, enum matio_compression how)
{
    assert_non_null(v);
    assert_int_equal(Mat_VarWrite(file, v, how), 0);
    Mat_VarFree(v);
}

static inline matvar_t *array(const char *name, enum matio_classes class, enum matio_types type,
                              void *values)
{
    size_t n[3] = {VIEWS, ROWS, COLUMNS};
    return Mat_VarCreate(name, class, type, 3, n, values, 0);
}

static inline matvar_t *numbers(const char *name, size_t n, double *v)
{
    size_t size[2] = {1, n};
    return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, v, 0);
}

/* ct.sinogram (4 x 3), ct.deep.a, and what a scan of Helsinki has. */
static inline void put_struct(const char *path, double sod, size_t n_angles,
                              enum matio_compression how)
{
    static const char *const fields[] = {"sinogram", "parameters"};
    static const char *const names[] = {"distanceSourceOrigin", "distanceSourceDetector",
                                        "pixelSizePost", "angles", "deep"};
    double sdd = 500, pitch = 0.25, angles[8] = {0, 90, 180, 270, 0, 0, 0, 0}, sinogram[12];
    size_t one[2] = {1, 1}, size[2] = {VIEWS, COLUMNS};
    mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    matvar_t *ct = Mat_VarCreateStruct("ct", 2, one, (const char **)(uintptr_t)fields, 2);
    matvar_t *p = Mat_VarCreateStruct("parameters", 2, one, (const char **)(uintptr_t)names, 5);
    VALUES(double);

    for (int i = 0; i < 12; i++)
        sinogram[i] = 10 * (i % VIEWS) + i / VIEWS;
    Mat_VarSetStructFieldByName(p, names[0], 0, numbers(names[0], 1, &sod));
    Mat_VarSetStructFieldByName(p, names[1], 0, numbers(names[1], 1, &sdd));
    Mat_VarSetStructFieldByName(p, names[2], 0, numbers(names[2], 1, &pitch));
    Mat_VarSetStructFieldByName(p, names[3], 0, numbers(names[3], n_angles, angles));
    Mat_VarSetStructFieldByName(p, names[4], 0,
                                array(names[4], MAT_C_DOUBLE, MAT_T_DOUBLE, values_double));
    Mat_VarSetStructFieldByName(
        ct, fields[0], 0,
        Mat_VarCreate(fields[0], MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, sinogram, 0));
    Mat_VarSetStructFieldByName(ct, fields[1], 0, p);
    put(file, ct, how);
    Mat_Close(file);
}

static inline matvar_t *matrix(const char *name, size_t rows, size_t columns, const double *v)
{
    size_t dims[2] = {rows, columns};
    double copy[4];

    memcpy(copy, v, rows * columns * sizeof *v);
    return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, copy, 0);
}

/* Both programs' struct of the same scan; columns: MATLAB's. */
static inline void put_tigre(const char *path, bool columns)
{
    static const char *fields[] = {"DSD", "DSO", "nDetector", "dDetector", "offDetector", "mode"};
    static const double sizes[2][2] = {{4, 6}, {6, 4}}, pitch[2][2] = {{0.7, 0.8}, {0.8, 0.7}};
    static const double off[2][4] = {{1, 2, 3, 4}, {3, 1, 4, 2}}; /* by columns */
    static const double dsd[1] = {1500}, dso[2] = {1000, 1001},
                        angles[2] = {0, 3.14159265358979323846};
    size_t one[2] = {1, 1}, text[2] = {1, 4};
    mat_t *f = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    matvar_t *geo = Mat_VarCreateStruct("geo", 2, one, fields, sizeof fields / sizeof *fields);
    matvar_t *list = matrix("angles", 1, 2, angles);
    const size_t two[2] = {columns ? 2 : 1, columns ? 1 : 2};

    assert_non_null(f);
    Mat_VarSetStructFieldByName(geo, "DSD", 0, matrix(NULL, 1, 1, dsd));
    Mat_VarSetStructFieldByName(geo, "DSO", 0, matrix(NULL, 1, 2, dso));
    Mat_VarSetStructFieldByName(geo, "nDetector", 0, matrix(NULL, two[0], two[1], sizes[columns]));
    Mat_VarSetStructFieldByName(geo, "dDetector", 0, matrix(NULL, two[0], two[1], pitch[columns]));
    Mat_VarSetStructFieldByName(geo, "offDetector", 0, matrix(NULL, 2, 2, off[columns]));
    char mode[] = "cone";
    Mat_VarSetStructFieldByName(geo, "mode", 0,
                                Mat_VarCreate(NULL, MAT_C_CHAR, MAT_T_UTF8, 2, text, mode, 0));
    assert_int_equal(Mat_VarWrite(f, geo, columns ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE),
                     0);
    assert_int_equal(Mat_VarWrite(f, list, MAT_COMPRESSION_NONE), 0);
    Mat_VarFree(geo);
    Mat_VarFree(list);
    Mat_Close(f);
}

/* What an EPR laboratory's prj.mat has: 6 samples, one delay or more, 4 projections. */
struct prj {
    double p[2][2 * 6 * 4], b[8], g[3 * 5];
    size_t n_samples, n_delays, n_views, n_b, n_g;
    bool complex;
    const char *without; /* an array that is left out */
};

static inline struct prj prj_usual(void)
{
    static const double g[3][4] = {{2, 0, 0, 1}, {0, 1, 0, 2}, {0, 0, 4, -2}};
    struct prj prj = {.n_samples = 6, .n_delays = 1, .n_views = 4, .n_b = 6, .n_g = 4};

    for (int i = 0; i < 48; i++) {
        prj.p[0][i] = i * i % 17;
        prj.p[1][i] = -1;
    }
    for (int i = 0; i < 6; i++)
        prj.b[i] = -4 + 2 * i;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++)
            prj.g[4 * i + k] = g[i][k];
    return prj;
}

static inline void put_prj(const char *path, struct prj *prj)
{
    size_t p[3] = {prj->n_samples, prj->n_delays, prj->n_views}, b[2] = {prj->n_b, 1},
           g[2] = {prj->n_g, 3};
    mat_complex_split_t parts = {prj->p[0], prj->p[1]};
    mat_t *file = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    const struct {
        const char *name;
        int rank;
        size_t *n;
        void *values;
        int flags;
    } all[] = {
        {"P", 3, p, prj->complex ? (void *)&parts : prj->p[0], prj->complex ? MAT_F_COMPLEX : 0},
        {"B", 2, b, prj->b, 0},
        {"G", 2, g, prj->g, 0}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!prj->without || strcmp(prj->without, all[i].name) != 0)
            put(file,
                Mat_VarCreate(all[i].name, MAT_C_DOUBLE, MAT_T_DOUBLE, all[i].rank, all[i].n,
                              all[i].values, all[i].flags),
                MAT_COMPRESSION_ZLIB);
    Mat_Close(file);
}

#endif /* FBP_TESTS_MAT_FILES_H */
