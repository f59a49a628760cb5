/* Prints Tables 1 to 3 of Ino et al. (2009), published and measured. Called by command.c.
 * Used by: command.c. */
#include "bench/papers/ino2009/text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 28, COLUMN = 8 };

static void seconds(double v)
{
    bench_cell(COLUMN, fabs(v) < 0.001 ? 6 : fabs(v) < 0.1 ? 4 : fabs(v) < 10 ? 3 : 1, v);
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

/* Print a row of published and measured numbers, given by offsets; value() computes measured
 * numbers that are not a member. */
static void row(const struct s3_job *job, const char *text, size_t published, size_t at,
                double (*value)(const struct s3_job *, const struct s3_result *),
                void (*today)(double))
{
    printf("%-*s", LABEL, text);
    for (int i = 0; i < S3_VARIANTS; i++)
        bench_cell(COLUMN, 1, published == NOTHING ? NAN : number(&s3_published[i], published));
    printf(" |");
    for (int i = 0; i < S3_VARIANTS; i++) {
        const struct s3_result *r = &job->results[i];
        today(!r->done ? NAN : value ? value(job, r) : at == NOTHING ? NAN : number(r, at));
    }
    putchar('\n');
}

static void one_decimal(double v)
{
    bench_cell(COLUMN, 1, v);
}

static void no_decimals(double v)
{
    bench_cell(COLUMN, 0, v);
}

static void two_decimals(double v)
{
    bench_cell(COLUMN, fabs(v) < 1 ? 4 : 2, v);
}

static void print_table1(const struct s3_job *job)
{
    printf("\n%-*s %-13s for N = %zu slices, K = %zu views\n", LABEL, "Table 1: variants", "passes",
           job->size, job->views);
    for (int i = 0; i < S3_VARIANTS; i++) {
        const struct s3_fragment *f = &s3_fragments[i];
        const size_t groups = (job->size + f->slices - 1) / f->slices;
        char formula[24] = "N K";
        if (f->views * f->slices > 1)
            snprintf(formula, sizeof formula, "N K / %u", f->views * f->slices);
        printf("%c  %-*s %-13s %zu; per pass %u view%s and %u slice%s\n", 'A' + i, LABEL - 3,
               f->text, formula, groups * ((job->views + f->views - 1) / f->views), f->views,
               f->views == 1 ? "" : "s", f->slices, f->slices == 1 ? "" : "s");
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
    row(job, "read", NOTHING, NOTHING, NULL, seconds);
    row(job, "RGBA packing", OF(packing), TIME(packing), NULL, seconds);
    row(job, "download", OF(download), TIME(upload), NULL, seconds);
    row(job, "filtering", OF(filter), TIME(filter), NULL, seconds);
    row(job, "projection readback", NOTHING, NOTHING, NULL, seconds);
    row(job, "backprojection", OF(backproject), TIME(backproject), NULL, seconds);
    row(job, "slices drawn", NOTHING, 0, drawn, no_decimals);
    row(job, "volume readback", OF(readback), TIME(readback), NULL, seconds);
    row(job, "RGBA unpacking", OF(unpacking), TIME(unpacking), NULL, seconds);
    row(job, "write", NOTHING, NOTHING, NULL, seconds);
    row(job, "others, with initialisation", OF(others), 0, others_of, seconds);
    row(job, "total, synchronised", OF(synchronised), TIME(total), NULL, seconds);
    row(job, "total, not synchronised", OF(total), offsetof(struct s3_result, total), NULL,
        seconds);
    printf("%-*s", LABEL, "views/s");
    for (int i = 0; i < S3_VARIANTS; i++)
        bench_cell(COLUMN, 1, S3_PAPER_VIEWS / s3_published[i].total);
    printf(" |");
    for (int i = 0; i < S3_VARIANTS; i++)
        one_decimal(job->results[i].done ? (double)job->views / job->results[i].total : NAN);
    putchar('\n');
    row(job, "GUPS of the backprojection", NOTHING, 0, gups_of, two_decimals);
    row(job, "share of peak fetch rate [%]", NOTHING, 0, share_of, one_decimal);
    row(job, "PSNR to double [dB]", NOTHING, offsetof(struct s3_result, psnr_db), NULL,
        one_decimal);
    row(job, "RMSE [HU]", NOTHING, offsetof(struct s3_result, rmse_hu), NULL, two_decimals);
    printf("GUPS: 10^9 updates of a voxel per second. The peak fetch rate is measured, by a shader "
           "that "
           "only fetches texels\nof this format; it is no upper limit: a variant whose pattern of "
           "access is better exceeds 100 %%.\n");
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

/* Print other methods of the paper: ping-pong, exact interpolation, early fragment kill, packing on
 * the device. */
static void print_ways(const struct s3_job *job)
{
    heads("Other methods [s]", "published");
    row(job, "backprojection, ping-pong", NOTHING, offsetof(struct s3_result, ping_pong), NULL,
        seconds);
    row(job, "... interpolated by shader", NOTHING, offsetof(struct s3_result, exact), NULL,
        seconds);
    row(job, "... its PSNR to double [dB]", NOTHING, offsetof(struct s3_result, exact_psnr_db),
        NULL, one_decimal);
    row(job, "... 75 % killed by stencil", NOTHING, offsetof(struct s3_result, stencil), NULL,
        seconds);
    row(job, "... ... saved [%]", NOTHING, 0, stencil_saves, one_decimal);
    row(job, "... 75 % killed by depth", NOTHING, offsetof(struct s3_result, depth), NULL, seconds);
    row(job, "... ... saved [%]", NOTHING, 0, depth_saves, one_decimal);
    row(job, "total with the faster test", NOTHING, offsetof(struct s3_result, kill_total), NULL,
        seconds);
    row(job, "RGBA packing on device", NOTHING, offsetof(struct s3_result, packing), NULL, seconds);
    row(job, "RGBA unpacking on device", NOTHING, offsetof(struct s3_result, unpacking), NULL,
        seconds);
    printf("published total with early fragment kill, 75 %% of the volume left out: %.0f s\n",
           s3_published_kill);
}

/* Four rows of Table 3, from the rates of each variant. */
static void print_rates(const struct s3_job *job, bool is_paper, const char *memory)
{
    static const struct {
        const char *text;
        size_t published, at;
    } rows[] = {
        {"processing units [GFLOP/s]", OF(processing), offsetof(struct s3_rates, processing)},
        {"texture units [GFLOP/s]", OF(texture), offsetof(struct s3_rates, texture)},
        {"total [GFLOP/s]", OF(flops), offsetof(struct s3_rates, flops)},
        {NULL, OF(memory), offsetof(struct s3_rates, memory)},
    };

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        printf("%-*s", LABEL, rows[k].text ? rows[k].text : memory);
        for (size_t i = 0; i < S3_VARIANTS; i++)
            bench_cell(COLUMN, 1, is_paper ? number(&s3_published[i], rows[k].published) : NAN);
        printf(" |");
        for (size_t i = 0; i < S3_VARIANTS; i++) {
            const struct s3_result *r = &job->results[i];
            const struct s3_rates rates =
                is_paper ? s3_paper_rates(i, job->size, job->views, r->time.backproject)
                         : s3_rates_of(job, r);
            two_decimals(r->done ? number(&rates, rows[k].at) : NAN);
        }
        putchar('\n');
    }
}

static void print_table3(const struct s3_job *job)
{
    const struct fbp_s3_limits *l = &job->limits;

    heads("Table 3, backprojection", "published (8800 GTX)");
    printf("by the paper's rules:\n");
    print_rates(job, true, "memory [2^30 B/s]");
    printf("theoretical, published: %.1f, %.1f, %.1f GFLOP/s, %.1f x 10^9 B/s\n",
           s3_theoretical.processing, s3_theoretical.texture, s3_theoretical.flops,
           s3_theoretical.memory);
    printf(
        "  The paper's rules, found from its figures: 38, 71, 39, 132, 84 operations per "
        "fragment of its\n  shaders A to E; 11 per bilinear fetch; 5 (1 + 1/slices) bytes per "
        "update, slices per pass: 1 or 4.\n"
        "  Its figures follow from 15.7, 7.7, 7.5, 4.0, 4.1 s of backprojection, not from the "
        "16.3, 7.4, 6.8, 3.7, 4.0 s\n  of its Table 2; columns of now use the seconds of Table 2 "
        "now.\n");
    if (!job->renderer)
        return;
    printf("by the rules of this program:\n");
    print_rates(job, false, "memory [10^9 B/s]");
    printf("  These rules: each + - * / in the text of a shader, once per component; 11 per "
           "bilinear fetch;\n  a texel (4 to 16 bytes) per fetch; a target is read and written.\n");
    printf("measured peak rates: bilinear fetches of R32F %.3f, RGBA32F %.3f, R16F %.3f, RGBA16F "
           "%.3f G/s (x 11: GFLOP/s); blending %.1f GB/s\n",
           1e-9 * l->r32f, 1e-9 * l->rgba32f, 1e-9 * l->r16f, 1e-9 * l->rgba16f, 1e-9 * l->blend);
    printf("texture units: %zu values at 1048576 places between two texels, error at most %.2g\n",
           l->values, l->fraction_error);
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
    more_row(job, "share of peak fetch rate [%]", 0, share_of, one_decimal);
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
    bool others = false;

    if (!job->renderer) {
        printf("Ino 2009 (S3): nothing was measured: this device does not draw with OpenGL; use "
               "--device gl\n");
        print_table1(job);
        print_table2(job);
        print_table3(job);
        return;
    }
    printf("Ino 2009 (S3): %zu^3 voxels from %zu views of %zu x %zu, filter in space (Shepp-Logan, "
           "S = "
           "%zu), "
           "best of %zu\non %s\n",
           job->size, job->views, job->size, job->size, job->size / 2, job->runs, job->renderer);
    if (job->size != S3_PAPER_SIZE || job->views != S3_PAPER_VIEWS)
        printf("The published rows are of %d^3 voxels from %d views of %d x %d.\n", S3_PAPER_SIZE,
               S3_PAPER_VIEWS, S3_PAPER_SIZE, S3_PAPER_SIZE);
    if (is_partial(job))
        printf("Some variants drew fewer slices (row \"slices drawn\"): their seconds are "
               "extrapolated "
               "to all.  --seconds 0 draws all.\n");
    for (const struct s3_result *r = job->results; r < job->results + S3_VARIANTS; r++)
        others |= r->done && isfinite(r->ping_pong);
    print_table1(job);
    print_table2(job);
    if (others)
        print_ways(job);
    print_table3(job);
    print_more(job);
    fflush(stdout);
}
