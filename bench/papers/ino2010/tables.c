/* Prints Tables 2 and 3 of Ino et al. (2010), published and measured. Called by command.c.
 * Used by: command.c. */
#include "bench/papers/ino2010/text.h"

#include <math.h>

enum { LABEL = 26, COLUMN = 9, WIDE = 13 };

/* Print seconds with three significant digits or more. */
static void seconds(double v)
{
    bench_cell(COLUMN, v < 0.1 ? 4 : v < 10 ? 3 : v < 100 ? 2 : 1, v);
}

/* A row of Table 2: the published seconds in struct s2_published, and those of now in struct
 * s2_result, of which each number of devices has one struct fbp_s2_time. */
static const struct row {
    const char *text;
    size_t published, at; /* NOTHING: the paper, or this program, lacks it */
} rows[] = {
#define NOTHING           SIZE_MAX
#define PAPER(MEMBER)     offsetof(struct s2_published, MEMBER)
#define NOW(RUNS, MEMBER) (offsetof(struct s2_result, RUNS) + offsetof(struct fbp_s2_time, MEMBER))
    {"initialisation", PAPER(init), NOW(apart, init)},
    {"read", NOTHING, NOTHING},
    {"packing", NOTHING, NOTHING},
    {"download", PAPER(download), NOW(apart, download)},
    {"filtering", PAPER(filter), NOW(apart, filter)},
    {"readback (projections)", PAPER(readback), NOW(apart, readback)},
    {"backprojection", PAPER(backproject), NOW(apart, backproject)},
    {"readback (volume)", PAPER(fetch), NOW(apart, fetch)},
    {"concatenation", NOTHING, NOW(apart, concatenate)},
    {"write", NOTHING, NOW(apart, write)},
    {"total, no streams", PAPER(apart), NOW(apart, total)},
    {"total, streams", PAPER(streams), NOW(streams, total)},
    {"fbp today, initialisation", NOTHING, NOW(today, init)},
    {"fbp today, total", NOTHING, NOW(today, total)},
};
enum { N_ROWS = sizeof rows / sizeof *rows, TODAY = N_ROWS - 2 };

static double number(const void *of, size_t at)
{
    return *(const double *)(const void *)((const char *)of + at);
}

static void print_row(const struct s2_result *r, const struct row *row)
{
    printf("%-*s", LABEL, row->text);
    for (size_t i = 0; i < S2_COUNTS; i++)
        bench_cell(COLUMN, 1,
                   row->published == NOTHING ? NAN
                                             : number(r->of, row->published + i * sizeof(double)));
    printf(" |");
    for (size_t i = 0; i < S2_COUNTS; i++) {
        const double now =
            row->at == NOTHING ? NAN : number(r, row->at + i * sizeof(struct fbp_s2_time));
        seconds(now > 0 ? now : NAN);
    }
    putchar('\n');
}

/* Rates that follow from both. */
static void print_rates(const struct s2_result *r)
{
    static const struct {
        const char *text;
        size_t at;
    } rates[] = {{"views/s", offsetof(struct s2_rates, views)},
                 {"speed-up", offsetof(struct s2_rates, speed_up)},
                 {"GUPS per device", offsetof(struct s2_rates, gups)},
                 {"GFLOP/s per device", offsetof(struct s2_rates, gflops)},
                 {"effective GB/s per device", offsetof(struct s2_rates, gbytes)}};

    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        printf("%-*s", LABEL, rates[k].text);
        for (size_t i = 0; i < (size_t)2 * S2_COUNTS; i++) {
            const struct s2_rates one =
                i < S2_COUNTS ? s2_published_rates(r->of, i) : s2_result_rates(r, i - S2_COUNTS);
            printf("%s", i == S2_COUNTS ? " |" : "");
            bench_cell(COLUMN, k < 3 ? 2 : 0, number(&one, rates[k].at));
        }
        putchar('\n');
    }
}

/* The part of a run that takes longest, and how long each part takes. */
static void print_limit(const struct s2_result *r, size_t i)
{
    const struct fbp_s2_time *t = r->streams[i].n_devices ? &r->streams[i] : &r->apart[i];
    const struct s2_limits s = s2_result_limits(r, i);

    if (t->n_devices == 0)
        return;
    printf(
        "limit, C = %zu: %s. The whole run takes %.3g s, its parts alone take:\n"
        "  views     %.3g s: %.3g GB, for the filter and for each of %zu boxes, %s at %.3g GB/s\n",
        s2_counts[i], s.name, t->total, s.views, 1e-9 * (double)t->sent, r->plan.subvolumes,
        r->plan.own_memory ? "through the host's links" : "by copies in the host's memory",
        1e-9 * t->link);
    if (isfinite(s.compute))
        printf("  computing %.3g s: layout of views, filter and backprojection, slowest device\n"
               "  volume    %.3g s: boxes to the host and into the volume\n",
               s.compute, s.volume);
}

