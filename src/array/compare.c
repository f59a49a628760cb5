#include "fbp/array.h"

#include "base/base.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { BYTES_AT_ONCE = 1 << 20 };

struct pair {
    fbp_source *a, *b;
    size_t rows; /* that are read at once: of many formats, each call has its price */
    double *rows_a, *rows_b;
    double spacing[2];
};

struct sums {
    size_t count, not_finite;
    double difference, square_b, a, b, max, peak_b;
};

static fbp_status open_pair(struct pair *p, const char *path_a, const char *path_b)
{
    FBP_TRY(fbp_source_open(&p->a, path_a, NULL));
    FBP_TRY(fbp_source_open(&p->b, path_b, NULL));
    const struct fbp_array_info *a = fbp_source_info(p->a), *b = fbp_source_info(p->b);
    if (memcmp(a->n, b->n, sizeof a->n) != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s and %s: %zux%zux%zu and %zux%zux%zu elements cannot be compared: "
                        "reconstruct both on one grid",
                        path_a, path_b, a->n[0], a->n[1], a->n[2], b->n[0], b->n[1], b->n[2]);
    const struct fbp_array_info *known = a->has_spacing ? a : b;
    for (int i = 0; i < 2; i++)
        p->spacing[i] = known->has_spacing ? known->spacing_mm[i] : 0;
    const size_t row = a->n[0] * sizeof(double),
                 fit = row < BYTES_AT_ONCE ? BYTES_AT_ONCE / row : 1;
    p->rows = fit < a->n[1] ? fit : a->n[1];
    FBP_TRY(fbp_alloc((void **)&p->rows_a, p->rows * row, "rows"));
    return fbp_alloc((void **)&p->rows_b, p->rows * row, "rows");
}

static void close_pair(struct pair *p)
{
    fbp_source_close(&p->a);
    fbp_source_close(&p->b);
    fbp_free(p->rows_a);
    fbp_free(p->rows_b);
}

/* Elements [*x0, *x1) of row y that are inside the cylinder. */
static void inside(const struct pair *p, const size_t n[3], size_t y, double radius, size_t *x0,
                   size_t *x1)
{
    const double dy = ((double)y - ((double)n[1] - 1) / 2) * p->spacing[1];
    const double middle = ((double)n[0] - 1) / 2;

    *x0 = 0;
    *x1 = n[0];
    if (radius <= 0)
        return;
    const double half = sqrt(fmax(radius * radius - dy * dy, -1)) / p->spacing[0];
    if (!(half >= 0)) {
        *x1 = 0;
        return;
    }
    *x0 = (size_t)fmax(0, ceil(middle - half));
    *x1 = (size_t)fmax(0, fmin((double)n[0], floor(middle + half) + 1));
}

/* What is masked in both, or the same infinity, is equal, and has no part in sums; NaN in one of
 * them makes what is found NaN. */
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

/* Rows [y0, y0 + rows) of slice z. */
static fbp_status add_rows(struct pair *p, double radius, size_t z, size_t y0, size_t rows,
                           struct sums *s)
{
    const size_t *n = fbp_source_info(p->a)->n;

    FBP_TRY(fbp_go_on());
    FBP_TRY(fbp_source_read_double(p->a, z, 1, y0, rows, p->rows_a));
    FBP_TRY(fbp_source_read_double(p->b, z, 1, y0, rows, p->rows_b));
    for (size_t i = 0; i < rows; i++) {
        size_t x0, x1;
        inside(p, n, y0 + i, radius, &x0, &x1);
        if (x0 < x1)
            add(s, p->rows_a + i * n[0] + x0, p->rows_b + i * n[0] + x0, x1 - x0);
    }
    return FBP_OK;
}

static fbp_status sum_up(struct pair *p, double radius, struct sums *s)
{
    const size_t *n = fbp_source_info(p->a)->n;

    for (size_t z = 0; z < n[2]; z++)
        for (size_t y = 0; y < n[1]; y += p->rows)
            FBP_TRY(add_rows(p, radius, z, y, n[1] - y < p->rows ? n[1] - y : p->rows, s));
    return FBP_OK;
}

static struct fbp_comparison result_of(const struct sums *s)
{
    const double n = (double)s->count;
    struct fbp_comparison c = {.count = s->count,
                               .max = s->max,
                               .psnr_db = 999,
                               .mean_a = s->a / n,
                               .mean_b = s->b / n,
                               .not_finite = s->not_finite};

    if (s->difference == 0)
        return c;
    c.rmse = sqrt(s->difference / n);
    c.nrmse = sqrt(s->difference / s->square_b);
    c.psnr_db = 20 * log10(s->peak_b / c.rmse);
    return c;
}

fbp_status fbp_array_compare(const char *path_a, const char *path_b, double inside_radius_mm,
                             struct fbp_comparison *out)
{
    FBP_GIVEN(path_a, path_b);
    struct fbp_comparison own = {0};
    struct pair p = {0};
    struct sums s = {0};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(comparison, out));
    FBP_TRY_GOTO(fbp_check_optional(&fbp_range_distance, "inside_radius_mm", inside_radius_mm));
    FBP_TRY_GOTO(open_pair(&p, path_a, path_b));
    if (inside_radius_mm > 0 && !(p.spacing[0] > 0 && p.spacing[1] > 0)) {
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s and %s: neither file says how large an element is, which a radius in mm "
                      "needs: compare without --inside, or use a format with spacing such as MHA",
                      path_a, path_b);
        goto fail;
    }
    FBP_TRY_GOTO(sum_up(&p, inside_radius_mm, &s));
    FBP_TRY_GOTO(fbp_source_unchanged(p.a));
    FBP_TRY_GOTO(fbp_source_unchanged(p.b));
    if (s.count + s.not_finite == 0) {
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s and %s: no element lies within %g mm of the axis: take a larger radius",
                      path_a, path_b, inside_radius_mm);
        goto fail;
    }
    own = result_of(&s);
fail:
    close_pair(&p);
    FBP_GIVE(comparison, out, &own);
    return st;
}
