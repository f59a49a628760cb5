/** @file text.h  Measurements of Ino et al. (2009), published figures and the rules that derive
 * rates from seconds (rules.c), and the functions that print them. Included by the files of this
 * folder. */
#ifndef FBP_BENCH_PAPERS_INO2009_TEXT_H
#define FBP_BENCH_PAPERS_INO2009_TEXT_H

#include "bench/common/bench.h"

#include "bench/papers/ino2009/s3.h"

/** Numbers of variants of the paper (A to E) and of others; size and views of the paper. */
enum { S3_VARIANTS = 5, S3_MORE = 9, S3_PAPER_SIZE = 512, S3_PAPER_VIEWS = 360 };

/** One variant in Tables 2 and 3 of the paper: seconds, GFLOP/s, GB/s (2^30 bytes). */
struct s3_published {
    double packing, download, filter, backproject, readback, unpacking, others, synchronised, total;
    double processing, texture, flops, memory;
};
extern const struct s3_published s3_published[S3_VARIANTS];
/** Theoretical rates of the paper's card (8800 GTX) in Table 3; the seconds are 0. */
extern const struct s3_published s3_theoretical;
/** Other implementations in Fig. 5. */
enum { S3_COMPETITORS = 3 };
extern const struct fbp_s3_bar s3_competitors[S3_COMPETITORS];
/** Seconds of the whole job with 75 % of the volume left out. */
extern const double s3_published_kill;
/** A fragment of the paper's shaders: operations by the rule of Table 3, views and slices per pass.
 */
extern const struct s3_fragment {
    const char *text;
    unsigned operations, views, slices;
} s3_fragments[S3_VARIANTS];

/** Measurements of a variant in seconds; NAN: not measured. */
struct s3_result {
    bool done;
    struct fbp_s3_variant of;
    /** Seconds with synchronisation, blending and packing on the host, extrapolated to all slices.
     */
    struct fbp_s3_time time;
    size_t slices; /**< number of slices that were drawn */
    double total;  /**< total seconds of a run without synchronisation */
    double before; /**< part of `total` before the backprojection */
    struct fbp_s3_cost cost;
    double psnr_db, rmse_hu, exact_psnr_db;
    bool half; /**< of views in fp16 */
    double ping_pong,
        exact; /**< seconds of the backprojection by ping-pong, and with exact interpolation */
    double stencil, depth;     /**< seconds of the backprojection with early fragment kill by the
                                  stencil or the depth test */
    double kill_total;         /**< the whole job with the faster of both */
    double packing, unpacking; /**< on the device */
};

/** How variants are measured. */
struct s3_how {
    size_t size, views, runs;
    double seconds; /**< greatest seconds of a backprojection; a longer one draws fewer slices; 0:
                       always all slices */
    bool brief;     /**< measure only the method of Tables 2 and 3 */
    bool quiet;     /**< no notes */
    bool silent;    /**< no line a variant */
};

/** Measure a variant; an exit status, failures reported.  Prints a line with the main figures. */
int s3_measure(const struct s3_how *how, fbp_s3 *s3, size_t variant, struct s3_result *r);

/** Measure only the backprojection of a variant. again: its filtered views are on the device. */
int s3_measure_alone(const struct s3_how *how, fbp_s3 *s3, size_t variant, bool half, bool again,
                     struct s3_result *r);

/** Format of the texels of a variant's views, such as RGBA32F. */
const char *s3_texel(const struct s3_result *r);

/** Extrapolate seconds from those of few and of more drawn slices to n slices.  Only costs per
 * slice (backprojection, readback, unpacking) grow; fixed costs are kept once. */
void s3_whole(struct fbp_s3_time *more, const struct fbp_s3_time *few, size_t n);

/** The job of the command, and its measurements. */
struct s3_job {
    size_t size, views, runs;
    bool silent; /**< JSON is printed, and nothing else */
    const char *renderer;
    struct fbp_s3_limits limits;
    struct s3_result results[S3_VARIANTS];
    /** variants that are not in the paper, then variants with views in fp16 */
    struct s3_result more[S3_MORE];
};

/** Operations [GFLOP/s], memory traffic [GB/s] and updates [GUPS] of a backprojection. */
struct s3_rates {
    double gups, processing, texture, flops, memory;
};
/** Rates by the rules of this program (struct fbp_s3_cost); GB = 10^9 bytes. */
struct s3_rates s3_rates_of(const struct s3_job *job, const struct s3_result *r);
/** Rates by the rules of the paper, of variant 0 (A) to 4 (E), NAN of others; GB = 2^30 bytes. */
struct s3_rates s3_paper_rates(size_t variant, size_t size, size_t views, double seconds);

/** Updates as a share of the fetches that the fragment stage makes of the variant's texel. */
double s3_fetch_share(const struct s3_job *job, const struct s3_result *r);

/** Seconds that no stage of a synchronised run accounts for. */
double s3_others(const struct fbp_s3_time *t);

/** Tables 1 to 3, published and now. */
void s3_print(const struct s3_job *job);
int s3_json(const struct s3_job *job);

/** Figs. 5 and 6, the latter by a variant, into a folder; an exit status, failures reported. */
int s3_draw(const struct s3_job *job, fbp_s3 *s3, size_t variant, const struct fbp_scan *scan,
            const char *folder);

#endif /* FBP_BENCH_PAPERS_INO2009_TEXT_H */
