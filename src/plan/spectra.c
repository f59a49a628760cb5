#include "plan/spectra.h"

#include "base/vec.h"
#include "filter/deconvolve.h"
#include "scan/format/number_table.h"

#include <math.h>
#include <stdlib.h>

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

fbp_status fbp_spectra_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                              const struct fbp_recon_params *p, size_t n_columns, size_t half_width,
                              size_t oversampling)
{
    double *h = NULL;
    size_t n = 0;
    fbp_status st;

    FBP_TRY(fbp_number_table_load(scan->reference, 1, "one number a sample", &h, &n));
    FBP_TRY_GOTO(check(scan, n));
    const struct fbp_reference reference = {
        .h = h, .n = n, .centre = middle_of(scan, 0), .wiener = p->wiener};
    st = fbp_because(scan->reference, fbp_deconvolution_design(
                                          out, &reference, p->filter, p->cutoff > 0 ? p->cutoff : 1,
                                          n_columns, half_width, oversampling));
    if (st == FBP_OK && !(p->cutoff > 0 || p->wiener > 0))
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: to divide by a reference spectrum without a limit gives noise: give a "
                      "cut-off, such as --cutoff 0.1, or Wiener's term (--wiener)",
                      scan->reference);
fail:
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    free(h);
    return st;
}
