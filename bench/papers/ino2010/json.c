/* Measurements of Ino et al. (2010) as JSON. Called by command.c for --json.
 * Used by: command.c. */
#include "bench/papers/ino2010/text.h"

int s2_json_run(const struct s2_result *r, size_t count, const struct fbp_s2_time *t)
{
    const struct s2_rates rates = s2_result_rates(r, count);
    const struct cli_number about[] = {{"size", (double)r->size},
                                       {"views", (double)r->views},
                                       {"subvolumes", (double)r->plan.subvolumes},
                                       {"devices", (double)t->n_devices},
                                       {"seconds", t->total},
                                       {"views_per_second", (double)r->views / t->total},
                                       {"sent_bytes", (double)t->sent},
                                       {"link_bytes_per_second", t->link},
                                       {"today_init_seconds", r->today[count].init},
                                       {"today_seconds", r->today[count].total}};
    const struct cli_number stages[] = {
        {"init", t->init},     {"download", t->download},       {"layout", t->layout},
        {"filter", t->filter}, {"readback", t->readback},       {"backproject", t->backproject},
        {"fetch", t->fetch},   {"concatenate", t->concatenate}, {"write", t->write}};
    const struct cli_number of_bp[] = {
        {"gups_a_gpu", rates.gups}, {"gflops_a_gpu", rates.gflops}, {"gbytes_a_gpu", rates.gbytes}};
    const struct cli_number published[] = {
        {"published_seconds", t->streams ? r->of->streams[count] : r->of->apart[count]}};
    cJSON *root = bench_json_begin("S2", r->name, r->plan.backend, r->plan.kernel, r->plan.isa);
    char hash[20];

    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)t->hash);
    cJSON_AddStringToObject(root, "what", "run");
    cJSON_AddBoolToObject(root, "streams", t->streams);
    bench_json_numbers(root, about, sizeof about / sizeof *about);
    bench_json_numbers(cJSON_AddObjectToObject(root, "stages"), stages,
                       sizeof stages / sizeof *stages);
    if (!t->streams)
        bench_json_numbers(root, of_bp, sizeof of_bp / sizeof *of_bp);
    if (r->is_paper)
        bench_json_numbers(root, published, 1);
    cJSON_AddStringToObject(root, "hash", hash);
    return bench_json_add(root);
}

int s2_json_error(const struct s2_result *r)
{
    const struct fbp_s2_error *e = &r->error;
    const double gbytes = 1e-9 * r->limits.copy, views = s2_result_rates(r, 0).views;
    const struct cli_number numbers[] = {
        {"size", (double)r->size},
        {"views", (double)r->views},
        {"slices", (double)e->n_slices},
        {"voxels", (double)e->n_voxels},
        {"different", (double)e->n_different},
        {"plain_max", e->plain_max},
        {"rmse", e->rmse},
        {"max", e->max},
        {"psnr_db", e->psnr_db},
        {"normalised_views_per_second", s2_normalised(views, gbytes)},
        {"start_seconds", r->plan.start},
        {"pin_seconds", r->plan.pin},
    };
    cJSON *root = bench_json_begin("S2", r->name, r->plan.backend, r->plan.kernel, r->plan.isa);

    cJSON_AddStringToObject(root, "what", "error");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}
