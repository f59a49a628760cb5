/* fbp_backend_complete(): default functions for the slots that a backend does not set.  The
 * defaults suit a device that works in host memory, and whose slots return when the work is done.
 * backend.c calls it. */
#include "backend/device.h"

#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"

#include <string.h>

static int one_device(char *why, size_t n)
{
    (void)why;
    (void)n;
    return 1;
}

/* The caller has already written the backend's summary. */
static void summary_alone(int index, struct fbp_device_info *out)
{
    (void)index;
    (void)out;
}

static bool always(int index)
{
    (void)index;
    return true;
}

static bool matrix_alone(struct fbp_job *job, const char *name)
{
    job->selection.name = "matrix";
    job->selection.isa = "";
    job->selection.entry = NULL;
    return !name || strcmp(name, job->selection.name) == 0;
}

static void no_remark(const struct fbp_job *job, char *line, size_t n)
{
    (void)job;
    if (n > 0)
        line[0] = '\0';
}

static size_t no_tables(const struct fbp_job *job)
{
    (void)job;
    return 0;
}

static bool holds_any(int index, const struct fbp_job *job, const struct fbp_buffer *buffer,
                      char *why, size_t n)
{
    (void)index;
    (void)job;
    (void)buffer;
    (void)why;
    (void)n;
    return true;
}

static void no_rates(const struct fbp_job *job, struct fbp_rates *out)
{
    (void)job;
    *out = (struct fbp_rates){0};
}

static fbp_status host_alloc(fbp_device *dev, size_t bytes, const char *what, void **out)
{
    (void)dev;
    return fbp_alloc(out, bytes, what);
}

static void host_release(fbp_device *dev, void *memory)
{
    (void)dev;
    fbp_free(memory);
}

static int no_owner(const void *memory, size_t bytes)
{
    (void)memory;
    (void)bytes;
    return -1;
}

/* The other members are called only for memory that has an owner. */
static const struct fbp_device_memory_access no_memory_of_callers = {.owner = no_owner};

static bool reaches_nothing(fbp_device *dev, const void *host, size_t bytes)
{
    (void)dev;
    (void)host;
    (void)bytes;
    return false;
}

static fbp_status alloc(fbp_device *dev, const struct fbp_buffer *buffer, void **out)
{
    static const char *const what[] = {"a batch of views", "a batch of filtered views",
                                       "a slab of the volume"};

    (void)dev;
    return fbp_alloc(out, buffer->bytes, what[buffer->purpose]);
}

static void release(fbp_device *dev, enum fbp_purpose purpose, void *memory)
{
    (void)dev;
    (void)purpose;
    fbp_free(memory);
}

/* Samples in host memory need no upload. */
static fbp_status no_upload(fbp_device *dev, void *dst, const void *src, size_t n_samples)
{
    (void)dev;
    (void)dst;
    (void)src;
    (void)n_samples;
    return FBP_OK;
}

static fbp_status no_rows(fbp_device *dev, const struct fbp_batch *batch, void *raw, float *rows)
{
    (void)dev;
    (void)batch;
    (void)raw;
    (void)rows;
    return fbp_fail(FBP_ERR_UNSUPPORTED, "this device does not give filtered rows");
}

static fbp_status no_meridian(fbp_device *dev, const void *filtered,
                              const struct fbp_image_rows *picture, void *out)
{
    (void)dev;
    (void)filtered;
    (void)picture;
    (void)out;
    return fbp_fail(
        FBP_ERR_UNSUPPORTED,
        "this device cannot run the first of two stages: set stages to 1 or take another device");
}

static fbp_status no_share(fbp_device *dev, const struct fbp_batch *batch, void *filtered,
                           fbp_device *from, const void *theirs)
{
    (void)dev;
    (void)batch;
    (void)filtered;
    (void)from;
    (void)theirs;
    return fbp_fail(FBP_ERR_UNSUPPORTED, "these devices cannot copy filtered views to each other");
}

static fbp_status copy_rows(fbp_device *dev, const float *rows, size_t n, float *host)
{
    (void)dev;
    if (host != rows)
        memcpy(host, rows, n * sizeof *host);
    return FBP_OK;
}

static fbp_status no_statistics(fbp_device *dev, struct fbp_statistics *out)
{
    (void)dev;
    *out = FBP_NO_STATISTICS;
    return FBP_OK;
}

