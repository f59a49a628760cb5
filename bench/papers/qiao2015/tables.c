/* Prints Tables 1 and 2 of Qiao et al. (2015) and its advice, published and measured. Called by
 * command.c.
 * Used by: command.c. */
#include "bench/papers/qiao2015/text.h"

#include <math.h>

enum { NAME = 18, COLUMN = 10 };

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

static void print_rows(const struct s4_table1 *rows, size_t n)
{
    static const char *const names[S4_COLUMNS] = {
        "GS comp.", "gather", "GS", "CM", "CS", "CM/GS comp.", "CM/GS", "CS/GS comp.", "CS/GS"};
    double sums[S4_COLUMNS] = {0};
    char name[40];

    heads(names, S4_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "%zu^3", rows[i].size);
        print_row(name, rows[i].column, S4_COLUMNS, sums);
    }
    for (size_t i = 0; i < S4_COLUMNS; i++)
        sums[i] /= (double)n;
    print_row("mean of the rows", sums, S4_COLUMNS, NULL);
}

static void print_table1(const struct s4_job *job)
{
    struct s4_table1 now[S4_SIZES];

    for (size_t i = 0; i < job->n; i++)
        now[i] = s4_measured(&job->row[i]);
    printf(
        "GS: the paper's kernel, one stage on a GPU; CM: two stages on the CPU; CS: one stage on "
        "the CPU.\nGS comp.: GS without \"gather\", the copy of the object to the host; CM/GS, "
        "CS/GS: factors between seconds.\n"
        "\nTable 1 [s], published (GTX 760; CPU in MATLAB)\n%-*s",
        NAME, "");
    print_rows(s4_published, S4_SIZES);
    printf(
        "The published factors follow from the published seconds; nine are cut off instead of "
        "rounded: at 64^3\n18.4 (CM), 1181 and 216 (CS), at 128^3 2.7 (CM), 3772 and 207 (CS), at "
        "150^3 65.8 (CM) and 223 (CS),\nat 200^3 123 (CM).\n");
    printf("\nTable 1 [s], now: the host waits for the kernel; all in double\n%-*s", NAME, "");
    print_rows(now, job->n);
    printf("CM includes the filter and the resampling of the rings of directions, CS and GS do not "
           "include the filter.\n");
}

/* Print the times as the paper took them: the launch, and a copy that waits for the kernel. */
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
                                 c->compute, c->gather,          c->compute + c->gather};
        snprintf(name, sizeof name, "%zu^3", job->row[i].size);
        print_row(name, values, 6, NULL);
    }
    printf("A launch only puts a kernel into a queue. In the published rows the \"computing time\" "
           "gives\n");
    for (size_t i = 0; i < S4_SIZES; i++)
        printf(
            "%s%.1f", i ? ", " : "",
            s4_gups(s4_published[i].size, S4_PAPER_VIEWS, s4_published[i].column[S4_GS_COMPUTE]));
    printf(" GUPS in double, more than the card can do; the totals give\n");
    for (size_t i = 0; i < S4_SIZES; i++)
        printf(
            "%s%.2f", i ? ", " : "",
            s4_gups(s4_published[i].size, S4_PAPER_VIEWS, s4_published[i].column[S4_GS_SECONDS]));
    printf(": the gather waited for the kernel.\n");
}

/* Advice (2) of the paper, arrays that stay on the card, and (5), kernels without branches. */
static void print_advice(const struct s4_job *job)
{
    static const char *const names[] = {"(2) sent",   "(2) kept", "factor",
                                        "(5) branch", "(5) none", "factor"};
    char name[40];

    printf("\nAdvice of the paper [s]: (2) keep arrays on the card (gpuArray): GS with arrays sent "
           "and "
           "fetched per call, or kept\n(5) avoid branches: GS with its branch, or without\n%-*s",
           NAME, "");
    heads(names, 6);
    for (size_t i = 0; i < job->n; i++) {
        const struct s4_cell *c = &job->row[i].way[S4_GS], *b = &job->row[i].way[S4_NO_BRANCH];
        const double values[] = {c->copied,  c->compute, c->copied / c->compute,
                                 c->compute, b->compute, c->compute / b->compute};
        snprintf(name, sizeof name, "%zu^3", job->row[i].size);
        print_row(name, values, 6, NULL);
    }
}

