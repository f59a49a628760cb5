#include "bench_jobs.h"

#include <stdlib.h>
#include <string.h>

const struct bench_job bench_jobs[N_BENCH_JOBS] = {
    {"J1", "512^3 from 360 x 512 x 512", 360, 512, 512, 512, 0.8, 0.5},
    {"J2", "512^3 from 496 x 1248 x 960", 496, 1248, 960, 512, 0.32, 0.5},
    {"J3", "1024^3 from 496 x 1248 x 960", 496, 1248, 960, 1024, 0.32, 0.25},
};

const struct bench_job *bench_job_find(const char *name)
{
    for (size_t i = 0; i < N_BENCH_JOBS; i++)
        if (strcmp(bench_jobs[i].name, name) == 0)
            return &bench_jobs[i];
    return NULL;
}

int bench_job_check(const struct command *command, const char *name)
{
    if (!name || bench_job_find(name))
        return OPT_GO_ON;
    return opt_usage(command, "--job: expected J1, J2 or J3, got \"%s\"", name);
}

struct bench_job bench_job_divided(const struct bench_job *job, size_t n)
{
    struct bench_job j = *job;

    j.views /= n;
    j.columns /= n;
    j.rows /= n;
    j.size /= n;
    j.pitch_mm *= (double)n;
    j.voxel_mm *= (double)n;
    return j;
}

int bench_job_scan(const struct bench_job *j, struct fbp_scan *scan)
{
    static const double sod = 750, sdd = 1200;
    double *angles = malloc(j->views * sizeof *angles);
    struct fbp_circle circle = {.struct_size = sizeof circle,
                                .n_views = j->views,
                                .angles_rad = angles,
                                .sod_mm = &sod,
                                .sdd_mm = &sdd,
                                .n_sod = 1,
                                .n_sdd = 1,
                                .pitch_mm = {j->pitch_mm, j->pitch_mm}};

    *scan = (struct fbp_scan){
        .n_views = j->views,
        .panel = {j->columns, j->rows},
        .views = calloc(j->views, sizeof *scan->views),
        .volume = {{j->size, j->size, j->size}, {j->voxel_mm, j->voxel_mm, j->voxel_mm}, {0}}};
    for (size_t k = 0; angles && k < j->views; k++)
        angles[k] = 2 * 3.14159265358979323846 * (double)k / (double)j->views;
    const bool ok = angles && scan->views && fbp_circle_views(&circle, scan->views) == FBP_OK;
    free(angles);
    return ok ? 0 : cli_error("not enough memory for a scan");
}
