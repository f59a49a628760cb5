/* Prints Tables I to III and section V of Zinsser and Keck (2013), published and measured, as
 * text or JSON. Called by command.c.
 * Used by: command.c. */
#include "bench/common/bench.h"
#include "bench/papers/zinsser2013/text.h"

#include <math.h>

enum { LABEL = 34 };

static const struct {
    const char *text, *key;
    double card[4]; /* 0: not published */
    size_t at;      /* in struct fbp_limits */
    double unit;
} table1[] = {
    {"fp32 [GFLOP/s]", "fma", {622.1, 1345.0, 1581.1, 3090.4}, offsetof(struct fbp_limits, fma), 2},
    {"bilinear fetches [G/s]",
     "texture_r32f",
     {48.2, 42.0, 49.4, 128.8},
     offsetof(struct fbp_limits, texture_r32f),
     1},
    {"memory [GB/s]", "copy", {141.7, 177.4, 192.4, 192.3}, offsetof(struct fbp_limits, copy), 1},
    {"fetches of one fp16 sample [G/s]",
     "texture_r16f",
     {0},
     offsetof(struct fbp_limits, texture_r16f),
     1},
    {"fetches of four fp16 samples [G/s]",
     "texture_rgba16f",
     {0},
     offsetof(struct fbp_limits, texture_rgba16f),
     1},
    {"from the host, pinned [GB/s]", "upload", {0}, offsetof(struct fbp_limits, upload), 1},
    {"to the host, pinned [GB/s]", "download", {0}, offsetof(struct fbp_limits, download), 1},
};

static double limit(const struct s1_job *job, size_t i)
{
    return *(const double *)(const void *)((const char *)&job->limits + table1[i].at);
}

/* Members that were not measured are 0. */
static double known(double v)
{
    return v > 0 ? v : NAN;
}

static void print_runs(const struct s1_job *job)
{
    printf(job->runs > 1 ? "medians of %zu runs\n" : "%zu run\n", job->runs);
}

void s1_print_table1(const struct s1_job *job)
{
    printf("Zinsser 2013 (S1): %zu^3 voxels from %zu views of %zu x %zu, any 3x4 matrices, on %s; ",
           job->size, job->views, job->columns, job->rows, job->device);
    print_runs(job);
    printf("The published rows are of 496 views of 1248 x 960, in Table II of 512^3 voxels. GUPS: "
           "10^9 updates of a voxel per second.\n");
    if (!job->kernels)
        printf("The paper's kernels need CUDA: columns of today without a measurement have a -.\n");
    printf("\n%-*s %12s %12s %12s %12s %12s\n", LABEL, "Table I: limits", "GTX 280", "GTX 480",
           "GTX 580", "GTX 680", "today");
    printf("%-*s %12s %12s %12s %12s %12s\n", LABEL, "Architecture", "Tesla GT200", "Fermi GF100",
           "Fermi GF110", "Kepler GK104", *job->architecture ? job->architecture : "-");
    for (size_t i = 0; i < sizeof table1 / sizeof *table1; i++) {
        printf("%-*s", LABEL, table1[i].text);
        for (size_t k = 0; k < 4; k++)
            bench_cell(12, 1, known(table1[i].card[k]));
        bench_cell(12, 1, known(1e-9 * table1[i].unit * limit(job, i)));
        putchar('\n');
    }
    printf("Today's limits are measured; the published ones are the makers'.\n");
    printf(
        "\nTable II, times in ms; left: published, GTX 680; right: today, %s\n"
        "kernel A: outer loop along z, inner loop over views; B: the other order; sync: threads "
        "of a block wait for each other\n"
        "I: views per launch; K: voxels per thread; block: threads; occup.: share of the greatest "
        "number of resident threads;\nreg.: registers per thread\n"
        "Times in which I means instructions: I.-.-: the kernel without reads, writes and "
        "fetches; I.M.-: with reads and writes\nof the volume; I.M.T: also with fetches, all "
        "from one place; time: the whole kernel\n",
        job->device);
    printf("  # kernel    I   K block | occup. I.-.- I.M.- I.M.T  time  GUPS | occup. reg.   "
           "I.-.-   I.M.-   I.M.T    time   GUPS\n");
}

static cJSON *json_begin(const struct s1_job *job, const char *what)
{
    const struct cli_number numbers[] = {{"size", (double)job->size},
                                         {"views", (double)job->views}};
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "bench", "S1");
    cJSON_AddStringToObject(root, "what", what);
    cJSON_AddStringToObject(root, "device", job->device);
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return root;
}

