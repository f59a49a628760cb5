/* Checks fbp-bench predict: the words that describe a machine, and that predicted times agree
 * with measured ones. */
#include "recon/fixture.h"

#include "backend/device.h"
#include "backend/gpu/gpu_known.h"
#include "bench/predict/model_gpu.h"
#include "bench/predict/predict.h"
#include "geometry/view.h"
#include "pipeline/job.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

TEST(words_are_facts)
{
    struct fbp_model m;

    OK(fbp_model_read("gpus=4,gpu=h200", &m));
    assert_int_equal(m.nodes.ranks, 4);
    assert_string_equal(m.card->name, "h200");
    assert_true(m.device_bytes == m.card->memory_bytes && m.host_bytes == 0 &&
                m.nodes.n_threads == 0);
    assert_true(m.nodes.machine.up == m.card->up && m.nodes.machine.both_all == m.card->both_all);
    assert_true(m.nodes.machine.read == 0 && m.nodes.machine.write == 0 && m.gups == 0);
    OK(fbp_model_read("gpu=h100,memory=4G,host=256GB,cores=32,gups=1234.5,up=12.5GB/s,down=20GB/s,"
                      "up-all=30GB/s,down-all=40GB/s,both=10GB/s,both-all=25GB/s,peer=900GB/s,"
                      "read=700MB/s,write=1.5TB/s",
                      &m));
    assert_int_equal(m.nodes.ranks, 1);
    assert_true(m.device_bytes == (uint64_t)4 << 30 && m.host_bytes == 256000000000u);
    assert_true(m.nodes.n_threads == 32 && m.gups == 1234.5);
    assert_true(m.nodes.machine.up == 12.5e9 && m.nodes.machine.down == 20e9 &&
                m.nodes.machine.up_all == 30e9);
    assert_true(m.nodes.machine.down_all == 40e9 && m.nodes.machine.both == 10e9 &&
                m.nodes.machine.both_all == 25e9);
    assert_true(m.nodes.machine.peer == 900e9 && m.nodes.machine.read == 700e6 &&
                m.nodes.machine.write == 1.5e12);
}

TEST(nonsense_is_refused)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "expected KEY=VALUE"},
        {"gpus", "expected KEY=VALUE"},
        {"gpus=2,", "an entry is empty"},
        {"gpus=2,,cores=2", "expected KEY=VALUE"},
        {"=4", "the key before"},
        {"gpuz=4", "did you mean gpu"},
        {"GPUS=4", "unknown key"},
        {"frequency=4", "use nodes, gpus, gpu, gups"},
        {"gpus=0", "gpus=0 is for nodes"},
        {"gpus=0,nodes=2,net=1GB/s", "give nodes, and gups"},
        {"nodes=2", "give net"},
        {"nodes=0", "from 1 to 65536"},
        {"disk=5", "a rate from"},
        {"gpus=100000", "from 0 to 64"},
        {"gpus=65", "from 0 to 64"},
        {"gpus=1.5", "a whole number"},
        {"gpus=-1", "a whole number"},
        {"gpus=nan", "a whole number"},
        {"gpus=0x2", "a whole number"},
        {"gpus=2x", "a whole number"},
        {"gpus=", "a whole number"},
        {"gpus=2,gpus=2", "gpus is given twice"},
        {"gpu=a100", "use one of h200, h100"},
        {"gpu=", "use one of"},
        {"gpu=h200,gpu=h100", "gpu is given twice"},
        {"memory=0", "bytes from 64M"},
        {"memory=141", "bytes from 64M"},
        {"memory=141GB/s", "bytes from 64M"},
        {"memory=1e30G", "bytes from 64M"},
        {"memory=inf", "bytes from 64M"},
        {"host=-1G", "bytes from 64M"},
        {"host=64Q", "bytes from 64M"},
        {"cores=0", "from 1 to 4096"},
        {"gups=0", "giga-updates"},
        {"gups=1e9", "giga-updates"},
        {"gups=nan", "giga-updates"},
        {"up=55", "a rate from 1MB/s"},
        {"up=55G", "a rate from 1MB/s"},
        {"up=55GB", "a rate from 1MB/s"},
        {"up=55GiB/s", "a rate from 1MB/s"},
        {"up=GB/s", "a rate from 1MB/s"},
        {"up=0GB/s", "a rate from 1MB/s"},
        {"up=-5GB/s", "a rate from 1MB/s"},
        {"up=1e30GB/s", "a rate from 1MB/s"},
        {"up=1e400GB/s", "a rate from 1MB/s"},
        {"up=nanGB/s", "a rate from 1MB/s"},
        {"read=1KB/s", "a rate from 1MB/s"},
    };
    struct fbp_model m;

    for (size_t i = 0; i < COUNT(cases); i++) {
        fbp_message_clear();
        if (fbp_model_read(cases[i].text, &m) != FBP_ERR_INVALID)
            fail_msg("\"%s\" is taken", cases[i].text);
        if (strncmp(fbp_message(), "model: ", 7) != 0 || !strstr(fbp_message(), cases[i].says))
            fail_msg("\"%s\": %s", cases[i].text, fbp_message());
    }
}

