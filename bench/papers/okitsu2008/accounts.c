/* Prints Tables 3 and 4 of Okitsu et al. (2008), published and measured, as text or JSON. Called
 * by command.c.
 * Used by: command.c. */
#include "bench/papers/okitsu2008/text.h"

#include <math.h>

enum { LABEL = 30 };

/* Compute the measured columns of Table 3; the last one has the measured limits. */
static void make_table3(const struct s0_ladder *l, double now[S0_COLUMNS][S0_ROWS])
{
    const struct s0_time *t = &l->steps[S0_PROPOSED];
    const struct s0_job job = {l->size, l->views, l->half_width, t->of->i};

    s0_filter_rates(&job, t->filter, &l->filter_code, now[S0_FILTERING]);
    s0_backprojection_rates(&job, t->backproject, &l->proposed_code, now[S0_BACKPROJECTION]);
    double *most = now[S0_THEORETICAL];
    most[S0_INSTRUCTIONS] = 1e-9 * l->limits.fma;
    most[S0_PROCESSING] = 2e-9 * l->limits.fma;
    most[S0_TEXTURE] = 1e-9 * S0_FETCH_FLOPS * l->limits.texture_r32f;
    most[S0_TOTAL] = most[S0_PROCESSING] + most[S0_TEXTURE];
    most[S0_MEMORY] = l->limits.copy / 0x1p30;
}

static void heads(const char *title, const char *const *names, int n)
{
    printf("\n%-*s", LABEL, title);
    for (int i = 0; i < n; i++)
        printf(" %*s", S0_COLUMN, names[i]);
    putchar('\n');
}

static void print_now(const struct s0_ladder *l)
{
    const struct s0_code *f = &l->filter_code, *b = &l->proposed_code;

    printf(
        "Now: the proposed step by the same rules, %zu^3 voxels from %zu views on %s, %s.\n"
        "\"limit now\" is measured by kernels of one operation each; rates above it are possible, "
        "because caches and shared memory\nserve part of the bytes that the rules count.\n",
        l->size, l->views, l->backend, l->isa);
    if (b->capability && f->capability)
        printf(
            "Instructions of the inner loops, compiled for sm_%d: %d per %d updates, which load a\n"
            "voxel %d times and store it %d times; %d per %d multiply-adds of the filter.\n",
            b->capability, b->instructions, b->fetches, b->loads, b->stores, f->instructions,
            f->multiply_adds);
    else
        printf("Instructions were not counted: build with cuobjdump on the path, for this card.\n");
}

static void print_table3(const struct s0_ladder *l)
{
    static const char *const names[] = {"filtering",  "backproj.",  "theoretical",
                                        "filter now", "backp. now", "limit now"};
    double now[S0_COLUMNS][S0_ROWS];

    if (l)
        make_table3(l, now);
    heads(l ? "Table 3: published, now" : "Table 3: published", names, l ? 6 : 3);
    for (int k = 0; k < S0_ROWS; k++) {
        printf("%-*s", LABEL, s0_table3[k].text);
        for (int i = 0; i < S0_COLUMNS; i++)
            bench_cell(S0_COLUMN, 1, s0_table3[k].paper[i]);
        for (int i = 0; l && i < S0_COLUMNS; i++)
            bench_cell(S0_COLUMN, 1, now[i][k]);
        putchar('\n');
    }
    puts(
        "Rules of the paper, found from its figures; N: voxels per side, I: views per launch, S: "
        "half-width of the filter.\n"
        "Backprojection, per update: 3 + 1/I + 29/N operations, 11 per texture fetch, 4 + 8/I "
        "bytes.\n"
        "Filter, per sample: 3(S+1) + 11 operations, 4(S+1) + 8 bytes, most of them from shared "
        "memory.\n"
        "With .6978 s of filtering and 4.276 s of backprojection (published: .7 and 4.3 s), the "
        "rules "
        "give all published\n"
        "figures but the memory bandwidth of the backprojection: they give 70.2 instead of 71.0\n"
        "(with 4.3 s: 69.8). The theoretical 86.4 are 10^9 B/s, 80.5 x 2^30 B/s. Instructions were "
        "published in MIPS of one\nof 128 processors: 1391, 980 and 1350; the 1391 of the filter "
        "exceed the theoretical 1350 in the paper, too.");
    if (l)
        print_now(l);
}

static void print_step(const struct s0_step *step, const struct s0_time *t)
{
    printf("%-*s", LABEL, step->text);
    bench_cell(S0_COLUMN, 1, step->paper);
    if (t) {
        bench_cell(S0_COLUMN, 4, t->backproject);
        bench_cell(S0_COLUMN, 1, t->gups);
        bench_cell(S0_COLUMN, 1, t->psnr_db);
    }
    putchar('\n');
}

static void print_sweep(const struct s0_ladder *l)
{
    static const char *const names[] = {"J = 1", "J = 2", "J = 4"};

    for (int i = 0; i < S0_WITHOUT; i++)
        print_step(l->without[i].of, &l->without[i]);
    heads("seconds of I and J", names, S0_SWEEP_J);
    for (int i = 0; i < S0_SWEEP_I; i++) {
        printf("I = %-*d", LABEL - 4, i + 1);
        for (int j = 0; j < S0_SWEEP_J; j++)
            bench_cell(S0_COLUMN, 4, l->sweep[i][j].backproject);
        putchar('\n');
    }
}

void s0_print_ladder(const struct s0_ladder *l, const char *why)
{
    static const char *const names[] = {"published", "today", "GUPS", "PSNR [dB]"};

    print_table3(l);
    heads("Table 4, backprojection [s]", names, l ? 4 : 1);
    for (int i = 0; i < (l ? S0_STEPS : S0_PROPOSED + 1); i++)
        print_step(&s0_steps[i], l ? &l->steps[i] : NULL);
    if (!l)
        printf("Tables 3 and 4 were not measured: %s\n", why);
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
    double now[S0_COLUMNS][S0_ROWS];

    make_table3(l, now);
    for (int k = 0; k < S0_ROWS; k++) {
        cJSON *row = cJSON_AddObjectToObject(root, s0_table3[k].key);
        s0_add_number(row, "filter", now[S0_FILTERING][k]);
        s0_add_number(row, "backproject", now[S0_BACKPROJECTION][k]);
        s0_add_number(row, "measured_limit", now[S0_THEORETICAL][k]);
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
