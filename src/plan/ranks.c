#include "plan/ranks.h"

#include "plan/part_layers.h"
#include "plan/roi.h"

void fbp_ranks_choose(const struct fbp_job *job, size_t rank, size_t size, struct fbp_ranks *out)
{
    struct fbp_job whole = *job;
    size_t first, n;

    whole.share[0] = whole.share[1] = 0;
    fbp_roi_layers(&whole, &first, &n);
    out->n_slabs = size < n ? size : n;
    out->idle = rank >= out->n_slabs;
    out->slab = out->idle ? out->n_slabs - 1 : rank;
}

fbp_status fbp_ranks_share(const struct fbp_ranks *ranks, struct fbp_job *job)
{
    return fbp_part_share(job, (struct fbp_part_of){ranks->slab + 1, ranks->n_slabs}, job->share);
}
