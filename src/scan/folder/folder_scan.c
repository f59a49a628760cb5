/* Roles of the arrays of a folder (projections, darks, flats …) and the choice of its scan file.
 * fbp_folder_scan() finds the file, fbp_folder_guess() makes one (fbp init), and the public
 * fbp_folder_load() loads the scan in either case.
 * Used by: cli/cli.c, cli/cmd_init.c, folder_guess.c. */
#include "scan/folder/folder.h"

#include "array/file/bytes.h"
#include "base/text.h"
#include "scan/scan_file.h"

#include <ctype.h>
#include <string.h>

bool fbp_init_has_word(const char *text, const char *word, bool alone)
{
    const size_t n = strlen(word);

    for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++)
        if (!alone ||
            ((at == text || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[n])))
            return true;
    return false;
}

const char *fbp_init_inside(const struct fbp_init_folder *folder, const char *path)
{
    const char *rest = path + strlen(folder->path);
    return rest + strspn(rest, "/");
}

enum fbp_init_role fbp_init_role_of(const struct fbp_init_folder *folder,
                                    const struct fbp_init_series *s)
{
    static const struct {
        const char *word; /* up to 3 letters: must stand alone */
        enum fbp_init_role role;
    } words[] = {
        {"dark", FBP_INIT_DARK},    {"df", FBP_INIT_DARK},      {"di", FBP_INIT_DARK},
        {"flat", FBP_INIT_FLAT},    {"white", FBP_INIT_FLAT},   {"bright", FBP_INIT_FLAT},
        {"open", FBP_INIT_FLAT},    {"gain", FBP_INIT_FLAT},    {"ff", FBP_INIT_FLAT},
        {"io", FBP_INIT_FLAT},      {"bad", FBP_INIT_BAD},      {"defect", FBP_INIT_BAD},
        {"theta", FBP_INIT_ANGLES}, {"angle", FBP_INIT_ANGLES}, {"recon", FBP_INIT_VOLUME},
        {"rec", FBP_INIT_VOLUME},   {"slice", FBP_INIT_VOLUME}, {"volume", FBP_INIT_VOLUME},
        {"vol", FBP_INIT_VOLUME}};
    const char *path = fbp_init_inside(folder, s->path), *slash = strrchr(path, '/');

    /* A word in the file's name determines its role, else a word in the name of its folder:
     * flats/dark_1 is a dark. */
    for (int whole = 0; whole < 2; whole++) {
        const char *text = !whole && slash ? slash + 1 : path;
        for (size_t i = 0; i < N_OF(words); i++)
            if (fbp_init_has_word(text, words[i].word, strlen(words[i].word) <= 3))
                return words[i].role;
    }
    return FBP_INIT_PROJECTIONS;
}

static uint64_t samples(const struct fbp_init_series *s)
{
    return (uint64_t)s->info.n[0] * s->info.n[1] * s->info.n[2];
}

/* Find the largest array that is not a volume by its unit; projections true: skip arrays whose
 * names give them other roles. */
static const struct fbp_init_series *largest(const struct fbp_init_folder *folder, bool projections)
{
    const struct fbp_init_series *best = NULL;

    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        if (s->info.n[2] > 0 && !s->volume &&
            (!projections || fbp_init_role_of(folder, s) == FBP_INIT_PROJECTIONS) &&
            (!best || samples(s) > samples(best)))
            best = s;
    }
    return best;
}

void fbp_init_assign(const struct fbp_init_folder *folder, struct fbp_init_found *out)
{
    const struct fbp_init_series *p = largest(folder, true);

    *out = (struct fbp_init_found){{p}};
    for (size_t i = 0; p && i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        const enum fbp_init_role role = fbp_init_role_of(folder, s);
        const bool panel = s->info.n[0] == p->info.n[0] && s->info.n[1] == p->info.n[1];
        const bool fits =
            role == FBP_INIT_ANGLES ? samples(s) == p->info.n[2] : panel && role != FBP_INIT_VOLUME;
        if (role != FBP_INIT_PROJECTIONS && s->info.n[2] > 0 && !s->volume && fits)
            out->of[role] = s;
    }
}

/* Return whether s is the file of a whole scan: it can be loaded, and its projections can be
 * opened.  If the folder contains projections, other files are read only if they have the extension
 * of a scan file.  A scan whose projections cannot be opened may still be used as the geometry. */
