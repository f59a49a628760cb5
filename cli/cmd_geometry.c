/* Commands `fbp geometry show` (draws the set-up as SVG), `fbp geometry check` (prints coverage,
 * projection of the volume onto the detector, effects of reversed rows or columns, warnings) and
 * `fbp geometry convert` (writes the geometry as a scan file or in the format of another program).
 * commands.c lists the commands (cmd_geometry_show, cmd_geometry_check, cmd_geometry_convert),
 * program.c runs them.
 * Used by: commands.c. */
#include "cli.h"
#include "geometry.h"
#include "geometry_check.h"
#include "say.h"

#include "geometry/kind.h"
#include "picture/draw.h"
#include "scan/file/scan.h"

struct geometry_args {
    struct geometry_from from;
    const char *output;
    double cutoff;
    bool json, force, quiet;
};

#define G struct geometry_args
static const struct opt show_table[] = {
    GEOMETRY_FROM_OPTIONS(G),
    OPT(G, output, .name = "output", .letter = 'o', .arg = "FILE.svg", .required = true,
        .help = "drawing to write"),
    FORCE_OPTION(G, force),
    OPT(G, json, .name = "json", .help = "print one JSON object"),
    OPT(G, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
static const struct opt check_table[] = {
    GEOMETRY_FROM_OPTIONS(G),
    OPT(G, cutoff, .name = "cutoff", .arg = "F", .min = 1e-3, .max = 1, .fallback = "1",
        .help = "cut-off of the filter, as a fraction of the Nyquist frequency; for plane "
                "integrals, the required number of directions depends on it"),
    OPT(G, json, .name = "json", .help = "print one JSON object"),
    OPT(G, quiet, .name = "quiet", .letter = 'q',
        .help = "print only the result, without warnings"),
};
#undef G

static int draw(const struct geometry_args *a, const struct fbp_scan *scan, const struct check *c)
{
    if (cli_check_files(&(struct cli_files){
            .force = a->force, .scan = scan, .inputs = {a->from.path}, .outputs = {a->output}}) !=
        0)
        return 1;
    if (fbp_geometry_svg(fbp_scan_views(scan), &c->grid, &c->facts, a->output) != FBP_OK)
        return cli_fail();
    if (a->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "output", a->output);
        return cli_json(root, false);
    }
    if (!a->quiet)
        printf("%s\n", say_name(a->output));
    return 0;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct geometry_args a = {.from = GEOMETRY_FROM, .cutoff = 1};
    struct fbp_scan scan = {.struct_size = sizeof scan};
    struct check c;

    OPT_TRY(opt_parse(self, &a, argc, argv));
    OPT_TRY(geometry_check_usage(self, &a.from));
    if (a.output && !cli_ends_with(a.output, ".svg"))
        return opt_usage(self, "-o: expected a name that ends in .svg, got \"%s\"", a.output);
    int rc = geometry_load(&a.from, &scan, a.quiet);
    if (rc == 0)
        rc = check_geometry(&scan, a.from.path, a.cutoff, &c);
    if (rc == 0 && !a.output)
        rc = (a.json ? check_print_json : check_print_text)(&scan, &c);
    if (rc == 0 && c.error[0])
        rc = cli_error("%s", c.error);
    if (rc == 0 && a.output)
        rc = draw(&a, &scan, &c);
    fbp_scan_clear(&scan);
    return rc;
}

const struct command cmd_geometry_show = {
    .name = "geometry show",
    .summary = "draw the set-up of a scan: source path, detector, volume",
    .usage = "FROM -o setup.svg [options]",
    .examples = "  fbp geometry show scan.json -o setup.svg\n"
                "  fbp geometry show scan.json --output=setup.svg -q\n",
    COMMAND_OPTS(show_table),
    .run = run,
};

const struct command cmd_geometry_check = {
    .name = "geometry check",
    .summary = "check angles, weights, projected volume, flips",
    .usage = "FROM [--json] [options]",
    .about = "Columns and rows count from 0, at pixel centres. Corners are the outer corners of "
             "the volume. At angle theta the source is at (d cos theta, d sin theta, 0). The lines "
             "after \"if flipped\" show how the volume would look if the file had the wrong order "
             "of columns or rows, or the wrong direction of rotation. Some of these errors cannot "
             "be seen in the data; only a scan of a known object shows them (docs/geometry.md).",
    .examples = "  fbp geometry check scan.json\n"
                "  fbp geometry check scan.xtekct --json\n"
                "  fbp geometry check matrices.txt --detector 1248x960 --pitch 0.32,0.32\n",
    COMMAND_OPTS(check_table),
    .run = run,
};

struct convert_args {
    struct geometry_from from;
    const char *to, *to_format, *projections;
    bool force, quiet, json;
};

#define G struct convert_args
static const struct opt convert_table[] = {
    GEOMETRY_FROM_OPTIONS(G),
    OPT(G, to, .name = "output", .letter = 'o', .arg = "FILE", .required = true,
        .help = "file to write"),
    OPT(G, to_format, .name = "to-format", .arg = "NAME", .list = choices_geometry_written,
        .fallback = "by name", .help = "format to write"),
    OPT(G, projections, .name = "projections", .arg = "FILE",
        .help = "name of the projections, for a scan file that is written"),
    FORCE_OPTION(G, force),
    OPT(G, json, .name = "json", .help = "print one JSON object"),
    OPT(G, quiet, .name = "quiet", .letter = 'q', .help = "print only errors"),
};
#undef G

static int run_convert(const struct command *self, int argc, char **argv)
{
    struct convert_args args = {.from = GEOMETRY_FROM}, *a = &args;
    struct fbp_scan scan = {.struct_size = sizeof scan};

    OPT_TRY(opt_parse(self, a, argc, argv));
    OPT_TRY(geometry_check_usage(self, &a->from));
    int rc = geometry_load(&a->from, &scan, a->quiet);
    if (rc == 0)
        rc = cli_check_files(&(struct cli_files){.force = a->force,
                                                 .scan = &scan,
                                                 .inputs = {a->from.path, a->projections},
                                                 .outputs = {a->to}});
    if (rc == 0 && a->projections)
        rc = cli_replace_name(&scan.projections, a->projections);
    if (rc == 0 && fbp_geometry_save(&scan, a->to, a->to_format) != FBP_OK)
        rc = cli_fail();
    if (rc == 0 && a->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "output", a->to);
        cJSON_AddStringToObject(root, "kind", fbp_kind_name(scan.kind));
        cli_json_views(root, &scan);
        rc = cli_json(root, false);
    } else if (rc == 0 && !a->quiet) {
        printf("%s: %zu views, %s beam, %zu x %zu pixels\n", say_name(a->to), scan.n_views,
               fbp_kind_name(scan.kind), scan.panel.n_columns, scan.panel.n_rows);
    }
    fbp_scan_clear(&scan);
    return rc;
}

const struct command cmd_geometry_convert = {
    .name = "geometry convert",
    .summary = "write a geometry in the format of another program",
    .usage = "FROM -o FILE [options]",
    .about = "Each view is converted through the positions of source and detector and the "
             "vectors along its rows and columns, in mm. If the other format cannot hold the "
             "geometry, the command fails. docs/geometry.md lists the formats. A scan file can "
             "also name a geometry file: \"geometry\": \"FILE\".",
    .examples = "  fbp geometry convert matrices.txt -o scan.json --detector 1248x960 \\\n"
                "      --pitch 0.32,0.32 --projections views.mha\n"
                "  fbp geometry convert geometry.xml -o scan.json --detector 512x384 \\\n"
                "      --pitch 0.8,0.8\n"
                "  fbp geometry convert scan.json -o vectors.npy --to-format astra-cone-vec\n"
                "  fbp geometry convert scan.json -o 'proj_%04d.txt'\n",
    COMMAND_OPTS(convert_table),
    .run = run_convert,
};
