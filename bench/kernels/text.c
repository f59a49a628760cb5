/* Prints the measurements of `fbp bench kernel` as lines, as a table and as JSON. Called by
 * kernels/command.c. */
#include "bench/kernels/text.h"
#include "choices.h"

#include "commit.h"

#include <math.h>
#include <string.h>

static const double HU = 1000 / 0.02; /* of a difference, water being 0.02/mm */

struct bench_row *bench_table_row(struct bench_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->rows[i].name, name) == 0)
            return &t->rows[i];
    if (t->n == BENCH_MOST_ROWS)
        return NULL;
    snprintf(t->rows[t->n].name, sizeof t->rows[t->n].name, "%s", name);
    return &t->rows[t->n++];
}

const char *bench_precision(const char *isa)
{
    const char *name;

    for (size_t i = 0; (name = choices_precision(i)); i++)
        if (*name && cli_ends_with(isa, name))
            return name;
    return "";
}

void bench_find_device(struct bench_table *t, const struct fbp_bench_info *info)
{
    const char *backend = info->backend;
    static struct fbp_device_info d[64] = {{.struct_size = sizeof *d}};
    const size_t n = fbp_devices(d, 64), length = strlen(backend);

    t->limits = info->limits;
    snprintf(t->device.name, sizeof t->device.name, "%s", backend);
    for (size_t i = 0; i < n && i < 64; i++)
        if (strncmp(d[i].name, backend, length) == 0 && strchr(":", d[i].name[length])) {
            t->device = d[i];
            return;
        }
}

static void print_limits(const struct fbp_limits *l)
{
    printf("measured limits: fp32 multiply-adds %.1f T/s; bilinear fetches of 1, 2, 4 fp32 %.0f, "
           "%.0f, %.0f G/s, fp16 %.0f, %.0f, %.0f G/s; loads of 4, 8, 16 bytes from L1 %.1f, %.1f, "
           "%.1f TB/s; copies on the device %.2f TB/s, up %.1f and down %.1f GB/s\n",
           1e-12 * l->fma, 1e-9 * l->texture_r32f, 1e-9 * l->texture_rg32f,
           1e-9 * l->texture_rgba32f, 1e-9 * l->texture_r16f, 1e-9 * l->texture_rg16f,
           1e-9 * l->texture_rgba16f, 1e-12 * l->load_4, 1e-12 * l->load_8, 1e-12 * l->load_16,
           1e-12 * l->copy, 1e-9 * l->upload, 1e-9 * l->download);
}

void bench_print_head(const struct bench_table *t)
{
    printf("%s: %s%s%s; commit %s\n", t->device.name, t->device.text,
           t->device.driver[0] ? ", driver " : "", t->device.driver, FBP_COMMIT);
    if (t->limits.fma > 0)
        print_limits(&t->limits);
    printf("%-3s %-13s %-12s %9s %9s %9s %9s %6s %7s %8s %8s %8s\n", "job", "kernel", "isa", "GUPS",
           "ms", "best", "worst", "limit", "PSNR", "RMSE", "max", "to exact");
    printf("%-3s %-13s %-12s %9s %9s %9s %9s %6s %7s %8s %8s %8s\n", "", "", "", "median", "", "",
           "", "", "[dB]", "[HU]", "[HU]", "[HU]");
}

void bench_print_scan(const struct bench_job *j, const struct fbp_bench_info *i)
{
    printf("%-3s %zu views into %zu slices; errors in %zu whole slices and %zu voxels, against "
           "double (views %.1f s, reference %.1f s)\n",
           j->name, i->n_views, i->n_slices, i->whole_slices, i->more_voxels, i->project,
           i->reference);
    fflush(stdout);
}

/* "93%", of what is known */
static const char *percent(char *buf, size_t n, const struct fbp_kernel_time *t)
{
    if (t->limit_gups > 0)
        snprintf(buf, n, "%.0f%%", 100 * t->gups / t->limit_gups);
    else
        snprintf(buf, n, "-");
    return buf;
}

void bench_print_kernel(const struct bench_job *j, const struct fbp_kernel_time *t, int shape)
{
    char limit[16], hu[16] = "-", of[24] = "";

    if (isfinite(t->hu))
        snprintf(hu, sizeof hu, "%.4f", t->hu);
    if (shape >= 0)
        snprintf(of, sizeof of, "shape %d ", shape);
    printf("%-3s %-13s %-12s %9.2f %9.2f %9.2f %9.2f %6s %7.1f %8.4f %8.3f %8s  %s%s%s\n", j->name,
           t->kernel, t->isa, t->gups, 1e3 * t->median, 1e3 * t->best, 1e3 * t->worst,
           percent(limit, sizeof limit, t), t->psnr_db, HU * t->rmse, HU * t->max_error, hu, of,
           t->limit[0] ? "of " : "", t->limit);
    fflush(stdout);
}

/* Seconds of the longer of the two transfers alone; 0: not known. */
static double transfer_seconds(const struct bench_table *table, const struct bench_job *j,
                               const struct fbp_host_time *t)
{
    const struct fbp_limits *l = &table->limits;
    const size_t sample = t->counts ? sizeof(uint16_t) : sizeof(float);
    const double up = (double)(j->views * j->columns * j->rows * sample);
    const double down = (double)(j->size * j->size * j->size) * sizeof(float);

    return l->upload > 0 && l->download > 0 ? fmax(up / l->upload, down / l->download) : 0;
}

