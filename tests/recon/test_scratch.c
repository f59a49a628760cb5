/* Checks views that are filtered once into a scratch file (--scratch): the bits and reports of an
 * ordinary run for every kernel, and that no file is left. */
#include "recon/slabs.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct fbp_report run_plan(const struct fbp_scan *scan, const struct fbp_recon_params *p,
                                  struct fbp_plan_summary *info)
{
    struct fbp_report r = {.struct_size = sizeof r};

    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(scan, p);
    *info = *fbp_plan_info(plan);
    OK(fbp_plan_run(plan, "hash:", &r));
    return r;
}

static char *make_folder(void)
{
    char *folder = temporary("scratch");

    assert_true(mkdir(folder, 0700) == 0 || errno == EEXIST);
    return folder;
}

/* Views in memory, read as those of a file that is dear to read: so that a scratch file pays on
 * devices that filter in no time, too. */
struct dear {
    const struct fbp_scan *scan;
    float *samples;
};

static int read_dear(void *user, size_t view, size_t n_views, size_t row0, size_t n_rows, void *out,
                     char *why, size_t n_why)
{
    const struct dear *d = user;
    const size_t nc = d->scan->panel.n_columns, nr = d->scan->panel.n_rows;

    (void)why, (void)n_why;
    for (size_t k = 0; k < n_views; k++)
        memcpy((float *)out + k * n_rows * nc, d->samples + ((view + k) * nr + row0) * nc,
               n_rows * nc * sizeof(float));
    return 0;
}

static fbp_source *open_dear(struct dear *d)
{
    const struct fbp_scan *scan = d->scan;
    const struct fbp_source_functions functions = {
        .struct_size = sizeof functions, .read = read_dear, .user = d, .concurrent = 1};
    const struct fbp_array_info info = {
        .struct_size = sizeof info,
        .n = {scan->panel.n_columns, scan->panel.n_rows, scan->n_views},
        .type = FBP_F32};
    fbp_source *out;

    d->samples = read_array(scan->projections);
    OK(fbp_source_callback(&out, &functions, &info));
    return out;
}

/* One scan, all that these parameters ask for. */
static void check(const struct fbp_scan *scan, struct fbp_recon_params p, const char *folder)
{
    struct fbp_plan_summary info;
    struct dear dear = {.scan = scan};

    p.struct_size = sizeof p;
    p.tuning.slab_slices = 2;
    p.n_threads = 1;
    p.input.source = open_dear(&dear);
    const struct fbp_report right = run_plan(scan, &p, &info);
    assert_true(info.scratch_bytes == 0 && info.view_reads > 1);
    p.tuning.scratch = folder;
    const struct fbp_report r = run_plan(scan, &p, &info);
    assert_true(info.scratch_bytes > 0 && info.view_reads < 1.2 && info.scratch_reads > 1);
    if (r.hash != right.hash)
        fail_msg("%s, kernel %s: other bits", p.device, info.kernel);
    assert_true(r.min == right.min && r.max == right.max);
    assert_int_equal(r.not_finite, right.not_finite);
    assert_int_equal(r.clipped, right.clipped);
    assert_int_equal(r.truncated_views, right.truncated_views);
    assert_int_equal(files_in(folder), 0);
    fbp_source_close(&p.input.source);
    free(dear.samples);
}

static struct fbp_scan spoiled_scan(size_t n_views)
{
    struct fbp_scan scan = circle_scan(n_views, 48, 0);

    scan.volume = (struct fbp_grid){{40, 40, 40}, {4, 4, 4}, {0, 0, 0}};
    simulate_head(&scan, 90);
    AUTO_FREE float *p = read_array(scan.projections);
    for (size_t i = 0; i < scan.n_views * scan.panel.n_columns * scan.panel.n_rows; i += 97)
        p[i] = NAN;
    replace_samples(&scan, p);
    return scan;
}

