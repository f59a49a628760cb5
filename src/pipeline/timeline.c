/* The timeline of a run (struct fbp_timeline): an SVG drawing with one lane per stage, in which a
 * bar shows when the stage worked on a batch or on slices.  The stages and the host begin and end
 * bars (struct fbp_span); fbp_timeline_svg() writes the file.
 * Used by: bench/papers/zinsser2013/, pipeline/. */
#include "pipeline/run.h"

#include "base/base.h"
#include "base/system.h"
#include "base/text.h"
#include "picture/draw.h"

#include <pthread.h>
#include <stdio.h>

/* A bar of the timeline.  The times of work on a device are those of the host's clock until
 * fbp_timeline_settle() has read the device's timestamps. */
struct entry {
    struct fbp_span span;
    struct fbp_bar bar;
};

struct fbp_timeline {
    pthread_mutex_t lock;
    double zero; /* value of fbp_seconds() at time 0 of the timeline, when it was created */
    struct entry *entries;
    size_t n, room;
};

fbp_status fbp_timeline_create(fbp_timeline **out)
{
    FBP_TRY(fbp_calloc((void **)out, 1, sizeof **out, "a timeline"));
    pthread_mutex_init(&(*out)->lock, NULL);
    (*out)->zero = fbp_seconds();
    return FBP_OK;
}

void fbp_timeline_destroy(fbp_timeline **t)
{
    if (!*t)
        return;
    pthread_mutex_destroy(&(*t)->lock);
    free((*t)->entries);
    free(*t);
    *t = NULL;
}

struct fbp_span fbp_span_host(fbp_timeline *timeline)
{
    return (struct fbp_span){.to = timeline, .begin = timeline ? fbp_seconds() : 0};
}

fbp_status fbp_span_device(fbp_timeline *timeline, const struct fbp_backend *backend,
                           fbp_device *dev, enum fbp_stage stage, struct fbp_span *out)
{
    *out = fbp_span_host(timeline);
    if (!timeline)
        return FBP_OK;
    out->backend = backend;
    out->dev = dev;
    out->stage = stage;
    out->queued = true;
    return backend->event.timestamp(dev, stage, &out->stamps[0]);
}

fbp_status fbp_span_end(struct fbp_span *span, enum fbp_lane lane, size_t shade, const char *fmt,
                        ...)
{
    struct entry e = {.bar = {.lane = lane, .shade = shade}};
    fbp_timeline *t = span->to;
    fbp_status st = FBP_OK;

    if (!t)
        return FBP_OK;
    if (span->queued)
        FBP_TRY(span->backend->event.timestamp(span->dev, span->stage, &span->stamps[1]));
    e.span = *span;
    e.bar.begin = span->begin - t->zero;
    FBP_PRINT_ARGUMENTS(e.bar.words, sizeof e.bar.words, fmt);
    pthread_mutex_lock(&t->lock);
    if (t->n == t->room) {
        const size_t room = t->room ? 2 * t->room : 256;
        struct entry *more = realloc(t->entries, room * sizeof *more);
        if (more) {
            t->entries = more;
            t->room = room;
        }
    }
    if (t->n < t->room) {
        /* the bars of a lane must be stored in the order of their ends, so lock first */
        e.bar.end = fbp_seconds() - t->zero;
        t->entries[t->n++] = e;
    } else {
        st = fbp_fail_nomem(2 * t->room * sizeof e, "a timeline");
    }
    pthread_mutex_unlock(&t->lock);
    return st;
}

fbp_status fbp_timeline_settle(fbp_timeline *t, fbp_device *dev)
{
    for (size_t i = 0; t && i < t->n; i++) {
        struct entry *e = &t->entries[i];
        double begin, end;
        if (!e->span.queued || e->span.dev != dev)
            continue;
        FBP_TRY(e->span.backend->event.seconds(dev, e->span.stamps[0], &begin));
        FBP_TRY(e->span.backend->event.seconds(dev, e->span.stamps[1], &end));
        e->span.queued = false;
        e->bar.begin = begin - t->zero;
        e->bar.end = end - t->zero;
    }
    return FBP_OK;
}

fbp_status fbp_timeline_svg(const fbp_timeline *t, const char *title, const char *path)
{
    static const char *const lanes[FBP_N_LANES] = {[FBP_LANE_HOST] = "host",
                                                   [FBP_LANE_READ] = "read",
                                                   [FBP_LANE_UPLOAD] = "upload",
                                                   [FBP_LANE_FILTER] = "filter",
                                                   [FBP_LANE_BACKPROJECT] = "backproject",
                                                   [FBP_LANE_FETCH] = "fetch",
                                                   [FBP_LANE_WRITE] = "write"};
    struct fbp_bar *bars = NULL;

    FBP_TRY(fbp_calloc((void **)&bars, t->n + 1, sizeof *bars, "bars"));
    for (size_t i = 0; i < t->n; i++)
        bars[i] = t->entries[i].bar;
    const fbp_status st = fbp_bars_svg(path, title, lanes, FBP_N_LANES, bars, t->n);
    free(bars);
    return st;
}