void bench_print_host(const struct bench_table *table, const struct bench_job *j, const char *name,
                      const struct fbp_host_time *t)
{
    printf("%-3s %s: %s %s, %.1f ms (%.1f to %.1f), %.0f GUPS, %.4f HU from exact; filter %.1f, "
           "backprojection %.1f, fetch %.1f ms one by one; the longer transfer alone %.1f ms\n",
           j->name, name, t->kernel, t->isa, 1e3 * t->median, 1e3 * t->best, 1e3 * t->worst,
           t->gups, t->rmse_hu, 1e3 * t->filter, 1e3 * t->backproject, 1e3 * t->fetch,
           1e3 * transfer_seconds(table, j, t));
    fflush(stdout);
}

static cJSON *json_head(const struct bench_table *table, const char *bench,
                        const struct bench_job *j, const char *backend)
{
    cJSON *root = bench_json_begin(bench, j->name, backend, NULL, NULL);

    cJSON_AddStringToObject(root, "device_text", table->device.text);
    cJSON_AddStringToObject(root, "driver", table->device.driver);
    cJSON_AddStringToObject(root, "commit", FBP_COMMIT);
    return root;
}

int bench_json_kernel(const struct bench_table *table, const struct bench_job *j,
                      const struct fbp_bench_info *info, const struct fbp_kernel_time *t, int shape)
{
    const struct bench_number numbers[] = {
        {"threads", t->n_threads},
        {"size", (double)j->size},
        {"columns", (double)j->columns},
        {"rows", (double)j->rows},
        {"views", (double)t->n_views},
        {"slices", (double)t->n_slices},
        {"runs", (double)t->n_runs},
        {"seconds", t->median},
        {"best", t->best},
        {"worst", t->worst},
        {"gups", t->gups},
        {"limit_gups", t->limit_gups > 0 ? t->limit_gups : NAN},
        {"fraction", t->limit_gups > 0 ? t->gups / t->limit_gups : NAN},
        {"psnr_db", t->psnr_db},
        {"rmse", t->rmse},
        {"max_error", t->max_error},
        {"hu_to_exact", t->hu},
        {"whole_slices", (double)info->whole_slices},
        {"more_voxels", (double)info->more_voxels},
        {"shape", shape >= 0 ? (double)shape : (double)NAN},
    };
    cJSON *root = json_head(table, "kernel", j, t->backend);

    cJSON_AddStringToObject(root, "kernel", t->kernel);
    cJSON_AddStringToObject(root, "isa", t->isa);
    cJSON_AddStringToObject(root, "precision", bench_precision(t->isa));
    cJSON_AddStringToObject(root, "clock", t->by_events ? "events" : "host");
    cJSON_AddStringToObject(root, "limit", t->limit);
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

int bench_json_host(const struct bench_table *table, const struct bench_job *j, const char *name,
                    const struct fbp_host_time *t)
{
    const double transfer = transfer_seconds(table, j, t);
    const struct bench_number numbers[] = {
        {"size", (double)j->size},   {"columns", (double)j->columns}, {"rows", (double)j->rows},
        {"views", (double)j->views}, {"runs", (double)t->n_runs},
    };
    const struct bench_number rest[] = {
        {"hu_to_exact", t->rmse_hu},
        {"limit_seconds", transfer > 0 ? transfer : NAN},
        {"fraction", transfer > 0 ? transfer / t->median : NAN},
    };
    cJSON *root = json_head(table, "host", j, t->backend);

    cJSON_AddStringToObject(root, "row", name);
    cJSON_AddStringToObject(root, "kernel", t->kernel);
    cJSON_AddStringToObject(root, "isa", t->isa);
    cJSON_AddStringToObject(root, "limit", transfer > 0 ? "the longer transfer" : "");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    bench_json_host_seconds(root, t);
    bench_json_numbers(root, rest, sizeof rest / sizeof *rest);
    return bench_json_add(root);
}

static void print_cell(const struct bench_row *row, size_t job)
{
    const struct fbp_kernel_time *k = &row->kernel[job];
    const struct fbp_host_time *h = &row->host[job];
    char limit[16];

    if (k->n_runs && k->limit_gups > 0)
        printf(" %.4g, %.1f dB, %s |", k->gups, k->psnr_db, percent(limit, sizeof limit, k));
    else if (k->n_runs)
        printf(" %.4g, %.1f dB |", k->gups, k->psnr_db);
    else if (h->n_runs)
        printf(" %.1f, %.3f HU |", 1e3 * h->median, h->rmse_hu);
    else
        printf(" - |");
}

static bool is_beside_exact(const struct bench_row *row)
{
    for (size_t i = 0; i < N_BENCH_JOBS; i++)
        if (row->kernel[i].n_runs && isfinite(row->kernel[i].hu))
            return true;
    return false;
}

void bench_print_table(const struct bench_table *t)
{
    printf("\n| |");
    for (size_t i = 0; i < N_BENCH_JOBS; i++)
        printf(" %s %s |", bench_jobs[i].name, bench_jobs[i].text);
    printf("\n|---|---|---|---|\n");
    for (size_t r = 0; r < t->n; r++) {
        const struct bench_row *row = &t->rows[r];
        const bool host = row->host[0].n_runs || row->host[1].n_runs || row->host[2].n_runs;
        printf("| %s [%s] |", row->name, host ? "ms" : "GUPS");
        for (size_t i = 0; i < N_BENCH_JOBS; i++)
            print_cell(row, i);
        putchar('\n');
    }
    for (size_t r = 0; r < t->n; r++) {
        if (!is_beside_exact(&t->rows[r]))
            continue;
        printf("| %s against exact [HU] |", t->rows[r].name);
        for (size_t i = 0; i < N_BENCH_JOBS; i++)
            if (t->rows[r].kernel[i].n_runs && isfinite(t->rows[r].kernel[i].hu))
                printf(" %.4f |", t->rows[r].kernel[i].hu);
            else
                printf(" - |");
        putchar('\n');
    }
}
