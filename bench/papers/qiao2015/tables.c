/* Tables 1 and 2 of the paper, what it says beside them, and the same as it was measured now. */
#include "bench/papers/qiao2015/text.h"

#include <math.h>
#include <string.h>

enum { NAME = 18, COLUMN = 10 };

const struct s4_published s4_published[S4_SIZES] = {
    {64, .011, .049, .060, .203, 13, 18.4, 3.4, 1181, 216},
    {100, .016, .229, .245, .624, 44, 39, 2.55, 2750, 180},
    {128, .022, .378, .400, 1.108, 83, 50.4, 2.7, 3772, 207},
    {150, .029, .605, .634, 1.910, 142, 65.8, 3.01, 4897, 223},
    {200, .065, 1.442, 1.507, 8.050, 326, 123, 5.34, 5015, 216},
};

const struct fbp_s4_gpu s4_published_gpu = {.name = "GTX 760",
                                            .capability = 30,
                                            .processors = 6,
                                            .cores = 192,
                                            .threads = 2048,
                                            .blocks = 16,
                                            .registers = 65536,
                                            .shared_bytes = 49152,
                                            .block_threads = 1024,
                                            .warp = 32};
const double s4_published_operations = 85983440;

const struct s4_published *s4_published_of(size_t size)
{
    for (size_t i = 0; i < S4_SIZES; i++)
        if (s4_published[i].size == size)
            return &s4_published[i];
    return NULL;
}

double s4_seconds(const struct s4_cell *c)
{
    return c->compute + c->gather;
}

const struct s4_cell *s4_like(const struct s4_row *row, enum s4_way way)
{
    const enum s4_way exact = way == S4_CM ? S4_CM_DOUBLE : way == S4_CS ? S4_CS_DOUBLE : way;

    return &row->way[row->way[exact].done ? exact : way];
}

double s4_factor(const struct s4_row *row, enum s4_way other, bool gather)
{
    const struct s4_cell *gs = &row->way[S4_GS];

    return s4_seconds(s4_like(row, other)) / (gather ? s4_seconds(gs) : gs->compute);
}

double s4_gups(size_t size, size_t views, double seconds)
{
    return 1e-9 * pow((double)size, 3) * (double)views / seconds;
}

static void cell(double v)
{
    const double a = fabs(v);

    if (!isfinite(v))
        printf(" %*s", COLUMN, "-");
    else if (a >= 1e5 || (a > 0 && a < 1e-4))
        printf(" %*.3e", COLUMN, v);
    else
        printf(" %*.*f", COLUMN, a >= 100 ? 1 : a >= 10 ? 2 : a >= 1 ? 3 : a >= 0.01 ? 4 : 6, v);
}

static void heads(const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf(" %*s", COLUMN, names[i]);
    putchar('\n');
}

/* Columns of Table 1, published or now, and the row of averages. */
enum { TABLE1 = 9 };

static void table1_row(const struct s4_row *r, double out[TABLE1])
{
    const double values[TABLE1] = {
        r->way[S4_GS].compute,      r->way[S4_GS].gather,       s4_seconds(&r->way[S4_GS]),
        s4_seconds(&r->way[S4_CM]), s4_seconds(&r->way[S4_CS]), s4_factor(r, S4_CM, false),
        s4_factor(r, S4_CM, true),  s4_factor(r, S4_CS, false), s4_factor(r, S4_CS, true)};

    memcpy(out, values, sizeof values);
}

static void published_row(const struct s4_published *p, double out[TABLE1])
{
    const double values[TABLE1] = {p->compute,    p->gather,  p->gs,         p->cm,     p->cs,
                                   p->cm_without, p->cm_with, p->cs_without, p->cs_with};

    memcpy(out, values, sizeof values);
}

static void print_row(const char *name, const double *values, size_t n, double *sums)
{
    printf("%-*s", NAME, name);
    for (size_t i = 0; i < n; i++) {
        cell(values[i]);
        if (sums)
            sums[i] += values[i];
    }
    putchar('\n');
}

static void print_averages(double *sums, size_t n, size_t rows)
{
    for (size_t i = 0; i < n; i++)
        sums[i] /= (double)rows;
    print_row("average", sums, n, NULL);
}