static int print_json_row(const struct s1_job *job, const struct s1_result *r)
{
    const struct fbp_s1_shape *s = &r->shape;
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];
    const bool parts = r->part[FBP_S1_I].seconds > 0;
    const struct s1_verdict v = s1_judge(r, &job->limits);
    const struct cli_number numbers[] = {
        {"test", s->test   ? s->test
                 : r->best ? 9
                           : 0},
        {"I", s->views},
        {"K", s->voxels},
        {"Bx", s->block_x},
        {"By", s->block_y},
        {"occupancy", all->occupancy},
        {"registers", all->registers},
        {"launches", (double)all->n_launches},
        {"seconds", all->seconds},
        {"gups", all->gups},
        {"seconds_i", r->part[FBP_S1_I].seconds}, /* from here on: only if parts were measured */
        {"seconds_im", r->part[FBP_S1_IM].seconds},
        {"seconds_imt", r->part[FBP_S1_IMT].seconds},
        {"time_instructions", v.instructions},
        {"time_volume", v.volume},
        {"time_fetches", v.fetches},
        {"time_places", v.places},
        {"share_fma", v.fma},
        {"share_memory", v.memory},
        {"share_texture", v.texture},
    };
    const char kernel[2] = {s->kernel, 0};
    cJSON *root = json_begin(job, "kernel");

    cJSON_AddStringToObject(root, "kernel", kernel);
    cJSON_AddBoolToObject(root, "sync", s->sync);
    cJSON_AddBoolToObject(root, "squares", s->squares);
    bench_json_numbers(root, numbers, parts ? sizeof numbers / sizeof *numbers : 10);
    if (parts)
        cJSON_AddStringToObject(root, "binds", v.limit);
    return bench_json_add(root);
}

int s1_print_row(const struct s1_job *job, const struct s1_result *r, bool json)
{
    const struct fbp_s1_shape *s = &r->shape;
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];

    if (json)
        return print_json_row(job, r);
    if (s->test)
        printf("%3d", s->test);
    else
        printf("%3s", r->best ? "9" : "");
    const char *kernel = s->kernel == 'A' ? s->sync ? "A sync" : "A" : s->squares ? "B 2x2" : "B";
    printf(" %-6s %4u %3u %2ux%-2u |", kernel, s->views, s->voxels, s->block_x, s->block_y);
    if (s->test) {
        const struct s1_test *p = &s1_table2[s->test - 1];
        printf(" %6.3f %5.0f %5.0f %5.0f %5.0f %5.1f |", p->occupancy, p->ms[FBP_S1_I],
               p->ms[FBP_S1_IM], p->ms[FBP_S1_IMT], p->ms[FBP_S1_ALL], p->gups);
    } else {
        printf(" %-35s |", r->best ? "today's best" : "tried once");
    }
    bench_cell(6, 3, known(all->occupancy));
    bench_cell(4, 0, known(all->registers));
    for (int part = 0; part < FBP_S1_PARTS; part++)
        bench_cell(7, r->part[part].seconds < 0.1 ? 2 : 1, known(1e3 * r->part[part].seconds));
    bench_cell(6, 1, known(all->gups));
    putchar('\n');
    fflush(stdout);
    return 0;
}

static void print_verdict(const struct s1_result *r, const struct s1_job *job)
{
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];
    const struct s1_verdict v = s1_judge(r, &job->limits);

    printf("%3d %5.0f %% %5.0f %% %6.0f %% %5.0f %% | %7.0f %% %8.0f %5.0f %% %9.1f %5.0f %%  | "
           "%s\n",
           r->shape.test ? r->shape.test : 9, 100 * v.instructions, 100 * v.volume, 100 * v.fetches,
           100 * v.places, 100 * v.fma, 1e-9 * all->volume_bytes / all->seconds, 100 * v.memory,
           1e-9 * all->updates / all->seconds, 100 * v.texture, v.limit);
}

void s1_print_verdicts(const struct s1_result *results, size_t n, const struct s1_job *job)
{
    printf("\nLimits of the kernels: shares of the time, then shares of the limits of Table I\n"
           "  #  instr.  volume  fetches scatter | fp32 rate   memory [GB/s]    fetches [G/s]  | "
           "limit\nfrom the published times and limits of the GTX 680:\n");
    for (size_t i = 0; i < S1_TESTS; i++) {
        const struct s1_result published = s1_published(i);
        print_verdict(&published, &s1_paper);
    }
    if (n > 0)
        printf("%s:\n", job->device);
    for (size_t i = 0; i < n; i++)
        print_verdict(&results[i], job);
    printf(
        "instr.: I.-.-; volume: added by I.M.-; fetches: added by I.M.T; scatter: added by the "
        "whole kernel, whose fetches are from\ndifferent places. limit: the cause of the largest "
        "share: instr.: instruction rate; scatter: texture cache; volume:\nmemory bandwidth, "
        "fetches: texture rate, if the kernel reaches %.0f %% of that limit, otherwise the "
        "latency.\n\n",
        100 * S1_ENOUGH);
    printf("%-*s %7s %9s %9s %11s %11s\n%*s %11s %11s\n", LABEL, "Table III: whole calls", "volume",
           "seconds", "GUPS", "RMSE [HU]", "RMSE [HU]", LABEL + 27, "", "(to double)",
           "(to exact)");
    for (size_t i = 0; i < S1_CALLS; i++)
        (void)s1_print_call(job, &s1_table3[i], false);
    printf("Published: the 0.99 s of Thumper are 67.2 GUPS. (to exact): to the kernel matrix in "
           "precision exact.\n");
}

