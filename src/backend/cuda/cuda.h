/** @file cuda.h  The device of the CUDA module, and the functions of its host code (internal).
 * entry.c stores many of these functions in the backend's table, which the pipeline calls.  A
 * device has four streams, one per stage, and one more for output.  Its tables and scratch lie in
 * one block of device memory, whose layout depends on the job only (backend/gpu/tables.h); views
 * and volume have the layout of the job's kernel (kernel.h).  CUDA's ordinals number all devices;
 * the library's indices number the usable ones.
 * Used by: bench/cuda/, backend/cuda/. */
#ifndef FBP_SRC_BACKEND_CUDA_CUDA_H
#define FBP_SRC_BACKEND_CUDA_CUDA_H

#include "backend/backend.h"
#include "backend/cuda/kernel.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/module.h"
#include "backend/views.h"

#include <pthread.h>
#include <stdatomic.h>

/** Number of events per stream, used in turn.  A wait for an old event may thus wait for later work
 * of the stream, which is longer than necessary, but correct. */
enum { CUDA_EVENTS = 64 };

/** Second stream of the output stage: scales slices and computes their statistics, while the
 * stage's first stream copies the previous slices to the host. */
struct cuda_unpacking {
    cudaStream_t stream;
    cudaEvent_t filled[GPU_STAGES], copied[GPU_STAGES]; /**< end of each buffer's last fill, copy */
    unsigned next; /**< number of fills of slice buffers; fill i uses buffer i % GPU_STAGES */
};

/** Timestamps for the timeline of a run (pipeline/timeline.c). */
struct cuda_timestamps {
    pthread_mutex_t lock;
    cudaEvent_t *events;
    size_t n, room; /**< number of events recorded, and created */
    size_t n_read; /**< number of events read; if it reaches n, events are reused from index 0 on */
    cudaEvent_t zero; /**< reference event of all timestamps */
    double seconds;   /**< time of `zero` by fbp_seconds() */
};

struct cuda_stream {
    cudaStream_t stream;
    cudaEvent_t events[CUDA_EVENTS]; /**< event number t (its ticket) is events[t % CUDA_EVENTS] */
    atomic_uint_fast64_t ticket;     /**< last ticket */
};

struct cuda_device {
    const struct fbp_job *job;
    int index; /**< CUDA's ordinal */
    int node;  /**< NUMA node by cuda_node_of(); -1: any */
    const struct cuda_kernel *kernel;
    struct gpu_tuner tuner; /**< chooses the shape of the backprojection kernel (tile and window) */
    /** events around the launches that the tuner times */
    cudaEvent_t trials[2 * GPU_TUNER_TRIALS];
    struct cuda_stream streams[FBP_N_STAGES];
    struct cuda_timestamps timestamps;
    struct cuda_unpacking unpacking;
    struct gpu_tables tables; /**< offsets in `memory` */
    char *memory;             /**< device memory of tables and scratch */
    bool counts_once;         /**< repairs are counted only in rows that tables.row_bitmap marks */
    /** cuFFT plan of the row filter; CUDA_NO_FFT: rows are filtered by another method */
    cuda_fft_plan plan;
    struct gpu_principal *principal;   /**< per view */
    struct cuda_decimation decimation; /**< of kernel "hierarchical"; others: NULL */
    float half_scale; /**< factor by which views in fp16 are scaled; 0: not computed yet */
    /** bit (ordinal % 64): cuda_peer_reach() has prepared copies from that device */
    uint64_t reached;
};

static inline struct cuda_device *cuda_of(fbp_device *device)
{
    return (struct cuda_device *)(void *)device;
}

/* entry.c: errors and devices */

/** Set the message of a failed CUDA call: its name, CUDA's text, a remedy.
 * @return FBP_ERR_NOMEM if device memory is exhausted, else FBP_ERR_DEVICE */
fbp_status cuda_failed(cudaError_t error, const char *call);

#if defined __clang_analyzer__ && !defined FBP_CUDA_ENTRY_C
/* For clang's analyzer: states that cuda_failed() never returns FBP_OK, as base/base.h does for
 * fbp_fail(). */
#    define cuda_failed(error, call) ((void)cuda_failed(error, call), FBP_ERR_DEVICE)
#endif

