/** @file rules.h  Published figures of Tables 1 and 3 of Okitsu, Ino and Hagihara (2008), and the
 * rules that derive them from seconds (internal; C and CUDA).  Included by text.h and
 * bench/cuda/s0.h. */
#ifndef FBP_BENCH_PAPERS_OKITSU2008_RULES_H
#define FBP_BENCH_PAPERS_OKITSU2008_RULES_H

#include <stddef.h>

/** The inner loop of a kernel, as compiled for a compute capability (bench/cuda/s0_code.sh). */
struct s0_code {
    int capability;       /**< 90 for sm_90; 0: not known */
    const char *function; /**< mangled name */
    int instructions, multiply_adds;
    int fetches, early_fetches; /**< texture fetches, and those of them that are issued before the
                                   first store of the loop */
    int loads, stores;          /**< of global memory */
};

/** Sizes that the rules need. */
struct s0_job {
    size_t size, views, half_width; /**< N, K and S */
    int i;                          /**< I, views per sum */
};

/** Rows of Table 3. */
enum { S0_INSTRUCTIONS, S0_PROCESSING, S0_TEXTURE, S0_TOTAL, S0_MEMORY, S0_ROWS };
/** Published columns of Table 3. */
enum { S0_FILTERING, S0_BACKPROJECTION, S0_THEORETICAL, S0_COLUMNS };

enum { S0_METHODS = 6 };
extern const struct s0_method {
    const char *text;
    double seconds, views_per_second;
} s0_table1[S0_METHODS];

extern const struct s0_account {
    const char *text, *key;
    double paper[S0_COLUMNS]; /**< NAN: none */
} s0_table3[S0_ROWS];

/** Operations of a bilinear fetch: two fractions, three interpolations of three each. */
enum { S0_FETCH_FLOPS = 11 };

/** Bytes per update, of which 8/I are those of the volume. */
double s0_update_bytes(int i);
/** A column of Table 3 from seconds; instructions are NAN if code is all 0. */
void s0_filter_rates(const struct s0_job *job, double seconds, const struct s0_code *code,
                     double out[S0_ROWS]);
void s0_backprojection_rates(const struct s0_job *job, double seconds, const struct s0_code *code,
                             double out[S0_ROWS]);

#endif /* FBP_BENCH_PAPERS_OKITSU2008_RULES_H */
