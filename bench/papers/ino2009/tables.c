/* Tables 1 to 3 of the paper, and the same rows as they were measured now. */
#include "bench/papers/ino2009/text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 28, COLUMN = 8 };

/* Packing, download, filtering, backprojection, readback, unpacking, others, total with and without
 * synchronisation; processing units, texture units, both, memory. */
const struct s3_published s3_published[S3_VARIANTS] = {
    {.3, .4, 5.6, 16.3, .5, 1.0, 3.2, 27.2, 20.7, 117.0, 33.9, 150.9, 28.7},
    {.3, .4, 5.6, 7.4, .4, .9, 4.0, 18.9, 17.0, 112.0, 69.4, 181.5, 37.1},
    {.6, .5, 2.5, 6.8, .5, .9, 1.3, 13.0, 10.8, 62.6, 70.6, 133.1, 59.8},
    {.6, .5, 2.4, 3.7, .4, .6, 1.4, 9.6, 8.3, 99.3, 132.3, 231.6, 70.8},
    {.6, .5, 2.4, 4.0, .4, .6, 1.9, 10.4, 8.1, 61.3, 128.3, 189.6, 68.6},
};
const struct s3_published s3_theoretical = {
    .processing = 345.6, .texture = 172.8, .flops = 518.4, .memory = 86.4};
/* 8.1 s is 15.6 times as fast as the CPU; 8.9 s is what the paper of scenario S0 has for OpenGL. */
const double s3_published_kill = 7, s3_published_cpu = 126.4, s3_published_previous = 8.9;

double s3_others(const struct fbp_s3_time *t)
{
    return t->total - t->packing - t->upload - t->filter - t->backproject - t->readback -
           t->unpacking;
}

struct s3_rates s3_rates_of(const struct s3_job *job, const struct s3_result *r)
{
    const double n = (double)job->size, updates = n * n * n * (double)job->views;
    const double rate = 1e-9 * updates / r->time.backproject / (double)r->cost.updates;

    return (struct s3_rates){.gups = rate * (double)r->cost.updates,
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

static void cell(double v, int decimals)
{
    if (isfinite(v))
        printf(" %*.*f", COLUMN, decimals, v);
    else
        printf(" %*s", COLUMN, "-");
}

static void seconds(double v)
{
    cell(v, fabs(v) < 0.1 ? 4 : fabs(v) < 10 ? 3 : 1);
}

static void heads(const char *title, const char *published)
{
    printf("\n%-*s %-*s| now\n%-*s", LABEL, title, S3_VARIANTS * (COLUMN + 1), published, LABEL,
           "");
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < S3_VARIANTS; i++)
            printf(" %*c", COLUMN, 'A' + i);
        printf("%s", k == 0 ? " |" : "\n");
    }
}

static double number(const void *of, size_t at)
{
    double v;
    memcpy(&v, (const char *)of + at, sizeof v);
    return v;
}

#define NOTHING SIZE_MAX

/* Published numbers, and today's, at these places; `value` where it is none of the result's own. */
static void row(const struct s3_job *job, const char *text, size_t published, size_t at,
                double (*value)(const struct s3_job *, const struct s3_result *),
                void (*today)(double))
{
    printf("%-*s", LABEL, text);
    for (int i = 0; i < S3_VARIANTS; i++)
        cell(published == NOTHING ? NAN : number(&s3_published[i], published), 1);
    printf(" |");
    for (int i = 0; i < S3_VARIANTS; i++) {
        const struct s3_result *r = &job->results[i];
        today(!r->done ? NAN : value ? value(job, r) : number(r, at));
    }
    putchar('\n');
}

static void one_decimal(double v)
{
    cell(v, 1);
}

static void no_decimals(double v)
{
    cell(v, 0);
}

static void two_decimals(double v)
{
    cell(v, fabs(v) < 1 ? 4 : 2);
}

static void print_table1(const struct s3_job *job)
{
    printf("\n%-*s passes        of %zu slices and %zu views\n", LABEL, "Table 1: variants",
           job->size, job->views);
    for (int i = 0; i < S3_VARIANTS; i++) {
        const struct s3_result *r = &job->results[i];
        if (!r->done)
            continue;
        const unsigned divisor = r->of.views * r->of.slices;
        char text[40], formula[24] = "N K";
        snprintf(text, sizeof text, "%c  %s", r->of.letter, r->of.text);
        if (divisor > 1)
            snprintf(formula, sizeof formula, "N K / %u", divisor);
        printf("%-*s %-13s %zu; a pass %u view%s and %u slice%s\n", LABEL, text, formula,
               fbp_s3_passes(&r->of, job->size, job->views), r->of.views,
               r->of.views == 1 ? "" : "s", r->of.slices, r->of.slices == 1 ? "" : "s");
    }
}

static double others_of(const struct s3_job *job, const struct s3_result *r)
{
    (void)job;
    return s3_others(&r->time);
}