static void print_error(const struct s2_result *r)
{
    const struct fbp_s2_error *e = &r->error;

    if (!r->compared)
        return;
    if (e->n_different == 0)
        printf("%zu slices have the same bits as an ordinary reconstruction by one device",
               e->n_slices);
    else
        printf("%zu slices: %zu of %zu voxels differ from an ordinary reconstruction by one "
               "device, by "
               "at most %.2g/mm",
               e->n_slices, e->n_different, e->n_voxels, e->plain_max);
    printf("; against double precision: PSNR %.1f dB, RMSE %.3f, largest difference %.2f 1e-6/mm\n",
           e->psnr_db, 1e6 * e->rmse, 1e6 * e->max);
}

void s2_print_table2(const struct s2_result *r)
{
    printf("\n%-*s %*s |%*s\n%-*s", LABEL, "Table 2 [s]", 3 * COLUMN + 2, "published (Tesla S1070)",
           3 * COLUMN + 3, "now", LABEL, "");
    for (size_t i = 0; i < (size_t)2 * S2_COUNTS; i++)
        printf("%s %*s%zu", i == S2_COUNTS ? " |" : "", COLUMN - 1, "C=", s2_counts[i % S2_COUNTS]);
    putchar('\n');
    for (size_t k = 0; k < TODAY; k++)
        print_row(r, &rows[k]);
    print_rates(r);
    for (size_t k = TODAY; k < N_ROWS; k++)
        print_row(r, &rows[k]);
    for (size_t i = 0; i < S2_COUNTS; i++)
        print_limit(r, i);
    printf(
        "views/s: K / total with streams; speed-up: total of C = 1 / total; GUPS: 10^9 updates/s "
        "of the backprojection.\n"
        "GFLOP/s: %.1f operations per update, as in the paper of 2008; effective GB/s: 4 + 8/I "
        "bytes per update, GB = 2^30 bytes,\nwhich gives the paper's 137 GB/s for 2048^3; the "
        "102 GB/s of its GPU count 10^9 bytes.\n",
        s2_update_flops);
    if (!r->is_paper)
        printf("The published columns are of %zu^3 voxels from %zu views of %zu x %zu.\n",
               r->of->size, r->of->views, r->of->size, r->of->size);
    printf("Not in the table: %.2f s to start the devices, and %.2f s to allocate the host's "
           "memory, before the runs.\n",
           r->plan.start, r->plan.pin);
    printf("The volume has the same bits in all runs, hash %016llx\n", (unsigned long long)r->hash);
    print_error(r);
    fflush(stdout);
}

/* Table 3: views per second, normalised to the bandwidth of the paper's card. */
static const struct {
    const char *text;
    double normalised, views, gbytes, tflops;
    size_t size;
} table3[] = {
    {"Noel et al.", 3.9, 1.7, 44.8, .504, 1024},  {"Zhao et al.", 10.8, 7.1, 67.2, .336, 1024},
    {"the paper", 14.0, 14.0, 102.0, .933, 1024}, {"Nesterets", 0.3, 0.3, 111.9, .715, 2048},
    {"the paper", 1.4, 1.4, 102.0, .933, 2048},
};

static void print_now(const struct s2_result *r, const char *what, double views)
{
    const double gbytes = 1e-9 * r->limits.copy;
    char text[60];

    snprintf(text, sizeof text, "%s, %zu^3", what, r->size);
    printf("%-*s", LABEL, text);
    bench_cell(WIDE, 1, s2_normalised(views, gbytes));
    bench_cell(WIDE, 1, views);
    bench_cell(WIDE, 1, gbytes > 0 ? gbytes : NAN);
    bench_cell(WIDE, 3, gbytes > 0 ? 2e-12 * r->limits.fma : NAN);
    putchar('\n');
}

void s2_print_table3(const struct s2_result *results, size_t n)
{
    char text[60];

    printf("\n%-*s %*s %*s %*s %*s\n", LABEL, "Table 3, one device", WIDE, "normalised", WIDE,
           "views/s", WIDE, "GB/s", WIDE, "TFLOP/s");
    for (size_t i = 0; i < sizeof table3 / sizeof *table3; i++) {
        snprintf(text, sizeof text, "%s, %zu^3", table3[i].text, table3[i].size);
        printf("%-*s", LABEL, text);
        bench_cell(WIDE, 1, table3[i].normalised);
        bench_cell(WIDE, 1, table3[i].views);
        bench_cell(WIDE, 1, table3[i].gbytes);
        bench_cell(WIDE, 3, table3[i].tflops);
        putchar('\n');
    }
    for (size_t i = 0; i < n; i++) {
        print_now(&results[i], "now", s2_result_rates(&results[i], 0).views);
        print_now(&results[i], "fbp today", (double)results[i].views / results[i].today[0].total);
    }
    printf(
        "normalised: views/s x 102 GB/s (the paper's GPU) / GB/s of the device; GB = 10^9 bytes. "
        "now: the paper's method. fbp today: an\nordinary reconstruction. GB/s and TFLOP/s of both "
        "are measured, by copies within the device's memory and by multiply-adds.\n");
    fflush(stdout);
}
