#include "files.h"

#include <string.h>
#include <sys/stat.h>

enum { INPUTS = sizeof((struct cli_files *)0)->inputs / sizeof(char *) };
enum { OUTPUTS = sizeof((struct cli_files *)0)->outputs / sizeof(char *) };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The folder that a file is in. */
static bool look_at_folder(const char *path, struct stat *out)
{
    const size_t n = (size_t)(base_name(path) - path);
    char folder[4096] = ""; /* what is longer no system call takes */

    if (n >= sizeof folder)
        return false;
    memcpy(folder, path, n);
    return stat(n ? folder : ".", out) == 0;
}

static bool same_name(const char *a, const char *b)
{
    struct stat x, y;

    return strcmp(base_name(a), base_name(b)) == 0 && look_at_folder(a, &x) &&
           look_at_folder(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Is it the name of a slice, such as out/0012.png of out/%04d.png? */
static bool is_slice(const char *name, const char *stack)
{
    struct stat x, y;

    if (!cli_is_stack(stack) || !look_at_folder(name, &x) || !look_at_folder(stack, &y) ||
        x.st_dev != y.st_dev || x.st_ino != y.st_ino)
        return false;
    const char *base = base_name(name), *pattern = base_name(stack);
    const size_t before = strcspn(pattern, "%");
    if (strncmp(base, pattern, before) != 0)
        return false;
    const size_t digits = strspn(base + before, "0123456789");
    return digits > 0 &&
           strcmp(base + before + digits,
                  strrchr(pattern, '%') + strcspn(strrchr(pattern, '%'), "d") + 1) == 0;
}

static bool collide(const char *a, const char *b)
{
    return a && b && (same_name(a, b) || same_file(a, b) || is_slice(a, b) || is_slice(b, a));
}

static int check_outputs(const struct cli_files *f)
{
    for (size_t i = 0; i < OUTPUTS; i++) {
        bool twice = collide(f->outputs[i], f->volume);
        for (size_t k = 0; k < i; k++)
            twice |= collide(f->outputs[i], f->outputs[k]);
        if (twice)
            return cli_error("%s: two outputs would have this name: choose another for one of them",
                             f->outputs[i]);
    }
    return 0;
}

static int refuse(const char *output, const char *input)
{
    if (*fbp_message()) /* nobody knows */
        return cli_fail();
    return cli_error("%s: this output would replace or join %s, which is read for it: choose "
                     "another name, or give --force",
                     output, input);
}

int cli_check_files(const struct cli_files *f)
{
    int rc = check_outputs(f);

    for (size_t i = 0; i < OUTPUTS && rc == 0 && !f->force; i++) {
        if (!f->outputs[i])
            continue;
        for (size_t k = 0; k < INPUTS && rc == 0; k++)
            if (f->inputs[k] && fbp_array_reads(f->inputs[k], f->outputs[i]))
                rc = refuse(f->outputs[i], f->inputs[k]);
        if (rc == 0 && f->scan && fbp_scan_reads(f->scan, f->outputs[i]))
            rc = refuse(f->outputs[i], f->scan->path ? f->scan->path : "the scan");
    }
    return rc;
}
