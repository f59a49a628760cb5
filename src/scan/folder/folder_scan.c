/* A folder where a scan is needed: the one scan that lies in it, or how to make one of what does.
 */
#include "scan/folder/folder_guess.h"
#include "scan/scan_parts.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Scans of a folder: this program's files, and whole scans of others. */
struct scans {
    const char *own, *foreign;
    size_t n_own, n_foreign;
    char names[400]; /* of all of them */
};

static bool is_own(const char *path)
{
    char head[4096 + 1];
    const bool json = fbp_has_extension(path, ".json");
    FILE *f = json ? fopen(path, "rbe") : NULL;
    const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;

    if (json && (!f || ferror(f)))
        fbp_init_lost_scan(path);
    if (f)
        fclose(f);
    return memmem(head, n, "\"fbp_scan\"", 10) != NULL;
}

static void add(struct scans *s, const char *path)
{
    const size_t at = strlen(s->names);

    snprintf(s->names + at, sizeof s->names - at, "%s%s", at ? ", " : "", path);
    if (is_own(path)) {
        s->own = path;
        s->n_own++;
    } else {
        s->foreign = path;
        s->n_foreign++;
    }
}

/* No scan file: what init would make one of. */
static fbp_status suggest(const struct fbp_init_folder *folder, const struct fbp_init_found *found)
{
    const struct fbp_init_series *p = found->of[FBP_INIT_PROJECTIONS];
    char *pattern = p ? fbp_init_pattern(p) : NULL;

    if (!p)
        return fbp_init_no_projections(folder);
    const fbp_status st = fbp_fail(
        FBP_ERR_INVALID,
        "%s: is a folder without a scan file; it holds %zu views of %zu x %zu pixels (%s): "
        "fbp init %s > scan.json writes a scan file to begin with",
        folder->path, p->info.n[2], p->info.n[0], p->info.n[1], pattern ? pattern : p->path,
        folder->path);
    free(pattern);
    return st;
}

static fbp_status choose(const struct fbp_init_folder *folder, char **out)
{
    struct scans s = {.names = ""};
    struct fbp_init_found found;

    fbp_init_assign(folder, &found);
    for (size_t i = 0; i < folder->n; i++)
        if (fbp_init_is_whole_scan(&folder->series[i], found.of[FBP_INIT_PROJECTIONS]))
            add(&s, folder->series[i].path);
    fbp_message_clear(); /* of what is no scan */
    if (!fbp_init_is_complete())
        return fbp_fail(FBP_ERR_NOMEM,
                        "%s: out of memory for a look at its files: close other programs, or name "
                        "the scan",
                        folder->path);
    if (!fbp_init_has_scans(s.n_own > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: not all of its files could be read, so that it is not clear which "
                        "scan is meant: name the scan",
                        folder->path);
    if (s.n_own + s.n_foreign == 0)
        return suggest(folder, &found);
    if (s.n_own > 1 || (s.n_own == 0 && s.n_foreign > 1))
        return fbp_fail(FBP_ERR_INVALID, "%s: is a folder of several scans: name one of them: %s",
                        folder->path, s.names);
    *out = strdup(s.n_own ? s.own : s.foreign);
    if (!*out)
        return fbp_fail(FBP_ERR_NOMEM, "out of memory for a path: close other programs");
    fbp_init_note("%s: the scan in this folder is taken: %s", folder->path, *out);
    return FBP_OK;
}

/* What the caller has told, and who hears of what is seen. */
struct look {
    struct fbp_folder_known known;
    struct fbp_init_state state, *before;
    struct fbp_init_folder folder;
};

static fbp_status begin(struct look *l, const char *path, const struct fbp_folder_known *known)
{
    fbp_message_clear();
    *l = (struct look){.known = {.struct_size = sizeof l->known}, .folder.path = path};
    if (known)
        FBP_TRY(FBP_TAKE(folder_known, &l->known, known));
    l->state = (struct fbp_init_state){.log = l->known.log, .user = l->known.user};
    l->before = fbp_init_begin(&l->state);
    const fbp_status st = fbp_init_look(path, &l->folder);
    if (st != FBP_OK) {
        fbp_init_clear(&l->folder);
        (void)fbp_init_begin(l->before);
    }
    return st;
}

static void end(struct look *l)
{
    fbp_init_clear(&l->folder);
    (void)fbp_init_begin(l->before);
}

fbp_status fbp_folder_scan(char **path, const char *folder, const struct fbp_folder_known *known)
{
    FBP_GIVEN(path, folder);
    struct stat info;
    struct look l;

    *path = NULL;
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return FBP_OK;
    FBP_TRY(begin(&l, folder, known));
    const fbp_status st = choose(&l.folder, path);
    end(&l);
    return st;
}

fbp_status fbp_folder_guess(char **text, const char *folder, const struct fbp_folder_known *known)
{
    FBP_GIVEN(text, folder);
    cJSON *root = NULL;
    struct look l;

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

/* The scan file in the folder; *path NULL: there is none, and something to guess from. */
static fbp_status find_file(const struct look *l, char **path)
{
    struct fbp_init_found found;

    *path = NULL;
    fbp_init_assign(&l->folder, &found);
    for (size_t i = 0; i < l->folder.n; i++)
        if (fbp_init_is_whole_scan(&l->folder.series[i], found.of[FBP_INIT_PROJECTIONS]))
            return choose(&l->folder, path);
    return FBP_OK;
}

static fbp_status load_guess(struct fbp_scan *out, struct look *l)
{
    const size_t n = strlen(l->folder.path);
    const bool slash = n > 0 && l->folder.path[n - 1] == '/';
    char *path = fbp_format("%s%sscan.json", l->folder.path, slash ? "" : "/");
    const struct fbp_scan_known none = {.struct_size = sizeof none};
    cJSON *root = NULL;
    fbp_status st = FBP_OK;

    if (!path)
        return fbp_fail_nomem(strlen(l->folder.path), "a path");
    l->known.base = l->folder.path;
    FBP_TRY_GOTO(fbp_init_write(&root, &l->folder, &l->known));
    st = fbp_scan_of_json(out, path, root, &none, false);
fail:
    cJSON_Delete(root);
    free(path);
    return st;
}

static fbp_status load(struct fbp_scan *out, struct look *l)
{
    const struct fbp_scan_known known = {.struct_size = sizeof known,
                                         .pitch_mm = {l->known.pitch_mm, l->known.pitch_mm}};
    char *path;

    FBP_TRY(find_file(l, &path));
    const fbp_status st = path ? fbp_scan_load_own(out, path, &known, false) : load_guess(out, l);
    free(path);
    return st;
}

fbp_status fbp_folder_load(struct fbp_scan *out, const char *folder,
                           const struct fbp_folder_known *known)
{
    FBP_GIVEN(folder);
    struct fbp_scan own = {.struct_size = sizeof own};
    struct look l;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_TRY(begin(&l, folder, known));
    const fbp_status st = load(&own, &l);
    end(&l);
    FBP_GIVE(scan, out, &own);
    return st;
}
