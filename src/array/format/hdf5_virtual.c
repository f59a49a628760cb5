/* Checks that all source files of a virtual HDF5 data set exist and are complete, because the HDF5
 * library reads the fill value in place of missing sources: all sources when data are opened
 * (fbp_hdf5_check_virtual()), and those of each block before it is read (fbp_hdf5_check_block()).
 * Also counts chunks that were never written. Source files are searched for where the library
 * searches: https://docs.hdfgroup.org, H5Pset_virtual(), H5Pset_virtual_prefix().
 * Used by: hdf5.c, hdf5_chunks.c, hdf5_lib.c. */
#include "array/format/hdf5.h"
#include "base/base.h"
#include "base/system.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { NAME = 2048, MAX_DEPTH = 8, SPARE_FILES = 4 };

static const size_t MAX_SOURCES = 1 << 20;

/* A virtual data set whose sources are being checked. The source file that was opened last stays
 * open, because consecutive sources are often in one file. */
struct virtual_set {
    const char *path; /* name of the array, for messages */
    hid_t data, plist;
    char file[NAME]; /* path of the file that contains the virtual data set */
    int depth;
    const hsize_t *first, *n; /* requested part of the data set; NULL: the whole data set */
    size_t *n_looked;         /* number of checked sources, including sources of sources */
    /* names of the source files are appended; NULL: they are not needed */
    struct fbp_blob *files;
    /* numbers of unwritten and of all chunks in the sources; NULL: not counted */
    size_t *missing;
    /* *n_files: number of source files so far; more than `most` end the check */
    size_t *n_files, most;
    char last[NAME];
    hid_t last_file;
};

static fbp_status check_set(const struct virtual_set *like, hid_t data, int depth);

/* ---- finding the file of a source */

/* Open the HDF5 file FOLDER/NAME, or NAME if n_folder is 0; -1 on failure. Only regular files are
 * opened, because opening a pipe waits for its writer. */
static hid_t try_file(const char *folder, size_t n_folder, const char *name)
{
    char path[2 * NAME];
    struct stat st;

    snprintf(path, sizeof path, "%.*s%s%s", (int)n_folder, folder, n_folder ? "/" : "", name);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fbp_hdf5_open_file(path) : -1;
}

/* Bytes of a path before its last '/'. */
static size_t folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) : 0;
}

static hid_t find_file(const struct virtual_set *v, const char *name)
{
    static const char origin[] = "${ORIGIN}";
    const bool absolute = name[0] == '/';
    const char *last = absolute ? strrchr(name, '/') + 1 : name;
    const char *p = fbp_environment(FBP_ENV_HDF5_PREFIX);
    hid_t file = absolute ? try_file("", 0, name) : -1;
    char real[PATH_MAX], folder[NAME];

    /* The environment variable HDF5_VDS_PREFIX lists folders of sources, such as "a:${ORIGIN}/b".
     */
    while (p && *p && file < 0) {
        const size_t n = strcspn(p, ":"), skip = sizeof origin - 1;
        if (n >= skip && strncmp(p, origin, skip) == 0)
            snprintf(folder, sizeof folder, "%.*s%.*s", (int)folder_of(v->file), v->file,
                     (int)(n - skip), p + skip);
        else
            snprintf(folder, sizeof folder, "%.*s", (int)n, p);
        file = try_file(folder, strlen(folder), last);
        p += n + (p[n] == ':');
    }
    if (file < 0 && folder_of(v->file))
        file = try_file(v->file, folder_of(v->file), last);
    if (file < 0)
        file = try_file("", 0, last);
    if (file < 0 && realpath(v->file, real))
        file = try_file(real, folder_of(real), last);
    return file;
}

/* ---- checking sources */

static fbp_status missing(const struct virtual_set *v, const char *file, const char *set,
                          const char *what, const char *remedy)
{
    const bool here = strcmp(file, ".") == 0;

    return FBP_INVALID("%s: is a virtual data set with samples in %.300s%s%.200s, but %s; %s",
                       v->path, here ? "" : file, here ? "" : ":", set, what, remedy);
}

/* Check that source i of a virtual data set, the data set `set` in `file`, exists and is large
 * enough for the samples that are taken from it. */