/* The first measurement of a method at any size; NULL: none. */
static const struct s4_cell *first_of(const struct s4_job *job, enum s4_way way)
{
    for (size_t i = 0; i < job->n; i++)
        if (job->row[i].way[way].done)
            return &job->row[i].way[way];
    return NULL;
}

enum { FIGURES = 6 };

static double figure_of(const struct s4_row *r, int way, int which)
{
    const struct s4_cell *c = &r->way[way];
    const double all[FIGURES] = {c->compute,    c->filter,
                                 c->total,      s4_gups(r->size, r->views, c->compute),
                                 c->error.rmse, c->error.max};

    return all[which];
}

static void print_all_ways(const struct s4_job *job)
{
    static const char *const titles[FIGURES] = {"compute [s]",    "filter [s]", "host to host [s]",
                                                "compute [GUPS]", "rms error",  "largest error"};
    double values[S4_SIZES];

    printf("\n");
    for (int k = 0; k < S4_WAYS; k++) {
        const struct s4_cell *c = first_of(job, (enum s4_way)k);
        printf("%-*s %s: %s\n", NAME, s4_about[k].name, s4_about[k].text,
               c                         ? c->how
               : s4_about[k].kernel >= 0 ? "not run: needs CUDA"
                                         : "not run");
    }
    for (int which = 0; which < FIGURES; which++) {
        printf("\n%-*s", NAME, titles[which]);
        for (size_t i = 0; i < job->n; i++)
            printf(" %*zu^3", COLUMN - 2, job->row[i].size);
        putchar('\n');
        for (int k = 0; k < S4_WAYS; k++) {
            for (size_t i = 0; i < job->n; i++)
                values[i] = figure_of(&job->row[i], k, which);
            print_row(s4_about[k].name, values, job->n, NULL);
        }
    }
    for (size_t i = 0; i < job->n; i++)
        values[i] = s4_two_stages(&job->row[i]);
    print_row("\nCM - CS resampled ", values, job->n, NULL);
    printf(
        "compute, filter: the fastest backprojection and the fastest filter alone; of CM, compute "
        "includes filter and resampling.\nhost to host: the fastest run of an open plan from "
        "samples to voxels, in which stages overlap. All methods have the same %zu "
        "projections.\nCM and CS resampled resample their rings of directions to %zu equal "
        "linear angles. GUPS count each of the %zu\nprojections at each voxel. Errors: against "
        "one stage in double precision without resampling, in units of the\ngreatest value. "
        "CM - CS resampled: the rms error of two stages alone, in the middle slice.\n",
        job->row[0].views, job->rings, job->row[0].views);
}

static void limit(const char *name, double published, double now, bool there)
{
    printf("%-34s", name);
    for (int i = 0; i < 2; i++) {
        const double v = i ? now : published;
        if (v > 0 && (there || i == 0))
            printf(" %22.0f", v);
        else
            printf(" %22s", "-");
    }
    putchar('\n');
}

/* Greatest sides of a block or grid. */
static void sides(const char *name, const size_t published[3], const size_t now[3])
{
    const size_t *const both[2] = {published, now};
    char text[2][60] = {"-", "-"};

    for (int i = 0; i < 2; i++)
        if (both[i][0] > 0)
            snprintf(text[i], sizeof text[i], "%zux%zux%zu", both[i][0], both[i][1], both[i][2]);
    printf("%-34s %22s %22s\n", name, text[0], text[1]);
}

