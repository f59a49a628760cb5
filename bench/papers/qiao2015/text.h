/** @file text.h  Scenario S4: the job of Qiao et al. (2015), measured and tabulated. */
#ifndef FBP_BENCH_PAPERS_QIAO2015_TEXT_H
#define FBP_BENCH_PAPERS_QIAO2015_TEXT_H

#include "bench/common/bench.h"

#include "bench/papers/qiao2015/s4.h"

enum { S4_SIZES = 5, S4_PAPER_VIEWS = 208, S4_PAPER_RINGS = 18, S4_MOST_BLOCKS = 32 };

/** Table 1 of the paper: voxels a side, seconds, and how many times faster GS is than CM and CS
 *  without and with its gather. */
struct s4_published {
    size_t size;
    double compute, gather, gs, cm, cs;
    double cm_without, cm_with, cs_without, cs_with;
};
extern const struct s4_published s4_published[S4_SIZES];
/** Table 2: the paper's card; what it does not say is 0. */
extern const struct fbp_s4_gpu s4_published_gpu;
/** What the paper gives as the number of operations for N = 128. */
extern const double s4_published_operations;

/** Ways to an object. */
enum s4_way {
    S4_GS,        /**< the paper's kernel */
    S4_REGISTERS, /**< the same without its faults */
    S4_OURS,      /**< what a plan takes on the GPU */
    S4_OURS_DOUBLE,
    S4_CM, /**< two stages on the CPU */
    S4_CM_DOUBLE,
    S4_CS, /**< one stage on the CPU */
    S4_CS_DOUBLE,
    S4_WAYS
};

/** How a way is done, and called. */
struct s4_about {
    const char *name, *text;
    bool gpu;   /**< on the device of --device */
    int kernel; /**< enum fbp_s4_kernel; -1: by a plan */
    int stages;
    enum fbp_precision precision;
};
extern const struct s4_about s4_about[S4_WAYS];

/** A way as it was measured; seconds, NAN where they are not known. */
struct s4_cell {
    bool done;
    double compute, gather;           /**< backprojection, object to the host */
    double launch, gather_launched;   /**< as the paper took them */
    double send, filter, open, total; /**< total: samples to voxels, host to host */
    char how[140];                    /**< device and kernel */
    struct fbp_s4_error error;
    float *slice; /**< the middle one, [N][N]; owned */
};

/** A size. */
struct s4_row {
    size_t size, samples, views, views_two;
    struct s4_cell way[S4_WAYS];
    float *truth; /**< of the middle slice; owned */
};

/** A size of blocks. */
struct s4_block {
    struct fbp_s4_occupancy of;
    double compute;
};

/** What was asked for, and found. */
struct s4_job {
    size_t n, runs, rings, samples; /**< rows; … */
    const char *device;
    int threads;
    bool quiet;
    struct s4_row row[S4_SIZES];
    bool has_gpu, has_cuda; /**< the device is there; and has kernels of the paper's arguments */
    struct fbp_s4_gpu gpu;
    size_t block_row; /**< that of the sizes of blocks */
    size_t n_blocks;
    struct s4_block block[S4_MOST_BLOCKS];
    struct fbp_s4_occupancy occupancy[FBP_S4_KERNELS]; /**< of the usual launches of that row */
};

/** Measure all rows, whose sizes are given; an exit status, failures reported. */
int s4_measure(struct s4_job *job);
void s4_clear(struct s4_job *job);

/** Backprojection and gather: what the paper has as total. */
double s4_seconds(const struct s4_cell *c);
/** What Table 1 has for CM or CS: in double, as the paper's, where that is done, else in float. */
const struct s4_cell *s4_like(const struct s4_row *row, enum s4_way way);
/** How many times faster GS is than another way, without its gather and with it. */
double s4_factor(const struct s4_row *row, enum s4_way other, bool gather);
/** 10^9 updates a second of a row in so many seconds. */
double s4_gups(size_t size, size_t views, double seconds);
/** The published row of a size; NULL: there is none. */
const struct s4_published *s4_published_of(size_t size);

void s4_print(const struct s4_job *job);
int s4_json(const struct s4_job *job);
/** Figs. 1 to 5 into a folder; an exit status, failures reported. */
int s4_draw(const struct s4_job *job, const char *folder);

#endif /* FBP_BENCH_PAPERS_QIAO2015_TEXT_H */