static double drawn(const struct s3_job *job, const struct s3_result *r)
{
    (void)job;
    return (double)r->slices;
}

static double gups_of(const struct s3_job *job, const struct s3_result *r)
{
    return s3_rates_of(job, r).gups;
}

/* What a method lacks: views are in memory, and the volume stays there. */
static double none(const struct s3_job *job, const struct s3_result *r)
{
    (void)job;
    (void)r;
    return NAN;
}

static double share_of(const struct s3_job *job, const struct s3_result *r)
{
    return 100 * s3_fetch_share(job, r);
}

#define OF(member)   offsetof(struct s3_published, member)
#define TIME(member) offsetof(struct s3_result, time.member)

static void print_table2(const struct s3_job *job)
{
    heads("Table 2 [s]", "published (8800 GTX)");
    row(job, "initialisation", NOTHING, TIME(init), NULL, seconds);
    row(job, "read", NOTHING, 0, none, seconds);
    row(job, "RGBA packing", OF(packing), TIME(packing), NULL, seconds);
    row(job, "download", OF(download), TIME(upload), NULL, seconds);
    row(job, "filtering", OF(filter), TIME(filter), NULL, seconds);
    row(job, "projection readback", NOTHING, 0, none, seconds);
    row(job, "backprojection", OF(backproject), TIME(backproject), NULL, seconds);
    row(job, "slices drawn", NOTHING, 0, drawn, no_decimals);
    row(job, "volume readback", OF(readback), TIME(readback), NULL, seconds);
    row(job, "RGBA unpacking", OF(unpacking), TIME(unpacking), NULL, seconds);
    row(job, "write", NOTHING, 0, none, seconds);
    row(job, "others, initialisation too", OF(others), 0, others_of, seconds);
    row(job, "total, synchronised", OF(synchronised), TIME(total), NULL, seconds);
    row(job, "total", OF(total), offsetof(struct s3_result, total), NULL, seconds);
    row(job, "GUPS of the backprojection", NOTHING, 0, gups_of, two_decimals);
    row(job, "of its texel's fetches [%]", NOTHING, 0, share_of, one_decimal);
    row(job, "PSNR to double [dB]", NOTHING, offsetof(struct s3_result, psnr_db), NULL,
        one_decimal);
    row(job, "RMSE [HU]", NOTHING, offsetof(struct s3_result, rmse_hu), NULL, two_decimals);
}

static double saved_by(const struct s3_result *r, double seconds_left)
{
    return 100 * (1 - seconds_left / r->time.backproject);
}

static double stencil_saves(const struct s3_job *job, const struct s3_result *r)
{
    (void)job;
    return saved_by(r, r->stencil);
}

static double depth_saves(const struct s3_job *job, const struct s3_result *r)
{
    (void)job;
    return saved_by(r, r->depth);
}

/* The ways that the paper names beside the one of Table 2. */
static void print_ways(const struct s3_job *job)
{
    heads("other ways [s]", "published");
    row(job, "backprojection, ping-pong", NOTHING, offsetof(struct s3_result, ping_pong), NULL,
        seconds);
    row(job, "... interpolated exactly", NOTHING, offsetof(struct s3_result, exact), NULL, seconds);
    row(job, "PSNR to double [dB]", NOTHING, offsetof(struct s3_result, exact_psnr_db), NULL,
        one_decimal);
    row(job, "... 75 % killed by stencil", NOTHING, offsetof(struct s3_result, stencil), NULL,
        seconds);
    row(job, "saved [%]", NOTHING, 0, stencil_saves, one_decimal);
    row(job, "... 75 % killed by depth", NOTHING, offsetof(struct s3_result, depth), NULL, seconds);
    row(job, "saved [%]", NOTHING, 0, depth_saves, one_decimal);
    row(job, "total with the faster test", NOTHING, offsetof(struct s3_result, kill_total), NULL,
        seconds);
    row(job, "RGBA packing on the device", NOTHING, offsetof(struct s3_result, packing), NULL,
        seconds);
    row(job, "RGBA unpacking there", NOTHING, offsetof(struct s3_result, unpacking), NULL, seconds);
    printf("published with early fragment kill, 75 %% of the volume left out: %.0f s in all\n",
           s3_published_kill);
}

static double processing_of(const struct s3_job *job, const struct s3_result *r)
{
    return s3_rates_of(job, r).processing;
}

static double texture_of(const struct s3_job *job, const struct s3_result *r)
{
    return s3_rates_of(job, r).texture;
}

static double flops_of(const struct s3_job *job, const struct s3_result *r)
{
    return s3_rates_of(job, r).flops;
}

static double memory_of(const struct s3_job *job, const struct s3_result *r)
{
    return s3_rates_of(job, r).memory;
}