static void print_table2(const struct s4_job *job)
{
    const struct fbp_s4_gpu *p = &s4_published_gpu, *g = &job->gpu;
    const bool there = job->has_cuda;
    char capability[20];

    printf("\n%-34s %22s %22s\n", "Table 2: limits of the GPU", "published", "now");
    printf("%-34s %22s %22s\n", "name", p->name, there ? g->name : "-");
    limit("memory [MiB]", p->memory_bytes / 1048576, g->memory_bytes / 1048576, there);
    limit("cores", (double)(p->processors * p->cores), (double)(g->processors * g->cores), there);
    snprintf(capability, sizeof capability, "%.1f", g->capability / 10.);
    printf("%-34s %22.1f %22s\n", "compute capability", p->capability / 10.,
           there ? capability : "-");
    limit("multiprocessors (SM)", (double)p->processors, (double)g->processors, there);
    limit("fp32 units per SM", (double)p->cores, (double)g->cores, there);
    limit("threads per SM", (double)p->threads, (double)g->threads, there);
    limit("blocks per SM", (double)p->blocks, (double)g->blocks, there);
    limit("registers per SM", (double)p->registers, (double)g->registers, there);
    limit("shared memory per SM [bytes]", (double)p->shared_bytes, (double)g->shared_bytes, there);
    limit("threads per block", (double)p->block_threads, (double)g->block_threads, there);
    limit("shared memory per block [bytes]", (double)p->block_shared_bytes,
          (double)g->block_shared_bytes, there);
    limit("registers per block", (double)p->block_registers, (double)g->block_registers, there);
    limit("threads per warp", (double)p->warp, (double)g->warp, there);
    sides("block size (x, y, z) [threads]", p->block_sides, g->block_sides);
    sides("grid size (x, y, z) [blocks]", p->grid_sides, g->grid_sides);
    printf("Memory, block size and grid size of the GTX 760: NVIDIA's data for this card and "
           "capability 3.0.\n");
}

static void print_registers(const struct s4_job *job)
{
    static const char *const names[FBP_S4_KERNELS] = {"GS", "GS no branch", "GS registers"};

    printf("\nRegisters and occupancy, %zu^3; published: 68 bytes of local variables per thread\n",
           job->row[job->block_row].size);
    for (int k = 0; k < FBP_S4_KERNELS; k++) {
        const struct fbp_s4_occupancy *o = &job->occupancy[k];
        if (!o->block) {
            printf("%-*s -\n", NAME, names[k]);
            continue;
        }
        printf(
            "%-*s %zu registers (%zu bytes) and %zu bytes of memory per thread; blocks of %u: %zu "
            "threads per SM of %zu, occupancy %.0f %%\n",
            NAME, names[k], o->registers, 4 * o->registers, o->local_bytes, o->block, o->threads,
            job->gpu.threads, 100. * (double)o->threads / (double)job->gpu.threads);
    }
}

static void print_blocks(const struct s4_job *job)
{
    const struct s4_row *r = &job->row[job->block_row];

    printf(
        "\nBlock sizes, %zu^3, kernel \"GS registers\". Threads per SM: by the paper's rule (whole "
        "blocks) on its GTX 760\nand on this card; as registers allow; counted while the kernel "
        "ran\n"
        "%-8s %6s %12s %12s %12s %12s %12s %10s\n",
        r->size, "threads", "warps", "rule, 760", "rule, now", "registers", "counted",
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
    printf("Qiao 2015 (S4): N^3 voxels from %zu projections (%zu rings of equal solid angle) of a "
           "bottle, linear "
           "interpolation, best of %zu\n",
           job->row[0].views, job->rings, job->runs);
    print_table1(job);
    print_launches(job);
    print_advice(job);
    print_all_ways(job);
    print_table2(job);
    print_registers(job);
    print_blocks(job);
    print_operations(job);
    fflush(stdout);
}
