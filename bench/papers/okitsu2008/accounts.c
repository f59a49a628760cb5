/* Tables 3 and 4 of the paper, and today's. */
#include "bench/papers/okitsu2008/text.h"

#include <math.h>

enum { LABEL = 30, COLUMN = 11 };

/* Table 3: filtering, backprojection, theoretical.  Published in MIPS of each of the 128
 * processors, 1391, 980 and 1350; here of all. */
static const struct account {
    const char *text, *key;
    double paper[3];
} accounts[] = {
    {"instruction issue [10^9/s]", "instructions", {178.0, 125.4, 172.8}},
    {"processing units [GFLOPS]", "processing_gflops", {105.8, 38.3, 345.6}},
    {"texture units [GFLOPS]", "texture_gflops", {NAN, 124.3, 172.8}},
    {"total [GFLOPS]", "total_gflops", {105.8, 162.6, 518.4}},
    {"memory bandwidth [GB/s]", "gigabytes_per_second", {130.5, 71.0, 86.4}},
};

enum { N_ACCOUNTS = sizeof accounts / sizeof *accounts };

/* Operations of a bilinear fetch as the paper counts them: two fractions, three interpolations of
 * three each (its 124.3 GFLOPS are 11 a voxel and view). */
static const double FETCH_FLOPS = 11;

/* What one update (a voxel and a view), or one filtered sample, takes; counted in the source. */
struct cost {
    double instructions, flops, fetches, bytes;
};

/* Taps of half-width s that fall into a row of n, on average. */
static double mean_taps(size_t n, size_t s)
{
    double sum = 0;

    for (size_t c = 0; c < n; c++)
        sum += (double)((c < s ? c : s) + (n - 1 - c < s ? n - 1 - c : s) + 1);
    return sum / (double)n;
}

/* A pair of samples shares the loads of a tap and of the pair, the tap's place (2) and two
 * multiply-adds; two weights a sample.  A sample is read and written by the preparation (read),
 * the weights, the convolution and the store: 7 x 4 bytes. */
static struct cost filter_cost(const struct s0_ladder *l)
{
    const double taps = mean_taps(l->size, l->half_width);

    return (struct cost){.instructions = 3 * taps + 2, .flops = 2 * taps + 2, .bytes = 28};
}

/* Instructions as ncu counts them on sm_90: 5.89 an update with I = 3 and J = 2, 8.08 with J = 1,
 * so that 13.1 are a voxel's.  Operations: v and sum of an update, J sums and t of a voxel, 20 of a
 * line.  Voxels are read and written once a launch, views once. */
static struct cost backprojection_cost(const struct s0_ladder *l)
{
    const struct s0_step *p = l->steps[S0_STEPS - 1].of;
    const double n = (double)l->size, i = p->i, j = p->j;

    return (struct cost){.instructions = 3.7 + 13.1 / (i * j),
                         .flops = 4 + 1 / i + 1 / (i * j) + 20 / n,
                         .fetches = 1,
                         .bytes = 8 / (i * j) + 4 / n};
}

/* Rows of Table 3 from a cost, how often it was paid, and in how many seconds. */
static void account(const struct cost *c, double n, double seconds, double out[N_ACCOUNTS])
{
    const double rate = 1e-9 * n / seconds;

    out[0] = c->instructions * rate;
    out[1] = c->flops * rate;
    out[2] = c->fetches > 0 ? c->fetches * FETCH_FLOPS * rate : NAN;
    out[3] = out[1] + c->fetches * FETCH_FLOPS * rate;
    out[4] = c->bytes * rate;
}

struct table3 {
    double filter[N_ACCOUNTS], backproject[N_ACCOUNTS], most[N_ACCOUNTS];
};

static void make_table3(const struct s0_ladder *l, struct table3 *out)
{
    const struct s0_time *t = &l->steps[S0_STEPS - 1];
    const struct cost filter = filter_cost(l), backproject = backprojection_cost(l);
    const double n = (double)l->size, samples = n * n * (double)l->views;

    account(&filter, samples, t->filter, out->filter);
    account(&backproject, n * samples, t->backproject, out->backproject);
    out->most[0] = 1e-9 * l->limits.fma;
    out->most[1] = 2e-9 * l->limits.fma;
    out->most[2] = 1e-9 * FETCH_FLOPS * l->limits.texture_r32f;
    out->most[3] = out->most[1] + out->most[2];
    out->most[4] = 1e-9 * l->limits.copy;
}

static void cell(double v, int decimals)
{
    if (isnan(v))
        printf(" %*s", COLUMN, "-");
    else
        printf(" %*.*f", COLUMN, decimals, v);
}

