/* What data sets a file has, links followed: first all that hard links lead to, each once, then
 * what soft and external links add.  Groups that a link leads back to are not entered again, and
 * there are bounds to all of it. */
#include "array/format/hdf5/hdf5_lib.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { MAX_ENTRIES = 4096, MAX_GROUPS = 16384, MAX_DEPTH = 64, SHOWN = 8 };

/* An object by file and address. */
struct object {
    unsigned long file;
    haddr_t at;
};

/* A soft or external link, for later. */
struct link {
    char path[FBP_HDF5_PATH];
};

struct walk {
    hid_t file;
    struct fbp_hdf5_list *list;
    struct object *sets;             /* of list->entries */
    struct object groups[MAX_DEPTH]; /* from the root to here */
    int depth;
    size_t n_groups; /* entered so far */
    bool follow;     /* links, too; else they are put down in `links` */
    struct link *links;
    size_t n_links, links_room;
    char path[FBP_HDF5_PATH]; /* of the group that is looked through; "" = root */
    bool no_memory;           /* the list is not whole */
};

static bool is_same(const struct object *a, const struct object *b)
{
    return a->file == b->file && a->at == b->at;
}

static void *grow(struct walk *w, void *array, size_t *room, size_t size)
{
    const size_t more = 2 * *room + 16;
    void *out = more > MAX_ENTRIES ? NULL : realloc(array, more * size);

    w->no_memory |= !out && more <= MAX_ENTRIES;
    if (out)
        *room = more;
    return out;
}

bool fbp_hdf5_is_numeric(hid_t type)
{
    const H5T_class_t c = H5Tget_class(type);

    return c == H5T_INTEGER || c == H5T_FLOAT || c == H5T_ENUM;
}

static void look_at(hid_t data, struct fbp_hdf5_entry *e)
{
    const hid_t space = H5Dget_space(data), type = H5Dget_type(data);
    hsize_t n[H5S_MAX_RANK];

    e->rank = space >= 0 ? H5Sget_simple_extent_dims(space, n, NULL) : -1;
    for (int i = 0; i < e->rank && i < FBP_HDF5_RANK; i++)
        e->n[i] = n[i];
    e->numeric = type >= 0 && fbp_hdf5_is_numeric(type);
    H5Tclose(type);
    H5Sclose(space);
}

/* False: enough of them. */
static bool add_set(struct walk *w, hid_t data, const char *path, const struct object *o)
{
    struct fbp_hdf5_list *list = w->list;
    struct fbp_hdf5_entry e = {.linked = w->follow};

    for (size_t i = 0; i < list->n && !e.again; i++)
        e.again = is_same(&w->sets[i], o);
    if (e.again && !w->follow)
        return true; /* a second hard link */
    if (list->n == list->room) {
        size_t room = list->room;
        void *entries = grow(w, list->entries, &room, sizeof *list->entries);
        list->entries = entries ? entries : list->entries;
        void *sets = entries ? grow(w, w->sets, &list->room, sizeof *w->sets) : NULL;
        if (!sets)
            return false;
        w->sets = sets;
    }
    snprintf(e.path, sizeof e.path, "%s", path);
    look_at(data, &e);
    w->sets[list->n] = *o;
    list->entries[list->n++] = e;
    return true;
}

/* " (a link to raw.h5:/data)", or "" */
static void describe_link(hid_t group, const char *name, const H5L_info_t *info, char *out,
                          size_t n)
{
    char value[1024] = "";
    const char *file = NULL, *object = value;
    unsigned flags = 0;

    out[0] = '\0';
    if (info->type == H5L_TYPE_HARD || info->u.val_size > sizeof value ||
        H5Lget_val(group, name, value, sizeof value, H5P_DEFAULT) < 0)
        return;
    if (info->type == H5L_TYPE_EXTERNAL &&
        H5Lunpack_elink_val(value, info->u.val_size, &flags, &file, &object) < 0)
        return;
    snprintf(out, n, " (a link to %.120s%s%.80s)", file ? file : "", file ? ":" : "", object);
}

