/* Prints Tables 1 and 2 of Okitsu et al. (2008), published and measured, as text or JSON. Called
 * by command.c.
 * Used by: accounts.c, command.c. */
#include "bench/papers/okitsu2008/text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 28 };

static const double PAPER_UPDATES = 1e-9 * 512 * 512 * 512 * 360;

#define STAGE(text, member, proposed, prior)                                            \
    {                                                                                   \
        text, #member, proposed, prior, offsetof(struct s0_result, stages.member), 1, 3 \
    }
#define ROW(text, member, proposed, prior, scale, decimals)                              \
    {                                                                                    \
        text, NULL, proposed, prior, offsetof(struct s0_result, member), scale, decimals \
    }

const struct s0_row s0_table2[S0_TABLE2_ROWS] = {
    STAGE("initialisation", init, .1, NAN),
    STAGE("read", read, NAN, NAN),
    STAGE("packing", packing, NAN, NAN),
    STAGE("projection download", download, .2, .2),
    STAGE("filtering", filter, .7, .7),
    STAGE("projection readback", projections_back, NAN, NAN),
    STAGE("backprojection", backproject, 4.3, 6.1),
    STAGE("volume readback", volume_back, .3, .9),
    STAGE("unpacking", unpacking, NAN, NAN),
    STAGE("write", write, NAN, NAN),
    STAGE("sync and rename", finish, NAN, NAN),
    STAGE("others", others, 0, 0),
    ROW("total, no overlap", apart, 5.6, 7.9, 1, 3),
    ROW("total, with overlap", seconds, NAN, NAN, 1, 3),
    ROW("GUPS of the total", gups, PAPER_UPDATES / 5.6, PAPER_UPDATES / 7.9, 1, 2),
    ROW("reading overlaps [%]", read_overlap, NAN, NAN, 100, 0),
    ROW("writing overlaps [%]", write_overlap, NAN, NAN, 100, 0),
    ROW("middle slice: PSNR [dB]", psnr_db, NAN, NAN, 1, 1),
    ROW("RMSE [1e-6/mm]", rmse, NAN, NAN, 1e6, 3),
    ROW("largest difference [1e-6/mm]", max, NAN, NAN, 1e6, 2),
};

static double value(const struct s0_result *r, const struct s0_row *row)
{
    double v;
    memcpy(&v, (const char *)r + row->at, sizeof v);
    return row->scale * v;
}

static void label(const char *text)
{
    printf("%-*s", LABEL, text);
}

static void print_table1(const struct s0_result *results, size_t n)
{
    label("Table 1");
    printf(" %*s %*s\n", S0_COLUMN, "seconds", S0_COLUMN, "views/s");
    for (size_t i = 0; i < S0_METHODS; i++) {
        label(s0_table1[i].text);
        bench_cell(S0_COLUMN, 1, s0_table1[i].seconds);
        bench_cell(S0_COLUMN, 1, s0_table1[i].views_per_second);
        putchar('\n');
    }
    for (size_t i = 0; i < n; i++) {
        const struct s0_result *r = &results[i];
        printf("today, %-*s", LABEL - 7, r->of->name);
        bench_cell(S0_COLUMN, 3, r->seconds);
        bench_cell(S0_COLUMN, 1, (double)r->views / r->seconds);
        printf("   %s; kernel %s\n", r->of->text, r->kernel);
    }
    printf("The CPU's 135.4 s are 2.7 views/s; 2.8 is what was published.\n");
}

static void print_table2(const struct s0_result *results, size_t n)
{
    label("Table 2 [s]");
    printf(" %*s %*s", S0_COLUMN, "proposed", S0_COLUMN, "prior CUDA");
    for (size_t i = 0; i < n; i++)
        printf(" %*s", S0_COLUMN, results[i].of->name);
    putchar('\n');
    for (size_t k = 0; k < (isnan(results[0].psnr_db) ? S0_COMPARISON : S0_TABLE2_ROWS); k++) {
        label(s0_table2[k].text);
        bench_cell(S0_COLUMN, 1, s0_table2[k].proposed);
        bench_cell(S0_COLUMN, 1, s0_table2[k].prior);
        for (size_t i = 0; i < n; i++)
            bench_cell(S0_COLUMN, s0_table2[k].decimals, value(&results[i], &s0_table2[k]));
        putchar('\n');
    }
    printf("proposed, prior CUDA: published. The other columns are the cases of today in Table 1. "
           "Stages are timed in a run\nwithout overlap; others: the rest of its total, such as "
           "closing the device. GUPS: 10^9 updates of a voxel per second.\nreading, writing "
           "overlaps: the part of reading or writing that does not delay computing.\n");
    if (!isnan(results[0].psnr_db))
        printf("The middle slice is compared with that of device ref (double precision).\n");
}

void s0_print_tables(const struct s0_result *results, size_t n)
{
    const struct s0_result *r = results;

    printf("Okitsu 2008 (S0): %zu^3 voxels from %zu views of %zu x %zu, on %s%s%s, %d thread%s\n",
           r->size, r->views, r->size, r->size, r->backend, *r->isa ? ", " : "", r->isa,
           r->n_threads, r->n_threads == 1 ? "" : "s");
    if (r->size != 512 || r->views != 360)
        printf("The published rows are of 512^3 voxels from 360 views of 512 x 512.\n");
    putchar('\n');
    print_table1(results, n);
    putchar('\n');
    print_table2(results, n);
    fflush(stdout);
}

void s0_add_number(cJSON *object, const char *key, double v)
{
    if (isnan(v))
        cJSON_AddNullToObject(object, key);
    else
        cJSON_AddNumberToObject(object, key, v);
}

int s0_print_json(const struct s0_result *r)
{
    cJSON *root = bench_json_begin("S0", r->of->name, r->backend, r->kernel, r->isa);

    cJSON_AddNumberToObject(root, "threads", r->n_threads);
    cJSON_AddNumberToObject(root, "size", (double)r->size);
    cJSON_AddNumberToObject(root, "views", (double)r->views);
    cJSON_AddNumberToObject(root, "seconds", r->seconds);
    cJSON_AddNumberToObject(root, "views_per_second", (double)r->views / r->seconds);
    cJSON_AddNumberToObject(root, "gups", r->gups);
    cJSON_AddNumberToObject(root, "seconds_apart", r->apart);
    cJSON *stages = cJSON_AddObjectToObject(root, "stages");
    for (size_t k = 0; k < S0_STAGES; k++)
        s0_add_number(stages, s0_table2[k].key, value(r, &s0_table2[k]));
    cJSON_AddNumberToObject(root, "read_overlap", r->read_overlap);
    cJSON_AddNumberToObject(root, "write_overlap", r->write_overlap);
    cJSON_AddNumberToObject(root, "memory_peak_bytes", (double)r->peak_bytes);
    s0_add_number(root, "rmse", r->rmse);
    s0_add_number(root, "psnr_db", r->psnr_db);
    s0_add_number(root, "max", r->max);
    return bench_json_add(root);
}