bool fbp_init_is_whole_scan(const struct fbp_init_series *s,
                            const struct fbp_init_series *projections)
{
    struct fbp_scan scan = {.struct_size = sizeof scan};
    fbp_source *source = NULL;

    if (s->bytes == 0 || (projections && s != projections &&
                          !fbp_has_extension(s->path, ".json .xtekct .log .pca .dsc .xml")))
        return false;
    const fbp_status st = fbp_scan_load(&scan, s->path, NULL);
    const bool scans = fbp_init_tried(st);
    const bool whole =
        scans && fbp_init_tried(fbp_source_open(&source, scan.projections, &scan.raw));
    if (st == FBP_ERR_IO || (scans && !whole))
        fbp_init_lost_scan(s->path);
    if (scans && !whole)
        fbp_init_log(FBP_LOG_WARNING, "%s: the projections named in this file cannot be opened: %s",
                     s->path, fbp_message());
    fbp_source_close(&source);
    fbp_scan_clear(&scan);
    return whole;
}

fbp_status fbp_init_no_projections(const struct fbp_init_folder *folder)
{
    static const char *const names[FBP_INIT_ROLES] = {
        [FBP_INIT_PROJECTIONS] = "",  [FBP_INIT_DARK] = "darks",
        [FBP_INIT_FLAT] = "flats",    [FBP_INIT_BAD] = "bad pixels",
        [FBP_INIT_ANGLES] = "angles", [FBP_INIT_VOLUME] = "a volume"};
    const struct fbp_init_series *most = largest(folder, false);

    fbp_message_clear(); /* message about files that are no arrays */
    if (fbp_init_now->lost_memory)
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: not enough memory to inspect the whole folder; close other programs",
                        folder->path);
    if (most) {
        char *pattern = fbp_init_pattern(most);
        const fbp_status st = FBP_INVALID(
            "%s: found no projections in this folder; by its name, the largest array, %s, seems to "
            "contain %s; rename it, or name the projections in a scan file (docs/scan.md)",
            folder->path, pattern ? pattern : most->path, names[fbp_init_role_of(folder, most)]);
        free(pattern);
        return st;
    }
    for (size_t i = 0; i < folder->n; i++) {
        const struct fbp_init_series *s = &folder->series[i];
        if (s->volume)
            return FBP_INVALID("%s: found no projections in this folder; %s is a volume, in %s",
                               folder->path, s->path, s->info.unit);
        if (s->why)
            return FBP_INVALID("%s: found no projections in this folder: %s", folder->path, s->why);
    }
    return FBP_INVALID("%s: found no readable arrays in this folder; describe headerless files by "
                       "\"raw\" in a scan file (docs/scan.md)",
                       folder->path);
}

/* Find the only scan file of the folder: of fbp, or, without such a file, of another program. */
static fbp_status choose(const struct fbp_init_folder *folder, char **out)
{
    const char *own = NULL, *foreign = NULL;
    size_t n_own = 0, n_foreign = 0;
    char names[400] = "", head[4096];
    struct fbp_init_found found;

    fbp_init_assign(folder, &found);
    const struct fbp_init_series *p = found.of[FBP_INIT_PROJECTIONS];
    for (size_t i = 0; i < folder->n; i++) {
        const char *path = folder->series[i].path;
        if (!fbp_init_is_whole_scan(&folder->series[i], p))
            continue;
        fbp_text_add(names, sizeof names, ", ", "%s", path);

        /* scan files of fbp contain "fbp_scan" in their first bytes */
        size_t n = 0;
        if (fbp_has_extension(path, ".json") &&
            fbp_read_head(path, head, sizeof head, &n) != FBP_OK)
            fbp_init_lost_scan(path);
        if (memmem(head, n, "\"fbp_scan\"", 10)) {
            own = path;
            n_own++;
        } else {
            foreign = path;
            n_foreign++;
        }
    }
    fbp_message_clear(); /* message about files that are no scans */
    if (fbp_init_now->lost_memory)
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: out of memory while its files were inspected; close other programs, "
                        "or name the scan file",
                        folder->path);
    if (fbp_init_now->lost_own || (n_own == 0 && fbp_init_now->lost_foreign))
        return FBP_INVALID("%s: some files of this folder could not be read, so the scan is "
                           "ambiguous; name the scan file",
                           folder->path);
    if (n_own + n_foreign == 0 && !p)
        return fbp_init_no_projections(folder);
    if (n_own + n_foreign == 0) {
        char *pattern = fbp_init_pattern(p);
        const fbp_status st =
            FBP_INVALID("%s: is a folder without a scan file; it contains %zu views of %zu x %zu "
                        "pixels (%s); write a first scan file by fbp init %s > scan.json",
                        folder->path, p->info.n[2], p->info.n[0], p->info.n[1],
                        pattern ? pattern : p->path, folder->path);
        free(pattern);
        return st;
    }
    if (n_own > 1 || (n_own == 0 && n_foreign > 1))
        return FBP_INVALID("%s: is a folder with several scans; name one of %s", folder->path,
                           names);
    *out = strdup(n_own ? own : foreign);
    if (!*out)
        return fbp_fail(FBP_ERR_NOMEM, "out of memory for a path; close other programs");
    fbp_init_log(FBP_LOG_NOTE, "%s: the scan file in this folder is used: %s", folder->path, *out);
    return FBP_OK;
}