/** Call CUDA's runtime; if the call fails, return cuda_failed() from the calling function. */
#define CUDA_TRY(call)                            \
    do {                                          \
        const cudaError_t cuda_try_ = (call);     \
        if (cuda_try_ != cudaSuccess)             \
            return cuda_failed(cuda_try_, #call); \
    } while (0)

/** Returns whether a CUDA call succeeded, and clears CUDA's error; for calls that may fail. */
static inline bool cuda_is_done(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return error == cudaSuccess;
}

/** Returns CUDA's ordinal of the device with index `index` in the library's list. */
int cuda_ordinal(int index);

/** Writes the PCI address of a device in lower case, or "", to out[CUDA_BUS_ID]. */
enum { CUDA_BUS_ID = 28 };
void cuda_bus_of(int ordinal, char out[CUDA_BUS_ID]);

/** Returns the NUMA node nearest to a device; -1: unknown, or the machine has only one node. */
int cuda_node_of(int ordinal);

/* stream.c: streams, events, times.  From cuda_event_record() on: members of the backend. */
fbp_status cuda_streams_open(struct cuda_device *dev);
void cuda_streams_close(struct cuda_device *dev);
fbp_status cuda_event_record(fbp_device *device, enum fbp_stage stage, struct fbp_event *out);
fbp_status cuda_stream_wait_event(fbp_device *device, enum fbp_stage stage, struct fbp_event mark);
fbp_status cuda_event_wait(fbp_device *device, struct fbp_event mark);
fbp_status cuda_timestamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status cuda_timestamp_read(fbp_device *device, uint64_t stamp, double *seconds);

/** Times kernel launches for the tuner (gpu/tuner.h); `user` is a struct cuda_device. */
extern const struct gpu_timer cuda_timer;

/* memory.c: pinned host memory, device memory, and device memory of the library's caller */

/** Allocate host memory on a NUMA node (-1: any), pinned for all devices. Memory of 64 MiB or more
 * is first written by n_threads threads, at most 16. Returns NULL on failure. */
void *cuda_pin(size_t bytes, int n_threads, int node);
void cuda_unpin(void *memory);
fbp_status cuda_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out);
void cuda_host_release(fbp_device *device, void *mem);

bool cuda_reaches(fbp_device *device, const void *memory, size_t bytes);
fbp_status cuda_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out);
void cuda_release(fbp_device *device, enum fbp_purpose purpose, void *mem);

/** Create, and free, groups and images of kernel "hierarchical". */
fbp_status cuda_images_open(struct cuda_device *dev);
void cuda_images_close(struct cuda_device *dev);

/** Returns the buffer of one batch inside a buffer of several batches.  In plain memory, `memory`
 * of the result is the address of the batch, and *group0 is 0; in a texture, *group0 is the layer
 * of the batch's first group of symmetric views. */
struct cuda_views cuda_views_at(const struct cuda_kernel *kernel, const struct fbp_job *job,
                                const struct fbp_batch *batch, const struct cuda_views *views,
                                unsigned *group0);

/** Return the device that owns the caller's memory (device or managed memory): cuda_memory_owner()
 * its CUDA ordinal, cuda_memory_index() its index in the library's list of devices.  -1: the memory
 * belongs to no device, or the device cannot be used. */
int cuda_memory_owner(const void *memory, size_t bytes);
int cuda_memory_index(const void *memory, size_t bytes);
extern const struct fbp_device_memory_access cuda_device_memory;

/* cufft.c: cuFFT, loaded at run time */

/** Returns whether cuFFT was found; the first call searches the default path (LD_LIBRARY_PATH),
 * CUDA_HOME, CUDA_PATH, /usr/local/cuda, /opt/cuda, and pip's package nvidia-cufft. */
bool cuda_fft_found(void);

/** Create a plan for `rows` complex transforms of length n in place; rows are contiguous.
 * @param[out] work_bytes  bytes of scratch that the plan needs; the caller allocates them */
fbp_status cuda_fft_create(cuda_fft_plan *out, size_t n, size_t rows, size_t *work_bytes);
void cuda_fft_destroy(cuda_fft_plan *plan);

