/** @file s2.h  The scheme of Ino, Okitsu, Hagihara et al. (2010): volumes larger than a GPU, on
 * several of them.  Called by command.c; the functions are in measure.c, run.c and error.c.
 *
 * The volume is cut along x and y into B boxes of whole z columns.  C devices filter K/C views
 * each; filtered views are gathered in the host's memory.  Then the devices take the boxes in
 * turns: all views are sent to a device for every box, launch_views at a time. */
#ifndef FBP_BENCH_PAPERS_INO2010_S2_H
#define FBP_BENCH_PAPERS_INO2010_S2_H

#include "fbp/recon.h"

FBP_BEGIN

/** How a volume is computed.  Zero means default. */
struct fbp_s2_params {
    const char *device; /**< device as in fbp_recon_params; a name without indices means all devices
                           of the kind */
    size_t most_devices; /**< greatest number of these devices to use; 0: all */
    const char *kernel;  /**< kernel; NULL: "s2", or "column" or "matrix" on devices without "s2" */
    size_t subvolumes; /**< B; 0: the fewest that fit into device memory, at least one per device */
    uint64_t device_memory_bytes; /**< limit of device memory; 0: 90 % of the free memory */
    uint64_t memory_bytes;        /**< limit of host memory; 0: 80 % of the free memory */
    /** Folder for the temporary file of a volume that does not fit into memory beside the views;
     * NULL: /tmp. */
    const char *folder;
    int n_threads;
};

/** What was decided. */
struct fbp_s2_plan {
    const char *backend, *kernel, *isa;
    char device[160]; /**< the first one, in words */
    size_t n_devices; /**< C at most */
    size_t n_views, n_columns, n_rows, n[3];
    size_t launch_views; /**< I: views sent and backprojected at a time */
    size_t half_width;   /**< half-width of the filter in space */
    size_t subvolumes;   /**< B */
    size_t split[2];     /**< boxes along x and y */
    size_t box[2];       /**< voxels along x and y of the largest box */
    size_t volumes;  /**< boxes on a device at a time: 2 if both fit, so that one is fetched while
                        the next is computed */
    bool own_memory; /**< the devices have memory of their own */
    bool given;      /**< B was */
    bool in_file;    /**< the volume goes to a file */
    uint64_t views_bytes, volume_bytes, box_bytes;
    uint64_t device_bytes, device_limit; /**< needed; allowed, 0: not known */
    uint64_t host_bytes, host_limit;
    double start; /**< seconds: first opening of all devices, which starts the driver's contexts */
    double pin; /**< seconds: the host's memory for views and volume; both 0 before the first run */
};

/** Seconds of one run, of the slowest device. With streams, all but init and total are NaN. */
struct fbp_s2_time {
    size_t n_devices;
    bool streams;
    double init;     /**< opening all devices at the same time, with their memory */
    double download; /**< copying views to devices and into the layout of the kernel */
    double layout;   /**< part of `download`: conversion to the layout of the kernel */
    double filter;
    double readback; /**< filtered views to the host */
    double backproject;
    double fetch; /**< boxes to the host */
    /** copying boxes into the volume in memory; NaN if the volume is in a file */
    double concatenate;
    double write;  /**< writing boxes into the file of the volume; NaN if the volume is in memory */
    double total;  /**< init included */
    uint64_t sent; /**< bytes of views sent to all devices together */
    double link;   /**< rate of sending views to all devices at the same time, without computing
                      [bytes/s] */
    uint64_t hash; /**< hash of the volume; of 64 slices if the volume is larger than 8 GiB */
};

/** Difference of a few slices of the last run's volume from other results. */
struct fbp_s2_error {
    size_t n_slices, n_voxels;
    size_t n_different;        /**< voxels whose bits are not those of an ordinary reconstruction of
                                  whole slices on one device with the same kernel and filter */
    double plain_max;          /**< largest difference [1/mm] */
    double rmse, max, psnr_db; /**< against double precision [1/mm] */
};

typedef struct fbp_s2 fbp_s2;

/**
 * Decide how, without starting a device or taking memory for samples.
 *
 * scan    a cone beam; geometry and volume, no arrays are opened; must outlive the session
 * @return FBP_OK, FBP_ERR_INVALID (fewer boxes than devices, more than columns, an offset panel),
 *         FBP_ERR_UNSUPPORTED (device, kernel), FBP_ERR_NOMEM (memory limits are too small).
 */
FBP_MUST_CHECK fbp_status fbp_s2_open(fbp_s2 **out, const struct fbp_scan *scan,
                                      const struct fbp_s2_params *params);
void fbp_s2_close(fbp_s2 **s2);

const struct fbp_s2_plan *fbp_s2_about(const fbp_s2 *s2);

/**
 * Reconstruct views of a head phantom on the first n_devices devices.  streams: copies and kernels
 * overlap; otherwise the host waits for each step.
 * @return also FBP_ERR_IO (file of the volume), FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_s2_run(fbp_s2 *s2, size_t n_devices, bool streams,
                                     struct fbp_s2_time *out);

/** Compare some slices around the middle of the last run's volume. */
FBP_MUST_CHECK fbp_status fbp_s2_compare(fbp_s2 *s2, struct fbp_s2_error *out);

/** Time an ordinary reconstruction on the first n_devices devices, memory to memory: init and
 * total; NaN if the volume is in a file.  After fbp_s2_compare(), whose views it uses; the volume
 * of the last run is replaced. */
FBP_MUST_CHECK fbp_status fbp_s2_reconstruct(fbp_s2 *s2, size_t n_devices, struct fbp_s2_time *out);

FBP_END

#endif /* FBP_BENCH_PAPERS_INO2010_S2_H */
