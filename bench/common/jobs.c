/* The scans of the standard jobs (J1, J2, J3, P64 …) for fbp bench kernel, host and follow, and
 * circular scans for the jobs of the papers.
 * Used by: bench/host/, bench/kernels/, bench/papers/ino2009/, bench/papers/ino2010/,
 * bench/papers/zinsser2013/, bench/pipeline/. */
#include "bench/common/jobs.h"
#include "geometry/view.h"
#include "phantom/shapes.h"

#include <stdlib.h>
#include <string.h>

const struct bench_job bench_jobs[N_BENCH_JOBS] = {
    {"J1", "512^3 from 360 x 512 x 512", 360, 512, 512, 512, 0.8, 0.5, 0, false, false},
    {"J2", "512^3 from 496 x 1248 x 960", 496, 1248, 960, 512, 0.32, 0.5, 0, false, false},
    {"J3", "1024^3 from 496 x 1248 x 960", 496, 1248, 960, 1024, 0.32, 0.25, 0, false, false},
};

/* Rows are as long as the volume's diagonal. */
const struct bench_job bench_planes[N_BENCH_PLANES] = {
    {"P64", "64^3 from 208 x 112", 208, 112, 1, 64, 1, 1, 18, false, false},
    {"P128", "128^3 from 208 x 224", 208, 224, 1, 128, 1, 1, 18, false, false},
    {"P200", "200^3 from 208 x 348", 208, 348, 1, 200, 1, 1, 18, false, false},
    {"P128x10", "128^3 from 208 x 224, 10 frames", 208, 224, 10, 128, 1, 1, 18, false, false},
    {"C1024", "1024^3 from 1440 x 1248 x 960", 1440, 1248, 960, 1024, 0.32, 0.25, 0, false, false},
    {"C2048", "2048^3 from 2880 x 2048 x 2048", 2880, 2048, 2048, 2048, 0.2, 0.125, 0, false,
     false},
    {"B1024", "1024^3 from 1024 x 1024 x 1024", 1024, 1024, 1024, 1024, 0.25, 0.25, 0, false, true},
    {"B2048", "2048^3 from 2048 x 2048 x 2048", 2048, 2048, 2048, 2048, 0.125, 0.125, 0, false,
     true},
};

const struct bench_job *bench_job_find(const char *name)
{
    for (size_t i = 0; i < N_BENCH_JOBS; i++)
        if (strcmp(bench_jobs[i].name, name) == 0)
            return &bench_jobs[i];
    return NULL;
}

const struct bench_job *bench_any_find(const char *name)
{
    for (size_t i = 0; i < N_BENCH_PLANES; i++)
        if (strcmp(bench_planes[i].name, name) == 0)
            return &bench_planes[i];
    return bench_job_find(name);
}

int bench_job_check(const struct command *command, const char *name)
{
    if (!name || bench_job_find(name))
        return OPT_GO_ON;
    return opt_usage(command, "--job: expected J1, J2 or J3, got \"%s\"", name);
}

int bench_any_check(const struct command *command, const char *name)
{
    if (!name || bench_any_find(name))
        return OPT_GO_ON;
    return opt_usage(
        command,
        "--job: expected J1, J2, J3, P64, P128, P200, P128x10, C1024, C2048, B1024 or B2048, "
        "got \"%s\"",
        name);
}

struct bench_job bench_job_divided(const struct bench_job *job, size_t n)
{
    struct bench_job j = *job;

    j.views /= n;
    j.columns /= n;
    j.rows /= job->rings > 0 ? 1 : n;
    j.rings = job->rings > n ? job->rings / n : job->rings > 0;
    j.size /= n;
    j.pitch_mm *= (double)n;
    j.voxel_mm *= (double)n;
    return j;
}

int bench_orbit_views(const struct bench_orbit *o, struct fbp_scan *scan)
{
    const size_t n = scan->n_views, steps = o->c_arm ? n - 1 : n;
    double *angles = malloc(n * sizeof *angles);
    const struct fbp_circle circle = {.struct_size = sizeof circle,
                                      .kind = o->parallel ? FBP_PARALLEL : FBP_CONE,
                                      .n_views = n,
                                      .angles_rad = angles,
                                      .sod_mm = &o->sod_mm,
                                      .sdd_mm = &o->sdd_mm,
                                      .n_sod = 1,
                                      .n_sdd = 1,
                                      .pitch_mm = {o->pitch_mm, o->pitch_mm}};

    scan->views = calloc(n, sizeof *scan->views);
    if (!angles || !scan->views) {
        free(angles);
        return cli_error("out of memory for the views of a scan: close other programs");
    }
    for (size_t k = 0; k < n; k++)
        angles[k] = o->arc_rad * (double)k / (double)steps;
    const fbp_status st = o->c_arm ? fbp_c_arm_views(&circle, &scan->panel, scan->views)
                                   : fbp_circle_views(&circle, scan->views);
    free(angles);
    return st == FBP_OK ? 0 : cli_fail();
}

/* Make views of plane integrals in all directions; sets scan->n_views to the number of directions.
 */
static int plane_views(const struct bench_job *j, struct fbp_scan *scan)
{
    const struct fbp_directions set = {.struct_size = sizeof set,
                                       .set =
                                           j->linear ? FBP_SET_LINEAR_ANGLE : FBP_SET_SOLID_ANGLE,
                                       .n = {j->rings}};
    double(*n)[3] = NULL;

    if (fbp_directions_make(&set, NULL, &scan->n_views) != FBP_OK)
        return cli_fail();
    n = calloc(scan->n_views, sizeof *n);
    scan->views = calloc(scan->n_views, sizeof *scan->views);
    if (!n || !scan->views) {
        free(n);
        return cli_error("out of memory for the views of a scan: close other programs");
    }
    const fbp_status st = fbp_directions_make(&set, n, NULL);
    for (size_t k = 0; st == FBP_OK && k < scan->n_views; k++)
        fbp_plane_view(n[k], j->pitch_mm, -((double)j->columns - 1) / 2 * j->pitch_mm, j->columns,
                       &scan->views[k]);
    free(n);
    return st == FBP_OK ? 0 : cli_fail();
}

int bench_job_scan(const struct bench_job *j, struct fbp_scan *scan)
{
    const struct bench_orbit circle = {.sod_mm = 750,
                                       .sdd_mm = 1200,
                                       .pitch_mm = j->pitch_mm,
                                       .arc_rad = j->parallel ? BENCH_PI : 2 * BENCH_PI,
                                       .parallel = j->parallel};

    *scan = (struct fbp_scan){
        .struct_size = sizeof(struct fbp_scan),
        .kind = j->parallel ? FBP_PARALLEL : FBP_CONE,
        .n_views = j->views,
        .panel = {j->columns, j->rows},
        .volume = {{j->size, j->size, j->size}, {j->voxel_mm, j->voxel_mm, j->voxel_mm}, {0}}};
    if (j->rings == 0)
        return bench_orbit_views(&circle, scan);
    scan->kind = FBP_PLANES;
    return plane_views(j, scan);
}