/* A job of the tables in bench/results/cuda.md: a circle of 750 mm, the panel at 1200 mm. */
struct work_case {
    struct fbp_scan scan;
    struct fbp_job_tables tables;
};

struct size {
    const char *name;
    size_t n_views, n_columns, n_rows, side;
    double pitch_mm, voxel_mm;
};

static const struct size J1 = {"J1", 360, 512, 512, 512, 0.8, 0.5},
                         J2 = {"J2", 496, 1248, 960, 512, 0.32, 0.5},
                         J3 = {"J3", 496, 1248, 960, 1024, 0.32, 0.25},
                         J4 = {"J4", 720, 2048, 2048, 2048, 0.2, 0.125},
                         SOME = {"4096^3 from 1024", 1024, 2048, 2048, 4096, 0.2, 0.0625},
                         HUGE_ = {"4096^3 from 4096", 4096, 2048, 2048, 4096, 0.2, 0.0625};

static struct fbp_backend model_backend(void)
{
    struct fbp_backend out;

    fbp_backend_complete(&fbp_backend_model, &out);
    return out;
}

static void setup(struct work_case *c, const struct size *s, enum fbp_precision precision,
                  const char *kernel)
{
    AUTO_FREE double *angles = even_angles(s->n_views, 0, 360.0 / (double)s->n_views);
    const struct fbp_circle circle = circle_of(s->n_views, angles, 750, 1200, .kind = FBP_CONE,
                                               .pitch_mm = {s->pitch_mm, s->pitch_mm});

    c->scan = (struct fbp_scan){
        .struct_size = sizeof c->scan,
        .n_views = s->n_views,
        .panel = {s->n_columns, s->n_rows},
        .volume = {{s->side, s->side, s->side}, {s->voxel_mm, s->voxel_mm, s->voxel_mm}, {0}}};
    c->scan.views = calloc(s->n_views, sizeof *c->scan.views);
    assert_non_null(c->scan.views);
    OK(fbp_circle_views(&circle, c->scan.views));
    OK(fbp_job_create(
        &c->tables, &c->scan,
        fbp_recon_params(.n_threads = 16, .precision = precision, .tuning.kernel = kernel), false));
    const struct fbp_backend backend = model_backend();
    OK(fbp_job_arrange(&c->tables.job, &backend));
}

static void drop(struct work_case *c)
{
    fbp_job_clear(&c->tables);
    fbp_scan_clear(&c->scan);
}

/* slices: of a slab at most; 0: the plan's.  shares: cards may filter views for one another. */
static struct fbp_predicted predicted(const struct work_case *c, const char *model, size_t slices,
                                      bool shares)
{
    const struct fbp_job *job = &c->tables.job;
    struct fbp_backend backend = model_backend();
    struct fbp_model m;
    struct fbp_rates rates;
    struct fbp_predicted out;
    struct fbp_work w;

    backend.can.shares = shares;
    OK(fbp_model_read(model, &m));
    fbp_model_rates(&m, job, &rates);
    const struct fbp_work_request rq = {.job = job,
                                        .backend = &backend,
                                        .n_workers = m.nodes.ranks,
                                        .base_bytes = 64 << 20,
                                        .memory_limit = m.host_bytes ? m.host_bytes : UINT64_MAX,
                                        .device_limit = m.device_bytes / 10 * 9,
                                        .slab_slices = slices,
                                        .rates = rates,
                                        .machine = &m.nodes.machine};
    OK(fbp_work_divide(&rq, &w));
    OK(fbp_predict(&m.nodes.machine, &rates, job, &w, &out, NULL));
    assert_true(out.total == w.seconds); /* it is what was decided by */
    return out;
}

