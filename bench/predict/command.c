/* Command `fbp bench predict`: the plan of a reconstruction, and its time, on a machine that
 * --model describes; for a cluster also a table of grids and numbers of nodes.
 * Used by: bench/commands.c. */
#include "bench/common/bench.h"
#include "bench/predict/predict.h"
#include "recon.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>

struct predict_args {
    struct recon_args r; /* first: its rows of options count from the beginning */
    const char *model;
};

_Static_assert(offsetof(struct predict_args, r) == 0,
               "options of recon are set through its offsets");

#define R struct recon_args
#define P struct predict_args
// clang-format off
static const struct opt table[] = {
    OPT(R, scan, .name = "scan.json", .positional = true, .required = true, .help = "the scan"),
    OPT(P, model, .name = "model", .arg = "KEY=VALUE,...", .required = true,
        .help = "the machine. Keys: gpus (how many cards), gpu (h200, h100), memory (of a card, "
                "141G), host (memory of the host), cores; gups (giga-updates a second of a card); "
                "rates such as 55GB/s: up, down (a card's link), up-all, down-all (of all cards), "
                "both, both-all (each way, while both are used), peer (from card to card), read, "
                "write (of the files; if not given, views and volume are in memory). Of a cluster: "
                "nodes, net (a node's network), disk (file system that all nodes share, each way); "
                "gpus=0: nodes that compute on their cores, with gups and filter (giga-samples a "
                "second) of a node"),
    OPT(R, output, .name = "output", .letter = 'o', .arg = "VOLUME",
        .help = "the output that recon would be given. Nothing is written"),
    OPT(R, p.output.compress, .name = "compress", .help = "recon would compress it"),
    RECON_OPTIONS,
    OPT(R, p.cluster.view_ranks, .name = "view-ranks", .arg = "N", .min = 1, .max = 65536,
        .fallback = "planned",
        .help = "of the ranks of a --model with nodes, N share the views of each slab of slices"),
    OPT(R, json, .name = "json", .help = "print one JSON object"),
    OPT(R, quiet, .name = "quiet", .letter = 'q', .help = "print no notes beside the plan"),
};
// clang-format on

enum { CLUSTER_ROWS = 40 };

/* The first row is the model's own; then other grids of its ranks, then other numbers of nodes. */
struct cluster_table {
    struct cluster_time rows[CLUSTER_ROWS];
    size_t n, n_grids;
};

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

/* Predict the rows of the table; out->n is 0 if the plan is not of a cluster. */
static fbp_status cluster_table_make(const struct prediction *p, const fbp_plan *plan,
                                     size_t view_ranks, struct cluster_table *out)
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

static void cluster_table_print(const struct cluster_table *c)
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
    const struct cli_number numbers[] = {{"nodes", (double)r->nodes},
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

static void cluster_table_json(cJSON *root, const struct cluster_table *c)
{
    cJSON *own = cJSON_AddArrayToObject(root, "cluster"),
          *grids = cJSON_AddArrayToObject(root, "other_grids"),
          *nodes = cJSON_AddArrayToObject(root, "other_nodes");

    for (size_t i = 0; i < c->n; i++)
        json_row(i == 0 ? own : i < c->n_grids ? grids : nodes, &c->rows[i]);
}

static void put_predicted(struct plan_lines *out, const struct fbp_predicted *t, double open)
{
    const struct {
        const char *name;
        double seconds;
    } parts[] = {{"read", t->read},   {"upload", t->upload},           {"filter", t->filter},
                 {"share", t->share}, {"backproject", t->backproject}, {"fetch", t->fetch},
                 {"write", t->write}};
    char a[40], b[40], list[300] = "";
    size_t used = 0;

    plan_put(out, "time", "%s predicted, %.4g GUPS; opening takes %s before that",
             cli_seconds(a, sizeof a, t->total), t->gups, cli_seconds(b, sizeof b, open));
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < sizeof list; i++)
        if (parts[i].seconds > 0)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s", used ? ", " : "",
                                     parts[i].name, cli_seconds(a, sizeof a, parts[i].seconds));
    plan_put(out, "parts", "%s (they overlap)", list);
}

static void print_text(const struct prediction *p, const struct fbp_plan_summary *plan,
                       const struct cluster_table *cluster)
{
    static struct plan_lines lines;

    plan_tell(plan, &lines);
    if (cluster->n > 0)
        plan_put(&lines, "rank", "slabs, reading, memory and work are those of one");
    else
        put_predicted(&lines, &plan->predicted, p->open);
    plan_print_lines(&lines);
    if (cluster->n > 0)
        cluster_table_print(cluster);
}

static int print_json(const struct prediction *p, const struct fbp_plan_summary *plan,
                      const struct cluster_table *cluster)
{
    const double seconds = cluster->n > 0 ? cluster->rows[0].times.total : plan->predicted.total;
    cJSON *root = plan_json(plan, seconds);

    cJSON_AddNumberToObject(cJSON_GetObjectItemCaseSensitive(root, "predicted"), "open", p->open);
    if (cluster->n > 0)
        cluster_table_json(root, cluster);
    return cli_json(root, false);
}

static int predict(const struct command *self, struct predict_args *a)
{
    static struct cluster_table cluster;
    static struct prediction prediction;
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_plan *plan = NULL;
    int rc = recon_prepare_scan(&a->r, &scan);

    if (rc == 0 && prediction_plan(&prediction, a->model, &scan, &a->r.p, &plan) != FBP_OK)
        rc = cli_fail();
    if (rc == 0 && a->r.p.cluster.view_ranks > 0 && prediction.model.n_nodes == 0)
        rc = opt_usage(self, "--view-ranks: the plan has one process: give a cluster, such as "
                             "--model nodes=4,net=25GB/s, or omit the option");
    if (rc == 0 &&
        cluster_table_make(&prediction, plan, a->r.p.cluster.view_ranks, &cluster) != FBP_OK)
        rc = cli_fail();
    if (rc == 0 && a->r.json)
        rc = print_json(&prediction, fbp_plan_info(plan), &cluster);
    else if (rc == 0)
        print_text(&prediction, fbp_plan_info(plan), &cluster);
    fbp_plan_destroy(&plan);
    fbp_scan_clear(&scan);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct progress progress = {0};
    struct predict_args a = {
        .r = {RECON_ARGS,
              .p = *fbp_recon_params(.callbacks.log = progress_log, .callbacks.user = &progress)}};
    int rc = opt_parse(self, &a, argc, argv);
    char *kept;

    progress.quiet = a.r.quiet;
    if (rc == OPT_GO_ON)
        rc = adjust_check(self, a.r.adjust);
    if (rc == OPT_GO_ON)
        rc = recon_check_part(self, &a.r);
    if (rc == OPT_GO_ON)
        rc = recon_check_planned(self, &a.r);
    if (rc != OPT_GO_ON)
        return rc;
    recon_complete(&a.r);
    rc = recon_name_scan(&a.r, &kept);
    if (rc == 0)
        rc = predict(self, &a);
    free(kept);
    return rc;
}

const struct command cmd_bench_predict = {
    .name = "bench predict",
    .summary = "predict the time on a machine that is described",
    .usage = "scan.json --model KEY=VALUE,... [options]",
    .about = "Reads only headers. Takes the options of fbp recon.",
    .examples = "  fbp bench predict scan.json --size 2048 --model gpus=4,gpu=h200\n"
                "  fbp bench predict scan.json --size 4096 --precision half \\\n"
                "      --model nodes=256,gpus=4,gpu=h200,net=25GB/s,disk=200GB/s\n",
    COMMAND_OPTS(table),
    .run = run,
};
