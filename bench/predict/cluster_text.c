/* Prints predicted times for grids of ranks and numbers of nodes as a table or JSON. Called by
 * predict/command.c. */
#include "bench/predict/cluster_text.h"

#include "bench/common/bench.h"

#include <stdio.h>

/* Factors of two by which other numbers of nodes are fewer or more than those of the model;
 * greatest number of ranks that share views. */
enum { FEWER = 4, MORE = 3, MOST_SHARERS = 64 };

/* Add a row; impossible grids (too few groups of views, too little memory) are omitted. */
static void add(const struct prediction *p, const fbp_plan *plan, size_t nodes, size_t view_ranks,
                struct cluster_table *out)
{
    if (out->n < CLUSTER_ROWS &&
        prediction_cluster(p, plan, nodes, view_ranks, &out->rows[out->n]) == FBP_OK)
        out->n++;
}

fbp_status cluster_table_make(const struct prediction *p, const fbp_plan *plan, size_t view_ranks,
                              struct cluster_table *out)
{
    struct cluster_time *own = &out->rows[0];

    out->n = out->n_grids = 0;
    if (p->model.n_nodes == 0)
        return FBP_OK;
    FBP_TRY(prediction_cluster(p, plan, 0, view_ranks, own));
    out->n = 1;
    for (size_t share = 1; share <= MOST_SHARERS && share <= own->ranks; share *= 2)
        if (own->ranks % share == 0 && share != own->view_ranks)
            add(p, plan, 0, share, out);
    out->n_grids = out->n;
    for (size_t nodes = own->nodes >> FEWER ? own->nodes >> FEWER : 1; nodes <= own->nodes << MORE;
         nodes *= 2)
        if (nodes != own->nodes)
            add(p, plan, nodes, view_ranks, out);
    return FBP_OK;
}

static void print_row(const struct cluster_time *r)
{
    const struct fbp_predicted *t = &r->times;

    printf("%6zu %6zu %9zu x %-4zu %8.3g %8.3g %8.3g %8.3g %8.3g %8.3g %8.3g %8.3g %9.4g  %s\n",
           r->nodes, r->ranks, r->slabs, r->view_ranks, t->read, t->upload, t->filter,
           t->backproject, t->fetch, r->sum, t->write, t->total, t->gups, r->binds);
}

static void print_quickest(const struct cluster_table *c)
{
    const struct cluster_time *best = &c->rows[0];
    char a[40];

    for (size_t i = 1; i < c->n_grids; i++)
        if (c->rows[i].times.total < best->times.total)
            best = &c->rows[i];
    printf("\nQuickest of these grids: %zu x %zu, %s (--view-ranks %zu)\n", best->slabs,
           best->view_ranks, cli_seconds(a, sizeof a, best->times.total), best->view_ranks);
}

void cluster_table_print(const struct cluster_table *c)
{
    char a[40], b[40];

    printf("%-9s %zu ranks of %zu nodes, %zu slabs of slices x %zu that share views: %s predicted, "
           "%.4g GUPS; opening takes %s before that\n\n",
           "cluster", c->rows[0].ranks, c->rows[0].nodes, c->rows[0].slabs, c->rows[0].view_ranks,
           cli_seconds(a, sizeof a, c->rows[0].times.total), c->rows[0].times.gups,
           cli_seconds(b, sizeof b, c->rows[0].open));
    printf(
        "Seconds of the rank with most to do; stages overlap. First this plan, then other grids, "
        "then other numbers of nodes:\n%6s %6s %16s %8s %8s %8s %8s %8s %8s %8s %8s %9s  %s\n",
        "nodes", "ranks", "slabs x views", "read", "upload", "filter", "backproj", "fetch", "sum",
        "write", "total", "GUPS", "longest");
    for (size_t i = 0; i < c->n; i++) {
        if (i == c->n_grids || i == 1)
            printf("\n");
        print_row(&c->rows[i]);
    }
    print_quickest(c);
}

static void json_row(cJSON *list, const struct cluster_time *r)
{
    const struct fbp_predicted *t = &r->times;
    cJSON *out = cJSON_CreateObject();
    const struct bench_number numbers[] = {{"nodes", (double)r->nodes},
                                           {"ranks", (double)r->ranks},
                                           {"slabs", (double)r->slabs},
                                           {"view_ranks", (double)r->view_ranks},
                                           {"open", r->open},
                                           {"read", t->read},
                                           {"upload", t->upload},
                                           {"filter", t->filter},
                                           {"backproject", t->backproject},
                                           {"fetch", t->fetch},
                                           {"sum", r->sum},
                                           {"write", t->write},
                                           {"total", t->total},
                                           {"gups", t->gups}};

    bench_json_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    cJSON_AddStringToObject(out, "binds", r->binds);
    cJSON_AddItemToArray(list, out);
}

void cluster_table_json(cJSON *root, const struct cluster_table *c)
{
    cJSON *own = cJSON_AddArrayToObject(root, "cluster"),
          *grids = cJSON_AddArrayToObject(root, "other_grids"),
          *nodes = cJSON_AddArrayToObject(root, "other_nodes");

    for (size_t i = 0; i < c->n; i++)
        json_row(i == 0 ? own : i < c->n_grids ? grids : nodes, &c->rows[i]);
}
