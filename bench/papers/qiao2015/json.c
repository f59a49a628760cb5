/* Measurements of Qiao et al. (2015) as JSON. Called by command.c for --json.
 * Used by: command.c. */
#include "bench/papers/qiao2015/text.h"

static int add_way(const struct s4_row *r, enum s4_way way)
{
    const struct s4_cell *c = &r->way[way];
    const struct cli_number numbers[] = {
        {"size", (double)r->size},
        {"views", (double)r->views},
        {"samples", (double)r->samples},
        {"compute", c->compute},
        {"gather", c->gather},
        {"launch", c->launch},
        {"gather_launched", c->gather_launched},
        {"copied", c->copied},
        {"send", c->send},
        {"open", c->open},
        {"filter", c->filter},
        {"host_to_host", c->total},
        {"gups", s4_gups(r->size, r->views, c->compute)},
        {"rms_error", c->error.rmse},
        {"largest_error", c->error.max},
    };
    char name[60];

    snprintf(name, sizeof name, "%zu^3 %s", r->size, s4_about[way].name);
    cJSON *root = bench_json_begin("S4", name, c->how, NULL, NULL);
    cJSON_AddStringToObject(root, "what", "way");
    cJSON_AddStringToObject(root, "way", s4_about[way].name);
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

static int add_factors(const struct s4_row *r)
{
    const struct s4_table1 t = s4_measured(r);
    const struct cli_number numbers[] = {
        {"size", (double)r->size},
        {"cm_over_gs_compute", t.column[S4_CM_TO_COMPUTE]},
        {"cm_over_gs", t.column[S4_CM_TO_GS]},
        {"cs_over_gs_compute", t.column[S4_CS_TO_COMPUTE]},
        {"cs_over_gs", t.column[S4_CS_TO_GS]},
    };
    char name[60];

    snprintf(name, sizeof name, "%zu^3 factors", r->size);
    cJSON *root = bench_json_begin("S4", name, "", NULL, NULL);
    cJSON_AddStringToObject(root, "what", "factors");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

static int add_gpu(const struct s4_job *job)
{
    const struct fbp_s4_gpu *g = &job->gpu;
    const struct cli_number numbers[] = {
        {"capability", g->capability},
        {"processors", (double)g->processors},
        {"cores", (double)g->cores},
        {"threads", (double)g->threads},
        {"blocks", (double)g->blocks},
        {"registers", (double)g->registers},
        {"shared_bytes", (double)g->shared_bytes},
        {"block_threads", (double)g->block_threads},
        {"block_shared_bytes", (double)g->block_shared_bytes},
        {"block_registers", (double)g->block_registers},
        {"warp", (double)g->warp},
        {"memory_bytes", g->memory_bytes},
    };
    cJSON *root = bench_json_begin("S4", "limits", g->name, NULL, NULL);

    cJSON_AddStringToObject(root, "what", "limits");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

static int add_block(const struct s4_job *job, const struct s4_block *b)
{
    const struct s4_row *r = &job->row[job->block_row];
    const struct cli_number numbers[] = {
        {"size", (double)r->size},
        {"block", b->of.block},
        {"registers", (double)b->of.registers},
        {"local_bytes", (double)b->of.local_bytes},
        {"paper_threads", (double)b->of.paper_threads},
        {"threads", (double)b->of.threads},
        {"resident", (double)b->of.resident},
        {"compute", b->compute},
        {"gups", s4_gups(r->size, r->views, b->compute)},
    };
    char name[60];

    snprintf(name, sizeof name, "%zu^3 blocks of %u", r->size, b->of.block);
    cJSON *root = bench_json_begin("S4", name, job->gpu.name, NULL, NULL);
    cJSON_AddStringToObject(root, "what", "blocks");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

static int add_operations(const struct s4_row *r)
{
    const struct cli_number numbers[] = {
        {"size", (double)r->size},
        {"views", (double)r->views},
        {"operations", fbp_s4_operations(r->size, r->views)},
        {"operations_as_printed", fbp_s4_operations_printed(r->size, r->views)},
    };
    cJSON *root = bench_json_begin("S4", "operations", "", NULL, NULL);

    cJSON_AddStringToObject(root, "what", "operations");
    bench_json_numbers(root, numbers, sizeof numbers / sizeof *numbers);
    return bench_json_add(root);
}

int s4_json(const struct s4_job *job)
{
    int rc = job->has_cuda ? add_gpu(job) : 0;

    for (size_t i = 0; rc == 0 && i < job->n; i++) {
        for (int k = 0; rc == 0 && k < S4_WAYS; k++)
            if (job->row[i].way[k].done)
                rc = add_way(&job->row[i], (enum s4_way)k);
        if (rc == 0 && job->row[i].way[S4_GS].done)
            rc = add_factors(&job->row[i]);
        if (rc == 0)
            rc = add_operations(&job->row[i]);
    }
    for (size_t i = 0; rc == 0 && i < job->n_blocks; i++)
        rc = add_block(job, &job->block[i]);
    return rc;
}
