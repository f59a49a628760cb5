/* The order of the pretended device's queues, times in them, and what is counted. */
#include "backend/mock/mock.h"

#include "backend/mock/mock_device.h"
#include "base/system.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

fbp_status mock_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out)
{
    FBP_TRY(mock_called_last(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    *out = (struct fbp_mark){stage, mock_stream_ticket(dev->streams[stage])};
    return FBP_OK;
}

fbp_status mock_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark m)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_afters, 1) + 1 == fbp_mock_plant.drop_after)
        return FBP_OK;
    return mock_stream_after(dev->streams[stage], dev->streams[m.stage], m.ticket);
}

fbp_status mock_wait(fbp_device *device, struct fbp_mark m)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;

    if (atomic_fetch_add(&dev->n_waits, 1) + 1 == fbp_mock_plant.drop_wait)
        return FBP_OK;
    return mock_stream_wait(dev->streams[m.stage], m.ticket);
}

static fbp_status run_stamp(void *user)
{
    const struct mock_command *c = user;
    struct mock_stamp *s = c->dst;

    s->seconds = fbp_seconds();
    return FBP_OK;
}

fbp_status mock_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out)
{
    FBP_TRY(mock_called(device));
    struct mock_device *dev = (struct mock_device *)(void *)device;
    struct mock_stamp *s = NULL;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "a stamp"));
    pthread_mutex_lock(&dev->lock);
    s->next = dev->stamps;
    dev->stamps = s;
    pthread_mutex_unlock(&dev->lock);
    *out = (uint64_t)(uintptr_t)s;
    return mock_submit(dev, stage, run_stamp, &(struct mock_command){.dst = s});
}

fbp_status mock_stamped(fbp_device *device, uint64_t at, double *seconds)
{
    FBP_TRY(mock_called(device));
    *seconds = ((struct mock_stamp *)(uintptr_t)at)->seconds;
    return FBP_OK;
}

/* A ledger on its way, with its bits behind it. */
struct new_ledger {
    struct mock_device *dev;
    struct fbp_ledger ledger;
    unsigned bits[];
};

static size_t ledger_bytes(const struct fbp_ledger *l)
{
    return fbp_ledger_words(l->n_views, l->n_rows) * sizeof *l->bits;
}

static fbp_status run_expect(void *user)
{
    const struct new_ledger *c = user;
    struct fbp_ledger own = c->ledger;

    own.bits = memcpy(c->dev->ledger_bits, c->bits, ledger_bytes(&own));
    return fbp_backend_cpu.expect(c->dev->inner, &own);
}

/* A run has ended: a stop, and half of a slab, are not those of the next. */
static void forget_run(struct mock_device *dev)
{
    for (int i = 0; i < FBP_N_STAGES; i++)
        mock_stream_go_on(dev->streams[i]);
    dev->n_fetched = 0;
}

/* The caller may change the bits before this is at the front of the queue.  Without bits: the run
 * has ended, and the queues are empty. */
fbp_status mock_expect(fbp_device *device, const struct fbp_ledger *ledger)
{
    struct mock_device *dev = (struct mock_device *)(void *)device;
    const size_t bytes = ledger_bytes(ledger);
    struct new_ledger *c;

    FBP_TRY(ledger->bits ? mock_called(device) : mock_called_last(device));
    if (!ledger->bits) {
        forget_run(dev);
        return fbp_backend_cpu.expect(dev->inner, ledger);
    }
    c = malloc(sizeof *c + bytes);
    if (!c)
        return fbp_fail_nomem(sizeof *c + bytes, "mock command");
    *c = (struct new_ledger){dev, *ledger};
    memcpy(c->bits, ledger->bits, bytes);
    return mock_stream_submit(dev->streams[FBP_STAGE_FILTER], run_expect, c);
}

fbp_status mock_counts(fbp_device *device, struct fbp_prep_counts *out)
{
    FBP_TRY(mock_called(device));
    return fbp_backend_cpu.counts(((struct mock_device *)(void *)device)->inner, out);
}