static fbp_status mark_past(fbp_device *dev, enum fbp_stage stage, struct fbp_event *out)
{
    (void)dev;
    *out = (struct fbp_event){.stage = stage};
    return FBP_OK;
}

static fbp_status after_nothing(fbp_device *dev, enum fbp_stage stage, struct fbp_event mark)
{
    (void)dev;
    (void)stage;
    (void)mark;
    return FBP_OK;
}

static fbp_status wait_for_nothing(fbp_device *dev, struct fbp_event mark)
{
    (void)dev;
    (void)mark;
    return FBP_OK;
}

/* A timestamp is the bits of the host's time, a double. */
static fbp_status stamp_now(fbp_device *dev, enum fbp_stage stage, uint64_t *out)
{
    const double now = fbp_seconds();

    (void)dev;
    (void)stage;
    memcpy(out, &now, sizeof now);
    return FBP_OK;
}

static fbp_status stamped(fbp_device *dev, uint64_t stamp, double *seconds)
{
    (void)dev;
    memcpy(seconds, &stamp, sizeof *seconds);
    return FBP_OK;
}

static fbp_status expect_nothing(fbp_device *dev, const struct fbp_row_bitmap *ledger)
{
    (void)dev;
    (void)ledger;
    return FBP_OK;
}

static fbp_status nothing_mended(fbp_device *dev, struct fbp_prep_counts *out)
{
    (void)dev;
    *out = (struct fbp_prep_counts){0};
    return FBP_OK;
}

/* A backend sets all slots of a group (such as alloc, release, upload) or none. */
static void fill_memory(struct fbp_backend *b)
{
    b->can.own_memory = b->memory.alloc != NULL;
    b->in_host = b->in_host || !b->can.own_memory;
    if (!b->memory.host_alloc) {
        b->memory.host_alloc = host_alloc;
        b->memory.host_release = host_release;
    }
    if (!b->memory.reaches)
        b->memory.reaches = reaches_nothing;
    if (!b->memory.of_caller)
        b->memory.of_caller = &no_memory_of_callers;
    if (!b->memory.alloc) {
        b->memory.alloc = alloc;
        b->memory.release = release;
        b->memory.upload = no_upload;
    }
}

static void fill_rows(struct fbp_backend *b)
{
    b->can.filtered_rows = b->filter_rows != NULL;
    if (!b->filter_rows)
        b->filter_rows = no_rows;
    b->can.meridian_images = b->meridian != NULL;
    if (!b->meridian)
        b->meridian = no_meridian;
    b->can.shares = b->share != NULL;
    if (!b->share)
        b->share = no_share;
    if (!b->memory.download)
        b->memory.download = copy_rows;
}

static void fill_order(struct fbp_backend *b)
{
    if (!b->event.record) {
        b->event.record = mark_past;
        b->event.stage_wait = after_nothing;
        b->event.host_wait = wait_for_nothing;
    }
    if (!b->event.timestamp) {
        b->event.timestamp = stamp_now;
        b->event.seconds = stamped;
    }
}

/* Slots that depend only on the job. */
static void fill_choice(struct fbp_backend *b)
{
    if (!b->choose)
        b->choose = matrix_alone;
    if (!b->remark)
        b->remark = no_remark;
    if (!b->fixed_bytes)
        b->fixed_bytes = no_tables;
    if (!b->holds)
        b->holds = holds_any;
    if (!b->rates)
        b->rates = no_rates;
}

static void fill_accounts(struct fbp_backend *b)
{
    b->can.statistics = b->statistics != NULL;
    if (!b->statistics)
        b->statistics = no_statistics;
    if (!b->repair.set_bitmap)
        b->repair.set_bitmap = expect_nothing;
    if (!b->repair.counts)
        b->repair.counts = nothing_mended;
}

void fbp_backend_complete(const struct fbp_backend *given, struct fbp_backend *out)
{
    *out = *given;
    if (!out->discovery.count)
        out->discovery.count = one_device;
    if (!out->discovery.describe)
        out->discovery.describe = summary_alone;
    if (!out->discovery.auto_selectable)
        out->discovery.auto_selectable = always;
    fill_choice(out);
    fill_memory(out);
    fill_rows(out);
    fill_order(out);
    fill_accounts(out);
}