static void print_table1(const struct s4_job *job)
{
    static const char *const names[TABLE1] = {"GS comp.",    "gather", "GS",          "CM",   "CS",
                                              "CM/GS comp.", "CM/GS",  "CS/GS comp.", "CS/GS"};
    double values[TABLE1], sums[TABLE1] = {0}, now[TABLE1] = {0};
    char name[40];

    printf("\nTable 1 [s], published (GTX 760; CPU in MATLAB)\n%-*s", NAME, "");
    heads(names, TABLE1);
    for (size_t i = 0; i < S4_SIZES; i++) {
        published_row(&s4_published[i], values);
        snprintf(name, sizeof name, "%zu^3", s4_published[i].size);
        print_row(name, values, TABLE1, sums);
    }
    print_averages(sums, TABLE1, S4_SIZES);
    printf(
        "\nTable 1 [s], now: backprojection alone, the host waiting for the kernel; GS in double, "
        "CM in %s, CS in %s\n%-*s",
        job->row[0].way[S4_CM_DOUBLE].done ? "double" : "float",
        job->row[0].way[S4_CS_DOUBLE].done ? "double" : "float", NAME, "");
    heads(names, TABLE1);
    for (size_t i = 0; i < job->n; i++) {
        table1_row(&job->row[i], values);
        snprintf(name, sizeof name, "%zu^3", job->row[i].size);
        print_row(name, values, TABLE1, now);
    }
    print_averages(now, TABLE1, job->n);
}

/* What the paper timed: the launch, and a copy that waits for the kernel. */
static void print_launches(const struct s4_job *job)
{
    static const char *const names[] = {"launch", "gather", "sum", "compute", "gather", "sum"};
    char name[40];

    printf("\nGS [s]: as the paper took it (no waiting)%*s| the host waiting for the kernel\n%-*s",
           NAME + 3 * (COLUMN + 1) - 41, "", NAME, "");
    heads(names, 6);
    for (size_t i = 0; i < job->n; i++) {
        const struct s4_cell *c = &job->row[i].way[S4_GS];
        const double values[] = {c->launch,  c->gather_launched, c->launch + c->gather_launched,
                                 c->compute, c->gather,          s4_seconds(c)};
        snprintf(name, sizeof name, "%zu^3", job->row[i].size);
        print_row(name, values, 6, NULL);
    }
    printf("A launch only puts a kernel into a queue. In the published rows the \"computing time\" "
           "gives\n");
    for (size_t i = 0; i < S4_SIZES; i++)
        printf("%s%.1f", i ? ", " : "",
               s4_gups(s4_published[i].size, S4_PAPER_VIEWS, s4_published[i].compute));
    printf(" GUPS in double, more than the card can do; the totals give\n");
    for (size_t i = 0; i < S4_SIZES; i++)
        printf("%s%.2f", i ? ", " : "",
               s4_gups(s4_published[i].size, S4_PAPER_VIEWS, s4_published[i].gs));
    printf(": the gather waited for the kernel.\n");
}

/* A way that was measured somewhere. */
static const struct s4_cell *first_of(const struct s4_job *job, enum s4_way way)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->row[i].way[way].done)
            return &job->row[i].way[way];
    return NULL;
}

static void print_ways(const struct s4_job *job, const char *title,
                       double (*of)(const struct s4_row *, enum s4_way))
{
    printf("\n%-*s", NAME, title);
    for (size_t i = 0; i < job->n; i++)
        printf(" %*zu^3", COLUMN - 2, job->row[i].size);
    putchar('\n');
    for (int k = 0; k < S4_WAYS; k++) {
        printf("%-*s", NAME, s4_about[k].name);
        for (size_t i = 0; i < job->n; i++)
            cell(of(&job->row[i], (enum s4_way)k));
        putchar('\n');
    }
}

static double compute_of(const struct s4_row *r, enum s4_way way)
{
    return r->way[way].compute;
}

static double total_of(const struct s4_row *r, enum s4_way way)
{
    return r->way[way].total;
}

static double filter_of(const struct s4_row *r, enum s4_way way)
{
    return r->way[way].filter;
}

static double gups_of(const struct s4_row *r, enum s4_way way)
{
    const size_t views = s4_about[way].stages == 2 ? r->views_two : r->views;

    return s4_gups(r->size, views, r->way[way].compute);
}

static double rmse_of(const struct s4_row *r, enum s4_way way)
{
    return r->way[way].error.rmse;
}

static double max_of(const struct s4_row *r, enum s4_way way)
{
    return r->way[way].error.max;
}

static void print_all_ways(const struct s4_job *job)
{
    printf("\n");
    for (int k = 0; k < S4_WAYS; k++) {
        const struct s4_cell *c = first_of(job, (enum s4_way)k);
        printf("%-*s %s%s%s\n", NAME, s4_about[k].name, s4_about[k].text, c ? ": " : "",
               c ? c->how : "");
    }
    print_ways(job, "compute [s]", compute_of);
    print_ways(job, "filter [s]", filter_of);
    print_ways(job, "host to host [s]", total_of);
    print_ways(job, "compute [GUPS]", gups_of);
    print_ways(job, "rms error", rmse_of);
    print_ways(job, "largest error", max_of);
    printf(
        "Host to host: from samples to voxels, of an open plan. CM has %zu directions (equal "
        "linear angle), the others %zu;\nits GUPS count each of them at each voxel, as one stage "
        "would add them. Errors: of the greatest value.\n",
        job->row[0].views_two, job->row[0].views);
}