int s1_print_call(const struct s1_job *job, const struct s1_call *call, bool json)
{
    const struct cli_number numbers[] = {{"seconds", call->seconds},
                                         {"gups", call->gups},
                                         {"rmse_hu", call->rmse_hu},
                                         {"exact_hu", call->exact_hu}};

    if (json) {
        cJSON *root = json_begin(job, "call");
        cJSON_AddStringToObject(root, "text", call->text);
        bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
        return bench_json_add(root);
    }
    printf("%-*s %5zu^3", LABEL, call->text, call->size);
    bench_cell(9, call->seconds < 0.5 ? 4 : 2, call->seconds);
    bench_cell(9, call->gups < 10 ? 2 : 1, call->gups);
    bench_cell(11, 4, call->rmse_hu);
    bench_cell(11, 4, call->exact_hu);
    putchar('\n');
    fflush(stdout);
    return 0;
}

int s1_print_transfers(const struct s1_job *job, const struct fbp_s1_transfers *t, bool json)
{
    const struct s1_call *paper = &s1_table3[t->streamed ? S1_1024 : S1_512];
    const struct s1_division d = s1_divide(job->size, job->views, t->streamed);
    const struct s1_moved m = s1_moved(job, &d);
    const struct {
        const char *text, *key;
        double published, today;
    } lines[] = {
        {"views to the device [MiB]", "mib_views", NAN, m.views},
        {"volume to the device [MiB]", "mib_volume_up", NAN, m.volume_up},
        {"volume to the host [MiB]", "mib_volume_down", NAN, m.volume_down},
        {"moved together [MiB]", "mib", t->streamed ? NAN : S1_MOVED_MIB,
         m.views + m.volume_up + m.volume_down},
        {"without overlap [s]", "in_order", NAN, t->in_order},
        {"  copies to the device [s]", "upload", NAN, t->steps[0]},
        {"  layout of the views [s]", "layout", NAN, t->steps[1]},
        {"  kernels [s]", "backproject", NAN, t->steps[2]},
        {"  copies to the host [s]", "fetch", NAN, t->steps[3]},
        {"with overlap [s]", "overlapped", paper->seconds, t->overlapped},
        {"GUPS", "gups", paper->gups, 1e-9 * s1_updates(job->size, job->views) / t->overlapped},
        {"RMSE to double [HU]", "rmse_hu", paper->rmse_hu, t->error.double_hu},
    };
    cJSON *root = json ? json_begin(job, t->streamed ? "streamed" : "resident") : NULL;

    if (!json) {
        printf("\nZinsser 2013 (S1), section V: %zu^3 voxels from %zu views of %zu x %zu, on %s, "
               "kernel "
               "matrix; ",
               job->size, job->views, job->columns, job->rows, job->device);
        print_runs(job);
        printf(
            "%s; passes: %zu, of at most %zu views in chunks of 8, 16, 24, 32, 32 ...\n"
            "parts of at most %zu slices, %.4g MiB; on the device at a time: %.4g MiB (memory of "
            "the paper's card: 2048 MiB)\n%-*s  %9s^3 %12s\n",
            t->streamed ? "The volume passes through two buffers"
                        : "Views and volume fit on the device",
            d.passes, d.pass_views, d.part_slices, m.part,
            2 * m.part + m.views * (double)d.pass_views / (double)job->views, LABEL,
            "published: GTX 680", t->streamed ? "1024" : "512", "today");
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (json) {
            bench_json_numbers(root, &(struct cli_number){lines[i].key, lines[i].today}, 1);
        } else {
            printf("%-*s", LABEL, lines[i].text);
            bench_cell(12, lines[i].published < 10 ? 3 : 1, lines[i].published);
            bench_cell(12, lines[i].today < 10 ? 3 : 1, lines[i].today);
            putchar('\n');
        }
    fflush(stdout);
    return json ? bench_json_add(root) : 0;
}

int s1_print_json_limits(const struct s1_job *job)
{
    cJSON *root = json_begin(job, "limits");

    for (size_t i = 0; i < sizeof table1 / sizeof *table1; i++)
        cJSON_AddNumberToObject(root, table1[i].key, limit(job, i));
    return bench_json_add(root);
}
