#include "array/inputs.h"
#include "array/format.h"
#include "array/names.h"
#include "array/stack.h"

#include "fbp/scan.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fbp_status fbp_inputs_add(struct fbp_inputs *s, const char *name)
{
    if (!name || (s->n > 0 && strcmp(s->names[s->n - 1], name) == 0))
        return FBP_OK;
    if (s->n == s->room) {
        const size_t room = s->room ? 2 * s->room : 4;
        char **more = realloc(s->names, room * sizeof *more);
        if (!more)
            return fbp_fail_nomem(room * sizeof *more, "names of files");
        s->names = more;
        s->room = room;
    }
    s->names[s->n] = fbp_strdup(name);
    if (!s->names[s->n])
        return fbp_fail_nomem(strlen(name), "a path");
    s->n++;
    return FBP_OK;
}

fbp_status fbp_inputs_add_all(struct fbp_inputs *s, const struct fbp_inputs *more, size_t skip)
{
    for (size_t i = skip; i < more->n; i++)
        FBP_TRY(fbp_inputs_add(s, more->names[i]));
    return FBP_OK;
}

uint64_t fbp_inputs_hash(uint64_t h, const struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        h = fbp_hash(h, s->names[i], strlen(s->names[i]));
        h = fbp_stack_hash(h, s->names[i]);
    }
    return h;
}

void fbp_inputs_clear(struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    *s = (struct fbp_inputs){0};
}

/* The file that is to be written, and whether it was found among others. */
struct search {
    const char *file;
    bool is_there, found;
    struct stat is;
    size_t missing; /* files of a pattern, one after another */
};

/* A pattern may name more files than any disk holds. */
enum { MOST_MISSING = 10000 };

static bool compare(void *user, const char *file)
{
    struct search *s = user;
    struct stat st;

    const bool there = s->is_there && stat(file, &st) == 0;

    s->missing = there ? 0 : s->missing + 1;
    s->found = strcmp(file, s->file) == 0 ||
               (there && st.st_dev == s->is.st_dev && st.st_ino == s->is.st_ino);
    return !s->found && s->missing < MOST_MISSING;
}

bool fbp_input_is(const char *input, const char *file)
{
    struct search s = {.file = file};

    s.is_there = stat(file, &s.is) == 0;
    fbp_stack_each(input, compare, &s);
    return s.found || fbp_stack_joins(input, file);
}

/* An array that cannot be opened is what its name says. */
static fbp_status add_array(struct fbp_inputs *s, const char *path, const struct fbp_raw *raw)
{
    fbp_source *source = NULL;

    if (!path)
        return FBP_OK;
    fbp_status st = fbp_source_open(&source, path, raw);
    if (st == FBP_ERR_NOMEM)
        return st;
    if (st != FBP_OK) {
        fbp_message_clear();
        return fbp_inputs_add(s, path);
    }
    st = fbp_inputs_add_all(s, &source->inputs, 0);
    fbp_source_close(&source);
    return st;
}

fbp_status fbp_scan_add_file(struct fbp_scan *scan, const char *path)
{
    struct fbp_inputs files = {scan->files, scan->n_files, scan->n_files};
    const fbp_status st = fbp_inputs_add(&files, path);

    scan->files = files.names;
    scan->n_files = files.n;
    return st;
}

fbp_status fbp_scan_inputs(struct fbp_inputs *out, const struct fbp_scan *scan,
                           const struct fbp_source *projections)
{
    struct fbp_raw raw = scan->raw;

    FBP_TRY(fbp_inputs_add(out, scan->path));
    for (size_t i = 0; i < scan->n_files; i++)
        FBP_TRY(fbp_inputs_add(out, scan->files[i]));
    if (projections)
        FBP_TRY(fbp_inputs_add_all(out, &projections->inputs, 0));
    else
        FBP_TRY(add_array(out, scan->projections, &raw));
    raw.n[2] = 0; /* headerless images: as many as there are */
    FBP_TRY(add_array(out, scan->dark, &raw));
    FBP_TRY(add_array(out, scan->flat, &raw));
    return add_array(out, scan->bad_pixels, &raw);
}

static bool hold(const struct fbp_inputs *s, const char *file)
{
    bool held = false;

    for (size_t i = 0; i < s->n && !held; i++)
        held = fbp_input_is(s->names[i], file);
    return held;
}

/* An output, and the files that are there of it, against what is read. */
struct output {
    const struct fbp_inputs *inputs;
    bool is_there, hit;
};

static bool look_at_output(void *user, const char *file)
{
    struct output *o = user;

    o->is_there |= access(file, F_OK) == 0;
    o->hit |= hold(o->inputs, file);
    return !o->hit;
}

static struct output compare_output(const struct fbp_inputs *inputs, const char *name)
{
    struct output o = {.inputs = inputs, .hit = hold(inputs, name)};

    if (!o.hit)
        fbp_stack_each_there(name, look_at_output, &o);
    return o;
}

/* Names first: arrays are opened only if there is something that could be replaced. */
bool fbp_scan_reads(const struct fbp_scan *scan, const char *file)
{
    const char *const names[] = {scan->path, scan->projections, scan->dark, scan->flat,
                                 scan->bad_pixels};
    struct fbp_inputs named = {0}, all = {0};
    fbp_status st = FBP_OK;
    bool hit = true;

    fbp_message_clear();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, names[i]));
    for (size_t i = 0; i < scan->n_files; i++)
        FBP_TRY_GOTO(fbp_inputs_add(&named, scan->files[i]));
    const struct output o = compare_output(&named, file);
    hit = o.hit;
    if (!hit && o.is_there) {
        hit = true;
        FBP_TRY_GOTO(fbp_scan_inputs(&all, scan, NULL));
        hit = compare_output(&all, file).hit;
    }
fail:
    fbp_inputs_clear(&named);
    fbp_inputs_clear(&all);
    if (st != FBP_ERR_NOMEM)
        fbp_message_clear();
    return st != FBP_OK || hit;
}

bool fbp_array_reads(const char *array, const char *file)
{
    char *name = fbp_strdup(array);
    const struct fbp_scan scan = {.projections = name};

    fbp_message_clear();
    if (!name)
        return fbp_fail_nomem(strlen(array), "a path") != FBP_OK;
    const bool is = fbp_scan_reads(&scan, file);
    free(name);
    return is;
}
