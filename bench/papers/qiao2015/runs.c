/* Measures all methods of Qiao et al. (2015) (GS, CM, CS and others), one size after another.
 * Called by command.c.
 * Used by: command.c, json.c, tables.c. */
#include "bench/papers/qiao2015/text.h"
#include "say.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct s4_about s4_about[S4_WAYS] = {
    [S4_GS] = {"GS", "the paper's kernel, one stage, double", true, FBP_S4_PAPER, 1, 0},
    [S4_NO_BRANCH] = {"GS no branch", "the paper's kernel without its branch", true,
                      FBP_S4_NO_BRANCH, 1, 0},
    [S4_REGISTERS] = {"GS registers", "without branch, with sums in registers instead of memory",
                      true, FBP_S4_REGISTERS, 1, 0},
    [S4_PLAN] = {"plan", "fbp's own kernel, one stage, double", true, -1, 1, FBP_PRECISION_DOUBLE},
    [S4_PLAN_FLOAT] = {"plan float", "fbp's own kernel, one stage, float", true, -1, 1, 0},
    [S4_CM] = {"CM", "fbp's own kernel, two stages, double", false, -1, 2, FBP_PRECISION_DOUBLE,
               true},
    [S4_CM_FLOAT] = {"CM float", "fbp's own kernel, two stages, float", false, -1, 2, 0, true},
    [S4_CS] = {"CS", "fbp's own kernel, one stage, double", false, -1, 1, FBP_PRECISION_DOUBLE},
    [S4_CS_FLOAT] = {"CS float", "fbp's own kernel, one stage, float", false, -1, 1, 0},
    [S4_CS_RESAMPLED] = {"CS resampled", "CS from the resampled projections of CM", false, -1, 1,
                         FBP_PRECISION_DOUBLE, true},
};

static const struct s4_cell nothing = {.compute = NAN,
                                       .gather = NAN,
                                       .launch = NAN,
                                       .gather_launched = NAN,
                                       .copied = NAN,
                                       .send = NAN,
                                       .filter = NAN,
                                       .open = NAN,
                                       .total = NAN,
                                       .error = {NAN, NAN, 0}};

/* Copy the middle slice of the object (z = 0 for even N) as floats. */
static int keep_slice(const fbp_s4 *s4, size_t size, float **out)
{
    const size_t n = size * size;

    *out = malloc(n * sizeof **out);
    if (!*out)
        return cli_error("out of memory for a slice: close other programs");
    const double *slice = fbp_s4_object(s4) + (size / 2 - 1) * n;
    for (size_t i = 0; i < n; i++)
        (*out)[i] = (float)slice[i];
    return 0;
}

static fbp_status by_kernel(const struct s4_job *job, const struct s4_about *about, fbp_s4 *s4,
                            struct s4_cell *c)
{
    struct fbp_s4_launch t;
    const fbp_status st = fbp_s4_launch(s4, (enum fbp_s4_kernel)about->kernel, 0, job->runs, &t);

    if (st != FBP_OK)
        return st;
    c->send = t.send;
    c->compute = t.compute;
    c->gather = t.gather;
    c->launch = t.launch;
    c->gather_launched = t.gather_launched;
    c->copied = t.copied;
    snprintf(c->label, sizeof c->label, "%s", about->name);
    snprintf(c->how, sizeof c->how, "cuda, in double, %s", job->gpu.name);
    return FBP_OK;
}

static fbp_status by_plan(const struct s4_job *job, const struct s4_about *about, fbp_s4 *s4,
                          struct s4_cell *c)
{
    const struct fbp_s4_way way = {.device = about->gpu ? job->device : "cpu",
                                   .precision = about->precision,
                                   .stages = about->stages,
                                   .resampled = about->resampled,
                                   .runs = job->runs};
    struct fbp_s4_time t;
    const fbp_status st = fbp_s4_run(s4, &way, &t);

    if (st != FBP_OK)
        return st;
    c->open = t.open;
    c->filter = t.filter;
    c->compute = t.compute;
    c->gather = t.gather;
    c->total = t.total;
    if (about->gpu)
        snprintf(c->label, sizeof c->label, "%s (%s)", about->name, t.backend);
    else
        snprintf(c->label, sizeof c->label, "%s", about->name);
    snprintf(c->how, sizeof c->how, "%s, kernel %s%s%s, %d thread%s", t.backend, t.kernel,
             t.isa[0] ? " " : "", t.isa, t.n_threads, t.n_threads == 1 ? "" : "s");
    return FBP_OK;
}

/* Measure a method; if the device does not support it, a note says why, and the method has no
 * figures. */