/* Of bench/results/cuda.md, which has the same table.  When four cards were measured each of
 * them filtered its own views, and slabs had the same thickness. */
static const struct row {
    const struct size *size;
    enum fbp_precision precision;
    const char *kernel;
    size_t cards;
    double ms;
} measured[] = {
    {&J1, FBP_PRECISION_HALF, NULL, 1, 21.9},
    {&J1, FBP_PRECISION_HALF, NULL, 2, 12.8},
    {&J1, FBP_PRECISION_HALF, NULL, 4, 9.9},
    {&J2, FBP_PRECISION_HALF, NULL, 1, 52.1},
    {&J2, FBP_PRECISION_HALF, NULL, 2, 29.6},
    {&J2, FBP_PRECISION_HALF, NULL, 4, 28.9},
    {&J3, FBP_PRECISION_HALF, NULL, 1, 141.8},
    {&J3, FBP_PRECISION_HALF, NULL, 2, 79.5},
    {&J3, FBP_PRECISION_HALF, NULL, 4, 60.9},
    {&J1, FBP_PRECISION_EXACT, NULL, 1, 31.8},
    {&J1, FBP_PRECISION_EXACT, NULL, 2, 18.0},
    {&J2, FBP_PRECISION_EXACT, NULL, 1, 60.0},
    {&J2, FBP_PRECISION_EXACT, NULL, 2, 34.7},
    {&J3, FBP_PRECISION_EXACT, NULL, 1, 278.9},
    {&J3, FBP_PRECISION_EXACT, NULL, 2, 144.7},
    {&J1, FBP_PRECISION_FAST, "matrix", 1, 52.5},
    {&J1, FBP_PRECISION_FAST, "matrix", 2, 28.3},
    {&J1, FBP_PRECISION_FAST, "matrix", 4, 17.1},
    {&J2, FBP_PRECISION_FAST, "matrix", 1, 67.9},
    {&J2, FBP_PRECISION_FAST, "matrix", 2, 36.8},
    {&J2, FBP_PRECISION_FAST, "matrix", 4, 29.9},
    {&J3, FBP_PRECISION_FAST, "matrix", 1, 442.6},
    {&J3, FBP_PRECISION_FAST, "matrix", 2, 225.5},
    {&J3, FBP_PRECISION_FAST, "matrix", 4, 143},
    {&J4, FBP_PRECISION_HALF, NULL, 1, 1976},
    {&J4, FBP_PRECISION_HALF, NULL, 2, 938},
    {&J4, FBP_PRECISION_EXACT, NULL, 1, 3528},
    {&J4, FBP_PRECISION_EXACT, NULL, 2, 1762},
    {&J4, FBP_PRECISION_FAST, "matrix", 1, 6963},
    {&J4, FBP_PRECISION_FAST, "matrix", 2, 3561},
    {&SOME, FBP_PRECISION_HALF, NULL, 1, 18.1e3},
    {&HUGE_, FBP_PRECISION_EXACT, NULL, 2, 71.0e3},
    {&HUGE_, FBP_PRECISION_FAST, "matrix", 2, 157e3},
};

TEST(predicts_what_was_measured)
{
    static const char *const precisions[] = {"", "exact", "fast", "half"};
    const bool prints = getenv("FBP_PRINT") != NULL;

    for (size_t i = 0; i < COUNT(measured); i++) {
        const struct row *r = &measured[i];
        struct work_case c;
        setup(&c, r->size, r->precision, r->kernel);
        AUTO_FREE char *model = printed("gpus=%zu,gpu=h200", r->cards);
        const double ms =
            1e3 * predicted(&c, model, r->cards == 4 ? r->size->side / 4 : 0, r->cards != 4).total;
        drop(&c);
        if (prints)
            print_message("| %s | %s %s | %zu | %.4g | %.4g | %+.0f %% |\n", r->size->name,
                          r->kernel ? "any matrices," : "best", precisions[r->precision], r->cards,
                          r->ms, ms, 100 * (ms / r->ms - 1));
        if (!prints && !(fabs(ms / r->ms - 1) < 0.15))
            fail_msg("%s %s, %zu cards: %g ms, measured %g", r->size->name,
                     precisions[r->precision], r->cards, ms, r->ms);
    }
}