/* With each kernel; the mock device checks that rows are not read before they are written. */
TEST(the_same_bits)
{
    static const char *const kernels[] = {"matrix", "column", "rot180", "rot90"};
    static const enum fbp_precision precisions[] = {FBP_PRECISION_EXACT, FBP_PRECISION_HALF};
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36); /* an odd number a quarter */
    AUTO_FREE char *folder = make_folder();

    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        check(&scan, (struct fbp_recon_params){.device = "cpu", .tuning.kernel = kernels[k]},
              folder);
        check(&scan, (struct fbp_recon_params){.device = "mock:0,1", .tuning.kernel = kernels[k]},
              folder);
        for (size_t i = 0; usable("cuda") && i < 2; i++)
            check(&scan,
                  (struct fbp_recon_params){.device = "cuda",
                                            .tuning.kernel = kernels[k],
                                            .precision = precisions[i],
                                            .tuning.no_overlap =
                                                true}, /* or views would be kept there */
                  folder);
    }
    rmdir(folder);
}

/* Windows along rows and columns, rows that are carried on, boxes, masks, HU; an odd number of
 * views. */
TEST(whatever_is_asked_for)
{
    static const struct fbp_recon_params asked[] = {
        {.filter = FBP_FILTER_HANN, .cutoff = 0.7, .filtering.cutoff_v = 0.5},
        {.pad = FBP_PAD_ELLIPSE},
        {.filtering.spatial = true, .filtering.half_width = 20},
        {.mu_water = 0.02, .output.fill = true, .output.fill_value = -1000},
        {.box = {{5, 30}, {3, 33}, {7, 40}}},
        {.tuning.no_overlap = true, .tuning.batch_views = 8},
    };
    AUTO_DROP struct fbp_scan scan = spoiled_scan(37);
    AUTO_FREE char *folder = make_folder();

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct fbp_recon_params p = asked[i];
        p.device = "cpu";
        check(&scan, p, folder);
        p.device = "mock";
        check(&scan, p, folder);
    }
    rmdir(folder);
}

/* In so many slabs that a scratch file pays. */
static struct fbp_recon_params in_slabs(const char *device, const char *folder)
{
    return (struct fbp_recon_params){.struct_size = sizeof(struct fbp_recon_params),
                                     .device = device,
                                     .n_threads = 2,
                                     .tuning.slab_slices = 2,
                                     .tuning.scratch = folder};
}

/* When the plan is made, also if there would be no file. */
static void is_refused(const struct fbp_scan *scan, const char *folder, const char *why)
{
    struct fbp_recon_params p = in_slabs("cpu", folder);

    for (int needed = 1; needed >= 0; needed--) {
        p.tuning.slab_slices = needed ? 2 : 0;
        assert_no_plan(scan, &p, FBP_ERR_IO, "scratch: ");
        assert_says(why);
    }
}

/* A folder that is not there, is a file, cannot be written to. */
TEST(bad_folders)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    AUTO_FREE char *folder = make_folder();

    is_refused(&scan, "/nowhere/at/all", "/nowhere/at/all: ");
    is_refused(&scan, "/nowhere/at/all", "name an existing folder");
    is_refused(&scan, scan.projections, "name an existing folder");
    assert_int_equal(chmod(folder, 0500), 0);
    if (access(folder, W_OK) != 0) /* else this is root */
        is_refused(&scan, folder, "name a writable folder");
    rmdir(folder);
}

/* A folder with too little room. */
TEST(too_little_room)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    struct rlimit before, small = {100000, 100000};
    AUTO_FREE char *folder = make_folder(), *out = temporary("refused.mha");
    const struct fbp_recon_params p = in_slabs("cpu", folder);

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    fbp_plan *plan = create_plan(&scan, &p);
    assert_true(fbp_plan_info(plan)->scratch_bytes > 100000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_fails(fbp_plan_run(plan, "hash:", NULL), FBP_ERR_IO,
                 "for the limit of this process (ulimit -f)");
    assert_int_equal(fbp_plan_run(plan, out, NULL), FBP_ERR_IO);
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    OK(fbp_plan_run(plan, "hash:", NULL));
    fbp_plan_destroy(&plan);
    assert_int_equal(files_in(folder), 0);
    rmdir(folder);
}

