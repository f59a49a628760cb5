/* Command `fbp view`: draws a picture of a volume, writes an HTML page, or serves the page. */
#include "view.h"

#include "files.h"
#include "say.h"

#include <math.h>
#include <string.h>

#define V struct view_args
static const struct opt table[] = {
    OPT(V, volume, .name = "volume", .positional = true, .required = true,
        .help = "volume or projections, in any format that fbp reads"),
    OPT(V, output, .name = "output", .letter = 'o', .arg = "FILE.png|FILE.html",
        .help = "picture to write, or a page for a browser, complete in itself: three linked "
                "planes, window, histogram, values and positions (docs/view.md)"),
    OPT_BYTE_COUNT(V, page_bytes, .name = "page-size", .arg = "BYTES", .min = PAGE_LEAST,
                   .max = PAGE_MOST, .fallback = "16M",
                   .help =
                       "greatest size of a page. A larger volume is reduced to means over several "
                       "voxels, which the page states"),
    OPT(V, serve, .name = "serve",
        .help = "instead of writing the page, serve it to a browser on this machine, with full "
                "slices on request, until Ctrl-C. Prints the address, which contains a random "
                "key"),
    OPT(V, port, .name = "port", .arg = "N", .min = 1, .max = 65535, .fallback = "any",
        .help = "with --serve: port of the address"),
    OPT(V, mip, .name = "mip", .help = "maximum intensity projections instead of slices"),
    OPT(V, turn_deg, .name = "turn", .arg = "DEG", .min = -360, .max = 360, .fallback = "0",
        .help = "with --mip: turn the volume first, about the axis z through its middle; "
                "counter-clockwise seen from +z"),
    OPT(V, window, .name = "window", .arg = "LO,HI", .min = -FBP_VALUE_MAX, .max = FBP_VALUE_MAX,
        .fallback = "the range of what is shown", .help = "values shown as black and white"),
    OPT(V, slice, .name = "slice", .arg = "X,Y,Z", .fallback = "the middle",
        .help = "voxel in which the three slices meet; the first is 0"),
    OPT(V, frame, .name = "frame", .arg = "K", .fallback = "the first; of a page all",
        .help = "index of the volume in a series; the first is 0"),
    OPT(V, device, .name = "device", .arg = "NAME", .fallback = "auto",
        .help =
            "device that projects: auto, cpu, or with --mip gl (see 'fbp devices'); pictures are "
            "the same"),
    FORCE_OPTION(V, force),
    OPT(V, json, .name = "json", .help = "print one JSON object"),
    OPT(V, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
#undef V

static int report(const struct view_args *a, const double shown[2])
{
    if (a->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "volume", a->volume);
        cJSON_AddStringToObject(root, "output", a->output);
        cli_json_numbers(root, "window", shown, 2);
        return cli_json(root, false);
    }
    if (!a->quiet)
        printf("%s\n", say_name(a->output));
    return 0;
}

static bool is_page(const struct view_args *a)
{
    return a->serve || cli_ends_with(a->output, ".html");
}

static int check_serve(const struct command *self, const struct view_args *a)
{
    if (!a->serve && a->port > 0)
        return opt_usage(self, "--port needs --serve");
    if (!a->serve && !a->output)
        return opt_usage(self, "-o FILE.png or FILE.html is missing, or --serve");
    if (a->serve && a->output)
        return opt_usage(self, "--serve writes no file; omit -o");
    if (a->serve && a->json)
        return opt_usage(self, "--serve prints only an address; omit --json");
    if (!a->serve && !is_page(a) && !cli_ends_with(a->output, ".png"))
        return opt_usage(self, "-o: expected a name that ends in .png or .html, got \"%s\"",
                         a->output);
    return OPT_GO_ON;
}

static int check(const struct command *self, const struct view_args *a)
{
    const bool on_cpu = strcmp(a->device, "auto") == 0 || strcmp(a->device, "cpu") == 0;
    const int rc = check_serve(self, a);

    if (rc != OPT_GO_ON)
        return rc;
    if (a->window[0] >= a->window[1])
        return opt_usage(self, "--window: expected LO,HI with LO < HI, got \"%g,%g\"", a->window[0],
                         a->window[1]);
    if (is_page(a) && (a->turn_deg != 0 || !on_cpu))
        return opt_usage(
            self, "--turn and --device apply to PNG files only; omit them, or give -o FILE.png");
    if (!is_page(a) && a->page_bytes > 0)
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

static int draw(const struct view_args *a)
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
    return report(a, shown);
}

static int run(const struct command *self, int argc, char **argv)
{
    struct view_args a = {
        .window = {NAN, NAN}, .slice = {SIZE_MAX, 0, 0}, .frame = SIZE_MAX, .device = "auto"};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = check(self, &a);
    if (rc != OPT_GO_ON)
        return rc;
    if (cli_is_scan(a.volume))
        return 1;
    cli_warn_missing(a.volume, a.quiet);
    if (a.serve)
        return view_serve(&a);
    if (cli_check_files(&(struct cli_files){
            .force = a.force, .inputs = {a.volume}, .outputs = {a.output}}) != 0)
        return 1;
    return is_page(&a) ? view_page(&a) : draw(&a);
}

const struct command cmd_view = {
    .name = "view",
    .summary = "write a picture of a volume, or a page that shows it in a browser",
    .usage = "volume.mha -o picture.png|page.html|--serve [options]",
    .about = "Draws the slices xy, xz and yz. In xy, x points to the right and y up; in xz and "
             "yz, z points up. Projections are seen from +z, from -y and from +x. A page shows the "
             "same planes with sliders and loads nothing from anywhere.",
    .examples = "  fbp view volume.mha -o picture.png --window 0,0.05\n"
                "  fbp view volume.mha -o picture.png --mip --turn 30\n"
                "  fbp view volume.mha -o volume.html\n"
                "  fbp view volume.mha -o volume.html --page-size 100M --window -500,1500\n"
                "  fbp view volume.mha --serve\n",
    COMMAND_OPTS(table),
    .run = run,
};
