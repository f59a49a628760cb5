/** @file text.h  Measurements of Ino et al. (2010), published figures and derived rates
 * (accounts.c), and the functions that print and draw them. Included by the files of this
 * folder. */
#ifndef FBP_BENCH_PAPERS_INO2010_TEXT_H
#define FBP_BENCH_PAPERS_INO2010_TEXT_H

#include "bench/common/bench.h"

#include "bench/common/measure.h"
#include "bench/papers/ino2010/s2.h"

/** Numbers of devices that are measured: 1, 2, 4. */
enum { S2_COUNTS = 3 };
extern const size_t s2_counts[S2_COUNTS];

/** Table 2 of the paper, of one job: seconds for 1, 2, 4 GPUs. */
struct s2_published {
    const char *name;
    size_t size, views, subvolumes;
    double init[S2_COUNTS], download[S2_COUNTS], filter[S2_COUNTS], readback[S2_COUNTS],
        backproject[S2_COUNTS], fetch[S2_COUNTS], apart[S2_COUNTS], streams[S2_COUNTS];
};
enum { S2_CASES = 2 };
/** Limits of one GPU of the paper (a quarter of a Tesla S1070): GB/s of memory, GFLOP/s. */
enum { S2_GBYTES = 102, S2_GFLOPS = 933 };
extern const struct s2_published s2_published[S2_CASES];
/** Operations per update of a voxel. */
extern const double s2_update_flops;

/** A job as it was done. */
struct s2_result {
    const struct s2_published *of; /**< printed beside it */
    const char *name;
    size_t size, views;
    bool is_paper; /**< the paper's size and views */
    struct fbp_s2_plan plan;
    /** Runs per number of devices (n_devices 0: not measured); today: ordinary reconstructions, of
     * which init and total are known. */
    struct fbp_s2_time apart[S2_COUNTS], streams[S2_COUNTS], today[S2_COUNTS];
    uint64_t hash; /**< hash of the volume, equal in all runs */
    bool compared;
    struct fbp_s2_error error;
    struct fbp_limits limits; /**< limits of the first device; all 0: unknown */
};

/** Rates that follow from the seconds with a number of devices; NAN: unknown. */
struct s2_rates {
    double views;    /**< views/s of the whole job with streams; without streams, if the job with
                        streams was not measured */
    double speed_up; /**< against one device */
    double gups, gflops, gbytes; /**< of a GPU's backprojection */
};

/** Rates with s2_counts[i] devices, from published or from measured seconds. */
struct s2_rates s2_published_rates(const struct s2_published *p, size_t i);
struct s2_rates s2_result_rates(const struct s2_result *r, size_t i);

/** Seconds that a run takes at least, by rates measured with the same devices; NAN: not known. */
struct s2_limits {
    const char *name; /**< of the greatest */
    double views;     /**< sending all views at the rate of sending alone */
    double compute;   /**< computing on the slowest device: layout, filter and backprojection */
    double volume;    /**< boxes to the host and into the volume */
};
struct s2_limits s2_result_limits(const struct s2_result *r, size_t i);

/** Throughput normalised to the paper's GPU: views/s times 102 GB/s over the bandwidth of the card.
 */
double s2_normalised(double views, double gbytes);

/** Costs of Table 1 per device: bytes, samples, updates. */
struct s2_cost {
    double download, filter, readback, backproject, fetch, boxes, video, memory;
};
struct s2_cost s2_original_cost(const struct fbp_s2_plan *plan);
struct s2_cost s2_proposed_cost(const struct fbp_s2_plan *plan, size_t n_devices);

void s2_print_plan(const struct s2_result *r);
void s2_print_table2(const struct s2_result *r);
void s2_print_table3(const struct s2_result *results, size_t n);

int s2_json_plan(const struct s2_result *r);
int s2_json_run(const struct s2_result *r, size_t count, const struct fbp_s2_time *t);
int s2_json_error(const struct s2_result *r);

/** Figs. 3 and 4 as S2-fig3.svg and S2-fig4.svg; an exit status, failures reported. */
int s2_draw(const struct s2_result *results, size_t n, const char *folder);

#endif /* FBP_BENCH_PAPERS_INO2010_TEXT_H */
