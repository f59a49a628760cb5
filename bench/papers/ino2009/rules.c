/* Tables 2 and 3 and Fig. 5 as Ino, Yoshida and Hagihara (2009) published them, and the rules that
 * derive figures from seconds: the paper's, and those of this program.  Called by tables.c, json.c
 * and runs.c.
 *
 * The rule of Table 3 was found from its own figures.  With 11 operations per fetch, one fetch per
 * update, the ratio of its first two rows gives whole numbers of operations per fragment: 38, 71,
 * 39, 132 and 84 in A to E.  Memory and texture rates have the same ratio in A and C (.847), and
 * another one in B, D and E (.535).  Bytes therefore depend on the slices of a pass, and not on the
 * size of a texel; 5 (1 + 1/slices) bytes per update, with GB = 2^30 bytes, give .847 and .529.
 * The texture rates give the seconds that Table 3 used: 15.7, 7.7, 7.5, 4.0 and 4.1, which are
 * 4 % fewer to 11 % more than the backprojection of Table 2 took.
 * Used by: json.c, pictures.c, runs.c, tables.c. */
#include "bench/papers/ino2009/text.h"

#include <math.h>

enum { FETCH_OPERATIONS = 11, SLICES = 4, VIEWS = 4 };

/* Columns: seconds of packing, download, filtering, backprojection, readback, unpacking, others,
 * total with and without synchronisation; GFLOP/s of processing units, texture units and both; GB/s
 * of memory. */
const struct s3_published s3_published[S3_VARIANTS] = {
    {.3, .4, 5.6, 16.3, .5, 1.0, 3.2, 27.2, 20.7, 117.0, 33.9, 150.9, 28.7},
    {.3, .4, 5.6, 7.4, .4, .9, 4.0, 18.9, 17.0, 112.0, 69.4, 181.5, 37.1},
    {.6, .5, 2.5, 6.8, .5, .9, 1.3, 13.0, 10.8, 62.6, 70.6, 133.1, 59.8},
    {.6, .5, 2.4, 3.7, .4, .6, 1.4, 9.6, 8.3, 99.3, 132.3, 231.6, 70.8},
    {.6, .5, 2.4, 4.0, .4, .6, 1.9, 10.4, 8.1, 61.3, 128.3, 189.6, 68.6},
};
const struct s3_published s3_theoretical = {
    .processing = 345.6, .texture = 172.8, .flops = 518.4, .memory = 86.4};

/* The CPU takes 15.6 times the 8.1 s of E; MP-GPU reaches 14.5 views/s (section 2); AG-GPU takes
 * 8.9 s in Table 1 of Okitsu, Ino and Hagihara (2008). */
const struct fbp_s3_bar s3_competitors[S3_COMPETITORS] = {
    {"CPU, published", 15.6 * 8.1, true},
    {"MP-GPU, published", S3_PAPER_VIEWS / 14.5, true},
    {"AG-GPU, published", 8.9, true}};
const double s3_published_kill = 7;

const struct s3_fragment s3_fragments[S3_VARIANTS] = {{"no acceleration", 38, 1, 1},
                                                      {"data reuse", 71, 1, SLICES},
                                                      {"RGBA packing", 39, VIEWS, 1},
                                                      {"B and C together", 132, VIEWS, SLICES},
                                                      {"D with load balancing", 84, VIEWS, SLICES}};

static double rate_of(double size, double views, double seconds)
{
    return 1e-9 * size * size * size * views / seconds;
}

struct s3_rates s3_paper_rates(size_t variant, size_t size, size_t views, double seconds)
{
    if (variant >= S3_VARIANTS)
        return (struct s3_rates){NAN, NAN, NAN, NAN, NAN};
    const struct s3_fragment *f = &s3_fragments[variant];
    const double gups = rate_of((double)size, (double)views, seconds);
    const double operations = (double)f->operations / (f->views * f->slices);

    return (struct s3_rates){.gups = gups,
                             .processing = gups * operations,
                             .texture = gups * FETCH_OPERATIONS,
                             .flops = gups * (operations + FETCH_OPERATIONS),
                             .memory = gups * 5 * (1 + 1.0 / f->slices) * 1e9 / (1 << 30)};
}

struct s3_rates s3_rates_of(const struct s3_job *job, const struct s3_result *r)
{
    const double gups = rate_of((double)job->size, (double)job->views, r->time.backproject);
    const double rate = gups / (double)r->cost.updates;

    return (struct s3_rates){.gups = gups,
                             .processing = rate * r->cost.processing,
                             .texture = rate * r->cost.texture,
                             .flops = rate * (r->cost.processing + r->cost.texture),
                             .memory = rate * r->cost.bytes};
}

double s3_fetch_share(const struct s3_job *job, const struct s3_result *r)
{
    const struct fbp_s3_limits *l = &job->limits;
    const double fetches = r->of.views == 1 ? l->r32f : r->half ? l->rgba16f : l->rgba32f;

    return 1e9 * s3_rates_of(job, r).gups / fetches;
}

double s3_others(const struct fbp_s3_time *t)
{
    return t->total - t->packing - t->upload - t->filter - t->backproject - t->readback -
           t->unpacking;
}

/* Extrapolate a value to n slices from values for few and for more slices. If the growth is not
 * positive, or leaves no fixed part, it is noise: the value is then proportional to the slices. */
static double extrapolate(double few, double more, size_t n_few, size_t n_more, size_t n)
{
    const double proportional = more / (double)n_more;
    double each = n_more > n_few ? (more - few) / (double)(n_more - n_few) : proportional;

    if (!(each > 0 && each < proportional))
        each = proportional;
    return more + each * ((double)n - (double)n_more);
}

void s3_whole(struct fbp_s3_time *t, const struct fbp_s3_time *few, size_t n)
{
    const double slices_alone = t->slices_alone;
    double *const grows[] = {&t->slices_alone, &t->backproject, &t->readback, &t->unpacking};
    const double from[] = {few->slices_alone, few->backproject, few->readback, few->unpacking};

    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        *grows[i] = extrapolate(from[i], *grows[i], few->n_slices, t->n_slices, n);
    t->total += t->slices_alone - slices_alone;
}