void fbp_hdf5_unread(const char *path, const char *link, const char *why, char *out, size_t n)
{
    unsigned v[3] = {0};

    H5get_libversion(&v[0], &v[1], &v[2]);
    if (link[0])
        snprintf(out, n, "%.100s%.230s cannot be opened%.200s: put the file there that it leads to",
                 path, link, why);
    else
        snprintf(out, n,
                 "%.100s cannot be opened%s: it is damaged, or of a newer HDF5 than %u.%u.%u: copy "
                 "it again, or write it for older ones (h5py: libver=('earliest', 'v110'))",
                 path, why, v[0], v[1], v[2]);
}

void fbp_hdf5_link(hid_t file, const char *path, char *out, size_t n)
{
    H5L_info_t info;

    out[0] = '\0';
    if (H5Lget_info(file, path, &info, fbp_hdf5_access()) >= 0)
        describe_link(file, path, &info, out, n);
}

/* The first thing that cannot be opened, for messages. */
static void note_unread(struct walk *w, hid_t group, const char *name, const char *path,
                        const H5L_info_t *info)
{
    char why[200], link[260];

    fbp_hdf5_reason(why, sizeof why);
    if (w->list->unread[0])
        return;
    describe_link(group, name, info, link, sizeof link);
    fbp_hdf5_unread(path, link, why, w->list->unread, sizeof w->list->unread);
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *user);

/* 1: enough. */
static herr_t enter(struct walk *w, hid_t group, const char *path, const struct object *o)
{
    const size_t n = strlen(w->path);
    herr_t done;

    for (int i = 0; i < w->depth; i++)
        if (is_same(&w->groups[i], o))
            return 0;
    if (w->depth == MAX_DEPTH || ++w->n_groups > MAX_GROUPS)
        return w->n_groups > MAX_GROUPS;
    w->groups[w->depth++] = *o;
    snprintf(w->path, sizeof w->path, "%s", path);
    done = H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL, visit, w);
    w->path[n] = '\0';
    w->depth--;
    return done;
}

/* What a link leads to.  Objects stay open: their files keep their numbers. */
static herr_t take(struct walk *w, hid_t group, const char *name, const char *path,
                   const H5L_info_t *info)
{
    const hid_t object = H5Oopen(group, name, fbp_hdf5_access());
    H5O_info_t about;

    if (object < 0 || H5Oget_info2(object, &about, H5O_INFO_BASIC) < 0) {
        note_unread(w, group, name, path, info);
        return 0;
    }
    const struct object o = {about.fileno, about.addr};
    if (about.type == H5O_TYPE_DATASET)
        return add_set(w, object, path, &o) ? 0 : 1;
    return about.type == H5O_TYPE_GROUP ? enter(w, object, path, &o) : 0;
}

static void put_down(struct walk *w, const char *path)
{
    if (w->n_links == w->links_room) {
        void *more = grow(w, w->links, &w->links_room, sizeof *w->links);
        if (!more)
            return;
        w->links = more;
    }
    snprintf(w->links[w->n_links++].path, FBP_HDF5_PATH, "%s", path);
}

static herr_t visit(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    struct walk *w = user;
    char path[FBP_HDF5_PATH];
    const bool hard = info->type == H5L_TYPE_HARD;

    if (snprintf(path, sizeof path, "%s/%s", w->path, name) >= (int)sizeof path ||
        (!hard && info->type != H5L_TYPE_SOFT && info->type != H5L_TYPE_EXTERNAL))
        return 0;
    if (hard || w->follow)
        return take(w, group, name, path, info);
    put_down(w, path);
    return 0;
}

/* The groups above a link are those that it must not lead back to. */
static void follow(struct walk *w, const char *path)
{
    const char *slash = strrchr(path, '/');
    H5O_info_t about;
    H5L_info_t info;

    w->depth = 0;
    for (const char *p = path; (p = strchr(p, '/')) && w->depth < MAX_DEPTH; p++) {
        char above[FBP_HDF5_PATH];
        snprintf(above, sizeof above, "%.*s", p > path ? (int)(p - path) : 1, path);
        if (H5Oget_info_by_name2(w->file, above, &about, H5O_INFO_BASIC, fbp_hdf5_access()) < 0)
            return;
        w->groups[w->depth++] = (struct object){about.fileno, about.addr};
    }
    snprintf(w->path, sizeof w->path, "%.*s", (int)(slash - path), path);
    if (H5Lget_info(w->file, path, &info, fbp_hdf5_access()) >= 0)
        (void)!take(w, w->file, path, path, &info);
}

