/* Command `fbp view` (cmd_view), which commands.c lists and program.c runs: draws a PNG picture of
 * a volume, writes an HTML page with a viewer, or serves that page and full slices to a browser
 * (--serve).
 * Used by: commands.c. */
#include "cli.h"
#include "page/page.h"
#include "say.h"
#include "serve/server.h"
#include "serve/slices.h"

#include <math.h>
#include <string.h>

/* Size of an HTML page (--page-size) [bytes]: PAGE_LEAST to PAGE_MOST, because a browser holds it
 * as one text; default PAGE_BYTES. FRAME_BYTES: room for other parts than samples. */
#define PAGE_LEAST (256. * 1024)
#define PAGE_MOST  (384. * 1024 * 1024)
enum { PAGE_BYTES = 16 << 20, FRAME_BYTES = 96 << 10 };

struct view_args {
    const char *volume, *output, *device;
    double window[2], turn_deg;
    /* slice[0] and frame: SIZE_MAX if not given; page_bytes and port: 0 if not given */
    size_t slice[3], frame, page_bytes, port;
    bool mip, serve, force, quiet, json;
};

#define V struct view_args
static const struct opt table[] = {
    OPT(V, volume, .name = "volume", .positional = true, .required = true,
        .help = "volume or projections, in any format that fbp reads"),
    OPT(V, output, .name = "output", .letter = 'o', .arg = "FILE.png|FILE.html",
        .help = "picture to write, or a page for a browser in one file: three linked planes, grey "
                "window, histogram, values and positions (docs/view.md)"),
    OPT_BYTE_COUNT(
        V, page_bytes, .name = "page-size", .arg = "BYTES", .min = PAGE_LEAST, .max = PAGE_MOST,
        .fallback = "16M",
        .help = "greatest size of a page. The page of a larger volume contains means over several "
                "voxels, and states this"),
    OPT(V, serve, .name = "serve",
        .help =
            "instead of writing the page, serve it to a browser on this machine until Ctrl-C; the"
            " browser can request slices in full resolution. Prints the address, which contains a"
            " random key"),
    OPT(V, port, .name = "port", .arg = "N", .min = 1, .max = 65535, .fallback = "any",
        .help = "with --serve: port of the address"),
    OPT(V, mip, .name = "mip", .help = "maximum intensity projections instead of slices"),
    OPT(V, turn_deg, .name = "turn", .arg = "DEG", .min = -360, .max = 360, .fallback = "0",
        .help = "with --mip: rotate the volume first, about an axis along z through its centre; "
                "counter-clockwise seen from +z"),
    OPT(V, window, .name = "window", .arg = "LO,HI", .min = -FBP_VALUE_MAX, .max = FBP_VALUE_MAX,
        .fallback = "least and greatest value drawn",
        .help = "values that are drawn black and white"),
    OPT(V, slice, .name = "slice", .arg = "X,Y,Z", .fallback = "the middle",
        .help = "voxel in which the three slices meet; the first is 0"),
    OPT(V, frame, .name = "frame", .arg = "K", .fallback = "the first; of a page all",
        .help =
            "index of the volume in a file with several volumes (a time series); the first is 0"),
    OPT(V, device, .name = "device", .arg = "NAME", .fallback = "auto",
        .help = "with --mip: device that computes the projections: auto, cpu or gl (see 'fbp "
                "devices'); the pictures are the same"),
    FORCE_OPTION(V, force),
    OPT(V, json, .name = "json", .help = "print one JSON object"),
    OPT(V, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
#undef V

/* Returns the request for the page: volume, slices shown first, grey window, greatest size. */
static struct page_wish wish_of(const struct view_args *a)
{
    const size_t bytes = a->page_bytes ? a->page_bytes : PAGE_BYTES;

    return (struct page_wish){.volume = {.name = a->volume,
                                         .frame = a->frame,
                                         .bytes = bytes - FRAME_BYTES,
                                         .slice = a->slice[0] == SIZE_MAX ? NULL : a->slice,
                                         .quiet = a->quiet},
                              .window = {a->window[0], a->window[1]},
                              .mip = a->mip};
}

/* Returns the title of the page: the name of the file without its folder. */
static const char *title_of(const struct view_args *a)
{
    const char *slash = strrchr(a->volume, '/');

    return slash && slash[1] ? slash + 1 : a->volume;
}

/* Create the JSON result of --json, with the names of volume and output. */
static cJSON *begin_json(const struct view_args *a)
{
    cJSON *root = cJSON_CreateObject();

    cJSON_AddStringToObject(root, "volume", a->volume);
    cJSON_AddStringToObject(root, "output", a->output);
    return root;
}

static int view_page(const struct view_args *a)
{
    const struct page_wish wish = wish_of(a);
    struct page page = {.title = title_of(a)};
    static struct reduced reduced;
    fbp_source *volume;

    if (fbp_source_open(&volume, a->volume, NULL) != FBP_OK)
        return cli_fail();
    int rc = page_view(&page, volume, &wish, &reduced);
    if (rc == 0)
        rc = page_save(&page, a->output);
    if (rc == 0 && a->json) {
        cJSON *root = begin_json(a);
        cli_json_sizes(root, "join", reduced.k, 3);
        cli_json_sizes(root, "samples", reduced.bins, 3);
        cJSON_AddNumberToObject(root, "frames", (double)reduced.frames);
        rc = cli_json(root, false);
    } else if (rc == 0 && !a->quiet) {
        printf("%s", say_name(a->output));
        if (!reduced_is_whole(&reduced))
            printf(": means of %zu x %zu x %zu voxels", reduced.k[0], reduced.k[1], reduced.k[2]);
        putchar('\n');
    }
    page_clear(&page);
    reduced_clear(&reduced);
    fbp_source_close(&volume);
    return rc;
}

static void answer(void *user, const struct http_request *request, struct answer *out)
{
    volume_server_answer(user, request->path, request->query, out);
}

/* Serve the page until Ctrl-C; returns the exit status. */
static int view_serve(const struct view_args *a)
{
    static struct volume_server v;
    struct server server = {.socket = -1, .answer = answer, .user = &v};
    struct page_wish wish = wish_of(a);
    struct markup policy = {0};

    /* Open the port before the volume is read: a port in use is then reported at once. */
    int rc = server_open(&server, (unsigned)a->port);
    if (rc == 0)
        rc = volume_server_open(&v, title_of(a), "fbp view --serve", &wish);
    page_policy(&policy, true);
    server.policy = policy.bytes;
    if (rc == 0 && policy.failed)
        rc = cli_error("out of memory for the page; close other programs");
    if (rc == 0)
        rc = server_run(&server, a->quiet, false);
    volume_server_close(&v);
    markup_clear(&policy);
    server_close(&server);
    return rc;
}

static int view_picture(const struct view_args *a)
{
    double shown[2];
    struct fbp_picture_params p =
        *fbp_picture_params(.mip = a->mip, .shown = shown, .turn_deg = a->turn_deg,
                            .device = a->device, .time_point = a->frame == SIZE_MAX ? 0 : a->frame);

    if (!isnan(a->window[0])) {
        p.lo = a->window[0];
        p.hi = a->window[1];
    }
    p.at_slice = a->slice[0] != SIZE_MAX;
    if (p.at_slice)
        memcpy(p.slice, a->slice, sizeof p.slice);
    if (fbp_picture_write(a->volume, a->output, &p) != FBP_OK)
        return cli_fail();
    if (a->json) {
        cJSON *root = begin_json(a);
        cli_json_numbers(root, "window", shown, 2);
        return cli_json(root, false);
    }
    if (!a->quiet)
        printf("%s\n", say_name(a->output));
    return 0;
}

static int check(const struct command *self, const struct view_args *a, bool is_page)
{
    const bool on_cpu = strcmp(a->device, "auto") == 0 || strcmp(a->device, "cpu") == 0;

    if (!a->serve && a->port > 0)
        return opt_usage(self, "--port needs --serve");
    if (!a->serve && !a->output)
        return opt_usage(self, "-o FILE.png or FILE.html is missing, or --serve");
    if (a->serve && a->output)
        return opt_usage(self, "--serve writes no file; omit -o");
    if (a->serve && a->json)
        return opt_usage(self, "--serve prints only an address; omit --json");
    if (!is_page && !cli_ends_with(a->output, ".png"))
        return opt_usage(self, "-o: expected a name that ends in .png or .html, got \"%s\"",
                         a->output);
    if (a->window[0] >= a->window[1])
        return opt_usage(self, "--window: expected LO,HI with LO < HI, got \"%g,%g\"", a->window[0],
                         a->window[1]);
    if (is_page && (a->turn_deg != 0 || !on_cpu))
        return opt_usage(
            self, "--turn and --device apply to PNG files only; omit them, or give -o FILE.png");
    if (!is_page && a->page_bytes > 0)
        return opt_usage(
            self, "--page-size applies to HTML pages, but \"%s\" is a PNG file; omit --page-size",
            a->output);
    if (!a->mip && a->turn_deg != 0)
        return opt_usage(self,
                         "--turn: only projections can be turned, not slices; give --mip, too");
    if (!a->mip && !on_cpu)
        return opt_usage(
            self,
            "--device %s: slices are always drawn by the CPU; give --mip, too, or omit --device",
            a->device);
    return OPT_GO_ON;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct view_args a = {
        .window = {NAN, NAN}, .slice = {SIZE_MAX, 0, 0}, .frame = SIZE_MAX, .device = "auto"};

    OPT_TRY(opt_parse(self, &a, argc, argv));
    const bool is_page = a.serve || (a.output && cli_ends_with(a.output, ".html"));
    OPT_TRY(check(self, &a, is_page));
    if (cli_is_scan(a.volume))
        return 1;
    cli_warn_missing(a.volume, a.quiet);
    if (a.serve)
        return view_serve(&a);
    if (cli_check_files(&(struct cli_files){
            .force = a.force, .inputs = {a.volume}, .outputs = {a.output}}) != 0)
        return 1;
    return is_page ? view_page(&a) : view_picture(&a);
}

const struct command cmd_view = {
    .name = "view",
    .summary = "write a picture of a volume, or a page with a viewer",
    .usage = "volume.mha -o picture.png|page.html|--serve [options]",
    .about = "Draws the slices xy, xz and yz. In xy, x points to the right and y up; in xz and "
             "yz, z points up. Projections are seen from +z, from -y and from +x. A page shows the "
             "same planes with sliders, and needs no network.",
    .examples = "  fbp view volume.mha -o picture.png --window 0,0.05\n"
                "  fbp view volume.mha -o picture.png --mip --turn 30\n"
                "  fbp view volume.mha -o volume.html\n"
                "  fbp view volume.mha -o volume.html --page-size 100M --window -500,1500\n"
                "  fbp view volume.mha --serve\n",
    COMMAND_OPTS(table),
    .run = run,
};
