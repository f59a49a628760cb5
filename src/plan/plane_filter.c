#include "plan/plane_filter.h"

#include "filter/parabola.h"
#include "plan/spectra.h"
#include "scan/format/number_table.h"

#include <stdlib.h>

/* Circles are as long as what was measured. */
static fbp_status check_periodic(const struct fbp_recon_params *p)
{
    const char *what = p->oversampling > 1                           ? "oversampling"
                       : p->spatial_filter                           ? "a filter in space"
                       : p->interpolation == FBP_INTERPOLATION_CUBIC ? "cubic interpolation"
                                                                     : NULL;

    if (!p->periodic || !what)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "periodic: rows that count as periodic are transformed as they are, without "
                    "%s: leave one of the two out",
                    what);
}

static fbp_status check(const struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    if (p->wiener > 0 && !scan->reference)
        return fbp_fail(FBP_ERR_INVALID, "wiener: there is no reference spectrum to divide by: "
                                         "give one (--reference), or leave it out");
    return check_periodic(p);
}

/* Filtered rows: how many samples they have, of which how many are cut off in space, and how many
 * are wanted for each that was measured. */
struct rows {
    size_t n_columns, half_width, oversampling;
};

static fbp_status design(struct fbp_filter_design *out, const struct fbp_recon_params *p,
                         const struct fbp_spectral_filter *s, const struct rows *rows)
{
    if (p->periodic)
        return fbp_periodic_design(out, s, rows->n_columns);
    if (s->reference.n > 0 || s->response.n > 0)
        return fbp_deconvolution_design(out, s, rows->n_columns, rows->half_width,
                                        rows->oversampling);
    return fbp_parabola_design(out, s->filter, s->cutoff, rows->n_columns, rows->half_width,
                               rows->oversampling);
}

/* The same, and of splines their coefficients. */
static fbp_status design_any(struct fbp_filter_design *out, const struct fbp_recon_params *p,
                             const struct fbp_spectral_filter *s, const struct rows *rows)
{
    struct rows longer = *rows;
    fbp_status st;

    if (p->interpolation != FBP_INTERPOLATION_CUBIC)
        return design(out, p, s, rows);
    longer.n_columns += FBP_SPLINE_REACH;
    longer.half_width = 0;
    FBP_TRY(design(out, p, s, &longer));
    st = fbp_filter_spline(out, rows->n_columns, rows->half_width);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}

static fbp_status design_with_reference(struct fbp_filter_design *out, const struct fbp_scan *scan,
                                        const struct fbp_recon_params *p,
                                        struct fbp_spectral_filter *s, const struct rows *rows)
{
    double *samples = NULL;
    fbp_status st = fbp_spectra_load(scan, &s->reference, &samples);

    s->reference.wiener = p->wiener;
    if (st == FBP_OK)
        st = fbp_because(scan->reference, design_any(out, p, s, rows));
    if (st == FBP_OK && !(p->cutoff > 0 || p->wiener > 0)) {
        fbp_filter_design_clear(out);
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: to divide by a reference spectrum without a limit gives noise: give a "
                      "cut-off, such as --cutoff 0.1, or Wiener's term (--wiener)",
                      scan->reference);
    }
    free(samples);
    return fbp_because("reference", st);
}

static fbp_status load_response(const char *path, struct fbp_response *out, double **table)
{
    FBP_TRY(fbp_number_table_load(path, 2, "a fraction of the Nyquist frequency and a factor",
                                  table, &out->n));
    out->table = *table;
    return fbp_because(path, fbp_response_check(out));
}

fbp_status fbp_plane_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                            const struct fbp_recon_params *p, const struct fbp_panel *wide)
{
    const struct rows rows = {wide->n_columns, p->spatial_filter ? p->half_width : 0,
                              p->oversampling > 1 ? p->oversampling : 1};
    struct fbp_spectral_filter s = {.filter = p->filter, .cutoff = p->cutoff > 0 ? p->cutoff : 1};
    double *table = NULL;
    fbp_status st;

    FBP_TRY(check(scan, p));
    if (p->response)
        FBP_TRY_GOTO(load_response(p->response, &s.response, &table));
    st = scan->reference ? design_with_reference(out, scan, p, &s, &rows)
                         : design_any(out, p, &s, &rows);
fail:
    free(table);
    return st;
}
