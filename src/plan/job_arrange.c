/* What a backend makes of a job: whether it can compute it, and by which kernel. */
#include "plan/job.h"

#include "base/environment.h"
#include "geometry/kind.h"

/* Double is there or not; of the others a backend takes the nearest that it has. */
static fbp_status check_precision(const struct fbp_job *job, const struct fbp_backend *backend)
{
    const struct fbp_kind_table *kind = fbp_kind_of(job->kind);

    if (!fbp_in_double(job))
        return FBP_OK;
    if (kind->integral != FBP_OVER_PLANES && !job->second)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "precision: double is for plane integrals (kind planes), not for kind %s: "
                        "choose exact, or leave it out",
                        kind->name);
    if (!backend->doubles)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "precision: %s computes in float: leave double out, or use device cpu",
                        backend->name);
    if (job->second && !backend->draws_meridians)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "stages: %s has no second stage in double: leave stages or double out, or "
                        "use device cpu",
                        backend->name);
    return FBP_OK;
}

/* Can the backend filter these rows? */
static fbp_status check_rows(const struct fbp_job *job, const struct fbp_backend *backend)
{
    const struct fbp_filter_design *f = job->filter;

    if (job->between && !backend->oversamples)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "oversampling: %s filters measured samples only: leave it out, or use "
                        "device cpu",
                        backend->name);
    if (!(1u << job->interpolation & (backend->interpolations | 1u << FBP_INTERPOLATION_LINEAR)))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "interpolation: %s interpolates linearly only: leave %s out, or use device "
                        "cpu",
                        backend->name, fbp_interpolation_name(job->interpolation));
    if (job->frames > 1 && !backend->frames)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "scan: views have %zu frames (delays), and %s reconstructs one: use device "
                        "cpu, or give frames one by one",
                        fbp_frames(job), backend->name);
    if (f && f->periodic && !backend->periodic)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "periodic: %s filters no rows that go round: leave it out, or use device "
                        "cpu",
                        backend->name);
    if (f && (f->passes > 1 || f->imaginary) && !backend->any_filter)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "filter: %s filters rows once, with a symmetric kernel: choose another "
                        "filter, or device cpu",
                        backend->name);
    return FBP_OK;
}

fbp_status fbp_job_arrange(struct fbp_job *job, const struct fbp_backend *backend)
{
    FBP_TRY(check_precision(job, backend));
    FBP_TRY(check_rows(job, backend));
    const char *name = job->kernel ? job->kernel : fbp_environment(FBP_ENV_KERNEL);

    if (name && backend->choose(job, name))
        return FBP_OK;
    if (job->kernel)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "kernel: %s has no \"%s\" for this scan and volume: leave the choice to "
                        "the plan, or use \"matrix\", which takes any geometry",
                        backend->name, job->kernel);
    if (!backend->choose(job, NULL))
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "kernel: %s has none for this scan, volume and interpolation: use device "
                        "ref",
                        backend->name);
    return FBP_OK;
}