static fbp_status check_source(struct virtual_set *v, size_t i, const char *file, const char *set)
{
    hsize_t lo[H5S_MAX_RANK], hi[H5S_MAX_RANK], n[H5S_MAX_RANK];
    char name[NAME] = "";
    bool inside = true;
    hid_t f;

    if (strcmp(file, ".") == 0) {
        f = H5Iget_file_id(v->data);
    } else {
        if (v->last_file < 0 || strcmp(v->last, file) != 0) {
            if (v->last_file >= 0)
                H5Fclose(v->last_file);
            ++*v->n_files;
            snprintf(v->last, sizeof v->last, "%s", file);
            v->last_file = find_file(v, file);
        }
        if (v->last_file >= 0)
            H5Iinc_ref(v->last_file);
        f = v->last_file;
    }
    if (++*v->n_looked > MAX_SOURCES)
        return FBP_UNSUPPORTED(
            "%s: the virtual data set has more than %zu sources; rewrite it as a plain data set",
            v->path, MAX_SOURCES);
    if (f < 0)
        return missing(v, file, set, "that file is missing or cannot be opened",
                       "restore it, or copy it into the folder of this file");
    const hid_t source = H5Dopen2(f, set, H5P_DEFAULT);
    H5Fclose(f);
    if (source < 0)
        return missing(v, file, set, "that file has no such data set, or it cannot be read",
                       "check that it is the right file");

    const hid_t taken = H5Pget_virtual_srcspace(v->plist, i), space = H5Dget_space(source);
    const int rank = H5Sget_simple_extent_dims(space, n, NULL);
    if (rank > 0 && H5Sget_simple_extent_ndims(taken) == rank &&
        H5Sget_select_bounds(taken, lo, hi) >= 0) /* unlimited: no bounds */
        for (int d = 0; d < rank; d++)
            inside = inside && hi[d] < n[d];
    H5Sclose(space);
    H5Sclose(taken);
    if (!inside)
        return missing(v, file, set, "that data set is smaller than the selected part",
                       "the file is truncated or incomplete, copy it again");

    /* Append the name of the source file to the list, once for consecutive sources in one file. A
     * name of NAME bytes or more is left out, because fbp could not open the file. */
    struct fbp_blob *files = v->files;
    const ssize_t length = files ? H5Fget_name(source, name, NAME) : 0;
    const size_t size = strlen(name) + 1;
    if (length > 0 && length < NAME &&
        !(files->n >= size && memcmp(files->bytes + files->n - size, name, size) == 0 &&
          (files->n == size || files->bytes[files->n - size - 1] == '\0')))
        FBP_TRY(fbp_blob_put(files, name, size));

    const struct virtual_set all = {.path = v->path,
                                    .n_looked = v->n_looked,
                                    .files = v->files,
                                    .missing = v->missing,
                                    .n_files = v->n_files,
                                    .most = v->most};
    const fbp_status st = check_set(&all, source, v->depth + 1);
    H5Dclose(source);
    return st;
}

static fbp_status check_mapping(struct virtual_set *v, size_t i)
{
    struct {
        char file[NAME], set[NAME];
    } *s = NULL; /* not on the stack, because check_set() is recursive */
    fbp_status st;

    FBP_TRY(fbp_calloc((void **)&s, 1, sizeof *s, "names of a source"));
    const ssize_t n = H5Pget_virtual_filename(v->plist, i, s->file, NAME);
    const ssize_t m = H5Pget_virtual_dsetname(v->plist, i, s->set, NAME);
    /* "%b" in a name stands for the number of a block, "%%" for a percent sign */
    const bool pattern = strstr(s->file, "%b") || strstr(s->set, "%b") || strstr(s->file, "%%") ||
                         strstr(s->set, "%%");
    if (n <= 0 || n >= NAME || m <= 0 || m >= NAME)
        st = FBP_INVALID("%s: the name of source %zu of the virtual data set is too long or "
                         "damaged; give the source a shorter name, or copy the file again",
                         v->path, i);
    else if (pattern)
        st = FBP_UNSUPPORTED(
            "%s: is a virtual data set with samples in files or data sets that a pattern names "
            "(%.300s:%.200s), which is not supported; rewrite it as a plain data set",
            v->path, s->file, s->set);
    else
        st = check_source(v, i, s->file, s->set);
    free(s);
    return st;
}

/* Check the sources of the data set `data`, if it is virtual. like: struct whose requested part,
 * counters and lists are used. depth: 0 for the data set that is to be read, k + 1 for a source of
 * a data set of depth k. */