/** Set the scratch memory of a cuFFT plan, and the stream in which it runs. */
fbp_status cuda_fft_place(cuda_fft_plan plan, void *work, cudaStream_t stream);

/** Transform the rows of a cuFFT plan in place, without a scale factor. */
fbp_status cuda_fft_run(cuda_fft_plan plan, float2 *rows, bool inverse);

/* filter.c: filters raw views.  The functions from cuda_filter() on are members of the backend. */

/** Functions by which backend/gpu/tables.c chooses the filter: one launch, cuFFT, or in space. */
extern const struct gpu_filter_capabilities cuda_offer;
fbp_status cuda_filter_open(struct cuda_device *dev);
fbp_status cuda_filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                       void *filtered);
/** Filter a batch to plain rows [n_views][n_rows][padded.panel.n_columns] (`filter_rows`). */
fbp_status cuda_filter_plain(fbp_device *device, const struct fbp_batch *batch, void *raw,
                             float *rows);
/** Copy n floats of plain filtered rows to the host (member `download` of the backend). */
fbp_status cuda_download(fbp_device *device, const float *rows, size_t n, float *host);
/** Copy to the device the bitmap of rows that are not counted yet (`set_bitmap`). */
fbp_status cuda_count_mask(fbp_device *device, const struct fbp_row_bitmap *ledger);
fbp_status cuda_counts(fbp_device *device, struct fbp_prep_counts *out);

/* volume.c: adds filtered views to a slab, and copies it to the host (members of the backend) */
fbp_status cuda_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status cuda_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status cuda_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host);
fbp_status cuda_statistics(fbp_device *device, struct fbp_statistics *out);

/* peer.c: copies between devices */

/** Copy the filtered views of a batch from another device (member `share` of the backend). */
fbp_status cuda_share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                      fbp_device *from, const void *theirs);

/** Result of cuda_peer_enable(): NONE: the devices do not support direct access; ENABLED: it was
 * enabled before; NEW: this call enabled it, and the caller may disable it. */
enum cuda_peer { CUDA_PEER_NONE, CUDA_PEER_ENABLED, CUDA_PEER_NEW };

/** One end of a test copy: CUDA_PEER_PROBE bytes of device memory, and a stream. */
enum { CUDA_PEER_PROBE = 64 << 10 };
struct cuda_peer_end {
    int device;
    char *memory;
    cudaStream_t stream;
};

/** Enable access of `device`, which becomes current, to `other`; CUDA's error is cleared. */
enum cuda_peer cuda_peer_enable(int device, int other);

/** Returns whether a test copy arrives unchanged: settings of the machine's bus (IOMMU, ACS) may
 * corrupt copies without an error. host: CUDA_PEER_PROBE bytes, to compare. */
bool cuda_peer_carries(const struct cuda_peer_end *from, const struct cuda_peer_end *to,
                       unsigned char *host);

/** Prepare copies from device `from` to device `to`: direct copies if a test copy arrives unchanged
 *  (tested once per process), else copies through the host.  `to` becomes current.
 * @return FBP_ERR_DEVICE if copies through the host are corrupted, too */
fbp_status cuda_peer_reach(int to, int from);

/** Fault injection: number of next test copies that count as corrupted; 0 except in tests. */
extern unsigned cuda_peer_fault;

/* links.c: measures rates of copies between memories; functions of struct fbp_link_meter.
 * cuda_link_identify() and cuda_link_open() take CUDA's ordinals. */

/** Bytes of device memory and of host memory that the measurement of links allocates per device:
 * the lower half is the source of copies, the upper half is the target. */
enum { CUDA_LINK_DEVICE_BYTES = 256 << 20, CUDA_LINK_HOST_BYTES = 128 << 20 };

bool cuda_link_identify(int ordinal, char *out, size_t n);
fbp_status cuda_link_open(void **out, const int *ordinals, size_t n);
void cuda_link_close(void **meter);
bool cuda_link_connect(void *meter, size_t from, size_t to);
fbp_status cuda_link_rate(void *meter, const struct fbp_flow *flows, size_t n, double *out);

#endif /* FBP_SRC_BACKEND_CUDA_CUDA_H */
