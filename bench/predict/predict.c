/* Makes plans for described machines, and predicts the times of clusters. Called by
 * predict/command.c.
 * Used by: command.c. */
#include "bench/predict/predict.h"

#include "backend/device.h"
#include "backend/rows.h"
#include "backend/slab.h"
#include "bench/predict/model_gpu.h"
#include "pipeline/job.h"

#include <string.h>

/* The model whose rates the backend states. */
static const struct fbp_model *described;

static void rates_of_described(const struct fbp_job *job, struct fbp_rates *out)
{
    fbp_model_rates(described, job, out);
}

/* Cards copy from and to the caller's memory if no rate of a file is given. */
static double open_seconds(const struct fbp_model *m, const fbp_plan *plan)
{
    const struct fbp_plan_summary *i = fbp_plan_info(plan);
    const struct fbp_job *job = &plan->tables.job;
    const uint64_t samples = (uint64_t)job->n_views * fbp_time_points(job) * job->panel.n_rows *
                             job->panel.n_columns * fbp_raw_size(job);
    const uint64_t voxels = (uint64_t)i->volume.n[0] * i->volume.n[1] * i->volume.n[2] *
                            i->time_points * fbp_value_size(job);

    return fbp_model_open(m, &plan->work,
                          (m->nodes.machine.read > 0 ? 0 : samples) +
                              (m->nodes.machine.write > 0 ? 0 : voxels));
}

fbp_status prediction_plan(struct prediction *p, const char *model, const struct fbp_scan *scan,
                           const struct fbp_recon_params *params, fbp_plan **out)
{
    struct fbp_recon_params own = *params;
    const struct fbp_model *m = &p->model;

    fbp_message_clear();
    *out = NULL;
    if (params->device && strcmp(params->device, "auto") != 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "device: a model describes its own cards (gpus=, gpu=): omit --device");
    FBP_TRY(fbp_model_read(model, &p->model));
    described = m;
    const size_t sharers = m->n_nodes ? m->nodes.ranks : 1;
    fbp_backend_complete(&fbp_backend_model, &p->backend);
    p->backend.can.own_memory = p->backend.can.shares = true; /* as real cards have */
    p->backend.in_host = false;
    p->backend.rates = rates_of_described;
    p->target = (struct fbp_plan_target){.backend = &p->backend,
                                         .n_devices = m->n_nodes ? 1 : m->nodes.ranks,
                                         .device_bytes = m->device_bytes,
                                         .host_bytes = m->host_bytes / sharers,
                                         .machine = m->nodes.machine,
                                         .nodes = m->n_nodes ? &m->nodes : NULL,
                                         .n_ranks = m->n_nodes * m->nodes.ranks};
    if (own.n_threads == 0)
        own.n_threads = m->nodes.n_threads;
    FBP_TRY(fbp_plan_create_for(out, scan, &own, &p->target));
    if (m->nodes.on_host)
        (*out)->info.device_bytes = 0;
    p->open = open_seconds(m, *out);
    return FBP_OK;
}

/* Of all ranks. */
static double whole_updates(const fbp_plan *p)
{
    struct fbp_job job = p->tables.job;
    const struct fbp_slab any = fbp_slab_asked(&job, 0, 1);
    size_t first, n;

    job.part.slices[0] = job.part.slices[1] = 0;
    fbp_job_slices(&job, &first, &n);
    return (double)fbp_wanted_voxels(&job, &any, first, first + n) * (double)fbp_volumes(&job) *
           (double)job.n_views;
}

/* Name of the stage that takes longest; filter and backprojection of a device run one after another
 * and count as one stage. */
static const char *what_binds(const struct fbp_predicted *t, double sum)
{
    const struct {
        const char *name;
        double seconds;
    } stages[] = {{"compute", t->filter + t->backproject},
                  {"read", t->read},
                  {"upload", t->upload},
                  {"fetch", t->fetch},
                  {"sum", sum},
                  {"write", t->write}};
    size_t most = 0;

    for (size_t i = 1; i < sizeof stages / sizeof *stages; i++)
        most = stages[i].seconds > stages[most].seconds ? i : most;
    return stages[most].name;
}

fbp_status prediction_cluster(const struct prediction *p, const fbp_plan *plan, size_t nodes,
                              size_t view_ranks, struct cluster_time *out)
{
    const struct fbp_nodes *ranks = &p->model.nodes;
    const size_t n_nodes = nodes ? nodes : p->model.n_nodes;
    struct fbp_work_request request;
    struct fbp_cluster_time time;
    struct fbp_ranks grid;

    fbp_message_clear();
    if (!p->model.n_nodes)
        return fbp_fail(FBP_ERR_INVALID, "cluster: the plan's model has no nodes: give nodes=");
    if (n_nodes > FBP_MODEL_MOST_NODES)
        return fbp_fail(FBP_ERR_INVALID,
                        "cluster: %zu nodes: expected up to %d, or 0: the nodes of the model",
                        n_nodes, FBP_MODEL_MOST_NODES);
    described = &p->model;
    fbp_plan_work_request(plan, &plan->tables.job, &request);
    FBP_TRY(fbp_cluster_choose(ranks, &request, n_nodes * ranks->ranks, view_ranks, &grid));
    FBP_TRY(fbp_cluster_predict(ranks, &request, &grid, &time));
    *out = (struct cluster_time){.nodes = n_nodes,
                                 .ranks = n_nodes * ranks->ranks,
                                 .slabs = grid.n_slabs,
                                 .view_ranks = grid.n_parts,
                                 .times = time.rank,
                                 .open = fbp_model_open(&p->model, &time.work, 0),
                                 .sum = time.sum};
    if (ranks->on_host)
        out->times.upload = out->times.fetch = 0; /* there is no link */
    out->times.gups = whole_updates(plan) / time.rank.total * 1e-9;
    out->binds = what_binds(&out->times, out->sum);
    return FBP_OK;
}
