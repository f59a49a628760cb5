#include "backend/mock/mock.h"

#include "backend/mock/mock_device.h"
#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int count(char *why, size_t n)
{
    (void)why;
    (void)n;
    return FBP_MOCK_DEVICES;
}

static void describe(int index, struct fbp_device_info *out)
{
    snprintf(out->text, sizeof out->text, "%spretended device in host memory, number %d, for tests",
             fbp_mock_plant.other_sort[index] ? "another " : "", index);
    out->memory_bytes = fbp_available_bytes() / FBP_MOCK_DEVICES;
    out->free_bytes = fbp_mock_plant.free_bytes[index];
}

static bool choose(struct fbp_job *job, const char *name)
{
    return fbp_backend_cpu.choose(job, name);
}

static size_t filtered_bytes(const struct fbp_job *job, size_t n_views, size_t n_rows)
{
    return fbp_backend_cpu.filtered_bytes(job, n_views, n_rows);
}

static size_t volume_bytes(const struct fbp_job *job, const struct fbp_slab *slab)
{
    return fbp_backend_cpu.volume_bytes(job, slab);
}

static size_t fixed_bytes(const struct fbp_job *job)
{
    return fbp_backend_cpu.fixed_bytes(job);
}

static bool holds(int index, const struct fbp_job *job, const struct fbp_buffer *buffer, char *why,
                  size_t n)
{
    (void)job;
    const uint64_t most = buffer ? fbp_mock_plant.most_bytes[buffer->purpose] : 0;

    snprintf(why, n, "mock device %d holds no more, as a test wants: use --device cpu", index);
    return buffer ? !most || buffer->bytes <= most : !fbp_mock_plant.no_tables;
}

static void rates(const struct fbp_job *job, struct fbp_rates *out)
{
    (void)job;
    *out = fbp_mock_plant.rates;
}

static void close_device(fbp_device **device)
{
    struct mock_device *dev = (struct mock_device *)(void *)*device;

    if (!dev)
        return;
    /* First all of them: after an error their commands still wait for one another. */
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_drain(dev->streams[i]);
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_destroy(&dev->streams[i]);
    if (dev->inner)
        fbp_backend_cpu.close(&dev->inner);
    for (struct mock_stamp *next; dev->stamps; dev->stamps = next) {
        next = dev->stamps->next;
        free(dev->stamps);
    }
    pthread_mutex_destroy(&dev->lock);
    free(dev->ledger_bits);
    free(dev);
    *device = NULL;
}

static fbp_status open_device(fbp_device **out, int index, const struct fbp_job *job)
{
    struct mock_device *dev = NULL;
    fbp_status st = FBP_OK;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&dev, 1, sizeof *dev, "mock device"));
    *out = (fbp_device *)(void *)dev;
    dev->job = job;
    dev->index = index;
    pthread_mutex_init(&dev->lock, NULL);
    dev->found = (struct fbp_statistics){INFINITY, -INFINITY, 0};
    FBP_TRY_GOTO(mock_called(*out));
    FBP_TRY_GOTO(fbp_backend_cpu.open(&dev->inner, index, job));
    FBP_TRY_GOTO(fbp_calloc((void **)&dev->ledger_bits,
                            fbp_ledger_words(job->n_views, job->panel.n_rows),
                            sizeof *dev->ledger_bits, "mock ledger"));
    for (int i = 0; i < FBP_N_STAGES; i++) {
        const unsigned late = fbp_mock_plant.slow_stage == (unsigned)i + 1 ? 10 : 1;
        FBP_TRY_GOTO(mock_stream_create(&dev->streams[i], late * fbp_mock_plant.delay_us));
    }
    return FBP_OK;
fail:
    close_device(out);
    return st;
}

/* Bytes and shape of a batch must agree. */
static fbp_status mock_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out)
{
    FBP_TRY(mock_called(device));
    const struct fbp_job *job = ((struct mock_device *)(void *)device)->job;

    if (buffer->purpose == FBP_FOR_FILTERED &&
        buffer->bytes < filtered_bytes(job, buffer->n_views, buffer->n_rows))
        return fbp_fail(FBP_ERR_DEVICE, "mock: %zu bytes do not hold %zu views of %zu rows",
                        buffer->bytes, buffer->n_views, buffer->n_rows);
    if (fbp_mock_plant.no_memory)
        return fbp_fail_nomem(buffer->bytes, "mock device memory");
    FBP_TRY(fbp_alloc(out, buffer->bytes, "mock device memory"));
    mock_poison(*out, buffer->bytes);
    return FBP_OK;
}

static void mock_release(fbp_device *device, enum fbp_purpose purpose, void *mem)
{
    (void)device;
    (void)purpose;
    fbp_free(mem);
}

const struct fbp_backend fbp_backend_mock = {
    .name = "mock",
    .in_host = true,
    .hidden = true,
    .summary = "a pretended device with memory and queues of its own, for tests",
    .count = count,
    .describe = describe,
    .choose = choose,
    .filtered_bytes = filtered_bytes,
    .volume_bytes = volume_bytes,
    .fixed_bytes = fixed_bytes,
    .group_views = 8,
    .oversamples = true,
    .frames = true,
    .any_filter = true,
    .takes_counts = true,
    .most_staying = 4096,
    .holds = holds,
    .rates = rates,
    .far = &fbp_mock_far_access,
    .open = open_device,
    .close = close_device,
    .alloc = mock_alloc,
    .release = mock_release,
    .reaches = mock_reaches,
    .upload = mock_upload,
    .upload_pieces = mock_upload_pieces,
    .filter = mock_filter,
    .filter_rows = mock_filter_rows,
    .download = mock_download,
    .share = mock_share,
    .clear = mock_clear,
    .backproject = mock_backproject,
    .fetch = mock_fetch,
    .statistics = mock_statistics,
    .mark = mock_mark,
    .after = mock_after,
    .wait = mock_wait,
    .stamp = mock_stamp,
    .stamped = mock_stamped,
    .expect = mock_expect,
    .counts = mock_counts,
    .links = &fbp_mock_link_meter,
};