static int measure_way(const struct s4_job *job, fbp_s4 *s4, struct s4_row *row, enum s4_way way)
{
    const struct s4_about *about = &s4_about[way];
    struct s4_cell *c = &row->way[way];

    say_note(job->quiet, "%zu^3, %s", row->size, about->name);
    const fbp_status st =
        about->kernel < 0 ? by_plan(job, about, s4, c) : by_kernel(job, about, s4, c);
    if (st == FBP_ERR_UNSUPPORTED) {
        say_note(job->quiet, "not measured: %s", fbp_message());
        return 0;
    }
    if (st != FBP_OK || fbp_s4_compare(s4, &c->error) != FBP_OK)
        return cli_fail();
    c->done = true;
    return keep_slice(s4, row->size, &c->slice);
}

/* All methods compute from the same projections. */
static int measure_row(struct s4_job *job, struct s4_row *row)
{
    const struct fbp_s4_params p = {.struct_size = sizeof p,
                                    .size = row->size,
                                    .rings = job->rings,
                                    .samples = job->samples,
                                    .n_threads = job->threads};
    fbp_s4 *s4 = NULL;
    int rc = fbp_s4_open(&s4, &p) == FBP_OK ? 0 : cli_fail();

    for (int i = 0; rc == 0 && i < S4_WAYS; i++)
        if (!s4_about[i].gpu || (s4_about[i].kernel < 0 ? job->has_device : job->has_cuda))
            rc = measure_way(job, s4, row, (enum s4_way)i);
    if (rc == 0) {
        row->views = fbp_s4_views(s4);
        row->samples = fbp_s4_samples(s4);
        row->truth = malloc(row->size * row->size * sizeof *row->truth);
        rc = !row->truth ? cli_error("out of memory for a slice: close other programs")
             : fbp_s4_truth(s4, row->size / 2 - 1, row->truth) == FBP_OK ? 0
                                                                         : cli_fail();
    }
    fbp_s4_close(&s4);
    return rc;
}

static int measure_block(struct s4_job *job, fbp_s4 *s4, unsigned threads)
{
    struct s4_block *b = &job->block[job->n_blocks];
    struct fbp_s4_launch t;

    if (fbp_s4_occupancy(s4, FBP_S4_REGISTERS, threads, &b->of) != FBP_OK ||
        fbp_s4_launch(s4, FBP_S4_REGISTERS, threads, job->runs, &t) != FBP_OK)
        return cli_fail();
    b->compute = t.compute;
    job->n_blocks++;
    return 0;
}

/* Blocks of 32 to 1024 threads, whole warps or not, on one of the sizes. */
static int measure_blocks(struct s4_job *job)
{
    static const unsigned sizes[] = {32,  48,  64,  80,  96,  100,  128, 150, 160,
                                     192, 200, 250, 256, 300, 320,  384, 400, 500,
                                     512, 640, 700, 768, 900, 1000, 1024};
    const struct fbp_s4_params p = {.struct_size = sizeof p,
                                    .size = job->row[job->block_row].size,
                                    .rings = job->rings,
                                    .samples = job->samples,
                                    .n_threads = job->threads};
    fbp_s4 *s4 = NULL;
    int rc = fbp_s4_open(&s4, &p) == FBP_OK ? 0 : cli_fail();

    /* the first methods are the kernels, in the order of enum fbp_s4_kernel */
    for (int k = 0; rc == 0 && k < FBP_S4_KERNELS; k++)
        if (job->row[job->block_row].way[k].done &&
            fbp_s4_occupancy(s4, (enum fbp_s4_kernel)k, 0, &job->occupancy[k]) != FBP_OK)
            rc = cli_fail();
    for (size_t i = 0; rc == 0 && i < sizeof sizes / sizeof *sizes; i++)
        rc = measure_block(job, s4, sizes[i]);
    fbp_s4_close(&s4);
    return rc;
}

int s4_measure(struct s4_job *job)
{
    int rc = 0;

    job->block_row = job->n / 2;
    for (size_t i = 0; i < job->n; i++)
        for (int k = 0; k < S4_WAYS; k++)
            job->row[i].way[k] = nothing;
    for (size_t i = 0; rc == 0 && i < job->n; i++)
        rc = measure_row(job, &job->row[i]);
    if (rc == 0 && job->row[job->block_row].way[S4_REGISTERS].done)
        rc = measure_blocks(job);
    return rc;
}

void s4_clear(struct s4_job *job)
{
    for (size_t i = 0; i < job->n; i++) {
        for (int k = 0; k < S4_WAYS; k++)
            free(job->row[i].way[k].slice);
        free(job->row[i].truth);
    }
}
