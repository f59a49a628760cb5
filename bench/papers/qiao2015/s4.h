/** @file s4.h  The job of Qiao et al. (2015): backprojection of plane integrals (EPR imaging) on
 * a GPU in one stage (GS), by the paper's kernel and today's, and on the CPU in two stages (CM)
 * and in one (CS). Functions of measure.c, called by runs.c. */
#ifndef FBP_BENCH_PAPERS_QIAO2015_S4_H
#define FBP_BENCH_PAPERS_QIAO2015_S4_H

#include "fbp/directions.h"
#include "fbp/recon.h"

FBP_BEGIN

/** Kernels with the paper's list of arguments, all in double. */
enum fbp_s4_kernel {
    FBP_S4_PAPER =
        0, /**< the paper's kernel: blocks of N threads, sums in global memory, a branch */
    FBP_S4_NO_BRANCH, /**< the paper's kernel with a selection in place of its branch */
    FBP_S4_REGISTERS, /**< sums in registers, no branch, any launch */
    FBP_S4_KERNELS
};

/** Table 2: limits of a GPU. */
struct fbp_s4_gpu {
    char name[120];
    unsigned capability;                             /**< 90: 9.0 */
    size_t processors;                               /**< multiprocessors */
    size_t cores;                                    /**< fp32 units of one; 0: not known */
    size_t threads, blocks, registers, shared_bytes; /**< of one, at most */
    size_t block_threads, block_shared_bytes, block_registers, warp; /**< of a block, of a warp */
    double memory_bytes;
    size_t block_sides[3],
        grid_sides[3]; /**< greatest sides of a block in threads, and of a grid in blocks */
};

/** Occupancy of a multiprocessor by a launch. */
struct fbp_s4_occupancy {
    unsigned block;                /**< threads */
    size_t registers, local_bytes; /**< of a thread */
    size_t paper_threads; /**< threads per multiprocessor by the paper's rule: as many whole blocks
                             as the limits of threads and blocks allow */
    size_t threads;       /**< threads per multiprocessor that the limit of registers also allows */
    size_t resident; /**< greatest number of resident threads that was counted; 0: not counted */
};

/** Seconds of a launch.  Not known: NAN. */
struct fbp_s4_launch {
    double send;    /**< sending projections and directions to the card */
    double compute; /**< time from the launch to the end of the kernel */
    double gather;  /**< copying the object to ordinary host memory after the kernel */
    /** One call with all arguments in host memory: send the object, projections and directions,
     * compute, gather.  MATLAB does that if the arguments are no gpuArrays; if they are, a call
     * takes `compute`. */
    double copied;
    /** Times as the paper took them: the call of the launch without waiting (the paper's computing
     * time), and the copy of the object, which waits for the kernel. */
    double launch, gather_launched;
};

/** A way of the library. */
struct fbp_s4_way {
    const char *device; /**< NULL: cpu */
    enum fbp_precision precision;
    int stages;     /**< 2: meridian planes first, which needs `resampled`; 0, 1: one */
    bool resampled; /**< rings of directions resampled to as many equal linear angles as rings */
    size_t runs;    /**< the fastest counts; 0: 1 */
};

/** Seconds of a way. */
struct fbp_s4_time {
    double open;   /**< a plan, its device and its memory */
    double filter; /**< filter of all rows, with uploads; NAN: included in compute (two stages) */
    double compute, gather; /**< backprojection, and the volume into the caller's memory */
    double total; /**< one run of the open plan, from samples to voxels, with overlapping stages */
    char backend[32], kernel[32], isa[32];
    int n_threads;
};

struct fbp_s4_error {
    double rmse, max; /**< difference from double precision, in units of the greatest value */
    size_t n_voxels;  /**< compared */
};

struct fbp_s4_params {
    size_t struct_size;
    size_t size;    /**< N: voxels per side */
    size_t rings;   /**< rings of equal solid angle; 0: 18 rings, which have the paper's 208
                       directions */
    size_t samples; /**< samples per projection; 0: fbp_s4_samples_for() */
    int n_threads;
};

/** Projections of a bottle, and the object reconstructed last; voxels and samples have the
 * positions of the paper's kernel. */
typedef struct fbp_s4 fbp_s4;

/** @return FBP_OK, FBP_ERR_INVALID, FBP_ERR_NOMEM. */
FBP_MUST_CHECK fbp_status fbp_s4_open(fbp_s4 **out, const struct fbp_s4_params *params);
void fbp_s4_close(fbp_s4 **s);

size_t fbp_s4_views(const fbp_s4 *s);
size_t fbp_s4_samples(const fbp_s4 *s);

/** Samples that a row of an object of N voxels a side has by default: 2 ceil(sqrt(3) N / 2). */
size_t fbp_s4_samples_for(size_t size);

/** Reconstruct; the object is kept until the next one.  @return as fbp_plan_create() and
 *  fbp_plan_run(). */
FBP_MUST_CHECK fbp_status fbp_s4_run(fbp_s4 *s, const struct fbp_s4_way *way,
                                     struct fbp_s4_time *out);

/**
 * Backproject filtered projections by a kernel of the paper's arguments; the object is kept.
 *
 * block  threads per block; 0: 256 for REGISTERS, else N, the only number that they take
 * @return FBP_ERR_UNSUPPORTED (no such kernel on this device; not REGISTERS, and an odd S, which is
 *         halved without a remainder, or N above 1024), FBP_ERR_NOMEM, FBP_ERR_DEVICE.
 */
FBP_MUST_CHECK fbp_status fbp_s4_launch(fbp_s4 *s, enum fbp_s4_kernel kernel, unsigned block,
                                        size_t runs, struct fbp_s4_launch *out);
/** Occupancy of a launch; resident threads are counted by a kernel with the loop of the measured
 * one. */
FBP_MUST_CHECK fbp_status fbp_s4_occupancy(fbp_s4 *s, enum fbp_s4_kernel kernel, unsigned block,
                                           struct fbp_s4_occupancy *out);

/** Limits of the GPU. @return FBP_ERR_UNSUPPORTED, FBP_ERR_INVALID: no CUDA device. */
FBP_MUST_CHECK fbp_status fbp_s4_gpu(struct fbp_s4_gpu *out);

/** Threads of a multiprocessor as the paper counts them: min(blocks, threads / block) block. */
size_t fbp_s4_paper_threads(const struct fbp_s4_gpu *gpu, unsigned block);

/** The object that was reconstructed last, [z][y][x]; NULL: none. */
const double *fbp_s4_object(const fbp_s4 *s);
/** The phantom's means over the voxels of a slice, [y][x]. */
FBP_MUST_CHECK fbp_status fbp_s4_truth(const fbp_s4 *s, size_t slice, float *out);
/** Compare some voxels of the object with double precision. */
FBP_MUST_CHECK fbp_status fbp_s4_compare(fbp_s4 *s, struct fbp_s4_error *out);

/** Operations of a backprojection, as the paper counts them: (15 + 26 Q) N^3; and as it prints the
 *  sum, with the parenthesis lost: 15 N^3 + 26 N^3 + Q. */
double fbp_s4_operations(size_t size, size_t views);
double fbp_s4_operations_printed(size_t size, size_t views);

FBP_END

#endif /* FBP_BENCH_PAPERS_QIAO2015_S4_H */
