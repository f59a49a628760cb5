/* A folder where a scan is needed: the one scan that lies in it, or how to make one of what does.
 */
#include "init.h"
#include "say.h"

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
    const bool json = cli_ends_with(path, ".json");
    FILE *f = json ? fopen(path, "rbe") : NULL;
    const size_t n = f ? fread(head, 1, sizeof head - 1, f) : 0;

    if (json && (!f || ferror(f)))
        init_lost_scan(path);
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
static int suggest(const struct init_folder *folder, const struct init_found *found)
{
    const struct init_series *p = found->of[INIT_PROJECTIONS];
    char *pattern = p ? init_pattern(p) : NULL;

    if (!p)
        return init_no_projections(folder);
    cli_error("%s: is a folder without a scan file; it holds %zu views of %zu x %zu pixels (%s): "
              "fbp init %s > scan.json writes a scan file to begin with",
              folder->path, p->info.n[2], p->info.n[0], p->info.n[1], pattern ? pattern : p->path,
              folder->path);
    free(pattern);
    return 1;
}

static int choose(const struct init_folder *folder, bool quiet, char **out)
{
    struct scans s = {.names = ""};
    struct init_found found;

    init_assign(folder, &found);
    for (size_t i = 0; i < folder->n; i++)
        if (init_is_whole_scan(&folder->series[i], found.of[INIT_PROJECTIONS]))
            add(&s, folder->series[i].path);
    if (!init_is_complete())
        return cli_error("%s: out of memory for a look at its files: close other programs, or name "
                         "the scan",
                         folder->path);
    if (!init_has_scans(s.n_own > 0))
        return cli_error("%s: not all of its files could be read, so that it is not clear which "
                         "scan is meant: name the scan",
                         folder->path);
    if (s.n_own + s.n_foreign == 0)
        return suggest(folder, &found);
    if (s.n_own > 1 || (s.n_own == 0 && s.n_foreign > 1))
        return cli_error("%s: is a folder of several scans: name one of them: %s", folder->path,
                         s.names);
    *out = strdup(s.n_own ? s.own : s.foreign);
    if (!*out)
        return cli_error("out of memory for a path: close other programs");
    say_note(quiet, "%s: the scan in this folder is taken: %s", folder->path, *out);
    return 0;
}

int cli_scan_in_folder(const char *path, bool quiet, char **out)
{
    struct init_folder folder = {0};
    struct stat info;

    *out = NULL;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return 0;
    int rc = init_look(path, quiet, &folder);
    if (rc == 0)
        rc = choose(&folder, quiet, out);
    init_clear(&folder);
    return rc;
}
