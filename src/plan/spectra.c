#include "plan/spectra.h"

#include "base/vec.h"
#include "scan/format/number_table.h"

#include <math.h>

/* Of samples: by how much the middles of two views may differ. */
static const double SAME = 1e-6;

/* The sample of view k at which the plane goes through the origin: the reference's middle. */
static double middle_of(const struct fbp_scan *scan, size_t k)
{
    const struct fbp_view *v = &scan->views[k];

    return ((double)scan->panel.n_columns - 1) / 2 - fbp_dot(v->d, v->u) / fbp_dot(v->u, v->u);
}

/* Rows and reference are of one sweep: what shifts one row against the other shifts the object. */
static fbp_status check(const struct fbp_scan *scan, size_t n)
{
    if (scan->bin > 1)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: spectra are divided by the reference as they were measured: leave "
                        "--bin out",
                        scan->reference);
    if (n != scan->panel.n_columns)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the reference spectrum has %zu samples, views have %zu: it has to be "
                        "measured, or resampled, at the same fields",
                        scan->reference, n, scan->panel.n_columns);
    for (size_t k = 1; k < scan->n_views; k++)
        if (!(fabs(middle_of(scan, k) - middle_of(scan, 0)) <= SAME))
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: in view %zu the middle is at sample %.7g, in view 0 at %.7g: one "
                            "reference spectrum needs views of one sweep: resample them",
                            scan->reference, k, middle_of(scan, k), middle_of(scan, 0));
    return FBP_OK;
}

fbp_status fbp_spectra_load(const struct fbp_scan *scan, struct fbp_reference *out,
                            double **samples)
{
    size_t n = 0;

    FBP_TRY(fbp_number_table_load(scan->reference, 1, "one number a sample", samples, &n));
    *out = (struct fbp_reference){.h = *samples, .n = n, .centre = middle_of(scan, 0)};
    return check(scan, n);
}
