/* What both tests of the kernels with the paper's arguments have: data, and what is expected of
 * them.  One runs the kernels' text as C, the other their PTX on a card. */
#ifndef FBP_TEST_EPR_KERNELS_H
#define FBP_TEST_EPR_KERNELS_H

#include "fbp/recon.h"
#include "geometry/view.h"
#include "test.h"

/* Arguments of a launch, with names as the paper has them. */
struct epr_case {
    int N, Q, S;
    double d_object, d_proj;
    double *GX, *GY, *GZ, *projection; /* [Q], [Q], [Q], [Q][S] */
};

static inline size_t epr_voxels(const struct epr_case *c)
{
    return (size_t)c->N * (size_t)c->N * (size_t)c->N;
}

/* A number between -1 and 1 without a pattern. */
static inline double epr_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1;
}

/* Some voxels lie beyond the samples.  ends: the first and last sample are 0, as there every rule
 * for what is outside gives the same. */
static inline struct epr_case epr_make(int N, int Q, int S, bool ends)
{
    struct epr_case c = {N, Q, S, 0.9, 0.8, NULL, NULL, NULL, NULL};
    const size_t q = (size_t)Q, s = (size_t)S;
    uint32_t state = 7;

    c.GX = calloc(q, sizeof *c.GX);
    c.GY = calloc(q, sizeof *c.GY);
    c.GZ = calloc(q, sizeof *c.GZ);
    c.projection = calloc(q * s, sizeof *c.projection);
    assert_true(c.GX && c.GY && c.GZ && c.projection);
    for (size_t k = 0; k < q; k++) {
        const double z = epr_random(&state), phi = 4 * epr_random(&state), r = sqrt(1 - z * z);
        c.GX[k] = r * cos(phi);
        c.GY[k] = r * sin(phi);
        c.GZ[k] = z;
        for (size_t i = 0; i < s; i++)
            c.projection[k * s + i] = ends && (i == 0 || i == s - 1) ? 0 : epr_random(&state);
    }
    return c;
}

static inline void epr_free(struct epr_case *c)
{
    free(c->GX);
    free(c->GY);
    free(c->GZ);
    free(c->projection);
}

/* The sums, as they are defined, with exact halves; of a projection nothing outside its samples. */
static inline double epr_sum(const struct epr_case *c, int m, int n, int k)
{
    const double half = 0.5 * c->N - 1;
    double sum = 0;

    for (int q = 0; q < c->Q; q++) {
        const double t = ((m - half) * c->GX[q] + (n - half) * c->GY[q] + (k - half) * c->GZ[q]) *
                             c->d_object / c->d_proj +
                         0.5 * c->S;
        const double *row = c->projection + (size_t)q * (size_t)c->S;
        const int i = (int)floor(t);
        if (t >= 0 && i + 1 < c->S)
            sum += row[i] * (i + 1 - t) + row[i + 1] * (t - i);
    }
    return sum;
}

/* `added` was in every voxel before. */
static inline void epr_check_sums(const struct epr_case *c, const double *object, double added)
{
    double most = 0, error = 0;

    for (int k = 0; k < c->N; k++)
        for (int n = 0; n < c->N; n++)
            for (int m = 0; m < c->N; m++) {
                const double wanted = epr_sum(c, m, n, k);
                const int i = k * c->N * c->N + n * c->N + m;
                most = fmax(most, fabs(wanted));
                error = fmax(error, fabs(object[i] - added - wanted));
            }
    assert_true(most > 1);
    if (!(error <= 1e-12 * most))
        fail_msg("N %d, S %d: the largest difference is %g of %g", c->N, c->S, error, most);
}

/* The same scan for the library: filtered views, x first in both. */
static inline void epr_scan(const struct epr_case *c, struct fbp_scan *scan)
{
    *scan = (struct fbp_scan){.struct_size = sizeof *scan,
                              .kind = FBP_PLANES,
                              .n_views = (size_t)c->Q,
                              .panel = {(size_t)c->S, 1},
                              .filtered = true};
    scan->views = calloc(scan->n_views, sizeof *scan->views);
    assert_non_null(scan->views);
    for (size_t k = 0; k < scan->n_views; k++)
        fbp_plane_view((double[3]){c->GX[k], c->GY[k], c->GZ[k]}, c->d_proj,
                       -0.5 * c->S * c->d_proj, scan->panel.n_columns, &scan->views[k]);
    for (int i = 0; i < 3; i++) {
        scan->volume.n[i] = (size_t)c->N;
        scan->volume.voxel_mm[i] = c->d_object;
        scan->volume.centre_mm[i] = 0.5 * c->d_object;
    }
}

/* The specification's volume, in double. */
static inline void epr_check_ref(const struct epr_case *c, const double *object)
{
    const size_t n = epr_voxels(c);
    double *volume = not_null(calloc(n, sizeof *volume)), most = 0, error = 0;
    struct fbp_scan scan;

    epr_scan(c, &scan);
    OK(fbp_reconstruct(&scan, fbp_recon_params(.device = "ref"), FBP_F64, c->projection, volume,
                       NULL));
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(volume[i]));
        error = fmax(error, fabs(volume[i] - object[i]));
    }
    assert_true(most > 1);
    if (!(error <= 1e-12 * most))
        fail_msg("ref differs by %g of %g", error, most);
    fbp_scan_clear(&scan);
    free(volume);
}

#endif /* FBP_TEST_EPR_KERNELS_H */
