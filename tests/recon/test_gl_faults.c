/* Checks injected failures of OpenGL (a shader that does not compile, no context, no memory, a
 * lost context): each gives one message with the renderer and the remedy, nothing is written or
 * left open, and the next run has the same bits. */
#include "recon/planted.h"

#include <inttypes.h>
#include <sys/stat.h>

static char renderer[32];

static struct fbp_scan make_scan(void)
{
    return head_scan(8, 45, 38, &(struct orbit){.start_deg = 11, .pitch_mm = {6, 6}},
                     (struct fbp_grid){{9, 8, 7}, {8, 8, 8}, {1, -2, 3}}, 90);
}

/* With what is planted; "" in *message: nothing failed. */
static fbp_status run(const struct fbp_scan *scan, const char *output, char message[600])
{
    const fbp_status st = reconstruct_to(scan, fbp_recon_params(.device = "gl"), output, NULL);
    snprintf(message, 600, "%s", st == FBP_OK ? "" : fbp_message());
    return st;
}

/* One sentence with all that it has to say, and no file; late failures leave what --resume takes.
 */
static void check_sentence(const char *message, const char *fact, const char *output, bool soon)
{
    char part[4200], journal[4200];

    if (strncmp(message, "gl: ", 4) != 0 || !strstr(message, renderer) || !strstr(message, fact) ||
        strchr(message, '\n') ||
        !(strstr(message, "--device cpu") || strstr(message, "--device-memory") ||
          strstr(message, "update the driver")))
        fail_msg("\"%s\" does not say \"%s\" of %s", message, fact, renderer);
    snprintf(part, sizeof part, "%s.part", output);
    snprintf(journal, sizeof journal, "%s.part.log", output);
    assert_true(access(output, F_OK) != 0);
    assert_true(access(part, F_OK) != 0 || (!soon && access(journal, F_OK) == 0));
    remove(part);
    remove(journal);
}

/* How often each fault is met: FBP_TEST_TIMES, for slow tools, or 100. */
static int n_times(void)
{
    const char *text = getenv("FBP_TEST_TIMES");

    return text ? atoi(text) : 100;
}

/* A fault that is set by `set`, many times. */
static void check_fault(void (*set)(void), const char *fact)
{
    const int times = n_times();
    AUTO_DROP struct fbp_scan scan = make_scan();
    char *output = temporary("fault.mha"), message[600];
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "gl"));
    const size_t before = open_files();

    for (int i = 0; i < times; i++) {
        lift(NULL);
        set();
        assert_int_equal(run(&scan, output, message), FBP_ERR_DEVICE);
        check_sentence(message, fact, output, true);
    }
    lift(NULL);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "gl")) == right);
    assert_int_equal(open_files(), before);
    free(output);
}

static void no_context(void)
{
    plant->no_context = true;
}

TEST_WITH(contexts_that_are_not_given, NULL, lift)
{
    check_fault(no_context, "this driver creates no context");
}

static void no_current(void)
{
    plant->no_current = true;
}

TEST_WITH(contexts_that_do_not_become_current, NULL, lift)
{
    check_fault(no_current, "it creates no context without a surface");
}

static void lost_soon(void)
{
    plant->lost = 20;
}

TEST_WITH(contexts_that_are_lost, NULL, lift)
{
    check_fault(lost_soon, "was reset during the computation");
}

/* A text that does not compile: the driver's own words. */
TEST_WITH(texts_that_do_not_compile, NULL, lift)
{
    char *folder = temporary("texts"), path[4200];

    assert_int_equal(mkdir(folder, 0777), 0);
    snprintf(path, sizeof path, "%s/prepare.glsl", folder);
    FILE *text = not_null(fopen(path, "w"));
    fputs("no program at all\n", text);
    fclose(text);
    AUTO_DROP struct fbp_scan scan = make_scan();
    const size_t before = open_files();
    char *output = temporary("fault.mha"), message[600];
    for (int i = 0; i < n_times(); i++) {
        setenv("FBP_GL_SHADERS", folder, 1);
        assert_int_equal(run(&scan, output, message), FBP_ERR_DEVICE);
        unsetenv("FBP_GL_SHADERS");
        check_sentence(message, "cannot compile the shader prepare: ", output, true);
    }
    assert_int_equal(open_files(), before);
    remove(path);
    rmdir(folder);
    free(folder);
    free(output);
}

/* At every place where one may find out, one after another. */
static void check_everywhere(uint64_t *which, fbp_status wanted, const char *fact)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    char *output = temporary("fault.mha"), message[600];
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "gl"));
    const size_t before = open_files();
    uint64_t n = 0;
    fbp_status st = wanted;

    while (st != FBP_OK) {
        lift(NULL);
        *which = ++n;
        st = run(&scan, output, message);
        if (st != FBP_OK) {
            if (st != wanted)
                fail_msg("look %" PRIu64 ": status %d, %s", n, (int)st, message);
            check_sentence(message, fact, output, false);
        }
    }
    print_message("%" PRIu64 " places\n", n - 1);
    assert_true(n > 30);
    lift(NULL);
    remove(output);
    assert_true(reconstruct_hash(&scan, fbp_recon_params(.device = "gl")) == right);
    assert_int_equal(open_files(), before);
    free(output);
}

TEST_WITH(no_memory_anywhere, NULL, lift)
{
    check_everywhere(&plant->no_memory, FBP_ERR_NOMEM, "is out of memory");
}

TEST_WITH(lost_at_any_time, NULL, lift)
{
    check_everywhere(&plant->lost, FBP_ERR_DEVICE, "was reset during the computation");
}

static void count_lines(void *user, enum fbp_log_level level, const char *line)
{
    *(int *)user += level == FBP_LOG_WARNING &&
                    strstr(line, "is no longer used, and the other devices do its work") != NULL;
}

/* Two devices of one renderer: whatever one was doing, the other does all of it, the same bits. */
TEST_WITH(the_other_does_its_part, NULL, lift)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    const uint64_t right = reconstruct_hash(&scan, fbp_recon_params(.device = "gl"));
    const size_t before = open_files();
    size_t dropped = 0;

    for (uint64_t n = 20; n < 140; n += 7) {
        int lines = 0;
        struct fbp_report r = {.struct_size = sizeof r};
        lift(NULL);
        plant->lost = n;
        OK(reconstruct_to(&scan,
                          fbp_recon_params(.device = "gl:0,0", .tuning.slab_slices = 2,
                                           .callbacks.log = count_lines, .callbacks.user = &lines),
                          "hash:", &r));
        assert_true(r.hash == right);
        assert_int_equal(lines, r.devices_dropped);
        dropped += r.devices_dropped;
    }
    print_message("%zu devices dropped\n", dropped);
    assert_true(dropped > 5);
    assert_int_equal(open_files(), before);
}

int main(int argc, char **argv)
{
    if (!usable("gl"))
        return 77;
    find_plant();
    struct fbp_device_info d = {.struct_size = sizeof d};
    fbp_backend_find("gl")->discovery.describe(0, &d);
    snprintf(renderer, sizeof renderer, "%.*s", (int)strcspn(d.text, ",("), d.text);
    return run_file_tests(argc, argv, NULL, NULL);
}