/* A machine that has more of something is not slower: but for what another division, which is
 * chosen from a few, may lose. */
TEST(more_is_never_slower)
{
    static const char *const ladders[][4] = {
        {"gpus=1", "gpus=2", "gpus=4", "gpus=8"},
        {"gpus=4,up=5GB/s", "gpus=4,up=20GB/s", "gpus=4,up=40GB/s", "gpus=4,up=55GB/s"},
        {"down=2GB/s", "down=10GB/s", "down=30GB/s", "down=60GB/s"},
        {"gpus=4,up-all=20GB/s", "gpus=4,up-all=60GB/s", "gpus=4,up-all=120GB/s",
         "gpus=4,up-all=1TB/s"},
        {"gpus=4,both-all=10GB/s", "gpus=4,both-all=40GB/s", "gpus=4,both-all=80GB/s",
         "gpus=4,both-all=1TB/s"},
        {"gups=100", "gups=1000", "gups=3000", "gups=9000"},
        {"gpus=2,read=100MB/s", "gpus=2,read=1GB/s", "gpus=2,read=10GB/s", "gpus=2,read=90GB/s"},
        {"gpus=2,write=100MB/s", "gpus=2,write=1GB/s", "gpus=2,write=10GB/s",
         "gpus=2,write=90GB/s"},
        {"memory=300M", "memory=600M", "memory=4G", "memory=80G"},
    };
    struct work_case c;

    setup(&c, &J1, FBP_PRECISION_HALF, NULL);
    for (size_t i = 0; i < COUNT(ladders); i++)
        for (size_t k = 1; k < COUNT(ladders[i]); k++) {
            const double less = predicted(&c, ladders[i][k - 1], 0, true).total;
            const double more = predicted(&c, ladders[i][k], 0, true).total;
            if (!(more <= 1.01 * less))
                fail_msg("%s: %g s, %s: %g s", ladders[i][k - 1], less, ladders[i][k], more);
        }
    drop(&c);
}

/* Nothing is faster than its slowest part allows. */
TEST(nothing_beats_its_parts)
{
    struct work_case c;

    setup(&c, &J1, FBP_PRECISION_HALF, NULL);
    const double volume = 512.0 * 512 * 512 * 4, views = 360.0 * 512 * 512 * 4;
    struct fbp_predicted p = predicted(&c, "write=1GB/s,gpus=4", 0, true);
    assert_true(p.total > volume / 1e9 && p.total < 1.1 * volume / 1e9);
    p = predicted(&c, "read=200MB/s,gpus=4", 0, true);
    assert_true(p.total > views / 2e8);
    p = predicted(&c, "up=1GB/s", 0, true);
    assert_true(p.total > views / 1e9 && p.upload <= p.total);
    p = predicted(&c, "gpus=4,down=10GB/s,down-all=10GB/s", 0, true);
    assert_true(p.total > volume / 10e9);
    p = predicted(&c, "gups=1000", 0, true);
    assert_true(p.backproject > 0.8 * 360 * volume / 4 / 1e12 && p.total > p.backproject);
    drop(&c);
}

/* Where reading or the link up is what takes longest, views that are filtered once are quicker. */
TEST(sharing_pays)
{
    static const char *const models[] = {"gpus=4,read=2GB/s", "gpus=4,up-all=20GB/s"};
    struct work_case c;

    setup(&c, &J1, FBP_PRECISION_HALF, NULL);
    for (size_t i = 0; i < COUNT(models); i++) {
        const struct fbp_predicted own = predicted(&c, models[i], 0, false);
        const struct fbp_predicted shared = predicted(&c, models[i], 0, true);
        if (!(own.share == 0 && shared.share > 0 && shared.total < 0.95 * own.total))
            fail_msg("%s: %g s, shared %g s", models[i], own.total, shared.total);
    }
    /* A batch is read by one of them. */
    const struct fbp_predicted p = predicted(&c, "gpus=4,read=1GB/s,peer=1TB/s", 0, true);
    const double views = 360.0 * 512 * 512 * 4;
    assert_true(p.total > views / 1e9 && p.total < 1.1 * views / 1e9);
    drop(&c);
}

