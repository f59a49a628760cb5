/* Tables 1 and 2 of the paper, and the same rows as they were measured now. */
#include "bench/papers/okitsu2008/text.h"

#include <math.h>
#include <string.h>

enum { PAPER_SIZE = 512, PAPER_VIEWS = 360, LABEL = 28, COLUMN = 11 };

/* A stage's row: what was published, and where in struct s0_stages today's value is. */
static const struct row {
    const char *text, *key;
    double proposed, prior;
    size_t at;
} rows[] = {
    {"initialisation", "init", .1, NAN, offsetof(struct s0_stages, init)},
    {"read", "read", NAN, NAN, offsetof(struct s0_stages, read)},
    {"packing", "packing", NAN, NAN, offsetof(struct s0_stages, packing)},
    {"projection download", "download", .2, .2, offsetof(struct s0_stages, download)},
    {"filtering", "filter", .7, .7, offsetof(struct s0_stages, filter)},
    {"projection readback", "projections_back", NAN, NAN,
     offsetof(struct s0_stages, projections_back)},
    {"backprojection", "backproject", 4.3, 6.1, offsetof(struct s0_stages, backproject)},
    {"volume readback", "volume_back", .3, .9, offsetof(struct s0_stages, volume_back)},
    {"unpacking", "unpacking", NAN, NAN, offsetof(struct s0_stages, unpacking)},
    {"write", "write", NAN, NAN, offsetof(struct s0_stages, write)},
    {"sync and rename", "finish", NAN, NAN, offsetof(struct s0_stages, finish)},
};

enum { N_ROWS = sizeof rows / sizeof *rows };

void s0_published_totals(double seconds[2])
{
    seconds[0] = seconds[1] = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        seconds[0] += isnan(rows[i].proposed) ? 0 : rows[i].proposed;
        seconds[1] += isnan(rows[i].prior) ? 0 : rows[i].prior;
    }
}

static double stage(const struct s0_result *r, const struct row *row)
{
    double v;
    memcpy(&v, (const char *)&r->stages + row->at, sizeof v);
    return v;
}

/* A number, or a dash for what a method lacks. */
static void cell(double v, int decimals)
{
    if (isnan(v))
        printf(" %*s", COLUMN, "-");
    else
        printf(" %*.*f", COLUMN, decimals, v);
}

static void label(const char *text)
{
    printf("%-*s", LABEL, text);
}

static void print_table1(const struct s0_result *results, size_t n)
{
    char text[80];

    label("Table 1");
    printf(" %*s %*s\n", COLUMN, "seconds", COLUMN, "views/s");
    for (size_t i = 0; i < S0_METHODS; i++) {
        label(s0_table1[i].text);
        cell(s0_table1[i].seconds, 1);
        cell(s0_table1[i].views_per_second, 1);
        putchar('\n');
    }
    for (size_t i = 0; i < n; i++) {
        const struct s0_result *r = &results[i];
        snprintf(text, sizeof text, "today, %s", r->of->name);
        label(text);
        cell(r->seconds, 3);
        cell((double)r->views / r->seconds, 1);
        printf("   %s; kernel %s\n", r->of->text, r->kernel);
    }
    printf("The CPU's 135.4 s are 2.7 views/s; 2.8 is what was published.\n");
}

/* A row of table 2 below the stages. */
static void more(const char *text, double proposed, double prior, int decimals,
                 const struct s0_result *results, size_t n,
                 double (*value)(const struct s0_result *))
{
    label(text);
    cell(proposed, 1);
    cell(prior, 1);
    for (size_t i = 0; i < n; i++)
        cell(value(&results[i]), decimals);
    putchar('\n');
}

static double apart_of(const struct s0_result *r)
{
    return r->apart;
}
static double seconds_of(const struct s0_result *r)
{
    return r->seconds;
}
static double gups_of(const struct s0_result *r)
{
    return r->gups;
}
static double read_of(const struct s0_result *r)
{
    return 100 * r->read_overlap;
}
static double write_of(const struct s0_result *r)
{
    return 100 * r->write_overlap;
}
static double psnr_of(const struct s0_result *r)
{
    return r->psnr_db;
}
static double rmse_of(const struct s0_result *r)
{
    return 1e6 * r->rmse;
}

static double max_of(const struct s0_result *r)
{
    return 1e6 * r->max;
}

static void print_table2(const struct s0_result *results, size_t n)
{
    static const double updates = 1e-9 * PAPER_SIZE * PAPER_SIZE * PAPER_SIZE * PAPER_VIEWS;
    double total[2];

    label("Table 2 [s]");
    printf(" %*s %*s", COLUMN, "proposed", COLUMN, "prior CUDA");
    for (size_t i = 0; i < n; i++)
        printf(" %*s", COLUMN, results[i].of->name);
    putchar('\n');
    for (size_t k = 0; k < N_ROWS; k++) {
        label(rows[k].text);
        cell(rows[k].proposed, 1);
        cell(rows[k].prior, 1);
        for (size_t i = 0; i < n; i++)
            cell(stage(&results[i], &rows[k]), 3);
        putchar('\n');
    }
    s0_published_totals(total);
    more("total, stages apart", total[0], total[1], 3, results, n, apart_of);
    more("total, overlapping", NAN, NAN, 3, results, n, seconds_of);
    more("GUPS of the total", updates / total[0], updates / total[1], 2, results, n, gups_of);
    more("reading overlaps [%]", NAN, NAN, 0, results, n, read_of);
    more("writing overlaps [%]", NAN, NAN, 0, results, n, write_of);
    if (!isnan(results[0].psnr_db)) {
        more("slice to ref: PSNR [dB]", NAN, NAN, 1, results, n, psnr_of);
        more("RMSE [1e-6/mm]", NAN, NAN, 3, results, n, rmse_of);
        more("largest difference [1e-6/mm]", NAN, NAN, 2, results, n, max_of);
    }
}

void s0_print_tables(const struct s0_result *results, size_t n)
{
    const struct s0_result *r = results;

    printf("Okitsu 2008 (S0): %zu^3 voxels from %zu views of %zu x %zu, on %s%s%s, %d thread%s\n",
           r->size, r->views, r->size, r->size, r->backend, *r->isa ? ", " : "", r->isa,
           r->n_threads, r->n_threads == 1 ? "" : "s");
    if (r->size != PAPER_SIZE || r->views != PAPER_VIEWS)
        printf("The published rows are of %d^3 voxels from %d views of %d x %d.\n", PAPER_SIZE,
               PAPER_VIEWS, PAPER_SIZE, PAPER_SIZE);
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
    for (size_t k = 0; k < N_ROWS; k++)
        s0_add_number(stages, rows[k].key, stage(r, &rows[k]));
    cJSON_AddNumberToObject(root, "read_overlap", r->read_overlap);
    cJSON_AddNumberToObject(root, "write_overlap", r->write_overlap);
    cJSON_AddNumberToObject(root, "memory_peak_bytes", (double)r->peak_bytes);
    s0_add_number(root, "rmse", r->rmse);
    s0_add_number(root, "psnr_db", r->psnr_db);
    s0_add_number(root, "max", r->max);
    return bench_json_add(root);
}
