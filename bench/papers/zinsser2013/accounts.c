/* Published figures of Zinsser and Keck (2013), and the rules that derive figures from seconds:
 * updates, bytes, shares of limits, the division of section V. Called by tables.c, measure.c and
 * transfers.c.
 * Used by: command.c, measure.c, tables.c, transfers.c. */
#include "bench/papers/zinsser2013/text.h"

#include <math.h>

const struct s1_job s1_paper = {
    .size = 512,
    .views = 496,
    .columns = 1248,
    .rows = 960,
    .device = "GTX 680 (published)",
    .limits = {.fma = 3090.4e9 / 2, .texture_r32f = 128.8e9, .copy = 192.3e9},
};

const struct s1_test s1_table2[S1_TESTS] = {
    {{1, 'A', false, false, 1, 512, 32, 8}, 1.000, {1091, 4710, 4707, 9141}, 7.3},
    {{2, 'A', false, false, 4, 512, 32, 8}, .750, {575, 1199, 1196, 7802}, 8.5},
    {{3, 'A', true, false, 4, 512, 32, 8}, 1.000, {554, 1185, 1169, 2710}, 24.6},
    {{4, 'A', false, false, 4, 8, 32, 8}, .750, {685, 980, 1085, 1990}, 33.4},
    {{5, 'B', false, false, 4, 8, 32, 8}, .875, {542, 989, 1179, 1527}, 43.6},
    {{6, 'B', false, false, 8, 4, 16, 16}, .750, {528, 725, 966, 1296}, 51.4},
    {{7, 'B', false, false, 16, 4, 16, 32}, .750, {506, 550, 826, 1051}, 63.4},
    {{8, 'B', false, false, 32, 4, 16, 32}, .750, {489, 494, 756, 969}, 68.7},
};

const struct s1_call s1_table3[S1_CALLS] = {
    {"fastrabbitEX (40 cores)", 512, 7.45, 8.94, NAN, NAN},
    {"RapidRabbit (GTX 680)", 512, 2.98, 22.3, NAN, NAN},
    {"Thumper, the paper's (GTX 680)", 512, .99, 67.7, .021, NAN},
    {"fastrabbitEX (40 cores)", 1024, 43.8, 12.2, NAN, NAN},
    {"CERA (C2070)", 1024, 36.1, 14.7, NAN, NAN},
    {"Thumper, the paper's (GTX 680)", 1024, 6.04, 88.2, .021, NAN},
};

double s1_updates(size_t size, size_t views)
{
    return (double)size * (double)size * (double)size * (double)views;
}

/* s1_update() runs once per voxel and view, s1_line_of() once per view and thread. */
static double instructions_per_update(const struct fbp_s1_shape *s)
{
    enum { UPDATE = 8, LINE = 6 };

    return UPDATE + LINE / (double)s->voxels + (s->kernel == 'A' ? 1 / (double)s->views : 0);
}

void s1_account(const struct fbp_s1_shape *shape, enum fbp_s1_part part, double voxels,
                size_t views, struct fbp_s1_time *t)
{
    t->updates = voxels * (double)views;
    t->instructions = t->updates * instructions_per_update(shape);
    t->gups = 1e-9 * t->updates / t->seconds;
    t->volume_bytes = part == FBP_S1_I ? 0 : 2 * sizeof(float) * voxels * (double)t->n_launches;
}

struct s1_result s1_published(size_t i)
{
    const struct s1_test *p = &s1_table2[i];
    struct s1_result r = {.shape = p->shape};

    for (int part = 0; part < FBP_S1_PARTS; part++) {
        struct fbp_s1_time *t = &r.part[part];
        t->seconds = 1e-3 * p->ms[part];
        t->occupancy = p->occupancy;
        t->n_launches = (s1_paper.views + p->shape.views - 1) / p->shape.views;
        s1_account(&p->shape, (enum fbp_s1_part)part, s1_updates(s1_paper.size, 1), s1_paper.views,
                   t);
    }
    return r;
}

/* The cause of the largest share of the time. */
static const char *limit_of(const struct s1_verdict *v)
{
    const double most = fmax(fmax(v->instructions, v->volume), fmax(v->fetches, v->places));

    if (v->fetches >= most)
        return v->texture >= S1_ENOUGH ? "texture rate" : "texture latency";
    if (v->volume >= most)
        return v->memory >= S1_ENOUGH ? "memory bandwidth" : "memory latency";
    return v->instructions >= most ? "instruction rate" : "texture cache";
}

struct s1_verdict s1_judge(const struct s1_result *r, const struct fbp_limits *limits)
{
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];
    const double t = all->seconds, i = r->part[FBP_S1_I].seconds;
    const double im = fmax(r->part[FBP_S1_IM].seconds, i);
    const double imt = fmax(r->part[FBP_S1_IMT].seconds, im);
    struct s1_verdict v = {.instructions = i / t,
                           .volume = (im - i) / t,
                           .fetches = (imt - im) / t,
                           .places = fmax(t - imt, 0) / t,
                           .fma = all->instructions / t / limits->fma,
                           .memory = all->volume_bytes / t / limits->copy,
                           .texture = all->updates / t / limits->texture_r32f};

    v.limit = limit_of(&v);
    return v;
}

struct s1_division s1_divide(size_t slices, size_t views, bool streamed)
{
    const size_t group = S1_CHUNK_STEP, half = (views + 2 * group - 1) / (2 * group) * group;

    return streamed ? (struct s1_division){(views + half - 1) / half, half, (slices + 15) / 16}
                    : (struct s1_division){1, views, slices - slices / 4};
}

size_t s1_chunk(size_t i, size_t left)
{
    const size_t most = i < 3 ? S1_CHUNK_STEP * (i + 1) : (size_t)4 * S1_CHUNK_STEP;

    return left < most ? left : most;
}

struct s1_moved s1_moved(const struct s1_job *job, const struct s1_division *d)
{
    const double mib = 1 << 20, volume = sizeof(float) * s1_updates(job->size, 1) / mib;

    return (struct s1_moved){.views = sizeof(float) *
                                      (double)(job->views * job->rows * job->columns) / mib,
                             .volume_up = (double)(d->passes - 1) * volume,
                             .volume_down = (double)d->passes * volume,
                             .part = volume * (double)d->part_slices / (double)job->size};
}