static void print_table3(const struct s3_job *job)
{
    const struct fbp_s3_limits *l = &job->limits;

    heads("Table 3, backprojection", "published (8800 GTX)");
    row(job, "processing units [GFLOPS]", OF(processing), 0, processing_of, two_decimals);
    row(job, "texture units [GFLOPS]", OF(texture), 0, texture_of, two_decimals);
    row(job, "total [GFLOPS]", OF(flops), 0, flops_of, two_decimals);
    row(job, "memory [GB/s]", OF(memory), 0, memory_of, two_decimals);
    printf("theoretical, published: %.1f, %.1f, %.1f GFLOPS, %.1f GB/s\n",
           s3_theoretical.processing, s3_theoretical.texture, s3_theoretical.flops,
           s3_theoretical.memory);
    printf("measured now in the fragment stage: bilinear fetches of R32F %.3f, RGBA32F %.3f, R16F "
           "%.3f, RGBA16F %.3f G/s (times 11: GFLOPS); blending %.1f GB/s\n",
           1e-9 * l->r32f, 1e-9 * l->rgba32f, 1e-9 * l->r16f, 1e-9 * l->rgba16f, 1e-9 * l->blend);
    printf("texture units: %zu values at 1048576 places between two texels, error at most %.2g\n",
           l->values, l->fraction_error);
    printf("operations: each + - * / of a shader's text, once a component; 11 a bilinear fetch; "
           "bytes: a texel a fetch, a target read and written\n");
}

/* A row of what is beyond the paper. */
static void more_row(const struct s3_job *job, const char *text, size_t at,
                     double (*value)(const struct s3_job *, const struct s3_result *),
                     void (*today)(double))
{
    printf("%-*s", LABEL, text);
    for (int i = 0; i < S3_MORE; i++) {
        const struct s3_result *r = &job->more[i];
        today(!r->done ? NAN : value ? value(job, r) : number(r, at));
    }
    putchar('\n');
}

static double passes_of(const struct s3_job *job, const struct s3_result *r)
{
    return (double)fbp_s3_passes(&r->of, job->size, job->views);
}

/* More slices or views a pass, any matrices; and views in fp16. */
static void print_more(const struct s3_job *job)
{
    printf("\nBeyond the paper: F is E with sixteen slices, G is D with eight views, M takes any "
           "matrices\n%-*s",
           LABEL, "variant");
    for (int i = 0; i < S3_MORE; i++)
        printf(" %*c", COLUMN, job->more[i].done ? job->more[i].of.letter : '-');
    printf("\n%-*s", LABEL, "views");
    for (int i = 0; i < S3_MORE; i++)
        printf(" %*s", COLUMN, job->more[i].done ? s3_texel(&job->more[i]) : "-");
    putchar('\n');
    more_row(job, "passes", 0, passes_of, no_decimals);
    more_row(job, "slices drawn", 0, drawn, no_decimals);
    more_row(job, "backprojection [s]", TIME(backproject), NULL, seconds);
    more_row(job, "GUPS", 0, gups_of, two_decimals);
    more_row(job, "of its texel's fetches [%]", 0, share_of, one_decimal);
    more_row(job, "ping-pong [s]", offsetof(struct s3_result, ping_pong), NULL, seconds);
    more_row(job, "75 % killed by stencil [s]", offsetof(struct s3_result, stencil), NULL, seconds);
    more_row(job, "saved [%]", 0, stencil_saves, one_decimal);
    more_row(job, "PSNR to double [dB]", offsetof(struct s3_result, psnr_db), NULL, one_decimal);
    more_row(job, "RMSE [HU]", offsetof(struct s3_result, rmse_hu), NULL, two_decimals);
}

static bool is_partial(const struct s3_job *job)
{
    bool fewer = false;

    for (int i = 0; i < S3_VARIANTS; i++)
        fewer |= job->results[i].done && job->results[i].slices < job->size;
    for (int i = 0; i < S3_MORE; i++)
        fewer |= job->more[i].done && job->more[i].slices < job->size;
    return fewer;
}

void s3_print(const struct s3_job *job)
{
    printf("S3: %zu^3 voxels from %zu views of %zu x %zu, filter in space (Shepp-Logan, S = %zu), "
           "best of %zu\non %s\n",
           job->size, job->views, job->size, job->size, job->size / 2, job->runs, job->renderer);
    if (job->size != S3_PAPER_SIZE || job->views != S3_PAPER_VIEWS)
        printf("The published rows are of %d^3 voxels from %d views of %d x %d.\n", S3_PAPER_SIZE,
               S3_PAPER_VIEWS, S3_PAPER_SIZE, S3_PAPER_SIZE);
    if (is_partial(job))
        printf("Of some variants fewer slices were drawn; seconds are those of all.  --seconds 0 "
               "draws all.\n");
    print_table1(job);
    print_table2(job);
    print_ways(job);
    print_table3(job);
    print_more(job);
    fflush(stdout);
}
