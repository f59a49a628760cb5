/* Command `fbp geometry convert`: writes the geometry of a scan in another program's format. */
#include "files.h"
#include "geometry.h"
#include "say.h"

#include "geometry/kind.h"

#include <stdlib.h>
#include <string.h>

struct convert_args {
    struct geometry_from from;
    const char *to, *to_format, *projections;
    bool force, quiet, json;
};

#define G struct convert_args
static const struct opt table[] = {
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

static int name_projections(struct fbp_scan *scan, const char *path)
{
    if (!path)
        return 0;
    free(scan->projections);
    scan->projections = strdup(path);
    return scan->projections ? 0 : cli_error("not enough memory for a path");
}

static int report(const struct convert_args *a, const struct fbp_scan *scan)
{
    const char *kind = fbp_kind_name(scan->kind);

    if (a->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "output", a->to);
        cJSON_AddStringToObject(root, "kind", kind);
        cJSON_AddNumberToObject(root, "views", (double)scan->n_views);
        cJSON_AddNumberToObject(root, "columns", (double)scan->panel.n_columns);
        cJSON_AddNumberToObject(root, "rows", (double)scan->panel.n_rows);
        return cli_json(root, false);
    }
    if (!a->quiet)
        printf("%s: %zu views, %s beam, %zu x %zu pixels\n", say_name(a->to), scan->n_views, kind,
               scan->panel.n_columns, scan->panel.n_rows);
    return 0;
}

static int convert(const struct convert_args *a)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    int rc = geometry_load(&a->from, &scan, a->quiet);

    if (rc == 0)
        rc = cli_check_files(&(struct cli_files){.force = a->force,
                                                 .scan = &scan,
                                                 .inputs = {a->from.path, a->projections},
                                                 .outputs = {a->to}});
    if (rc == 0)
        rc = name_projections(&scan, a->projections);
    if (rc == 0 && fbp_geometry_save(&scan, a->to, a->to_format) != FBP_OK)
        rc = cli_fail();
    if (rc == 0)
        rc = report(a, &scan);
    fbp_scan_clear(&scan);
    return rc;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct convert_args a = {.from = GEOMETRY_FROM};
    int rc = opt_parse(self, &a, argc, argv);

    if (rc == OPT_GO_ON)
        rc = geometry_check_usage(self, &a.from);
    if (rc != OPT_GO_ON)
        return rc;
    return convert(&a);
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
    COMMAND_OPTS(table),
    .run = run,
};
