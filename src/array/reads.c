#include "array/reads.h"
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/stack_names.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* However the path of an array is spelled, and from which folder, it counts the same.  Behind the
 * file or the folder that is there its name may go on: with a data set, or a number's place. */
static uint64_t hash_name(uint64_t h, const char *name)
{
    char part[PATH_MAX], real[PATH_MAX];
    size_t n = strlen(name);

    if (n >= sizeof part)
        return fbp_hash(h, name, n); /* longer than any path is */
    memcpy(part, name, n + 1);
    while (n > 0 && !realpath(part, real)) {
        while (n > 0 && part[n - 1] != '/')
            n--;
        while (n > 1 && part[n - 1] == '/')
            n--;
        part[n] = '\0';
    }
    if (n > 0 || realpath(".", real))
        h = fbp_hash(h, real, strlen(real));
    name += n + strspn(name + n, "/");
    return fbp_hash(h, name, strlen(name));
}

fbp_status fbp_inputs_hash(uint64_t *h, const struct fbp_inputs *s)
{
    for (size_t i = 0; i < s->n; i++) {
        *h = hash_name(*h, s->names[i]);
        FBP_TRY(fbp_stack_hash(h, s->names[i]));
    }
    return FBP_OK;
}

/* The file that is to be written, and whether it was found among others. */
struct search {
    const char *file;
    bool is_there, found;
    struct stat is;
    size_t missing; /* files of a pattern, one after another */
    fbp_status status;
};

/* A pattern may name more files than any disk holds. */
enum { MOST_MISSING = 10000 };

/* Is a file in a folder that would be replaced as a whole? */
static bool lies_in(const char *file, const char *folder)
{
    char *a = realpath(file, NULL), *b = realpath(folder, NULL);
    const size_t n = b ? strlen(b) : 0;
    const bool is = a && b && strncmp(a, b, n) == 0 && a[n] == '/';

    free(a);
    free(b);
    return is;
}

static bool compare(void *user, const char *file)
{
    struct search *s = user;
    struct stat st;

    bool there = false;

    if (s->is_there)
        s->status = fbp_stat(file, &st, &there);
    s->missing = there ? 0 : s->missing + 1;
    s->found = strcmp(file, s->file) == 0 ||
               (there && st.st_dev == s->is.st_dev && st.st_ino == s->is.st_ino) ||
               (there && S_ISDIR(s->is.st_mode) && lies_in(file, s->file));
    return s->status == FBP_OK && !s->found && s->missing < MOST_MISSING;
}

fbp_status fbp_input_is(const char *input, const char *file, bool *is)
{
    struct search s = {.file = file, .status = FBP_OK};

    *is = false;
    FBP_TRY(fbp_stat(file, &s.is, &s.is_there));
    FBP_TRY(fbp_stack_each(input, compare, &s));
    FBP_TRY(s.status);
    *is = s.found;
    return s.found ? FBP_OK : fbp_stack_joins(input, file, is);
}

fbp_status fbp_inputs_add_array(struct fbp_inputs *s, const char *path, const struct fbp_raw *raw)
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

static fbp_status hold(const struct fbp_inputs *s, const char *file, bool *held)
{
    *held = false;
    for (size_t i = 0; i < s->n && !*held; i++)
        FBP_TRY(fbp_input_is(s->names[i], file, held));
    return FBP_OK;
}

/* An output, and the files that are there of it, against what is read. */
struct output {
    const struct fbp_inputs *inputs;
    bool is_there, hit;
    fbp_status status;
};

static bool look_at_output(void *user, const char *file)
{
    struct output *o = user;
    struct stat is;
    bool there;

    o->status = fbp_stat(file, &is, &there);
    if (o->status == FBP_OK)
        o->status = hold(o->inputs, file, &o->hit);
    o->is_there |= there;
    return o->status == FBP_OK && !o->hit;
}

static fbp_status compare_output(const struct fbp_inputs *inputs, const char *name,
                                 struct output *out)
{
    *out = (struct output){.inputs = inputs, .status = FBP_OK};
    FBP_TRY(hold(inputs, name, &out->hit));
    if (!out->hit)
        FBP_TRY(fbp_stack_each_there(name, look_at_output, out));
    return out->status;
}

/* Names first: arrays are opened only if there is something that could be replaced. */
bool fbp_inputs_hit(const struct fbp_inputs *named, fbp_all_inputs_fn *add_all, const void *user,
                    const char *output)
{
    struct fbp_inputs all = {0};
    struct output o = {0};
    fbp_status st;

    FBP_TRY_GOTO(compare_output(named, output, &o));
    if (!o.hit && o.is_there) {
        FBP_TRY_GOTO(add_all(&all, user));
        FBP_TRY_GOTO(compare_output(&all, output, &o));
    }
fail:
    fbp_inputs_clear(&all);
    if (st == FBP_OK)
        fbp_message_clear();
    return st != FBP_OK || o.hit;
}

static fbp_status add_one(struct fbp_inputs *all, const void *array)
{
    return fbp_inputs_add_array(all, array, NULL);
}

bool fbp_array_reads(const char *array, const char *file)
{
    FBP_GIVEN_ELSE(false, array, file);
    struct fbp_inputs named = {0};

    fbp_message_clear();
    const fbp_status st = fbp_inputs_add(&named, array);
    const bool hit = st != FBP_OK || fbp_inputs_hit(&named, add_one, array, file);
    fbp_inputs_clear(&named);
    return hit;
}
