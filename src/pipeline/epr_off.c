/* Replacements of the functions of EPR imaging for builds without it (FBP_EPR=OFF): CMakeLists.txt
 * then compiles this file instead of the files of EPR imaging. Functions that compute with plane
 * integrals, such as the public fbp_accumulator_create(), fail with FBP_ERR_UNSUPPORTED. Functions
 * that make view steps (view_step.h) fail only if an option of EPR imaging is set; else they make
 * no step. */
#include "filter/parabola.h"
#include "pipeline/view_step.h"
#include "prep/prep.h"
#include "scan/format/importers.h"
#include "weight/weight.h"

#include "fbp/directions.h"
#include "fbp/recon.h"

#include <stdio.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

static fbp_status refuse(void)
{
    return FBP_UNSUPPORTED("plane integrals: this build does not support EPR "
                           "imaging; build fbp again with -DFBP_EPR=ON");
}

fbp_status fbp_rings_step_create(struct fbp_view_step **out, struct fbp_view_step_request *request)
{
    *out = NULL;
    return request->params->epr.angles ? refuse() : FBP_OK;
}

fbp_status fbp_two_stages_step_create(struct fbp_view_step **out,
                                      struct fbp_view_step_request *request)
{
    *out = NULL;
    return request->params->epr.stages == 2 ? refuse() : FBP_OK;
}

/* Define function `name` with the given parameters; it only fails with FBP_ERR_UNSUPPORTED. */
#define REFUSE(name, ...)        \
    fbp_status name(__VA_ARGS__) \
    {                            \
        return refuse();         \
    }

REFUSE(fbp_parabola_design, struct fbp_filter_design *out, enum fbp_filter filter, double cutoff,
       size_t n_columns, size_t half_width, size_t oversampling)
REFUSE(fbp_deconvolution_design, struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
       size_t n_columns, size_t half_width, size_t oversampling)
REFUSE(fbp_periodic_design, struct fbp_filter_design *out, const struct fbp_spectral_filter *s,
       size_t n_columns)
REFUSE(fbp_periodic_unroll, struct fbp_filter_design *straight, const struct fbp_filter_design *f)
REFUSE(fbp_filter_spline, struct fbp_filter_design *design, size_t n_columns, size_t half_width)
REFUSE(fbp_response_check, const struct fbp_response *response)
REFUSE(fbp_quadrature_of, const double (*direction)[3], size_t n, enum fbp_quadrature wanted,
       const double *given, double *weights, struct fbp_quadrature_facts *facts)
REFUSE(fbp_quadrature_weights, const double (*direction)[3], size_t n,
       enum fbp_quadrature quadrature, double *weights, char *words, size_t n_words)
REFUSE(fbp_accumulator_add, fbp_accumulator *accumulator, size_t view, const float *samples)
REFUSE(fbp_accumulator_volume, fbp_accumulator *accumulator, float *volume)

size_t fbp_rings_usual_angles(const struct fbp_scan *scan)
{
    return 0;
}

void fbp_quadrature_describe(const struct fbp_quadrature_facts *facts, char *buf, size_t n)
{
    snprintf(buf, n, "none");
}

fbp_status fbp_spectra_open(fbp_source **out, fbp_source *below, const struct fbp_scan *scan)
{
    *out = NULL;
    fbp_source_close(&below);
    return refuse();
}

fbp_status fbp_scan_sink_prj(fbp_sink **out, const char *path, const struct fbp_scan *scan,
                             double gradient, const struct fbp_sink_params *params)
{
    *out = NULL;
    return refuse();
}

fbp_status fbp_accumulator_create(fbp_accumulator **out, const struct fbp_scan *scan,
                                  const struct fbp_recon_params *params)
{
    *out = NULL;
    return refuse();
}

void fbp_accumulator_destroy(fbp_accumulator **accumulator)
{
}
