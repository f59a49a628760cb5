/* fbp_backend_complete(): sets functions that a backend does not define to defaults, for devices
 * that work in host memory and whose functions return when the work is done.
 * Used by: bench/predict/predict.c, backend.c. */
#include "backend/device.h"

#include "backend/slab.h"
#include "base/base.h"
#include "base/system.h"

#include <string.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* defaults need few of their parameters */

static int one_device(char *why, size_t n)
{
    return 1;
}

/* Default of discovery.describe(): fbp_devices() has written the summary to *out. */
static void summary_alone(int index, struct fbp_device_info *out)
{
}

static bool always(int index)
{
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
    if (n > 0)
        line[0] = '\0';
}

static size_t no_tables(const struct fbp_job *job)
{
    return 0;
}

static bool holds_any(int index, const struct fbp_job *job, const struct fbp_buffer *buffer,
                      char *why, size_t n)
{
    return true;
}

static void no_rates(const struct fbp_job *job, struct fbp_rates *out)
{
    *out = (struct fbp_rates){0};
}

static fbp_status host_alloc(fbp_device *dev, size_t bytes, const char *what, void **out)
{
    return fbp_alloc(out, bytes, what);
}

static void host_release(fbp_device *dev, void *memory)
{
    fbp_free(memory);
}

static int no_owner(const void *memory, size_t bytes)
{
    return -1;
}

/* Default of memory.of_caller: owner() returns -1 (no device), so no other function is called. */
static const struct fbp_device_memory_access no_memory_of_callers = {.owner = no_owner};

static bool reaches_nothing(fbp_device *dev, const void *host, size_t bytes)
{
    return false;
}

static fbp_status alloc(fbp_device *dev, const struct fbp_buffer *buffer, void **out)
{
    return fbp_alloc(out, buffer->bytes, fbp_purpose_name(buffer->purpose));
}

static void release(fbp_device *dev, enum fbp_purpose purpose, void *memory)
{
    fbp_free(memory);
}

/* Samples in host memory need no upload. */
static fbp_status no_upload(fbp_device *dev, void *dst, const void *src, size_t n_samples)
{
    return FBP_OK;
}

static fbp_status copy_rows(fbp_device *dev, const float *rows, size_t n, float *host)
{
    if (host != rows)
        memcpy(host, rows, n * sizeof *host);
    return FBP_OK;
}

static fbp_status no_statistics(fbp_device *dev, struct fbp_statistics *out)
{
    *out = FBP_NO_STATISTICS;
    return FBP_OK;
}

static fbp_status record_nothing(fbp_device *dev, enum fbp_stage stage, struct fbp_event *out)
{
    *out = (struct fbp_event){.stage = stage};
    return FBP_OK;
}

static fbp_status no_stage_wait(fbp_device *dev, enum fbp_stage stage, struct fbp_event event)
{
    return FBP_OK;
}

static fbp_status no_host_wait(fbp_device *dev, struct fbp_event event)
{
    return FBP_OK;
}

/* Default of event.timestamp(): the host's time in seconds, a double, stored bit by bit in *out. */
static fbp_status host_timestamp(fbp_device *dev, enum fbp_stage stage, uint64_t *out)
{
    const double now = fbp_seconds();

    memcpy(out, &now, sizeof now);
    return FBP_OK;
}

static fbp_status host_seconds(fbp_device *dev, uint64_t timestamp, double *seconds)
{
    memcpy(seconds, &timestamp, sizeof *seconds);
    return FBP_OK;
}

static fbp_status no_bitmap(fbp_device *dev, const struct fbp_row_bitmap *bitmap)
{
    return FBP_OK;
}

static fbp_status no_counts(fbp_device *dev, struct fbp_prep_counts *out)
{
    *out = (struct fbp_prep_counts){0};
    return FBP_OK;
}

/* Set a slot that the backend has not set. */
#define DEFAULT(SLOT, VALUE) out->SLOT = out->SLOT ? out->SLOT : (VALUE)

/* Copy a backend and set missing functions to defaults. A backend defines all functions of a group
 * (such as alloc, release, upload) or none. Some, such as share(), may stay NULL. */
void fbp_backend_complete(const struct fbp_backend *given, struct fbp_backend *out)
{
    *out = *given;
    out->can.own_memory = out->memory.alloc != NULL;
    out->can.filtered_rows = out->filter_rows != NULL;
    out->can.meridian_images = out->meridian != NULL;
    out->can.shares = out->share != NULL;
    out->can.statistics = out->statistics != NULL;
    out->in_host = out->in_host || !out->can.own_memory;

    DEFAULT(discovery.count, one_device);
    DEFAULT(discovery.describe, summary_alone);
    DEFAULT(discovery.auto_selectable, always);
    DEFAULT(choose, matrix_alone);
    DEFAULT(remark, no_remark);
    DEFAULT(fixed_bytes, no_tables);
    DEFAULT(holds, holds_any);
    DEFAULT(rates, no_rates);
    DEFAULT(memory.host_alloc, host_alloc);
    DEFAULT(memory.host_release, host_release);
    DEFAULT(memory.reaches, reaches_nothing);
    DEFAULT(memory.of_caller, &no_memory_of_callers);
    DEFAULT(memory.alloc, alloc);
    DEFAULT(memory.release, release);
    DEFAULT(memory.upload, no_upload);
    DEFAULT(memory.download, copy_rows);
    DEFAULT(event.record, record_nothing);
    DEFAULT(event.stage_wait, no_stage_wait);
    DEFAULT(event.host_wait, no_host_wait);
    DEFAULT(event.timestamp, host_timestamp);
    DEFAULT(event.seconds, host_seconds);
    DEFAULT(statistics, no_statistics);
    DEFAULT(repair.set_bitmap, no_bitmap);
    DEFAULT(repair.counts, no_counts);
}
