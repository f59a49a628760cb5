/* Tables I, II and III of the paper, and the same rows as they were measured now. */
#include "bench/papers/zinsser2013/text.h"

#include <math.h>
#include <string.h>

enum { PAPER_SIZE = 512, PAPER_VIEWS = 496, LABEL = 34 };

/* Table II: times in ms. */
static const struct {
    double occupancy, i, im, imt, ms, gups;
} table2[] = {
    {1.000, 1091, 4710, 4707, 9141, 7.3}, {.750, 575, 1199, 1196, 7802, 8.5},
    {1.000, 554, 1185, 1169, 2710, 24.6}, {.750, 685, 980, 1085, 1990, 33.4},
    {.875, 542, 989, 1179, 1527, 43.6},   {.750, 528, 725, 966, 1296, 51.4},
    {.750, 506, 550, 826, 1051, 63.4},    {.750, 489, 494, 756, 969, 68.7},
};

static const struct {
    const char *text;
    double card[4];
} table1[] = {
    {"fp32 [GFLOP/s]", {622.1, 1345.0, 1581.1, 3090.4}},
    {"bilinear fetches [G/s]", {48.2, 42.0, 49.4, 128.8}},
    {"memory [GB/s]", {141.7, 177.4, 192.4, 192.3}},
};

static const struct {
    const char *text;
    size_t size;
    double seconds, gups, rmse_hu; /* NAN: not published */
} table3[] = {
    {"fastrabbitEX (40 cores)", 512, 7.45, 8.94, NAN},
    {"RapidRabbit (GTX 680)", 512, 2.98, 22.3, NAN},
    {"Thumper, the paper's (GTX 680)", 512, .99, 67.7, .021},
    {"fastrabbitEX (40 cores)", 1024, 43.8, 12.2, NAN},
    {"CERA (C2070)", 1024, 36.1, 14.7, NAN},
    {"Thumper, the paper's (GTX 680)", 1024, 6.04, 88.2, .021},
};

enum { N_TABLE3 = sizeof table3 / sizeof *table3 };

/* Below this share of a limit it is waiting that costs, not the limit. */
static const double ENOUGH = 0.6;

void s1_print_job(const struct s1_job *job)
{
    printf("S1: %zu^3 voxels from %zu views of %zu x %zu, any 3x4 matrices, on %s; medians of "
           "%zu\n",
           job->size, job->views, job->columns, job->rows, job->device, job->runs);
    if (job->size != PAPER_SIZE || job->views != PAPER_VIEWS || job->columns != 1248 ||
        job->rows != 960)
        printf("The published rows of Table II are of %d^3 voxels from %d views of 1248 x 960.\n",
               PAPER_SIZE, PAPER_VIEWS);
}

void s1_print_table1(const struct s1_job *job)
{
    const struct fbp_limits *l = &job->limits;
    const double today[] = {2e-9 * l->fma, 1e-9 * l->texture_r32f, 1e-9 * l->copy};

    printf("\n%-*s %9s %9s %9s %9s %9s\n", LABEL, "Table I: limits", "GTX 280", "GTX 480",
           "GTX 580", "GTX 680", "today");
    for (size_t i = 0; i < sizeof table1 / sizeof *table1; i++) {
        printf("%-*s", LABEL, table1[i].text);
        for (size_t k = 0; k < 4; k++)
            printf(" %9.1f", table1[i].card[k]);
        printf(" %9.1f\n", today[i]);
    }
    printf("%-*s %49.1f\n", LABEL, "  of one fp16 sample [G/s]", 1e-9 * l->texture_r16f);
    printf("%-*s %49.1f\n", LABEL, "  of four fp16 samples [G/s]", 1e-9 * l->texture_rgba16f);
    printf("%-*s %49.1f\n", LABEL, "from the host, pinned [GB/s]", 1e-9 * l->upload);
    printf("%-*s %49.1f\n", LABEL, "to the host, pinned [GB/s]", 1e-9 * l->download);
    printf("Today's are measured; those of the paper are the makers'.\n");
}

void s1_print_head(const struct s1_job *job)
{
    printf("\nTable II, times in ms; left: GTX 680 (2013), right: %s\n", job->device);
    printf("  # kernel    I   K block | occup. I.-.- I.M.- I.M.T  time  GUPS | occup. reg.   "
           "I.-.-   I.M.-   I.M.T    time   GUPS\n");
}

static double ms(const struct s1_result *r, enum fbp_s1_part part)
{
    return 1e3 * r->part[part].seconds;
}

/* A time in ms, or a dash where nothing was measured. */
static void cell(double v)
{
    if (v > 0)
        printf(" %7.*f", v < 100 ? 2 : 1, v);
    else
        printf(" %7s", "-");
}

static const char *kernel_name(const struct fbp_s1_shape *s)
{
    return s->kernel == 'A' ? s->sync ? "A sync" : "A" : s->squares ? "B 2x2" : "B";
}

