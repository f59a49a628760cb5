/* Measurements of Ino et al. (2009) as JSON. Called by command.c for --json.
 * Used by: command.c. */
#include "bench/papers/ino2009/text.h"

static void add_stages(cJSON *root, const struct fbp_s3_time *t)
{
    const struct cli_number stages[] = {
        {"init", t->init},           {"packing", t->packing},         {"download", t->upload},
        {"filter", t->filter},       {"backproject", t->backproject}, {"readback", t->readback},
        {"unpacking", t->unpacking}, {"others", s3_others(t)}};

    bench_json_numbers(cJSON_AddObjectToObject(root, "stages"), stages,
                       sizeof stages / sizeof *stages);
}

static int add_result(const struct s3_job *job, const struct s3_result *r)
{
    const struct s3_rates rates = s3_rates_of(job, r);
    const struct s3_rates paper =
        s3_paper_rates((size_t)(r->of.letter - 'A'), job->size, job->views, r->time.backproject);
    const struct cli_number numbers[] = {
        {"size", (double)job->size},
        {"views", (double)job->views},
        {"passes", (double)fbp_s3_passes(&r->of, job->size, job->views)},
        {"slices_drawn", (double)r->slices},
        {"passes_drawn", (double)r->time.passes},
        {"draws", (double)r->time.draws},
        {"seconds_synchronised", r->time.total},
        {"seconds", r->total},
        {"psnr_db", r->psnr_db},
        {"rmse_hu", r->rmse_hu},
        {"ping_pong", r->ping_pong},
        {"exact", r->exact},
        {"exact_psnr_db", r->exact_psnr_db},
        {"stencil", r->stencil},
        {"depth", r->depth},
        {"kill_seconds", r->kill_total},
        {"packing_on_device", r->packing},
        {"unpacking_on_device", r->unpacking},
        {"gups", rates.gups},
        {"fetch_share", s3_fetch_share(job, r)},
        {"processing_gflops", rates.processing},
        {"texture_gflops", rates.texture},
        {"total_gflops", rates.flops},
        {"gigabytes_per_second", rates.memory},
        {"paper_processing_gflops", paper.processing},
        {"paper_total_gflops", paper.flops},
        {"paper_gibibytes_per_second", paper.memory},
    };
    const char name[2] = {r->of.letter, 0};
    cJSON *root = bench_json_begin("S3", name, job->renderer, NULL, NULL);

    cJSON_AddStringToObject(root, "what", "variant");
    cJSON_AddStringToObject(root, "texel", s3_texel(r));
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    add_stages(root, &r->time);
    return bench_json_add(root);
}

static int add_limits(const struct s3_job *job)
{
    const struct fbp_s3_limits *l = &job->limits;
    const struct cli_number numbers[] = {
        {"texture_r32f", l->r32f},
        {"texture_rgba32f", l->rgba32f},
        {"texture_r16f", l->r16f},
        {"texture_rgba16f", l->rgba16f},
        {"blend", l->blend},
        {"fraction_values", (double)l->values},
        {"fraction_error", l->fraction_error},
    };
    cJSON *root = bench_json_begin("S3", "limits", job->renderer, NULL, NULL);

    cJSON_AddStringToObject(root, "what", "limits");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

int s3_json(const struct s3_job *job)
{
    int rc = add_limits(job);

    for (int i = 0; rc == 0 && i < S3_VARIANTS; i++)
        if (job->results[i].done)
            rc = add_result(job, &job->results[i]);
    for (int i = 0; rc == 0 && i < S3_MORE; i++)
        if (job->more[i].done)
            rc = add_result(job, &job->more[i]);
    return rc;
}