/* The kernels that a job gets, as on a card. */
TEST(chooses_as_cards_do)
{
    static const struct {
        enum fbp_precision precision;
        const char *kernel, *chosen, *isa;
    } cases[] = {
        {FBP_PRECISION_HALF, NULL, "rot90", "half"},
        {FBP_PRECISION_EXACT, NULL, "rot90", "exact"},
        {FBP_PRECISION_FAST, NULL, "rot90", "exact"},
        {FBP_PRECISION_HALF, "rot180", "rot180", "half"},
        {FBP_PRECISION_FAST, "rot180", "rot180", "fast"},
        {FBP_PRECISION_HALF, "column", "column", "exact"},
        {FBP_PRECISION_HALF, "matrix", "matrix", "half"},
        {FBP_PRECISION_FAST, "matrix", "matrix", "fast"},
        {FBP_PRECISION_EXACT, "matrix", "matrix", "exact"},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        struct work_case c;
        setup(&c, &J1, cases[i].precision, cases[i].kernel);
        assert_string_equal(c.tables.job.selection.name, cases[i].chosen);
        assert_string_equal(c.tables.job.selection.isa, cases[i].isa);
        drop(&c);
    }
}

/* A plan is made without the device, and nothing of it runs. */
TEST(nodes_have_a_bound)
{
    AUTO_CLEAR struct fbp_scan scan = circle_scan(24, 16, 0);
    struct cluster_time found;
    struct prediction p;
    CLEANUP(fbp_source_close) fbp_source *source = NULL;
    fbp_plan *plan = NULL;

    scan.volume = (struct fbp_grid){{2, 2, 2}, {1, 1, 1}, {0}};
    OK(fbp_source_memory(
        &source, NULL,
        &(struct fbp_array_info){.struct_size = sizeof(struct fbp_array_info),
                                 .n = {scan.panel.n_columns, scan.panel.n_rows, 24},
                                 .type = FBP_F32}));
    OK(prediction_plan(&p, "nodes=2,gpus=1,net=1GB/s", &scan,
                       fbp_recon_params(.input.source = source), &plan));
    OK(prediction_cluster(&p, plan, FBP_MODEL_MOST_NODES, 1, &found));
    assert_true(found.nodes == FBP_MODEL_MOST_NODES && found.slabs >= 1);
    assert_fails(prediction_cluster(&p, plan, FBP_MODEL_MOST_NODES + 1, 1, &found), FBP_ERR_INVALID,
                 "65537 nodes: expected up to 65536");
    assert_int_equal(prediction_cluster(&p, plan, SIZE_MAX, 0, &found), FBP_ERR_INVALID);
    OK(prediction_cluster(&p, plan, 0, 0, &found));
    assert_true(found.nodes == 2 && found.ranks == 2);
    fbp_plan_destroy(&plan);
    OK(prediction_plan(&p, "gpus=1", &scan, fbp_recon_params(.input.source = source), &plan));
    assert_fails(prediction_cluster(&p, plan, 2, 0, &found), FBP_ERR_INVALID, "give nodes=");
    fbp_plan_destroy(&plan);
}

TEST(plans_do_not_run)
{
    AUTO_CLEAR struct fbp_scan scan = circle_scan(24, 16, 0);
    fbp_plan *plan = NULL;
    struct prediction p;
    const struct fbp_array_info info = {
        .struct_size = sizeof info, .n = {24, 24, 24}, .type = FBP_F32};
    CLEANUP(fbp_source_close) fbp_source *source = NULL;

    scan.volume = (struct fbp_grid){{2, 2, 2}, {1, 1, 1}, {0}};
    OK(fbp_source_memory(
        &source, NULL,
        &(struct fbp_array_info){.struct_size = sizeof info,
                                 .n = {scan.panel.n_columns, scan.panel.n_rows, 24},
                                 .type = FBP_F32}));
    OK(prediction_plan(&p, "gpus=2", &scan, fbp_recon_params(.input.source = source), &plan));
    const struct fbp_plan_summary *s = fbp_plan_info(plan);
    assert_string_equal(s->backend, "model");
    assert_true(s->n_devices == 2 && s->memory_limit == 0 && p.open > 0.3);
    assert_true(s->predicted.total > 0 && s->predicted.gups > 0);
    assert_int_equal(fbp_plan_run(plan, "null:", NULL), FBP_ERR_UNSUPPORTED);
    fbp_plan_destroy(&plan);
    assert_int_equal(prediction_plan(&p, "gpus=2", &scan,
                                     fbp_recon_params(.device = "cpu", .input.source = source),
                                     &plan),
                     FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
