/** @file text.h  Measurements and published figures of Qiao et al. (2015), and the functions
 * that print and draw them. Included by the files of this folder. */
#ifndef FBP_BENCH_PAPERS_QIAO2015_TEXT_H
#define FBP_BENCH_PAPERS_QIAO2015_TEXT_H

#include "bench/common/bench.h"

#include "bench/papers/qiao2015/s4.h"

enum { S4_SIZES = 5, S4_PAPER_VIEWS = 208, S4_PAPER_RINGS = 18, S4_MOST_BLOCKS = 32 };

/** Columns of Table 1. */
enum s4_column {
    S4_GS_COMPUTE, /**< seconds of GS without the transfer of the object ("gather") */
    S4_GATHER,     /**< seconds of that transfer */
    S4_GS_SECONDS, /**< the sum of both */
    S4_CM_SECONDS,
    S4_CS_SECONDS,
    S4_CM_TO_COMPUTE, /**< time of CM in units of the time of GS without the transfer */
    S4_CM_TO_GS,      /**< time of CM in units of the time of GS with the transfer */
    S4_CS_TO_COMPUTE,
    S4_CS_TO_GS,
    S4_COLUMNS
};

/** A row of Table 1. */
struct s4_table1 {
    size_t size; /**< voxels per side */
    double column[S4_COLUMNS];
};
extern const struct s4_table1 s4_published[S4_SIZES];
/** The row of Table 1 that follows from its seconds. */
struct s4_table1 s4_derive(size_t size, double compute, double gather, double cm, double cs);
/** Table 2: the card of the paper; 0: not published. */
extern const struct fbp_s4_gpu s4_published_gpu;
/** Published number of operations for N = 128. */
extern const double s4_published_operations;

/** Ways to an object. */
enum s4_way {
    S4_GS,        /**< the paper's kernel */
    S4_NO_BRANCH, /**< the paper's kernel without its branch */
    S4_REGISTERS, /**< the paper's kernel without branch, with sums in registers */
    S4_PLAN,      /**< a plan of the library on the device of --device, in double */
    S4_PLAN_FLOAT,
    S4_CM, /**< two stages on the CPU, in double */
    S4_CM_FLOAT,
    S4_CS, /**< one stage on the CPU, in double */
    S4_CS_FLOAT,
    S4_CS_RESAMPLED, /**< CS from the resampled projections of CM */
    S4_WAYS
};

/** Name and parameters of a method. */
struct s4_about {
    const char *name, *text;
    bool gpu;   /**< on the device of --device; false: on the CPU */
    int kernel; /**< enum fbp_s4_kernel; -1: by a plan */
    int stages;
    enum fbp_precision precision;
    bool resampled; /**< projections: rings resampled to equal linear angles */
};
extern const struct s4_about s4_about[S4_WAYS];

/** Measurements of a method in seconds; NAN: unknown. */
struct s4_cell {
    bool done;
    double compute, gather;           /**< backprojection, object to the host */
    double launch, gather_launched;   /**< as the paper took them */
    double copied;                    /**< one call with all arguments in host memory */
    double send, filter, open, total; /**< total: samples to voxels, host to host */
    char how[140];                    /**< device and kernel */
    char label[60];                   /**< method and, for a plan, device */
    struct fbp_s4_error error;
    float *slice; /**< the middle one, [N][N]; owned */
};

/** A size. */
struct s4_row {
    size_t size, samples, views;
    struct s4_cell way[S4_WAYS];
    float *truth; /**< phantom in the middle slice; owned */
};

/** A size of blocks. */
struct s4_block {
    struct fbp_s4_occupancy of;
    double compute;
};

/** The job of the command, and its measurements. */
struct s4_job {
    size_t n, runs, rings, samples; /**< rows; … */
    const char *device;
    int threads;
    bool quiet;
    struct s4_row row[S4_SIZES];
    bool has_device, has_cuda; /**< the device exists; it has kernels of the paper's arguments */
    struct fbp_s4_gpu gpu;
    size_t block_row; /**< row in which the sizes of blocks are measured */
    size_t n_blocks;
    struct s4_block block[S4_MOST_BLOCKS];
    /** occupancy of the usual launches in row block_row */
    struct fbp_s4_occupancy occupancy[FBP_S4_KERNELS];
};

/** Measure all rows, whose sizes are given; an exit status, failures reported. */
int s4_measure(struct s4_job *job);
void s4_clear(struct s4_job *job);

/** The row of Table 1 of the measurements: the paper's kernel, CM and CS in double.  The printed
 *  table, JSON and Figs. 1 to 3 all show this row. */
struct s4_table1 s4_measured(const struct s4_row *row);
/** Rms difference of CM from CS with the same resampled projections in the middle slice, in units
 * of the greatest value: the precision of two stages alone.  NAN: not measured. */
double s4_two_stages(const struct s4_row *row);
/** 10^9 updates per second. */
double s4_gups(size_t size, size_t views, double seconds);

void s4_print(const struct s4_job *job);
int s4_json(const struct s4_job *job);
/** Figs. 1 to 5 into a folder; an exit status, failures reported. */
int s4_draw(const struct s4_job *job, const char *folder);

#endif /* FBP_BENCH_PAPERS_QIAO2015_TEXT_H */
