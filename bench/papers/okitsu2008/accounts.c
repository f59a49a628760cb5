/* Tables 3 and 4 of the paper, and today's. */
#include "bench/papers/okitsu2008/text.h"

#include <math.h>

enum { LABEL = 30, COLUMN = 11 };

struct table3 {
    double filter[S0_ROWS], backproject[S0_ROWS], most[S0_ROWS];
};

static void make_table3(const struct s0_ladder *l, struct table3 *out)
{
    const struct s0_time *t = &l->steps[S0_PROPOSED];
    const struct s0_job job = {l->size, l->views, l->half_width, t->of->i};

    s0_filter_rates(&job, t->filter, &l->filter_code, out->filter);
    s0_backprojection_rates(&job, t->backproject, &l->proposed_code, out->backproject);
    out->most[S0_INSTRUCTIONS] = 1e-9 * l->limits.fma;
    out->most[S0_PROCESSING] = 2e-9 * l->limits.fma;
    out->most[S0_TEXTURE] = 1e-9 * S0_FETCH_FLOPS * l->limits.texture_r32f;
    out->most[S0_TOTAL] = out->most[S0_PROCESSING] + out->most[S0_TEXTURE];
    out->most[S0_MEMORY] = l->limits.copy / 0x1p30;
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

static void print_now(const struct s0_ladder *l)
{
    const struct s0_code *f = &l->filter_code, *b = &l->proposed_code;

    printf("Now: the proposed step by the same rules, %zu^3 voxels from %zu views on %s, %s;\n"
           "limits as measured.\n",
           l->size, l->views, l->backend, l->isa);
    if (b->capability && f->capability)
        printf("Instructions of the inner loops in the code for sm_%d: %d per %d updates, with %d "
               "loads and %d stores\nof the volume and %d fetches; %d per %d multiply-adds of the "
               "filter.\n",
               b->capability, b->instructions, b->fetches, b->loads, b->stores, b->early_fetches,
               f->instructions, f->multiply_adds);
    else
        printf("Instructions were not counted: build with cuobjdump on the path, for this card.\n");
}

static void print_table3(const struct s0_ladder *l)
{
    static const char *const names[] = {"filtering",  "backproj.",  "theoretical",
                                        "filter now", "backp. now", "limit now"};
    struct table3 t;

    if (l)
        make_table3(l, &t);
    heads("Table 3", names, l ? 6 : 3);
    for (int k = 0; k < S0_ROWS; k++) {
        printf("%-*s", LABEL, s0_table3[k].text);
        for (int i = 0; i < S0_COLUMNS; i++)
            cell(s0_table3[k].paper[i], 1);
        if (l) {
            cell(t.filter[k], 1);
            cell(t.backproject[k], 1);
            cell(t.most[k], 1);
        }
        putchar('\n');
    }
    puts(
        "Rules: 3 + 1/I + 29/N operations, 11 of the fetch and 4 + 8/I bytes per update; 3(S+1) + "
        "11 "
        "operations\nand 4(S+1) + 8 bytes, mostly of shared memory, per filtered sample. They give "
        "the published figures\nfrom .6978 and 4.276 s, but 70.2 instead of 71.0 (from 4.3 s: "
        "69.8). "
        "The theoretical 86.4 are 10^9 B/s.\nInstructions were published in MIPS of one of 128 "
        "processors: 1391, 980 and 1350.");
    if (l)
        print_now(l);
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
    for (int i = 0; !l && i <= S0_PROPOSED; i++) {
        printf("%-*s", LABEL, s0_steps[i].text);
        cell(s0_steps[i].paper, 1);
        putchar('\n');
    }
    if (!l)
        printf("Tables 3 and 4 of today are left out: %s\n", why);
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
    for (int k = 0; k < S0_ROWS; k++) {
        cJSON *row = cJSON_AddObjectToObject(root, s0_table3[k].key);
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
