/* A way of doing the job of S0 as options of a reconstruction. */
#include "bench/papers/okitsu2008/text.h"

struct recon_args s0_arguments(const struct s0_session *s, const struct s0_case *kind, bool apart)
{
    struct recon_args r = {
        RECON_ARGS,
        .p = *fbp_recon_params(.device = s->a->device, .n_threads = s->a->threads,
                               .memory_bytes = s->a->memory, .filter = FBP_FILTER_SHEPP_LOGAN,
                               .no_overlap = apart, .progress = progress_update,
                               .user = s->progress),
        .scan = kind->matrices ? s->place->matrices : s->place->scan,
    };

    if (kind->spatial)
        r.p.half_width = s->a->size / 2, r.p.spatial_filter = 1;
    r.p.kernel = kind->kernel;
    r.p.batch_views = kind->batch;
    return r;
}
