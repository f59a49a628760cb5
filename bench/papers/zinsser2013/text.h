/** @file text.h  Output: the published tables of Zinsser and Keck (2013, S1), and measurements
 * beside them. */
#ifndef FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H
#define FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H

#include "bench/papers/zinsser2013/accounts.h"
#include "cli.h"

/** The job, and limits of the paper's cards and of this device. */
void s1_print_table1(const struct s1_job *job);
/** Head of Table II; its rows are printed when they are measured. */
void s1_print_head(const struct s1_job *job);
void s1_print_row(const struct s1_result *r);
/** Limit of each kernel: published, and of n measured ones. */
void s1_print_verdicts(const struct s1_result *results, size_t n, const struct s1_job *job);
/** Head of Table III and its published rows. */
void s1_print_table3(void);
void s1_print_call(const struct s1_call *call);

/** The other functions return an exit status. */
int s1_print_transfers(const struct s1_job *job, const struct fbp_s1_transfers *t, bool json);
int s1_print_json_limits(const struct s1_job *job);
int s1_print_json_row(const struct s1_job *job, const struct s1_result *r);
int s1_print_json_call(const struct s1_job *job, const struct s1_call *call);

#endif /* FBP_BENCH_PAPERS_ZINSSER2013_TEXT_H */