fbp_status fbp_hdf5_list(hid_t file, const char *name, struct fbp_hdf5_list *out)
{
    struct walk *w;
    H5O_info_t root;
    char why[200];

    *out = (struct fbp_hdf5_list){0};
    FBP_TRY(fbp_calloc((void **)&w, 1, sizeof *w, "a list of data sets"));
    w->list = out;
    w->file = H5Oopen(file, "/", H5P_DEFAULT);
    const bool read = w->file >= 0 && H5Oget_info2(w->file, &root, H5O_INFO_BASIC) >= 0 &&
                      enter(w, w->file, "", &(struct object){root.fileno, root.addr}) >= 0;
    w->follow = true;
    for (size_t i = 0; read && i < w->n_links; i++)
        follow(w, w->links[i].path);
    const bool no_memory = w->no_memory;
    free(w->links);
    free(w->sets);
    free(w);
    if (no_memory)
        return fbp_fail_nomem(out->room * sizeof *out->entries, "a list of data sets");
    if (read)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: its groups cannot be read%s: the file is damaged, copy it again", name,
                    fbp_hdf5_reason(why, sizeof why));
}

const struct fbp_hdf5_entry *fbp_hdf5_find(const struct fbp_hdf5_list *list, const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->entries[i].path + (path[0] != '/'), path) == 0)
            return &list->entries[i];
    return NULL;
}

/* "/exchange/data (181 x 2 x 640)" */
static void append(char *text, size_t n, const struct fbp_hdf5_entry *e, bool first)
{
    size_t used = strlen(text);

    used += (size_t)snprintf(text + used, n - used, "%s%.80s (", first ? "" : ", ", e->path);
    for (int i = 0; i < e->rank && i < FBP_HDF5_RANK && used < n; i++)
        used += (size_t)snprintf(text + used, n - used, "%s%llu", i ? " x " : "",
                                 (unsigned long long)e->n[i]);
    if (used < n)
        snprintf(text + used, n - used, ")");
}

static bool is_image(const struct fbp_hdf5_entry *e)
{
    return e->numeric && e->rank >= 2;
}

fbp_status fbp_hdf5_missing(const char *file, const char *member, const struct fbp_hdf5_list *list)
{
    const char **names = NULL, *nearest;
    char known[700] = "";
    size_t n = 0, n_names = 0;

    FBP_TRY(fbp_calloc((void **)&names, MAX_ENTRIES, sizeof *names, "names of data sets"));
    for (size_t i = 0; i < list->n; i++)
        if (is_image(&list->entries[i]))
            names[n_names++] = list->entries[i].path;
    nearest = member ? fbp_nearest(member, names, n_names) : NULL;
    free(names);
    for (size_t i = 0; i < list->n; i++)
        if (is_image(&list->entries[i]) && !list->entries[i].again && ++n <= SHOWN)
            append(known, sizeof known, &list->entries[i], n == 1);
    if (!n && list->unread[0])
        return fbp_fail(FBP_ERR_INVALID, "%s: %s", file, list->unread);
    if (!member)
        return fbp_fail(FBP_ERR_INVALID, "%s: %s%s%s%s", file,
                        n ? "holds several data sets: name one as FILE:DATASET; it has "
                          : "holds no array of numbers of two or three dimensions",
                        known, n > SHOWN ? ", …" : "", n ? "" : ": is it the right file?");
    return fbp_fail(FBP_ERR_INVALID, "%s: has no data set \"%.80s\"%s%s%s: it has %s%s", file,
                    member, nearest ? ": did you mean \"" : "", nearest ? nearest : "",
                    nearest ? "\"?" : "", n ? known : "no array of two or three dimensions",
                    n > SHOWN ? ", …" : "");
}