/* Cancels at some call. */
struct breaker {
    int at, n;
};

static int cancel(void *user, const struct fbp_progress *p)
{
    struct breaker *b = user;

    return b->at > 0 && ++b->n == b->at;
}

TEST(a_run_that_is_cancelled)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    AUTO_FREE char *folder = make_folder();
    int cancelled = 0;

    for (int at = 1; at < 40; at += 3) {
        struct breaker b = {.at = at};
        struct fbp_recon_params p = in_slabs("mock", folder);
        p.callbacks.progress = cancel;
        p.callbacks.user = &b;
        fbp_plan *plan;
        if (fbp_plan_create(&plan, &scan, &p) != FBP_OK)
            continue; /* this is cancelled, too */
        cancelled += fbp_plan_run(plan, "hash:", NULL) == FBP_ERR_CANCELLED;
        fbp_plan_destroy(&plan);
        assert_int_equal(files_in(folder), 0);
    }
    assert_true(cancelled > 5);
    rmdir(folder);
}

/* The file has no name: the folder may be removed as soon as it is open. */
TEST(a_folder_that_vanishes)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    AUTO_FREE char *folder = make_folder();
    const struct fbp_recon_params p = in_slabs("cpu", folder);
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "cpu"));
    struct fbp_report r = {.struct_size = sizeof r};

    CLEANUP(fbp_plan_destroy) fbp_plan *plan = create_plan(&scan, &p);
    OK(fbp_plan_run(plan, "hash:", &r));
    assert_true(r.hash == right);
    rmdir(folder);
    assert_int_equal(fbp_plan_run(plan, "hash:", &r), FBP_ERR_IO); /* it is not there any more */
    assert_says("name an existing folder");
}

/* A device that fails while rows are filtered ends the run, with its reason. */
TEST(a_device_that_fails)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    AUTO_FREE char *folder = make_folder();
    int failed = 0;

    for (uint64_t n = 1; n < 30; n++) {
        const struct fbp_recon_params p = in_slabs("mock", folder);
        fbp_mock_faults = (struct fbp_mock_faults){.fail_command = {n}};
        failed += reconstruct_to(&scan, &p, "hash:", NULL) == FBP_ERR_DEVICE;
        assert_int_equal(files_in(folder), 0);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
    assert_int_equal(failed, 29);
    rmdir(folder);
}

/* What a process of its own found: its peak is not that of other tests. */
enum found { REFUSED = 10, KEPT, PASSED };

/* A plan that is open, with so much memory beside what is there already. */
static enum found run_open(const struct fbp_scan *scan, struct fbp_recon_params p, uint64_t limit,
                           uint64_t right)
{
    struct fbp_report r = {.struct_size = sizeof r};
    struct rusage used;
    fbp_plan *plan;

    p.memory_bytes = limit;
    if (fbp_plan_create(&plan, scan, &p) != FBP_OK)
        return REFUSED;
    const struct fbp_plan_summary *info = fbp_plan_info(plan);
    if (fbp_plan_open(plan) == FBP_ERR_NOMEM) {
        const bool told = strstr(fbp_message(), "omit fbp_plan_open()") != NULL;
        return told && fbp_plan_run(plan, "hash:", &r) == FBP_OK && r.hash == right ? REFUSED : 0;
    }
    for (int i = 0; i < 2; i++)
        if (fbp_plan_run(plan, "hash:", &r) != FBP_OK || r.hash != right)
            return 0;
    getrusage(RUSAGE_SELF, &used);
    return info->memory_bytes <= info->memory_limit &&
                   (uint64_t)used.ru_maxrss * 1024 <= info->memory_bytes
               ? KEPT
               : PASSED;
}

