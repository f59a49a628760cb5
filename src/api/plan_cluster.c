/* A plan for the nodes of a cluster that is not there: the grid of its ranks, and the time of
 * others. */
#include "api/plan_team.h"

#include "backend/slab.h"
#include "base/sizes.h"
#include "plan/cluster.h"
#include "plan/roi.h"
#include "plan/wanted.h"

#include <stdio.h>

/* Of all ranks. */
static double whole_updates(const fbp_plan *p)
{
    struct fbp_job job = p->tables.job;
    const struct fbp_slab any = fbp_slab_asked(&job, 0, 1);
    size_t first, n;

    job.share[0] = job.share[1] = 0;
    fbp_roi_slices(&job, &first, &n);
    return (double)fbp_wanted_voxels(&job, &any, first, first + n) * (double)fbp_volumes(&job) *
           (double)job.n_views;
}

/* The stage that takes longest; a device filters and backprojects in turns. */
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

fbp_status fbp_plan_cluster(const fbp_plan *p, size_t nodes, size_t view_ranks,
                            struct fbp_cluster *out)
{
    FBP_GIVEN(p);
    struct fbp_cluster whole = {.struct_size = sizeof whole};
    const size_t n_nodes = nodes ? nodes : p->model.n_nodes;
    struct fbp_work_request request;
    struct fbp_cluster_time time;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(cluster, out));
    if (!p->model.n_nodes)
        return fbp_fail(FBP_ERR_INVALID, "cluster: the plan's model has no nodes: give nodes=");
    if (n_nodes > FBP_MODEL_MOST_NODES)
        return fbp_fail(FBP_ERR_INVALID, "cluster: %zu nodes: expected up to %d, or 0: the model's",
                        n_nodes, FBP_MODEL_MOST_NODES);
    fbp_plan_work_request(p, &p->tables.job, &request);
    FBP_TRY(fbp_cluster_predict(&p->model, &request, n_nodes, view_ranks, &time));
    whole.nodes = n_nodes;
    whole.ranks = n_nodes * p->model.n_devices;
    whole.slabs = time.n_slabs;
    whole.view_ranks = time.n_parts;
    whole.times = time.rank;
    if (p->model.on_host)
        whole.times.upload = whole.times.fetch = 0; /* as good as nothing: there is no link */
    whole.times.gups = whole_updates(p) / time.rank.total * 1e-9;
    whole.sum = time.sum;
    snprintf(whole.binds, sizeof whole.binds, "%s", what_binds(&whole.times, whole.sum));
    FBP_GIVE(cluster, out, &whole);
    return FBP_OK;
}
