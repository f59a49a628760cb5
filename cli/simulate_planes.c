/* fbp simulate --kind planes: the directions of plane integrals, and checks of options that apply
 * only to plane integrals or only to line integrals. */
#include "simulate_planes.h"

#include "geometry/directions.h"
#include "geometry/kind.h"
#include "scan/file/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parse a set such as "solid-angle:18", "linear-angle:18x14", "fibonacci:208"; false: no set, so
 * the text is the name of a file. */
static bool parse_set(const char *text, struct fbp_directions *out)
{
    const char *name, *colon = strchr(text, ':');
    char rest;

    for (size_t i = 0; colon && (name = fbp_direction_set_name(i)); i++)
        if (strlen(name) == (size_t)(colon - text) && strncmp(name, text, strlen(name)) == 0) {
            out->set = (enum fbp_direction_set)i;
            // NOLINTNEXTLINE(cert-err34-c): what does not fit becomes a number that is refused
            const int n = sscanf(colon + 1, "%zux%zu%c", &out->n[0], &out->n[1], &rest);
            return (n == 1 && !strchr(colon, 'x')) || n == 2;
        }
    return false;
}

static fbp_status from_file(const char *path, double (**out)[3], size_t *n)
{
    const fbp_status st = fbp_directions_load(path, out, n);

    for (size_t k = 0; st == FBP_OK && k < *n; k++) {
        double *x = (*out)[k];
        const double length = hypot(hypot(x[0], x[1]), x[2]);
        for (int i = 0; length > 0 && i < 3; i++)
            x[i] /= length;
    }
    return st;
}

fbp_status simulate_directions(const struct simulate_args *a, double (**out)[3], size_t *n)
{
    struct fbp_directions set = {.struct_size = sizeof set,
                                 .order = (enum fbp_direction_order)a->order,
                                 .pole = (enum fbp_pole)a->pole};

    *out = NULL;
    if (!parse_set(a->directions, &set))
        return from_file(a->directions, out, n);
    const fbp_status st = fbp_directions_make(&set, NULL, n);
    if (st != FBP_OK)
        return st;
    *out = calloc(*n, sizeof **out);
    return *out ? fbp_directions_make(&set, *out, NULL) : FBP_ERR_NOMEM;
}

static int check_lines(const struct command *self, const struct simulate_args *a)
{
    if (a->frames)
        return opt_usage(self, "--frames applies to plane integrals only; give --kind planes, too");
    if (cli_ends_with(a->output, ".mat"))
        return opt_usage(self,
                         "-o %s: MAT files are written for plane integrals only; give --kind "
                         "planes, or a name that ends in .json",
                         a->output);
    if (a->directions || a->samples || a->order || a->pole)
        return opt_usage(self, "%s applies to plane integrals only; give --kind planes, too",
                         a->directions ? "--directions"
                         : a->samples  ? "--samples"
                         : a->order    ? "--order"
                                       : "--pole");
    if (a->views == 0)
        return opt_usage(self, "--views K is missing");
    return OPT_GO_ON;
}

int simulate_check_planes(const struct command *self, const struct simulate_args *a)
{
    struct fbp_directions set;

    if (a->gradient > 0 && !cli_ends_with(a->output, ".mat"))
        return opt_usage(self, "--gradient applies to MAT files only; give -o PRJ.mat, too");
    if (a->decay > 0 && a->frames < 2)
        return opt_usage(self, "--decay needs several frames; give --frames D, too");
    if (fbp_kind_has_lines((enum fbp_kind)a->kind))
        return check_lines(self, a);
    if (!a->directions)
        return opt_usage(self, "--kind planes needs --directions, such as solid-angle:18, or a "
                               "file of them");
    if (!parse_set(a->directions, &set) && !strchr(a->directions, '.') &&
        access(a->directions, F_OK) != 0)
        return opt_usage(self,
                         "--directions: \"%s\" is neither a set (such as solid-angle:18, "
                         "linear-angle:18x18 or fibonacci:208) nor a file",
                         a->directions);
    if (a->views || a->detector[0])
        return opt_usage(self, "%s does not apply to plane integrals; use %s",
                         a->views ? "--views" : "--detector",
                         a->views ? "--directions" : "--samples");
    return OPT_GO_ON;
}
