#include "plan/plane_filter.h"

#include "filter/parabola.h"
#include "filter/spline.h"
#include "plan/spectra.h"

static fbp_status check(const struct fbp_scan *scan, const struct fbp_recon_params *p)
{
    if (p->wiener > 0 && !scan->reference)
        return fbp_fail(FBP_ERR_INVALID, "wiener: there is no reference spectrum to divide by: "
                                         "give one (--reference), or leave it out");
    if (p->periodic)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "periodic: rows cannot be periodic yet: leave it out");
    return FBP_OK;
}

static fbp_status design(struct fbp_filter_design *out, const struct fbp_scan *scan,
                         const struct fbp_recon_params *p, size_t n_columns, size_t half_width)
{
    const size_t oversampling = p->oversampling > 1 ? p->oversampling : 1;

    if (scan->reference)
        return fbp_because("reference",
                           fbp_spectra_filter(out, scan, p, n_columns, half_width, oversampling));
    return fbp_parabola_design(out, p->filter, p->cutoff > 0 ? p->cutoff : 1, n_columns, half_width,
                               oversampling);
}

fbp_status fbp_plane_filter(struct fbp_filter_design *out, const struct fbp_scan *scan,
                            const struct fbp_recon_params *p, const struct fbp_panel *wide)
{
    const size_t n = wide->n_columns, half_width = p->spatial_filter ? p->half_width : 0;
    fbp_status st;

    FBP_TRY(check(scan, p));
    if (p->interpolation != FBP_INTERPOLATION_CUBIC)
        return design(out, scan, p, n, half_width);
    FBP_TRY(design(out, scan, p, n + FBP_SPLINE_REACH, 0));
    st = fbp_filter_spline(out, n, half_width);
    if (st != FBP_OK)
        fbp_filter_design_clear(out);
    return st;
}
