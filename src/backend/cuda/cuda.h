/** @file cuda.h  The device of the CUDA module (internal).
 *
 * Four streams, one a stage; tables and scratch in one block of device memory that is laid out by a
 * pure function, so that the plan knows its size (tables.h); views and volume as the kernel wants
 * them (kernel.h).
 */
#ifndef FBP_SRC_CUDA_DEVICE_H
#define FBP_SRC_CUDA_DEVICE_H

#include "backend/cuda/cufft.h"
#include "backend/cuda/kernel.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/partners.h"

#include <pthread.h>
#include <stdatomic.h>

/** Marks that a stage can tell apart; older ones wait for a later point, which is never wrong. */
enum { CUDA_EVENTS = 64 };

/** Slices are scaled and looked at in a queue of their own, which is part of the stage OUT: one
 *  piece, while the one before is copied. */
struct cuda_unpacking {
    cudaStream_t stream;
    cudaEvent_t filled[GPU_STAGES], copied[GPU_STAGES];
    unsigned next;
};

/** Events that tell times, for timelines. */
struct cuda_stamps {
    pthread_mutex_t lock;
    cudaEvent_t *events;
    size_t n, room;   /**< recorded, made */
    size_t n_read;    /**< of the recorded ones; when all are read they are used again */
    cudaEvent_t zero; /**< was passed at `seconds` of the host's clock */
    double seconds;
};

struct cuda_stream {
    cudaStream_t stream;
    cudaEvent_t events[CUDA_EVENTS]; /**< of ticket t: events[t % CUDA_EVENTS] */
    atomic_uint_fast64_t ticket;
};

/** One timed pass. */
struct cuda_trial {
    cudaEvent_t begin, end;
};

struct cuda_device {
    const struct fbp_job *job;
    int index;
    int node; /**< cuda_node_of() */
    const struct cuda_kernel *kernel;
    struct gpu_tuner tuner; /**< of the kernel's shapes */
    struct cuda_trial trials[GPU_TUNER_TRIALS];
    struct cuda_stream streams[FBP_N_STAGES];
    struct cuda_stamps stamps;
    struct cuda_unpacking unpacking;
    struct gpu_tables tables; /**< places in `memory` */
    char *memory;
    bool counts_once; /**< the ledger is filled */
    cufft_plan plan;  /**< CUFFT_NO_PLAN: not used */
    struct gpu_principal *principal;
    float half_scale; /**< of views in fp16; 0: not asked for yet */
    uint64_t reached; /**< bits of the devices whose memory it copies from */
};

static inline struct cuda_device *cuda_of(fbp_device *device)
{
    return (struct cuda_device *)(void *)device;
}

/** error.c: the status of a failed call, its message latched: the call, CUDA's text, what to do. */
fbp_status cuda_failed(cudaError_t error, const char *call);

#if defined __clang_analyzer__ && !defined FBP_CUDA_ERROR_C
/* As in base/status.h: failing is never FBP_OK. */
#    define cuda_failed(error, call) ((void)cuda_failed(error, call), FBP_ERR_DEVICE)
#endif

/** Pass on the failure of a call of CUDA's runtime. */
#define CUDA_TRY(call)                            \
    do {                                          \
        const cudaError_t cuda_try_ = (call);     \
        if (cuda_try_ != cudaSuccess)             \
            return cuda_failed(cuda_try_, #call); \
    } while (0)

/** Did a call succeed whose failure is an answer, and no error of the run?  It is not left to the
 *  next call. */
static inline bool cuda_is_done(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return error == cudaSuccess;
}

/** CUDA's number of the device of this index. */
int cuda_ordinal(int index);

/* stream.c: queues and marks. */
fbp_status cuda_streams_open(struct cuda_device *dev);
void cuda_streams_close(struct cuda_device *dev);
fbp_status cuda_mark(fbp_device *device, enum fbp_stage stage, struct fbp_mark *out);
fbp_status cuda_after(fbp_device *device, enum fbp_stage stage, struct fbp_mark mark);
fbp_status cuda_wait(fbp_device *device, struct fbp_mark mark);

/* stamps.c: when a queue came to a point. */
void cuda_stamps_open(struct cuda_device *dev);
void cuda_stamps_close(struct cuda_device *dev);
fbp_status cuda_stamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status cuda_stamped(fbp_device *device, uint64_t stamp, double *seconds);

/* trials.c: times of passes; user: the device. */
extern const struct gpu_timer cuda_timer;
void cuda_trials_close(struct cuda_device *dev);

/* place.c: where a device is. */
enum { CUDA_BUS_ID = 28 };
void cuda_bus_of(int ordinal, char out[CUDA_BUS_ID]); /* "": not known */
int cuda_node_of(int ordinal); /* of the host's memory, to place pages at; -1: anywhere */

/* host_memory.c: pinned.  For all devices, near the node (-1: anywhere), touched by some threads;
 * NULL if that cannot be had. */
void *cuda_pin(size_t bytes, int n_threads, int node);
void cuda_unpin(void *memory);
fbp_status cuda_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out);
void cuda_host_release(fbp_device *device, void *mem);

/* memory.c: of the device. */
bool cuda_reaches(fbp_device *device, const void *memory, size_t bytes);
fbp_status cuda_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out);
void cuda_release(fbp_device *device, enum fbp_purpose purpose, void *mem);

/* filter.c: raw views to filtered ones. */
extern const struct gpu_offer cuda_offer;
fbp_status cuda_filter_open(struct cuda_device *dev);
void cuda_filter_close(struct cuda_device *dev);
fbp_status cuda_filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                       void *filtered);
fbp_status cuda_filter_plain(fbp_device *device, const struct fbp_batch *batch, void *raw,
                             float *rows);
fbp_status cuda_download(fbp_device *device, const float *rows, size_t n, float *host);
fbp_status cuda_expect(fbp_device *device, const struct fbp_ledger *ledger);
fbp_status cuda_counts(fbp_device *device, struct fbp_prep_counts *out);

/* share.c: filtered views of another device. */
fbp_status cuda_share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                      fbp_device *from, const void *theirs);

/* volume.c: filtered views into a slab, and the slab to the host. */
fbp_status cuda_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status cuda_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status cuda_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host);
fbp_status cuda_statistics(fbp_device *device, struct fbp_statistics *out);

/** far.c: memory of the caller's.  What sort it is of, from its first byte to the last; false: CUDA
 *  does not know it, or it is of several sorts. */
bool cuda_memory_of(const void *memory, size_t bytes, struct cudaPointerAttributes *out);
/** CUDA's number of the device that has it; -1: none. */
int cuda_far_owner(const void *memory, size_t bytes);
/** As struct fbp_far_access has them, with CUDA's number of the device. */
fbp_status cuda_far_open(int ordinal, void *queue, struct fbp_far **out);
fbp_status cuda_far_queue(int number, void **out);
fbp_status cuda_far_wait(void *queue);
void cuda_far_drop_queue(void *queue);
fbp_status cuda_far_alloc(int ordinal, size_t bytes, void **out);
void cuda_far_release(int ordinal, void *memory);

#endif /* FBP_SRC_CUDA_DEVICE_H */
