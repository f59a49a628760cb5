/** @file text.h  The published tables of S1 (Zinsser and Keck 2013), and today's beside them. */
#ifndef FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H
#define FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H

#include "bench/common/measure.h"
#include "bench/papers/zinsser2013/s1.h"
#include "cli.h"

/** What was measured of one shape; parts that were left out have no seconds. */
struct s1_result {
    struct fbp_s1_shape shape;
    bool best; /**< of today's shapes: row 9 */
    struct fbp_s1_time part[FBP_S1_PARTS];
};

/** The job, and what it runs on. */
struct s1_job {
    size_t size, views, columns, rows;
    char device[100];
    size_t runs;
    struct fbp_limits limits;
};

/** What of a shape's time is due to what, and how near it comes to the device's limits; of 1. */
struct s1_verdict {
    /** Of its time: its instructions alone, then what each of these adds: the volume, fetches from
     *  one place, fetches from where they belong. */
    double instructions, volume, fetches, places;
    double fma;     /**< fp32 instructions a second, of the measured rate */
    double memory;  /**< bytes of the volume a second, of the measured bandwidth */
    double texture; /**< fetches a second, of the measured rate */
    const char *binds;
};

/** Pure: from times and limits. */
struct s1_verdict s1_judge(const struct s1_result *r, const struct fbp_limits *limits);

void s1_print_job(const struct s1_job *job);
/** Limits of the paper's cards and of this one. */
void s1_print_table1(const struct s1_job *job);
/** Head of Table II; its rows are printed as they are measured. */
void s1_print_head(const struct s1_job *job);
void s1_print_row(const struct s1_result *r);
/** What binds each of n. */
void s1_print_verdicts(const struct s1_result *results, size_t n, const struct s1_job *job);
/** Whole reconstructions of the papers, and the best kernel of today. */
void s1_print_table3(const struct s1_job *job, const struct s1_result *best,
                     const struct fbp_s1_error *error);

/** Lines of JSON; an exit status. */
int s1_print_json_limits(const struct s1_job *job);
int s1_print_json_row(const struct s1_job *job, const struct s1_result *r);
int s1_print_json_error(const struct s1_job *job, const struct fbp_s1_error *error);

#endif /* FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H */
