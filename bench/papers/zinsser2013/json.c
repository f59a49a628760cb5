/* S1's results as JSON. */
#include "bench/common/bench.h"
#include "bench/papers/zinsser2013/text.h"

static cJSON *begin(const struct s1_job *job, const char *what)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "bench", "S1");
    cJSON_AddStringToObject(root, "what", what);
    cJSON_AddStringToObject(root, "device", job->device);
    cJSON_AddNumberToObject(root, "size", (double)job->size);
    cJSON_AddNumberToObject(root, "views", (double)job->views);
    return root;
}

int s1_print_json_limits(const struct s1_job *job)
{
    const struct fbp_limits *l = &job->limits;
    cJSON *root = begin(job, "limits");

    cJSON_AddNumberToObject(root, "fma", l->fma);
    cJSON_AddNumberToObject(root, "texture_r32f", l->texture_r32f);
    cJSON_AddNumberToObject(root, "texture_r16f", l->texture_r16f);
    cJSON_AddNumberToObject(root, "texture_rgba16f", l->texture_rgba16f);
    cJSON_AddNumberToObject(root, "copy", l->copy);
    cJSON_AddNumberToObject(root, "upload", l->upload);
    cJSON_AddNumberToObject(root, "download", l->download);
    return bench_json_add(root);
}

int s1_print_json_row(const struct s1_job *job, const struct s1_result *r)
{
    static const char *const names[FBP_S1_PARTS] = {"seconds_i", "seconds_im", "seconds_imt",
                                                    "seconds"};
    const struct fbp_s1_shape *s = &r->shape;
    const struct fbp_s1_time *all = &r->part[FBP_S1_ALL];
    const char kernel[2] = {s->kernel, 0};
    cJSON *root = begin(job, "kernel");

    cJSON_AddNumberToObject(root, "test", s->test ? s->test : r->best ? 9 : 0);
    cJSON_AddStringToObject(root, "kernel", kernel);
    cJSON_AddBoolToObject(root, "sync", s->sync);
    cJSON_AddBoolToObject(root, "squares", s->squares);
    cJSON_AddNumberToObject(root, "I", s->views);
    cJSON_AddNumberToObject(root, "K", s->voxels);
    cJSON_AddNumberToObject(root, "Bx", s->block_x);
    cJSON_AddNumberToObject(root, "By", s->block_y);
    cJSON_AddNumberToObject(root, "occupancy", all->occupancy);
    cJSON_AddNumberToObject(root, "registers", all->registers);
    cJSON_AddNumberToObject(root, "launches", (double)all->n_launches);
    for (int i = 0; i < FBP_S1_PARTS; i++)
        if (r->part[i].seconds > 0)
            cJSON_AddNumberToObject(root, names[i], r->part[i].seconds);
    cJSON_AddNumberToObject(root, "gups", all->gups);
    if (r->part[FBP_S1_I].seconds > 0) {
        const struct s1_verdict v = s1_judge(r, &job->limits);
        cJSON_AddNumberToObject(root, "time_instructions", v.instructions);
        cJSON_AddNumberToObject(root, "time_volume", v.volume);
        cJSON_AddNumberToObject(root, "time_fetches", v.fetches);
        cJSON_AddNumberToObject(root, "time_places", v.places);
        cJSON_AddNumberToObject(root, "share_fma", v.fma);
        cJSON_AddNumberToObject(root, "share_memory", v.memory);
        cJSON_AddNumberToObject(root, "share_texture", v.texture);
        cJSON_AddStringToObject(root, "binds", v.binds);
    }
    return bench_json_add(root);
}

int s1_print_json_error(const struct s1_job *job, const struct fbp_s1_error *error)
{
    cJSON *root = begin(job, "error");

    cJSON_AddNumberToObject(root, "rmse_hu", error->rmse_hu);
    cJSON_AddNumberToObject(root, "max_hu", error->max_hu);
    cJSON_AddNumberToObject(root, "psnr_db", error->psnr_db);
    return bench_json_add(root);
}
