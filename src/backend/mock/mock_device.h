/** @file mock_device.h  The parts of the pretended device (internal). */
#ifndef FBP_SRC_MOCK_DEVICE_H
#define FBP_SRC_MOCK_DEVICE_H

#include "backend/backend.h"
#include "backend/mock/stream.h"

#include <pthread.h>
#include <stdatomic.h>

struct mock_device {
    const struct fbp_job *job;
    int index;
    fbp_device *inner;
    struct mock_stream *streams[FBP_N_STAGES];
    atomic_uint_fast64_t n_uploads, n_afters, n_waits, n_calls, n_commands;
    struct fbp_statistics found; /**< OUT's thread, and the host when it is past */
    unsigned *ledger_bits;       /**< FILTER's thread only */
    size_t n_fetched;            /**< slices of the slab that is being fetched; OUT's thread only */
    pthread_mutex_t lock;        /**< stamps */
    struct mock_stamp *stamps;
};

/** The time of a command, which stays until the device is closed. */
struct mock_stamp {
    double seconds;
    struct mock_stamp *next;
};

/** Commands: what a slot was called with, run later by its stage's thread. */
struct mock_command {
    struct mock_device *dev;
    mock_command_fn *run;
    void *dst, *volume;
    const void *src;
    size_t n_pieces, n_samples, stride, z0, z1;
    struct fbp_batch batch;
    struct fbp_slab slab;
};

/** Its arithmetic. */
extern const struct fbp_backend fbp_backend_cpu;

/** A call fails if a test wants it; after that one all fail, as on a device that is lost. */
fbp_status mock_called(fbp_device *device);
/** ... and the device works no more, on nobody's memory, when this returns. */
fbp_status mock_called_last(fbp_device *device);
/** Fill with what no upload can contain; is any of it left? */
void mock_poison(void *mem, size_t bytes);
bool mock_is_poisoned(const void *mem, size_t n_samples);
/** Queue a copy of *c. */
fbp_status mock_submit(struct mock_device *dev, enum fbp_stage stage, mock_command_fn *fn,
                       const struct mock_command *c);

/** mock_commands.c */
bool mock_reaches(fbp_device *device, const void *host, size_t bytes);
fbp_status mock_upload(fbp_device *device, void *dst, const void *src, size_t n_samples);
fbp_status mock_upload_pieces(fbp_device *device, void *dst, const void *src, size_t n,
                              size_t n_samples, size_t stride);
fbp_status mock_filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                       void *filtered);
fbp_status mock_filter_rows(fbp_device *device, const struct fbp_batch *batch, void *raw,
                            float *rows);
fbp_status mock_download(fbp_device *device, const float *rows, size_t n, float *host);
fbp_status mock_share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                      fbp_device *from, const void *theirs);
fbp_status mock_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status mock_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status mock_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host);
fbp_status mock_statistics(fbp_device *device, struct fbp_statistics *out);

/** mock_order.c */
fbp_status mock_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out);
fbp_status mock_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark m);
fbp_status mock_wait(fbp_device *device, struct fbp_mark m);
fbp_status mock_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status mock_stamped(fbp_device *device, uint64_t at, double *seconds);
fbp_status mock_expect(fbp_device *device, const struct fbp_ledger *ledger);
fbp_status mock_counts(fbp_device *device, struct fbp_prep_counts *out);

#endif /* FBP_SRC_MOCK_DEVICE_H */
