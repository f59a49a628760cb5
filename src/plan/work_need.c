/* What a division of the work would need, where none fits. */
#include "plan/held.h"
#include "plan/work_count.h"

#include "base/stop.h"
#include "base/text.h"

/* What a process holds before it begins differs by some 300 KiB from run to run. */
enum { RESIDENT_VARIES = 1 << 20 };

/* The least so far. */
struct need {
    uint64_t memory;            /* of divisions that the devices have the memory for; or none */
    uint64_t device, beside_it; /* of the others, and of the host's memory then; or none */
    bool held;                  /* devices can have the buffers of some division */
};

static const uint64_t NONE = UINT64_MAX;

static bool device_lacks(const struct fbp_work *w, const struct fbp_work_request *rq)
{
    return rq->device_limit > 0 && w->device_bytes > rq->device_limit;
}

/* Is it less than what was found, as far as it is known? */
static bool is_less(const struct fbp_work *w, const struct fbp_work_request *rq,
                    const struct need *least)
{
    if (device_lacks(w, rq))
        return least->memory == NONE && w->device_bytes < least->device;
    return w->memory_bytes < least->memory;
}

static void note(const struct fbp_work *w, const struct fbp_work_request *rq, struct need *least)
{
    least->held = true;
    if (!is_less(w, rq, least))
        return;
    if (!device_lacks(w, rq)) {
        least->memory = w->memory_bytes;
        return;
    }
    least->device = w->device_bytes;
    least->beside_it = w->memory_bytes;
}

/* Slabs of so many slices, with each batch.  What rows views need is counted only where the rest
 * leaves room for them: that takes long. */
static void try_batches(const struct fbp_work_request *rq, struct fbp_work *w, struct need *least,
                        char why[FBP_HELD_WHY])
{
    for (size_t batch = fbp_work_largest_batch(rq);; batch = fbp_work_smaller_batch(rq, batch)) {
        w->batch_views = batch;
        w->n_batches = fbp_work_batches(w, rq->job);
        fbp_work_count_slabs(w, rq);
        if (!least->held || is_less(w, rq, least)) {
            fbp_work_count(w, rq);
            if (fbp_held_slab(rq, w->volume_bytes, why) && fbp_held_views(w, rq, why))
                note(w, rq, least);
        }
        if (batch <= rq->backend->group_views)
            return;
    }
}

fbp_status fbp_work_need(const struct fbp_work_request *rq, size_t slabs, struct fbp_work *out)
{
    const size_t nz = fbp_work_slices(rq->job);
    struct need least = {.memory = NONE, .device = NONE};
    struct fbp_work_request few = *rq;
    struct fbp_work w = *out;
    char why[FBP_HELD_WHY] = "";

    few.few_blocks = true;
    w.weighed = false;
    for (; slabs > 0; slabs = fbp_work_more_slabs(slabs, nz)) {
        w.slab_slices = (nz + slabs - 1) / slabs;
        w.n_slabs = (nz + w.slab_slices - 1) / w.slab_slices;
        try_batches(&few, &w, &least, why);
        FBP_TRY(fbp_go_on());
    }
    if (!least.held)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "device: %s", why);
    out->memory_bytes = least.memory < NONE ? least.memory : least.beside_it;
    out->device_bytes = least.memory < NONE ? 0 : least.device;
    return FBP_OK;
}

fbp_status fbp_work_too_large(const struct fbp_work_request *rq, struct fbp_work *out)
{
    char needs[32], has[32];

    if (device_lacks(out, rq))
        return fbp_fail(FBP_ERR_NOMEM,
                        "memory: this reconstruction needs at least %s of device memory, the limit "
                        "is %s: raise --device-memory or lower the volume's size",
                        fbp_bytes_up_text(needs, sizeof needs, out->device_bytes),
                        fbp_bytes_text(has, sizeof has, rq->device_limit));
    out->memory_bytes += RESIDENT_VARIES;
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: this reconstruction needs at least %s, the limit is %s: raise "
                    "--memory, or lower --threads or the volume's size",
                    fbp_bytes_up_text(needs, sizeof needs, out->memory_bytes),
                    fbp_bytes_text(has, sizeof has, rq->memory_limit));
}