/* What is open and what filters rows fit into the limit together, or that is said. */
TEST(an_open_plan_keeps_to_its_memory)
{
    AUTO_DROP struct fbp_scan scan = circle_scan(48, 256, 0);
    AUTO_FREE char *folder = make_folder();
    struct fbp_recon_params p = in_slabs("mock", folder);
    int n[2] = {0, 0};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* what a sanitizer holds counts, too */
#endif
    scan.volume = (struct fbp_grid){{64, 64, 64}, {4, 4, 4}, {0, 0, 0}};
    simulate_head(&scan, 90);
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "mock"));
    p.n_threads = 1;
    p.tuning.slab_slices = 12;
    for (uint64_t limit = (uint64_t)12 << 20; limit <= (uint64_t)60 << 20; limit += 4 << 20) {
        int status;
        const pid_t child = fork();
        if (child == 0)
            _exit((int)run_open(&scan, p, limit, right));
        assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
        const int found = WEXITSTATUS(status);
        if (found != KEPT && found != REFUSED)
            fail_msg("%zu MiB: %s", (size_t)(limit >> 20),
                     found == PASSED ? "more than was predicted" : "failed");
        n[found == KEPT]++;
    }
    assert_true(n[0] > 0 && n[1] > 0);
    assert_int_equal(files_in(folder), 0);
    rmdir(folder);
}

/* Of the run through the file, on a device whose rates are known. */
TEST(its_time_is_predicted)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    AUTO_FREE char *folder = make_folder();
    struct fbp_recon_params p = in_slabs("mock", folder);
    struct fbp_predicted t[2];
    double samples = 36 * 48 * 48;
    fbp_plan *plan;

    p.tuning.no_overlap = true; /* or views would be kept there */
    fbp_mock_faults.rates =
        (struct fbp_rates){.upload = 1e-9, .fetch = 1e-9, .filter = 1e-6, .update = 1e-9};
    for (int i = 0; i < 2; i++) {
        p.tuning.scratch = i ? folder : NULL;
        OK(fbp_plan_create(&plan, &scan, &p));
        t[i] = fbp_plan_info(plan)->predicted;
        assert_true((fbp_plan_info(plan)->scratch_bytes > 0) == (i > 0));
        samples *= i ? fbp_plan_info(plan)->view_reads : 1;
        fbp_plan_destroy(&plan);
    }
    fbp_mock_faults = (struct fbp_mock_faults){0};
    /* Each sample is filtered once, and more often without the file: nearly all that is done. */
    assert_true(fabs(t[1].filter - 1e-6 * samples) < 1e-8 * samples);
    assert_true(t[0].filter > 1.5 * t[1].filter);
    assert_true(t[1].total > t[1].filter && t[1].total < t[0].total);
    assert_true(t[1].read > 0 && t[1].backproject > 0 && t[1].gups > t[0].gups);
    rmdir(folder);
}

static void keep_notes(void *user, enum fbp_log_level level, const char *line)
{
    strncat(user, line, 1999 - strlen(user));
}

/* Where it would help, and where it would not, the plan says so. */
TEST(the_plan_says_so)
{
    AUTO_DROP struct fbp_scan scan = spoiled_scan(36);
    struct fbp_recon_params p = in_slabs("cpu", NULL);
    char said[2000] = "";

    p.callbacks.log = keep_notes;
    p.callbacks.user = said;
    fbp_plan *plan = create_plan(&scan, &p);
    fbp_plan_destroy(&plan);
    assert_contains(said, "of free space (--scratch)");
    said[0] = '\0';
    OK(fbp_plan_create(&plan, &scan,
                       fbp_recon_params(.device = "cpu", .tuning.scratch = "/tmp",
                                        .callbacks.log = keep_notes, .callbacks.user = said)));
    fbp_plan_destroy(&plan);
    assert_contains(said, "--scratch is not used: ");
}

TEST_MAIN(NULL, NULL)
