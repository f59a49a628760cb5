/* fbp_array_compare(), a public function (fbp/array.h), which `fbp compare` calls: differences
 * between two arrays in files, as root mean square error, greatest difference and peak
 * signal-to-noise ratio. It reads some rows of both arrays at a time.
 * Used by: bench/papers/okitsu2008/ladder.c, bench/papers/okitsu2008/pictures.c,
 * cli/cmd_compare.c. */
#include "array/file/format.h"
#include "base/threads.h"
#include "fbp/array.h"

#include <math.h>
#include <string.h>

struct sums {
    size_t count, not_finite;
    double difference, square_b, a, b, max, peak_b;
};

/* Get the elements [*x0, *x1) of row y that lie within `radius` [mm] of the line along z through
 * the volume's centre; radius <= 0: all elements. */
static void inside(const double spacing[2], const size_t n[3], size_t y, double radius, size_t *x0,
                   size_t *x1)
{
    const double dy = ((double)y - ((double)n[1] - 1) / 2) * spacing[1];
    const double middle = ((double)n[0] - 1) / 2;

    *x0 = 0;
    *x1 = n[0];
    if (radius <= 0)
        return;
    const double half = sqrt(fmax(radius * radius - dy * dy, -1)) / spacing[0];
    if (!(half >= 0)) {
        *x1 = 0;
        return;
    }
    *x0 = (size_t)fmax(0, ceil(middle - half));
    *x1 = (size_t)fmax(0, fmin((double)n[0], floor(middle + half) + 1));
}

/* Add n elements of both arrays to the sums of differences. Pairs of NaN, and of the same infinity,
 * count as equal and are left out. NaN in only one array makes the errors NaN. */
static void add(struct sums *s, const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double va = a[i], vb = b[i], d = va - vb;
        if ((isnan(va) && isnan(vb)) || (isinf(va) && va == vb)) {
            s->not_finite++;
            continue;
        }
        s->count++;
        s->difference += d * d;
        s->square_b += vb * vb;
        s->a += va;
        s->b += vb;
        s->max = fabs(d) > s->max || isnan(d) ? fabs(d) : s->max;
        s->peak_b = fmax(s->peak_b, fabs(vb));
    }
}

fbp_status fbp_array_compare(const char *path_a, const char *path_b, double inside_radius_mm,
                             struct fbp_comparison *out)
{
    FBP_REQUIRE(path_a, path_b);
    enum { BYTES_AT_ONCE = 1 << 20 };
    struct fbp_comparison own = {0};
    double *rows_a = NULL, *rows_b = NULL, spacing[2];
    fbp_source *a = NULL, *b = NULL;
    struct sums s = {0};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(comparison, out));
    FBP_TRY_GOTO(fbp_check_optional(&fbp_range_distance, "inside_radius_mm", inside_radius_mm));
    FBP_TRY_GOTO(fbp_source_open(&a, path_a, NULL));
    FBP_TRY_GOTO(fbp_source_open(&b, path_b, NULL));
    const struct fbp_array_info *info_a = fbp_source_info(a), *info_b = fbp_source_info(b);
    const size_t *n = info_a->n;
    if (memcmp(n, info_b->n, sizeof info_a->n) != 0)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s and %s: the sizes %zux%zux%zu and %zux%zux%zu differ; reconstruct both "
            "on the same grid",
            path_a, path_b, n[0], n[1], n[2], info_b->n[0], info_b->n[1], info_b->n[2]));
    const struct fbp_array_info *known = info_a->has_spacing ? info_a : info_b;
    for (int i = 0; i < 2; i++)
        spacing[i] = known->has_spacing ? known->spacing_mm[i] : 0;
    if (inside_radius_mm > 0 && !(spacing[0] > 0 && spacing[1] > 0))
        FBP_TRY_GOTO(FBP_INVALID(
            "%s and %s: neither file contains the voxel size, which --inside needs; omit "
            "--inside, or use a format with spacing such as MHA",
            path_a, path_b));

    /* Several rows are read per call, because each call has a constant cost in many formats. */
    const size_t row = n[0] * sizeof(double), fit = row < BYTES_AT_ONCE ? BYTES_AT_ONCE / row : 1;
    const size_t most = fit < n[1] ? fit : n[1];
    FBP_TRY_GOTO(fbp_alloc((void **)&rows_a, most * row, "rows"));
    FBP_TRY_GOTO(fbp_alloc((void **)&rows_b, most * row, "rows"));
    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y += most) {
            const size_t rows = n[1] - y < most ? n[1] - y : most;

            FBP_TRY_GOTO(fbp_check_cancelled());
            FBP_TRY_GOTO(fbp_source_read(a, z, 1, y, rows, FBP_F64, rows_a));
            FBP_TRY_GOTO(fbp_source_read(b, z, 1, y, rows, FBP_F64, rows_b));
            for (size_t i = 0; i < rows; i++) {
                size_t x0, x1;

                inside(spacing, n, y + i, inside_radius_mm, &x0, &x1);
                if (x0 < x1)
                    add(&s, rows_a + i * n[0] + x0, rows_b + i * n[0] + x0, x1 - x0);
            }
        }
    FBP_TRY_GOTO(fbp_source_unchanged(a));
    FBP_TRY_GOTO(fbp_source_unchanged(b));
    if (s.count + s.not_finite == 0)
        FBP_TRY_GOTO(
            FBP_INVALID("%s and %s: no voxel lies within %g mm of the line along z through the "
                        "volume's centre; give a larger radius",
                        path_a, path_b, inside_radius_mm));

    const double count = (double)s.count;
    own = (struct fbp_comparison){.count = s.count,
                                  .max = s.max,
                                  .psnr_db = 999,
                                  .mean_a = s.a / count,
                                  .mean_b = s.b / count,
                                  .not_finite = s.not_finite};
    if (s.difference != 0) {
        own.rmse = sqrt(s.difference / count);
        own.nrmse = sqrt(s.difference / s.square_b);
        own.psnr_db = 20 * log10(s.peak_b / own.rmse);
    }
fail:
    fbp_source_close(&a);
    fbp_source_close(&b);
    fbp_free(rows_a);
    fbp_free(rows_b);
    FBP_COPY_OUT(comparison, out, &own);
    return st;
}
