/** @file cuda.h  The device of the CUDA module, and the functions of its host code (internal).
 *
 * A device has four streams, one per stage; tables and scratch in one block of device memory, whose
 * layout is a pure function of the job (backend/gpu/tables.h); views and volume in the layout of
 * the job's kernel (kernel.h).  CUDA numbers all devices by ordinals; the library's indices count
 * the usable ones.
 */
#ifndef FBP_SRC_BACKEND_CUDA_CUDA_H
#define FBP_SRC_BACKEND_CUDA_CUDA_H

#include "backend/cuda/kernel.h"
#include "backend/gpu/host.h"
#include "backend/gpu/tables.h"
#include "backend/gpu/tuner.h"
#include "backend/link_meter.h"
#include "backend/partners.h"

#include <pthread.h>
#include <stdatomic.h>

/** Number of events per stream.  A ticket that is older waits for a later event, which is never
 *  wrong. */
enum { CUDA_EVENTS = 64 };

/** The second stream of the stage OUT: slices are scaled and their statistics computed in one piece
 *  while the piece before is copied. */
struct cuda_unpacking {
    cudaStream_t stream;
    cudaEvent_t filled[GPU_STAGES], copied[GPU_STAGES];
    unsigned next;
};

/** Timed events, for timelines. */
struct cuda_timestamps {
    pthread_mutex_t lock;
    cudaEvent_t *events;
    size_t n, room;   /**< recorded, created */
    size_t n_read;    /**< number of events that were read; when all are, they are used again */
    cudaEvent_t zero; /**< was passed at `seconds` of the host's clock */
    double seconds;
};

struct cuda_stream {
    cudaStream_t stream;
    cudaEvent_t events[CUDA_EVENTS]; /**< ticket t has events[t % CUDA_EVENTS] */
    atomic_uint_fast64_t ticket;
};

typedef int cufft_plan;
enum { CUFFT_NO_PLAN = -1 };

struct cuda_device {
    const struct fbp_job *job;
    int index; /**< CUDA's ordinal */
    int node;  /**< cuda_node_of() */
    const struct cuda_kernel *kernel;
    struct gpu_tuner tuner; /**< choice of the kernel's shape */
    struct {
        cudaEvent_t begin, end;
    } trials[GPU_TUNER_TRIALS]; /**< timed passes */
    struct cuda_stream streams[FBP_N_STAGES];
    struct cuda_timestamps timestamps;
    struct cuda_unpacking unpacking;
    struct gpu_tables tables; /**< offsets in `memory` */
    char *memory;
    bool counts_once; /**< the bitmap of rows (tables.ledger) is valid */
    cufft_plan plan;  /**< CUFFT_NO_PLAN: not used */
    struct gpu_principal *principal;
    float half_scale; /**< scale of views in fp16; 0: not computed yet */
    uint64_t reached; /**< bits of the devices from whose memory copies are ready */
};

static inline struct cuda_device *cuda_of(fbp_device *device)
{
    return (struct cuda_device *)(void *)device;
}

/* Errors and devices (entry.c). */

/** Returns the status of a failed call and sets its message: the call, CUDA's text, what to do. */
fbp_status cuda_failed(cudaError_t error, const char *call);

#if defined __clang_analyzer__ && !defined FBP_CUDA_ENTRY_C
/* A failure is never FBP_OK, as in base/base.h. */
#    define cuda_failed(error, call) ((void)cuda_failed(error, call), FBP_ERR_DEVICE)
#endif

