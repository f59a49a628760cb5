/* Which array of a folder is what, and whether there is anything to guess. */
#include "scan/folder/folder_files.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* What the file is said to be is looked for below the folder, not in its name. */
const char *fbp_init_inside(const struct fbp_init_folder *folder, const char *path)
{
    const char *rest = path + strlen(folder->path);
    return rest + strspn(rest, "/");
}

static uint64_t samples(const struct fbp_init_series *s)
{
    return (uint64_t)s->info.n[0] * s->info.n[1] * s->info.n[2];
}

static bool is_array(const struct fbp_init_series *s)
{
    return s->info.n[2] > 0 && !s->volume;
}

static enum fbp_init_role role_of(const struct fbp_init_folder *folder,
                                  const struct fbp_init_series *s)
{
    return fbp_init_role_of(fbp_init_inside(folder, s->path));
}

static const struct fbp_init_series *largest_projections(const struct fbp_init_folder *folder)
{
    const struct fbp_init_series *best = NULL;

    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        if (is_array(s) && role_of(folder, s) == FBP_INIT_PROJECTIONS &&
            (!best || samples(s) > samples(best)))
            best = s;
    }
    return best;
}

void fbp_init_assign(const struct fbp_init_folder *folder, struct fbp_init_found *out)
{
    const struct fbp_init_series *p = largest_projections(folder);

    *out = (struct fbp_init_found){{p}};
    for (size_t i = 0; p && i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        const enum fbp_init_role role = role_of(folder, s);
        const bool panel = s->info.n[0] == p->info.n[0] && s->info.n[1] == p->info.n[1];
        const bool fits =
            role == FBP_INIT_ANGLES ? samples(s) == p->info.n[2] : panel && role != FBP_INIT_VOLUME;
        if (role != FBP_INIT_PROJECTIONS && is_array(s) && fits)
            out->of[role] = s;
    }
}

void fbp_init_say_rest(const struct fbp_init_folder *folder, const struct fbp_init_found *found)
{
    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        bool used = false;
        for (int k = 0; k < FBP_INIT_ROLES; k++)
            used = used || found->of[k] == s;
        if (s->missing)
            fbp_init_note("%s: %zu files follow a gap in the numbers and are left out", s->path,
                          s->missing);
        if (!used && s->volume)
            fbp_init_note("%s: is a volume, not used", s->path);
        else if (!used && is_array(s))
            fbp_init_note("%s: %zu x %zu x %zu, %snot used", s->path, s->info.n[0], s->info.n[1],
                          s->info.n[2],
                          role_of(folder, s) == FBP_INIT_VOLUME ? "by its name a volume, " : "");
    }
}

/* A scan file that is there already, or a file of another program that says as much.  One whose
 * projections are elsewhere may still have the geometry. */
static bool is_whole_scan(const char *path)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_source *source = NULL;
    const fbp_status st = fbp_scan_load(&scan, path);
    const bool scans = fbp_init_tried(st);
    const bool whole =
        scans && fbp_init_tried(fbp_source_open(&source, scan.projections, &scan.raw));

    if (st == FBP_ERR_IO || (scans && !whole))
        fbp_init_lost_scan(path);
    if (scans && !whole)
        fbp_init_warn("%s: names projections that are not there: %s", path, fbp_message());
    fbp_source_close(&source);
    fbp_scan_clear(&scan);
    return whole;
}

/* Beside arrays only files that may name them; without any, all. */
static bool may_be_scan(const struct fbp_init_series *s, const struct fbp_init_series *projections)
{
    return s->bytes > 0 && (!projections || s == projections ||
                            fbp_has_extension(s->path, ".json .xtekct .log .dsc"));
}

bool fbp_init_is_whole_scan(const struct fbp_init_series *s,
                            const struct fbp_init_series *projections)
{
    return may_be_scan(s, projections) && is_whole_scan(s->path);
}

/* None that can be read as projections: what there is instead. */
static fbp_status no_arrays(const struct fbp_init_folder *folder)
{
    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        if (s->volume)
            return fbp_fail(FBP_ERR_INVALID, "%s: no projections in it: %s is a volume, in %s",
                            folder->path, s->path, s->info.unit);
        if (s->why)
            return fbp_fail(FBP_ERR_INVALID, "%s: no projections in it: %s", folder->path, s->why);
    }
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: no projections in it: arrays that can be read are needed; headerless "
                    "ones need \"raw\" in a scan file (docs/scan.md)",
                    folder->path);
}

/* Arrays there are, but their names say that they are something else. */
fbp_status fbp_init_no_projections(const struct fbp_init_folder *folder)
{
    static const char *const names[FBP_INIT_ROLES] = {
        [FBP_INIT_PROJECTIONS] = "",  [FBP_INIT_DARK] = "darks",
        [FBP_INIT_FLAT] = "flats",    [FBP_INIT_BAD] = "bad pixels",
        [FBP_INIT_ANGLES] = "angles", [FBP_INIT_VOLUME] = "a volume"};
    const struct fbp_init_series *largest = NULL;

    fbp_message_clear(); /* of what is no array */
    if (!fbp_init_is_complete())
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: there was not enough memory to look at all of it: close other "
                        "programs",
                        folder->path);
    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        if (is_array(s) && (!largest || samples(s) > samples(largest)))
            largest = s;
    }
    if (!largest)
        return no_arrays(folder);
    char *pattern = fbp_init_pattern(largest);
    const fbp_status st =
        fbp_fail(FBP_ERR_INVALID,
                 "%s: no projections in it: all arrays are something else by their "
                 "names, the largest, %s, is taken for %s: rename it, or name the "
                 "projections in a scan file (docs/scan.md)",
                 folder->path, pattern ? pattern : largest->path, names[role_of(folder, largest)]);
    free(pattern);
    return st;
}

/* Return the error of loading the .dsc file that describes a spectrometer's samples. */
static fbp_status refuse_spectra(const struct fbp_init_folder *folder,
                                 const struct fbp_init_series *projections)
{
    const size_t stem = strlen(projections->path) - 4;
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_status st = FBP_OK;

    for (size_t i = 0; st == FBP_OK && i < folder->n; i++) {
        const char *path = folder->series[i].path;
        if (strlen(path) != stem + 4 || strncmp(path, projections->path, stem) != 0 ||
            !fbp_has_extension(path, ".dsc"))
            continue;
        st = fbp_scan_load(&scan, path);
        fbp_scan_clear(&scan);
    }
    return st;
}

fbp_status fbp_init_check_need(const struct fbp_init_folder *folder,
                               const struct fbp_init_found *found)
{
    const struct fbp_init_series *projections = found->of[FBP_INIT_PROJECTIONS];

    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        const bool whole = fbp_init_is_whole_scan(s, projections);
        fbp_message_clear();
        if (whole)
            return fbp_fail(FBP_ERR_INVALID,
                            "%s: describes a whole scan already: give it to fbp recon", s->path);
    }
    if (!projections)
        return fbp_init_no_projections(folder);
    return fbp_has_extension(projections->path, ".dsc .dta") ? refuse_spectra(folder, projections)
                                                             : FBP_OK;
}