static fbp_status check_set(const struct virtual_set *like, hid_t data, int depth)
{
    const hid_t plist = H5Dget_create_plist(data);
    hsize_t lo[H5S_MAX_RANK], hi[H5S_MAX_RANK];
    struct virtual_set *v = NULL;
    size_t n = 0;
    fbp_status st = FBP_OK;

    if (H5Pget_layout(plist) != H5D_VIRTUAL) {
        if (like->missing && depth > 0)
            fbp_hdf5_count_chunks(data, plist, &like->missing[0], &like->missing[1]);
        goto fail;
    }
    if (depth > MAX_DEPTH)
        FBP_TRY_GOTO(FBP_INVALID(
            "%s: virtual data sets refer to each other more than %d levels deep; correct the file",
            like->path, MAX_DEPTH));
    FBP_TRY_GOTO(fbp_calloc((void **)&v, 1, sizeof *v, "a virtual data set"));
    *v = *like;
    v->data = data;
    v->plist = plist;
    v->depth = depth;
    v->last_file = -1;
    const ssize_t length = H5Fget_name(data, v->file, sizeof v->file);
    if (length >= (ssize_t)sizeof v->file)
        st = FBP_INVALID("%s: the path of the file that contains the virtual data set has %zd "
                         "bytes, at most %d are supported; move the file to a shorter path",
                         v->path, length, NAME - 1);
    else if (length < 0 || H5Pget_virtual_count(plist, &n) < 0)
        st = FBP_INVALID("%s: the list of source files in the virtual data set cannot be read; the "
                         "file may be damaged, copy it again",
                         v->path);
    for (size_t i = 0; i < n && st == FBP_OK && *v->n_files <= v->most; i++) {
        const hid_t to = v->first ? H5Pget_virtual_vspace(plist, i) : -1;
        const int rank = v->first ? H5Sget_simple_extent_ndims(to) : 0;
        bool requested = true;
        if (v->first && H5Sget_select_bounds(to, lo, hi) >= 0)
            for (int d = 0; d < rank; d++)
                requested = requested && lo[d] < v->first[d] + v->n[d] && hi[d] >= v->first[d];
        if (v->first)
            H5Sclose(to);
        if (requested)
            st = check_mapping(v, i);
    }
    if (v->last_file >= 0)
        H5Fclose(v->last_file);
fail:
    H5Pclose(plist);
    free(v);
    return st;
}

fbp_status fbp_hdf5_check_virtual(hid_t data, const char *path, struct fbp_blob *files,
                                  size_t missing[2])
{
    size_t n_files = 0, n_looked = 0;
    const struct virtual_set all = {.path = path,
                                    .n_looked = &n_looked,
                                    .files = files,
                                    .missing = missing,
                                    .n_files = &n_files,
                                    .most = SIZE_MAX};

    return check_set(&all, data, 0);
}

fbp_status fbp_hdf5_check_block(hid_t data, const char *path, const hsize_t *first,
                                const hsize_t *n, size_t most, bool *fits)
{
    size_t n_files = 0, n_looked = 0;
    const struct virtual_set block = {.path = path,
                                      .first = first,
                                      .n = n,
                                      .n_looked = &n_looked,
                                      .n_files = &n_files,
                                      .most = most};
    struct rlimit limit;

    FBP_TRY(check_set(&block, data, 0));
    *fits = n_files <= most;
    if (!*fits || n_files == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return FBP_OK;

    /* Check that this process may open n_files more files: otherwise the HDF5 library would read
     * the fill value, without an error. */
    size_t left = 0;
    for (rlim_t fd = 0; fd < limit.rlim_cur && left < n_files + SPARE_FILES; fd++)
        left += fcntl((int)fd, F_GETFD) < 0;
    *fits = left >= n_files + SPARE_FILES;
    return FBP_OK;
}

/* ---- unwritten samples */

void fbp_hdf5_count_chunks(hid_t data, hid_t plist, size_t *missing, size_t *all)
{
    hsize_t n[H5S_MAX_RANK], chunk[H5S_MAX_RANK], there = 0;
    const hid_t space = H5Dget_space(data);
    const int rank = H5Sget_simple_extent_dims(space, n, NULL);
    size_t count = 1;

    if (H5Pget_layout(plist) == H5D_CHUNKED && rank > 0 &&
        H5Pget_chunk(plist, H5S_MAX_RANK, chunk) == rank &&
        H5Dget_num_chunks(data, space, &there) >= 0) {
        for (int d = 0; d < rank; d++)
            if (__builtin_mul_overflow(count, (n[d] + chunk[d] - 1) / chunk[d], &count))
                count = 0;
        *missing += there < count ? count - there : 0;
        *all += count;
    }
    H5Sclose(space);
}

void fbp_hdf5_covered(hid_t plist, unsigned char *covered, size_t n)
{
    hsize_t lo[H5S_MAX_RANK], hi[H5S_MAX_RANK];
    size_t count = 0;

    H5Pget_virtual_count(plist, &count);
    for (size_t i = 0; i < count; i++) {
        const hid_t to = H5Pget_virtual_vspace(plist, i);
        if (H5Sget_select_bounds(to, lo, hi) < 0) { /* unlimited selection */
            lo[0] = 0;
            hi[0] = n - 1;
        }
        for (hsize_t z = lo[0]; z <= hi[0] && z < n; z++)
            covered[z] = 1;
        H5Sclose(to);
    }
}