static void heads(const char *title, const char *const *names, int n)
{
    printf("\n%-*s", LABEL, title);
    for (int i = 0; i < n; i++)
        printf(" %*s", COLUMN, names[i]);
    putchar('\n');
}

static void print_table3(const struct s0_ladder *l)
{
    static const char *const names[] = {"filtering",  "backproj.",  "theoretical",
                                        "filter now", "backp. now", "limit now"};
    struct table3 t;

    if (l)
        make_table3(l, &t);
    heads("Table 3", names, l ? 6 : 3);
    for (int k = 0; k < N_ACCOUNTS; k++) {
        printf("%-*s", LABEL, accounts[k].text);
        for (int i = 0; i < 3; i++)
            cell(accounts[k].paper[i], 1);
        if (l) {
            cell(t.filter[k], 1);
            cell(t.backproject[k], 1);
            cell(t.most[k], 1);
        }
        putchar('\n');
    }
    if (l)
        printf("now: operations counted for the proposed step over its time; limits as measured\n");
}

static void print_times(const struct s0_time *times, int n)
{
    for (int i = 0; i < n; i++) {
        printf("%-*s", LABEL, times[i].of->text);
        cell(times[i].of->paper, 1);
        cell(times[i].backproject, 4);
        cell(times[i].gups, 1);
        cell(times[i].psnr_db, 1);
        putchar('\n');
    }
}

static void print_sweep(const struct s0_ladder *l)
{
    static const char *const names[] = {"J = 1", "J = 2", "J = 4"};

    print_times(l->without, S0_WITHOUT);
    heads("seconds of I and J", names, S0_SWEEP_J);
    for (int i = 0; i < S0_SWEEP_I; i++) {
        printf("I = %-*d", LABEL - 4, i + 1);
        for (int j = 0; j < S0_SWEEP_J; j++)
            cell(l->sweep[i][j].backproject, 4);
        putchar('\n');
    }
}

void s0_print_ladder(const struct s0_ladder *l, const char *why)
{
    static const char *const names[] = {"published", "today", "GUPS", "PSNR [dB]"};

    print_table3(l);
    heads("Table 4 [s]", names, l ? 4 : 1);
    if (l)
        print_times(l->steps, S0_STEPS);
    for (int i = 0; !l && i < S0_STEPS; i++) {
        printf("%-*s", LABEL, s0_steps[i].text);
        cell(s0_steps[i].paper, 1);
        putchar('\n');
    }
    if (!l)
        printf("today's tables 3 and 4 are left out: %s\n", why);
    if (l && l->swept)
        print_sweep(l);
}

static int print_time_json(const struct s0_ladder *l, const struct s0_time *t)
{
    cJSON *root = bench_json_begin("S0", "ladder", l->backend, t->of->kernel, l->isa);

    cJSON_AddNumberToObject(root, "size", (double)l->size);
    cJSON_AddNumberToObject(root, "views", (double)l->views);
    cJSON_AddNumberToObject(root, "i", t->of->i);
    cJSON_AddNumberToObject(root, "j", t->of->j);
    cJSON_AddNumberToObject(root, "seconds", t->backproject);
    cJSON_AddNumberToObject(root, "filter_seconds", t->filter);
    cJSON_AddNumberToObject(root, "gups", t->gups);
    s0_add_number(root, "psnr_db", t->psnr_db);
    s0_add_number(root, "published_seconds", t->of->paper);
    return bench_json_add(root);
}

static int print_table3_json(const struct s0_ladder *l)
{
    cJSON *root = bench_json_begin("S0", "accounts", l->backend, NULL, l->isa);
    struct table3 t;

    make_table3(l, &t);
    for (int k = 0; k < N_ACCOUNTS; k++) {
        cJSON *row = cJSON_AddObjectToObject(root, accounts[k].key);
        s0_add_number(row, "filter", t.filter[k]);
        s0_add_number(row, "backproject", t.backproject[k]);
        s0_add_number(row, "measured_limit", t.most[k]);
    }
    return bench_json_add(root);
}

int s0_print_ladder_json(const struct s0_ladder *l)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < S0_STEPS; i++)
        rc = print_time_json(l, &l->steps[i]);
    for (int i = 0; rc == 0 && l->swept && i < S0_WITHOUT; i++)
        rc = print_time_json(l, &l->without[i]);
    for (int i = 0; rc == 0 && l->swept && i < S0_SWEEP_I * S0_SWEEP_J; i++)
        rc = print_time_json(l, &l->sweep[i / S0_SWEEP_J][i % S0_SWEEP_J]);
    return rc == 0 ? print_table3_json(l) : rc;
}