/* One search of a folder: the caller's facts, the log and failures, and the list of files. */
struct search {
    struct fbp_folder_known known;
    struct fbp_init_state state, *before;
    struct fbp_init_folder folder;
};

static void end(struct search *l)
{
    fbp_init_clear(&l->folder);
    fbp_init_now = l->before;
}

static fbp_status begin(struct search *l, const char *path, const struct fbp_folder_known *known)
{
    fbp_message_clear();
    *l = (struct search){.known = {.struct_size = sizeof l->known}, .folder.path = path};
    if (known)
        FBP_TRY(FBP_COPY_IN(folder_known, &l->known, known));
    l->state = (struct fbp_init_state){.log = l->known.log, .user = l->known.user};
    l->before = fbp_init_now;
    fbp_init_now = &l->state;
    const fbp_status st = fbp_init_list(path, &l->folder);
    if (st != FBP_OK)
        end(l);
    struct fbp_init_found found = {{NULL}};
    if (st == FBP_OK && l->known.sinograms)
        fbp_init_assign(&l->folder, &found);
    if (found.of[FBP_INIT_PROJECTIONS]) {
        size_t *n = l->folder.series[found.of[FBP_INIT_PROJECTIONS] - l->folder.series].info.n;
        const size_t views = n[1];
        n[1] = n[2];
        n[2] = views;
    }
    return st;
}

fbp_status fbp_folder_scan(char **path, const char *folder, const struct fbp_folder_known *known)
{
    FBP_REQUIRE(path, folder);
    struct search l;

    *path = NULL;
    if (!fbp_is_folder(folder))
        return FBP_OK;
    FBP_TRY(begin(&l, folder, known));
    const fbp_status st = choose(&l.folder, path);
    end(&l);
    return st;
}

fbp_status fbp_folder_guess(char **text, const char *folder, const struct fbp_folder_known *known)
{
    FBP_REQUIRE(text, folder);
    cJSON *root = NULL;
    struct search l;

    *text = NULL;
    FBP_TRY(begin(&l, folder, known));
    fbp_status st = fbp_init_write(&root, &l.folder, &l.known);
    end(&l);
    if (st == FBP_OK) {
        *text = cJSON_Print(root);
        st = *text ? FBP_OK : fbp_fail_nomem(0, "a scan file");
    }
    cJSON_Delete(root);
    return st;
}

fbp_status fbp_folder_load(struct fbp_scan *out, const char *folder,
                           const struct fbp_folder_known *known)
{
    FBP_REQUIRE(folder);
    struct fbp_scan own = {.struct_size = sizeof own};
    struct fbp_scan_known facts = {.struct_size = sizeof facts};
    struct fbp_init_found found;
    struct search l;
    const size_t n = strlen(folder);
    bool whole = false;
    char *path = NULL;
    cJSON *root = NULL;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_TRY(begin(&l, folder, known));
    fbp_init_assign(&l.folder, &found);
    for (size_t i = 0; i < l.folder.n && !whole; i++)
        whole = fbp_init_is_whole_scan(&l.folder.series[i], found.of[FBP_INIT_PROJECTIONS]);
    if (whole) {
        FBP_TRY_GOTO(choose(&l.folder, &path));
        facts.pitch_mm[0] = facts.pitch_mm[1] = l.known.pitch_mm;
        st = fbp_scan_load_own(&own, path, &facts, false);
    } else { /* the scan file that fbp init would make */
        FBP_TRY_GOTO(fbp_scan_path(&path, NULL, "%s%sscan.json", folder,
                                   n > 0 && folder[n - 1] == '/' ? "" : "/"));
        l.known.base = folder;
        FBP_TRY_GOTO(fbp_init_write(&root, &l.folder, &l.known));
        st = fbp_scan_of_json(&own, path, root, &facts, false);
    }
fail:
    cJSON_Delete(root);
    free(path);
    end(&l);
    FBP_COPY_OUT(scan, out, &own);
    return st;
}