void s1_print_row(const struct s1_result *r)
{
    const struct fbp_s1_shape *s = &r->shape;
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];

    if (s->test)
        printf("%3d", s->test);
    else
        printf("%3s", r->best ? "9" : "");
    printf(" %-6s %4u %3u %2ux%-2u |", kernel_name(s), s->views, s->voxels, s->block_x, s->block_y);
    if (s->test)
        printf(" %6.3f %5.0f %5.0f %5.0f %5.0f %5.1f |", table2[s->test - 1].occupancy,
               table2[s->test - 1].i, table2[s->test - 1].im, table2[s->test - 1].imt,
               table2[s->test - 1].ms, table2[s->test - 1].gups);
    else
        printf(" %-35s |", r->best ? "today's best" : "tried once");
    printf(" %6.3f %4d", all->occupancy, all->registers);
    cell(ms(r, FBP_S1_I));
    cell(ms(r, FBP_S1_IM));
    cell(ms(r, FBP_S1_IMT));
    cell(ms(r, FBP_S1_ALL));
    printf(" %6.1f\n", all->gups);
    fflush(stdout);
}

/* What the largest part of the time is due to. */
static const char *binding(const struct s1_verdict *v)
{
    const double most = fmax(fmax(v->instructions, v->volume), fmax(v->fetches, v->places));

    if (v->fetches >= most)
        return v->texture >= ENOUGH ? "texture rate" : "texture latency";
    if (v->volume >= most)
        return v->memory >= ENOUGH ? "memory bandwidth" : "memory latency";
    return v->instructions >= most ? "instruction rate" : "texture cache";
}

struct s1_verdict s1_judge(const struct s1_result *r, const struct fbp_limits *limits)
{
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];
    const double t = all->seconds, i = r->part[FBP_S1_I].seconds;
    const double im = fmax(r->part[FBP_S1_IM].seconds, i);
    const double imt = fmax(r->part[FBP_S1_IMT].seconds, im);
    struct s1_verdict v = {.instructions = i / t,
                           .volume = (im - i) / t,
                           .fetches = (imt - im) / t,
                           .places = fmax(t - imt, 0) / t,
                           .fma = all->instructions / t / limits->fma,
                           .memory = all->volume_bytes / t / limits->copy,
                           .texture = all->updates / t / limits->texture_r32f};

    v.binds = binding(&v);
    return v;
}

void s1_print_verdicts(const struct s1_result *results, size_t n, const struct s1_job *job)
{
    printf("\nWhat binds: shares of the time, then what is reached of the measured limits\n"
           "  #  instr.  volume  fetches  places | fp32 rate   memory [GB/s]    fetches [G/s]  | "
           "binds\n");
    for (size_t i = 0; i < n; i++) {
        const struct fbp_s1_time *all = &results[i].part[FBP_S1_ALL];
        const struct s1_verdict v = s1_judge(&results[i], &job->limits);
        printf(
            "%3d %5.0f %% %5.0f %% %6.0f %% %5.0f %% | %7.0f %% %8.0f %5.0f %% %9.1f %5.0f %%  | "
            "%s\n",
            results[i].shape.test ? results[i].shape.test : 9, 100 * v.instructions, 100 * v.volume,
            100 * v.fetches, 100 * v.places, 100 * v.fma, 1e-9 * all->volume_bytes / all->seconds,
            100 * v.memory, 1e-9 * all->updates / all->seconds, 100 * v.texture, v.binds);
    }
    printf("instr.: I.-.-; volume: what M adds; fetches: what T adds; places: what fetches from "
           "where they belong add.\n");
}

static void table3_row(const char *text, size_t size, double seconds, double gups, double rmse_hu)
{
    printf("%-*s %5zu^3 %9.*f %9.*f", LABEL, text, size, seconds < 0.5 ? 4 : 2, seconds,
           gups < 10 ? 2 : 1, gups);
    if (rmse_hu >= 0)
        printf(" %10.4f", rmse_hu);
    putchar('\n');
}

void s1_print_table3(const struct s1_job *job, const struct s1_result *best,
                     const struct fbp_s1_error *error)
{
    printf("\n%-*s %7s %9s %9s %10s\n", LABEL, "Table III", "volume", "seconds", "GUPS",
           "RMSE [HU]");
    for (size_t i = 0; i < N_TABLE3; i++)
        table3_row(table3[i].text, table3[i].size, table3[i].seconds, table3[i].gups,
                   table3[i].rmse_hu);
    table3_row("today, best kernel alone", job->size, best->part[FBP_S1_ALL].seconds,
               best->part[FBP_S1_ALL].gups, error->rmse_hu);
    printf(
        "The papers' rows are whole calls, transfers included.  Today's RMSE is that against the "
        "exact kernel on\nfiltered phantom views, water at 0.02/mm (at most %.3f HU; PSNR %.1f "
        "dB); the paper's that of RabbitCT's\nviews against their reference.\n",
        error->max_hu, error->psnr_db);
}
