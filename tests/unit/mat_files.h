/* Small MAT files for tests. */
#ifndef FBP_TESTS_MAT_FILES_H
#define FBP_TESTS_MAT_FILES_H

#include "unit/mat_out.h"

enum { MAT_VIEWS = 4, MAT_ROWS = 2, MAT_COLUMNS = 3, N = MAT_VIEWS * MAT_ROWS * MAT_COLUMNS };

#define VALUES(T)                               \
    static T values_##T[N];                     \
    for (int c = 0; c < MAT_COLUMNS; c++)       \
        for (int r = 0; r < MAT_ROWS; r++)      \
            for (int k = 0; k < MAT_VIEWS; k++) \
    values_##T[(c * MAT_ROWS + r) * MAT_VIEWS + k] = (T)(30 * k + 10 * r + c)

static inline struct mat_var array(const char *name, unsigned class, unsigned type,
                                   const void *values)
{
    static const size_t n[3] = {MAT_VIEWS, MAT_ROWS, MAT_COLUMNS};

    return mat_array(name, class, type, 3, n, values, NULL);
}

static inline struct mat_var mat_matrix(const char *name, size_t rows, size_t columns,
                                        const double *v)
{
    const size_t n[2] = {rows, columns};

    return mat_array(name, FBP_MX_DOUBLE, FBP_MI_DOUBLE, 2, n, v, NULL);
}

static inline struct mat_var mat_text(const char *name, const char *letters)
{
    const size_t n[2] = {1, strlen(letters)};

    return mat_array(name, FBP_MX_CHAR, FBP_MI_UTF8, 2, n, letters, NULL);
}

/* ct.sinogram (4 x 3), ct.parameters.deep, and the members of a scan of Helsinki; of `more`, which
 * is taken, one member more of the parameters. */
static inline void put_struct_with(const char *path, double sod, size_t n_angles, bool packed,
                                   const char *name, const struct mat_var *more)
{
    static const char *const fields[] = {"sinogram", "parameters"};
    const char *const names[] = {
        "distanceSourceOrigin", "distanceSourceDetector", "pixelSizePost", "angles", "deep", name};
    static const double sdd = 500, pitch = 0.25, angles[8] = {0, 90, 180, 270};
    double sinogram[12];
    FILE *f = mat_create(path);
    VALUES(double);

    for (int i = 0; i < 12; i++)
        sinogram[i] = 10 * (i % MAT_VIEWS) + i / MAT_VIEWS;
    const struct mat_var parameters[] = {mat_matrix(NULL, 1, 1, &sod),
                                         mat_matrix(NULL, 1, 1, &sdd),
                                         mat_matrix(NULL, 1, 1, &pitch),
                                         mat_matrix(NULL, 1, n_angles, angles),
                                         array(NULL, FBP_MX_DOUBLE, FBP_MI_DOUBLE, values_double),
                                         more ? *more : (struct mat_var){NULL, 0}};
    const struct mat_var members[] = {mat_matrix(NULL, MAT_VIEWS, MAT_COLUMNS, sinogram),
                                      mat_struct(NULL, more ? 6 : 5, names, parameters)};
    mat_put(f, mat_struct("ct", 2, fields, members), packed);
    fclose(f);
}

static inline void put_struct(const char *path, double sod, size_t n_angles, bool packed)
{
    put_struct_with(path, sod, n_angles, packed, NULL, NULL);
}

/* Both programs' struct of the same scan; columns: MATLAB's. */
static inline void put_tigre(const char *path, bool columns)
{
    static const char *const fields[] = {"DSD",       "DSO",         "nDetector",
                                         "dDetector", "offDetector", "mode"};
    static const double sizes[2][2] = {{4, 6}, {6, 4}}, pitch[2][2] = {{0.7, 0.8}, {0.8, 0.7}};
    static const double off[2][4] = {{1, 2, 3, 4}, {3, 1, 4, 2}}; /* by columns */
    static const double dsd[1] = {1500}, dso[2] = {1000, 1001},
                        angles[2] = {0, 3.14159265358979323846};
    const size_t two[2] = {columns ? 2 : 1, columns ? 1 : 2};
    FILE *f = mat_create(path);
    const struct mat_var members[] = {mat_matrix(NULL, 1, 1, dsd),
                                      mat_matrix(NULL, 1, 2, dso),
                                      mat_matrix(NULL, two[0], two[1], sizes[columns]),
                                      mat_matrix(NULL, two[0], two[1], pitch[columns]),
                                      mat_matrix(NULL, 2, 2, off[columns]),
                                      mat_text(NULL, "cone")};

    mat_put(f, mat_struct("geo", 6, fields, members), columns);
    mat_put(f, mat_matrix("angles", 1, 2, angles), false);
    fclose(f);
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
    const size_t p[3] = {prj->n_samples, prj->n_delays, prj->n_views};
    const char *without = prj->without ? prj->without : "";
    FILE *f = mat_create(path);

    if (strcmp(without, "P") != 0)
        mat_put(f,
                mat_array("P", FBP_MX_DOUBLE, FBP_MI_DOUBLE, 3, p, prj->p[0],
                          prj->complex ? prj->p[1] : NULL),
                true);
    if (strcmp(without, "B") != 0)
        mat_put(f, mat_matrix("B", prj->n_b, 1, prj->b), true);
    if (strcmp(without, "G") != 0)
        mat_put(f, mat_matrix("G", prj->n_g, 3, prj->g), true);
    fclose(f);
}

#endif /* FBP_TESTS_MAT_FILES_H */
