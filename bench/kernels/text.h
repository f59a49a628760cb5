/** @file text.h  Measurements of `fbp bench kernel`, and the functions of text.c that print
 * them. Included by kernels/command.c. */
#ifndef FBP_BENCH_KERNELS_TEXT_H
#define FBP_BENCH_KERNELS_TEXT_H

#include "bench/common/jobs.h"

#include "bench/common/measure.h"

/** Rows of the table: a kernel of a precision, or a way of reconstructing memory to memory. */
enum { BENCH_MOST_ROWS = 24 };

struct bench_row {
    char name[64];
    struct fbp_kernel_time kernel[N_BENCH_JOBS + 1]; /**< n_runs 0: not measured */
    struct fbp_host_time host[N_BENCH_JOBS + 1];     /**< the same; the last: of planes */
};

struct bench_table {
    size_t n;
    struct bench_row rows[BENCH_MOST_ROWS];
    struct fbp_device_info device; /**< that all was measured on */
    struct fbp_limits limits;      /**< of it; all 0: not known */
};

/** Find the row `name`, or add it; NULL: the table is full. */
struct bench_row *bench_table_row(struct bench_table *table, const char *name);

/** The precision at the end of an isa text: "exact", "fast", "half" or "". */
const char *bench_precision(const char *isa);

/** The device's entry of fbp_devices(), and its limits. */
void bench_find_device(struct bench_table *table, const struct fbp_bench_info *info);

/** Print one measurement as a line of text or JSON; bench_print_head() prints the headings. shape
 * -1: chosen by the kernel. */
void bench_print_head(const struct bench_table *table);
void bench_print_scan(const struct bench_job *job, const struct fbp_bench_info *info);
void bench_print_kernel(const struct bench_job *job, const struct fbp_kernel_time *t, int shape);
void bench_print_host(const struct bench_table *table, const struct bench_job *job,
                      const char *name, const struct fbp_host_time *t);
int bench_json_kernel(const struct bench_table *table, const struct bench_job *job,
                      const struct fbp_bench_info *info, const struct fbp_kernel_time *t,
                      int shape);
int bench_json_host(const struct bench_table *table, const struct bench_job *job, const char *name,
                    const struct fbp_host_time *t);

/** Print all measurements as one table with a column per job. */
void bench_print_table(const struct bench_table *table);

#endif /* FBP_BENCH_KERNELS_TEXT_H */
