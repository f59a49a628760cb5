#include "plan/part_layers.h"

#include "plan/cut.h"
#include "plan/roi.h"

fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2])
{
    struct fbp_job whole = *job;
    struct fbp_cut cut;
    size_t first, n;

    whole.share[0] = whole.share[1] = 0;
    fbp_roi_layers(&whole, &first, &n);
    if (of.n_parts > n)
        return fbp_fail(FBP_ERR_INVALID,
                        "part %zu of %zu: there are only %zu %s to share out: give at most %zu "
                        "parts",
                        of.part, of.n_parts, n,
                        job->mirrored ? "pairs of mirrored slices" : "slices", n);
    if (job->matrices)
        fbp_cut_find(&whole, &cut);
    for (size_t i = 0; i < 2; i++)
        share[i] = job->matrices ? fbp_cut_layer(&cut, n, of.n_parts, of.part - 1 + i)
                                 : (of.part - 1 + i) * n / of.n_parts;
    return FBP_OK;
}
