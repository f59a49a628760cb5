#include "plan/held.h"

static bool holds(const struct fbp_work_request *rq, const struct fbp_buffer *buffer,
                  char why[FBP_HELD_WHY])
{
    const size_t n = rq->devices ? rq->n_workers : 1;

    for (size_t i = 0; i < n; i++)
        if (!rq->backend->holds(rq->devices ? rq->devices[i] : 0, rq->job, buffer, why,
                                FBP_HELD_WHY))
            return false;
    return true;
}

fbp_status fbp_held_tables(const struct fbp_work_request *rq)
{
    char why[FBP_HELD_WHY];

    return holds(rq, NULL, why) ? FBP_OK : fbp_fail(FBP_ERR_UNSUPPORTED, "device: %s", why);
}

bool fbp_held_slab(const struct fbp_work_request *rq, size_t bytes, char why[FBP_HELD_WHY])
{
    return holds(rq, &(struct fbp_buffer){FBP_FOR_VOLUME, bytes, 0, 0}, why);
}

static bool holds_raw(const struct fbp_work *w, const struct fbp_work_request *rq,
                      char why[FBP_HELD_WHY])
{
    const struct fbp_buffer raw = {FBP_FOR_RAW, w->raw_device_bytes, w->batch_views, w->load_rows};

    return holds(rq, &raw, why);
}

bool fbp_held_views(const struct fbp_work *w, const struct fbp_work_request *rq,
                    char why[FBP_HELD_WHY])
{
    const size_t n = w->kept ? rq->job->n_views : w->batch_views;
    const struct fbp_buffer filtered = {FBP_FOR_FILTERED, w->filtered_bytes, n, w->filter_rows};

    return holds_raw(w, rq, why) && holds(rq, &filtered, why);
}

bool fbp_held_rows(const struct fbp_work *w, const struct fbp_work_request *rq,
                   char why[FBP_HELD_WHY])
{
    const struct fbp_buffer rows = {FBP_FOR_RAW, w->filtered_bytes, w->batch_views, w->filter_rows};

    return holds_raw(w, rq, why) && holds(rq, &rows, why);
}