/** Return the failure of a call of CUDA's runtime. */
#define CUDA_TRY(call)                            \
    do {                                          \
        const cudaError_t cuda_try_ = (call);     \
        if (cuda_try_ != cudaSuccess)             \
            return cuda_failed(cuda_try_, #call); \
    } while (0)

/** Did a call succeed whose failure is no error of the run?  The error is not left to the next
 * call.
 */
static inline bool cuda_is_done(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return error == cudaSuccess;
}

/** CUDA's ordinal of the device of this index. */
int cuda_ordinal(int index);

/** PCI address of a device; "": not known. */
enum { CUDA_BUS_ID = 28 };
void cuda_bus_of(int ordinal, char out[CUDA_BUS_ID]);

/** NUMA node of the host's memory that is nearest to a device; -1: any. */
int cuda_node_of(int ordinal);

/* Streams, events and times (stream.c). */
fbp_status cuda_streams_open(struct cuda_device *dev);
void cuda_streams_close(struct cuda_device *dev);
fbp_status cuda_event_record(fbp_device *device, enum fbp_stage stage, struct fbp_event *out);
fbp_status cuda_stream_wait_event(fbp_device *device, enum fbp_stage stage, struct fbp_event mark);
fbp_status cuda_event_wait(fbp_device *device, struct fbp_event mark);
fbp_status cuda_timestamp(fbp_device *device, enum fbp_stage stage, uint64_t *out);
fbp_status cuda_timestamp_read(fbp_device *device, uint64_t stamp, double *seconds);

/** Timing of passes, for the choice of a kernel's shape; user: the device. */
extern const struct gpu_timer cuda_timer;

/* Memory (memory.c). */

/** Pinned memory of the host for all devices, on a NUMA node (-1: any), touched by n_threads; NULL:
 *  not available. */
void *cuda_pin(size_t bytes, int n_threads, int node);
void cuda_unpin(void *memory);
fbp_status cuda_host_alloc(fbp_device *device, size_t bytes, const char *what, void **out);
void cuda_host_release(fbp_device *device, void *mem);

bool cuda_reaches(fbp_device *device, const void *memory, size_t bytes);
fbp_status cuda_alloc(fbp_device *device, const struct fbp_buffer *buffer, void **out);
void cuda_release(fbp_device *device, enum fbp_purpose purpose, void *mem);

/** Views of a batch that does not begin its buffer; *group0: the layer of a texture that group 0 of
 *  the batch has. */
struct cuda_views cuda_views_at(const struct cuda_kernel *kernel, const struct fbp_job *job,
                                const struct fbp_batch *batch, const struct cuda_views *views,
                                unsigned *group0);

/** CUDA's ordinal of the device that has all of this memory of the caller's, and the library's
 * index of a usable one; -1: none. */
int cuda_memory_owner(const void *memory, size_t bytes);
int cuda_memory_index(const void *memory, size_t bytes);
extern const struct fbp_device_memory_access cuda_device_memory;

/* cuFFT, loaded at run time (cufft.c). */

/** Is the library there?  Searched once: libcufft.so.12 and .11 on the default path (which includes
 *  LD_LIBRARY_PATH), below CUDA_HOME, CUDA_PATH, where CUDA is usually installed, and in pip's
 *  package nvidia-cufft. */
bool cuda_fft_found(void);

/** Create a plan for `rows` complex transforms in place, of length n, one after another.
 * @param[out] work_bytes  required scratch; not allocated */
fbp_status cuda_fft_create(cufft_plan *out, size_t n, size_t rows, size_t *work_bytes);
void cuda_fft_destroy(cufft_plan *plan);

/** Set the scratch and the stream of a plan. */
fbp_status cuda_fft_place(cufft_plan plan, void *work, cudaStream_t stream);

/** Transform in place, unscaled. */
fbp_status cuda_fft_run(cufft_plan plan, float2 *rows, bool inverse);

/* Raw views to filtered ones (filter.c). */
extern const struct gpu_filter_capabilities cuda_offer;
fbp_status cuda_filter_open(struct cuda_device *dev);
fbp_status cuda_filter(fbp_device *device, const struct fbp_batch *batch, void *raw,
                       void *filtered);
fbp_status cuda_filter_plain(fbp_device *device, const struct fbp_batch *batch, void *raw,
                             float *rows);
fbp_status cuda_download(fbp_device *device, const float *rows, size_t n, float *host);
fbp_status cuda_count_mask(fbp_device *device, const struct fbp_row_bitmap *ledger);
fbp_status cuda_counts(fbp_device *device, struct fbp_prep_counts *out);

/* Filtered views into a slab, and the slab to the host (volume.c). */
fbp_status cuda_clear(fbp_device *device, const struct fbp_slab *slab, void *volume);
fbp_status cuda_backproject(fbp_device *device, const struct fbp_batch *batch, const void *filtered,
                            const struct fbp_slab *slab, size_t z0, size_t z1, void *volume);
fbp_status cuda_fetch(fbp_device *device, const struct fbp_slab *slab, size_t z0, size_t z1,
                      const void *volume, void *host);
fbp_status cuda_statistics(fbp_device *device, struct fbp_statistics *out);

/* Copies between devices (peer.c). */

/** Copy filtered views from another device. */
fbp_status cuda_share(fbp_device *device, const struct fbp_batch *batch, void *filtered,
                      fbp_device *from, const void *theirs);

/** Access of a device to another's memory: not supported; enabled before; enabled by this call, and
 *  the caller disables it. */
enum cuda_peer { CUDA_PEER_NONE, CUDA_PEER_ENABLED, CUDA_PEER_NEW };

/** One end of a probe: memory of CUDA_PEER_PROBE bytes, and a stream of the device. */
enum { CUDA_PEER_PROBE = 64 << 10 };
struct cuda_peer_end {
    int device;
    char *memory;
    cudaStream_t stream;
};

/** Makes `device` current, and leaves no error behind. */
enum cuda_peer cuda_peer_enable(int device, int other);

/** Do bytes arrive unchanged?  With some settings of the machine's bus (IOMMU, ACS) they do not,
 * and no call reports it.  host: CUDA_PEER_PROBE bytes. */
bool cuda_peer_carries(const struct cuda_peer_end *from, const struct cuda_peer_end *to,
                       unsigned char *host);

/** Prepare copies to a device from another: direct ones, if they exist and carry bytes unchanged,
 *  which is tested once per process, else through the host.  Makes `to` current. */
fbp_status cuda_peer_reach(int to, int from);

/** Fault injection for tests: as many of the next probes find that nothing arrives. */
extern unsigned cuda_peer_fault;

/* Measured rates of copies between memories, slots of struct fbp_link_meter with CUDA's ordinals
 * (links.c). */

/** Memory of a device's end, and of the host's: half of each is source, half is target. */
enum { CUDA_LINK_DEVICE_BYTES = 256 << 20, CUDA_LINK_HOST_BYTES = 128 << 20 };

bool cuda_link_identify(int ordinal, char *out, size_t n);
void cuda_link_peer(int from, int to, struct fbp_peer *out);
fbp_status cuda_link_open(void **out, const int *ordinals, size_t n);
void cuda_link_close(void **meter);
bool cuda_link_connect(void *meter, size_t from, size_t to);
fbp_status cuda_link_rate(void *meter, const struct fbp_flow *flows, size_t n, double *out);

#endif /* FBP_SRC_BACKEND_CUDA_CUDA_H */
