/** @file text.h  Published figures of Zinsser and Keck (2013), the rules that derive figures
 * from seconds (accounts.c), and output (tables.c). Included by the files of this folder. */
#ifndef FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H
#define FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H

#include "bench/common/measure.h"
#include "bench/papers/zinsser2013/s1.h"

/** Measurements of one shape; parts that were not measured have 0 seconds. */
struct s1_result {
    struct fbp_s1_shape shape;
    bool best; /**< the fastest shape that is not in the paper: row 9 */
    struct fbp_s1_time part[FBP_S1_PARTS];
};

/** The job and its device. */
struct s1_job {
    size_t size, views, columns, rows;
    char device[100];
    size_t runs;
    struct fbp_limits limits; /**< all 0: unknown */
    char architecture[20];    /**< compute capability, such as sm_90; "": unknown */
    bool kernels;             /**< the device has the kernels of Table II */
};

/** A row of Table II as published. */
struct s1_test {
    struct fbp_s1_shape shape;
    double occupancy, ms[FBP_S1_PARTS], gups;
};

/** A row of Table III: a whole call.  NAN: unknown. */
struct s1_call {
    const char *text;
    size_t size;
    double seconds, gups;
    double rmse_hu;  /**< against a reference in floating point */
    double exact_hu; /**< against the kernel `matrix` in precision exact */
};

/** Shares of a kernel's time by cause, and parts of the device's limits that it reaches; all of 1.
 */
struct s1_verdict {
    double instructions;            /**< instructions alone */
    double volume, fetches, places; /**< shares added by reads and writes of the volume, by fetches
                                       from one position, and by fetches from their own positions */
    double fma;                     /**< fp32 instructions per second, of the device's rate */
    double memory;  /**< bytes of the volume per second, of the device's bandwidth */
    double texture; /**< fetches per second, of the device's rate */
    const char *limit;
};

/** Division of the job of section V.  Each pass keeps its views on the device and computes all
 *  parts of the volume, one after another, in two buffers. */
struct s1_division {
    size_t passes, pass_views;
    size_t part_slices; /**< slices per part; the last part may have fewer */
};

/** MiB that are copied, and MiB of a part. */
struct s1_moved {
    double views, volume_up, volume_down, part;
};

enum { S1_TESTS = 8, S1_CALLS = 6, S1_512 = 2, S1_1024 = 5 }; /* rows; those of the paper itself */
/** A kernel that reaches less than this share of a limit is limited by latency. */
#define S1_ENOUGH 0.6
enum { S1_CHUNK_STEP = 8, S1_MOVED_MIB = 2779 /* published for 512^3 */ };
extern const struct s1_job s1_paper; /**< limits of Table I */
extern const struct s1_test s1_table2[S1_TESTS];
extern const struct s1_call s1_table3[S1_CALLS];

/** Voxel updates of size^3 voxels. */
double s1_updates(size_t size, size_t views);
/** Set the derived members of t from seconds and n_launches. */
void s1_account(const struct fbp_s1_shape *shape, enum fbp_s1_part part, double voxels,
                size_t views, struct fbp_s1_time *t);
/** Row i of Table II as a measurement of job s1_paper. */
struct s1_result s1_published(size_t i);
struct s1_verdict s1_judge(const struct s1_result *r, const struct fbp_limits *limits);
/** streamed: half of the views per pass, and parts of 1/16 of the slices, each of which is copied
 *  to the host in every pass; else one pass, and parts of 3/4 and 1/4 of the slices. */
struct s1_division s1_divide(size_t slices, size_t views, bool streamed);
/** Views of chunk i of a pass: 8, 16, 24, then 32; at most `left`. */
size_t s1_chunk(size_t i, size_t left);
struct s1_moved s1_moved(const struct s1_job *job, const struct s1_division *d);

/** The job, Table I with this device, and the head of Table II. */
void s1_print_table1(const struct s1_job *job);
/** Limit of each kernel, published and of n measured ones; then Table III as published. */
void s1_print_verdicts(const struct s1_result *results, size_t n, const struct s1_job *job);

/** Text, or JSON; an exit status.  Rows of Tables II and III are printed when they are measured. */
int s1_print_row(const struct s1_job *job, const struct s1_result *r, bool json);
int s1_print_call(const struct s1_job *job, const struct s1_call *call, bool json);
int s1_print_transfers(const struct s1_job *job, const struct fbp_s1_transfers *t, bool json);
int s1_print_json_limits(const struct s1_job *job);

#endif /* FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H */