static void limit(const char *name, double published, double now, bool there)
{
    printf("%-34s", name);
    for (int i = 0; i < 2; i++) {
        const double v = i ? now : published;
        if (v > 0 && (there || i == 0))
            printf(" %12.0f", v);
        else
            printf(" %12s", "-");
    }
    putchar('\n');
}

static void print_table2(const struct s4_job *job)
{
    const struct fbp_s4_gpu *p = &s4_published_gpu, *g = &job->gpu;
    const bool there = job->has_cuda;

    printf("\n%-34s %12s %12s\n", "Table 2: limits of the GPU", "published", "now");
    printf("%-34s %12s %s\n", "name", p->name, there ? g->name : "           -");
    limit("compute capability x 10", p->capability, g->capability, there);
    limit("multiprocessors (SM)", (double)p->processors, (double)g->processors, there);
    limit("fp32 units an SM", (double)p->cores, (double)g->cores, there);
    limit("threads an SM", (double)p->threads, (double)g->threads, there);
    limit("blocks an SM", (double)p->blocks, (double)g->blocks, there);
    limit("registers an SM", (double)p->registers, (double)g->registers, there);
    limit("shared memory an SM [bytes]", (double)p->shared_bytes, (double)g->shared_bytes, there);
    limit("threads a block", (double)p->block_threads, (double)g->block_threads, there);
    limit("shared memory a block [bytes]", (double)p->block_shared_bytes,
          (double)g->block_shared_bytes, there);
    limit("registers a block", (double)p->block_registers, (double)g->block_registers, there);
    limit("threads a warp", (double)p->warp, (double)g->warp, there);
}

static void print_registers(const struct s4_job *job)
{
    static const char *const names[FBP_S4_KERNELS] = {"the paper's kernel", "without its faults"};

    printf("\nRegisters and occupancy, %zu^3: published 68 bytes of locals a thread\n",
           job->row[job->block_row].size);
    for (int k = 0; k < FBP_S4_KERNELS; k++) {
        const struct fbp_s4_occupancy *o = &job->occupancy[k];
        if (!o->block) {
            printf("%-*s -\n", NAME, names[k]);
            continue;
        }
        printf("%-*s %zu registers (%zu bytes) and %zu bytes of memory a thread; blocks of %u: %zu "
               "threads an SM of %zu, occupancy %.0f %%\n",
               NAME, names[k], o->registers, 4 * o->registers, o->local_bytes, o->block, o->threads,
               job->gpu.threads, 100. * (double)o->threads / (double)job->gpu.threads);
    }
}

static void print_blocks(const struct s4_job *job)
{
    const struct s4_row *r = &job->row[job->block_row];

    printf("\nBlocks, %zu^3, the kernel without faults; threads an SM: whole blocks as the paper "
           "counts\n(the published card's beside), as registers allow, and most that were counted\n"
           "%-8s %6s %12s %12s %12s %12s %12s %10s\n",
           r->size, "threads", "warps", "published", "paper's way", "registers", "counted",
           "compute [s]", "GUPS");
    for (size_t i = 0; i < job->n_blocks; i++) {
        const struct s4_block *b = &job->block[i];
        printf("%-8u %6.4g %12zu %12zu %12zu %12zu %12.3e %10.1f%s\n", b->of.block,
               b->of.block / 32., fbp_s4_paper_threads(&s4_published_gpu, b->of.block),
               b->of.paper_threads, b->of.threads, b->of.resident, b->compute,
               s4_gups(r->size, r->views, b->compute), b->of.block % 32 ? "  not whole warps" : "");
    }
    if (job->n_blocks == 0)
        printf("-\n");
}

static void print_operations(const struct s4_job *job)
{
    const struct s4_row *r = &job->row[job->block_row];
    const double all = fbp_s4_operations(r->size, r->views);
    const double right = fbp_s4_operations(128, S4_PAPER_VIEWS);
    const double seconds = r->way[S4_GS].compute;

    printf("\nOperations: (15 + 26 Q) N^3 = %.0f for N = %zu, Q = %zu", all, r->size, r->views);
    if (isfinite(seconds))
        printf(", %.1f GFLOP/s in double by the paper's kernel", 1e-9 * all / seconds);
    printf("\nThe published number for N = 128, Q = 208 is %.0f, which is 15 N^3 + 26 N^3 + Q = "
           "%.0f:\na misprint; the sum as it is meant is %.0f, %.0f times as much.\n",
           s4_published_operations, fbp_s4_operations_printed(128, S4_PAPER_VIEWS), right,
           right / s4_published_operations);
}

void s4_print(const struct s4_job *job)
{
    printf(
        "S4: N^3 voxels from %zu projections (%zu rings of equal solid angle) of a bottle, linear "
        "interpolation, best of %zu\n",
        job->row[0].views, job->rings, job->runs);
    print_table1(job);
    print_launches(job);
    print_all_ways(job);
    print_table2(job);
    print_registers(job);
    print_blocks(job);
    print_operations(job);
    fflush(stdout);
}
