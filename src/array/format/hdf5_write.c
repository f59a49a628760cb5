/* Writer of HDF5 volumes: fbp_hdf5_layout(), which is called when an output is opened. The HDF5
 * library creates a file in memory with an unwritten data set; its bytes before that data set are
 * the header that the sink writes before the samples.
 * Used by: optional.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "array/file/outfile.h"
#include "array/format/hdf5.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* An HDF5 file that the library creates in memory (a draft), without writing its samples. */
struct draft {
    const char *path, *file, *data_set;
    int fd;
    char sketch[40]; /* /proc/self/fd/N, a link to the file in memory */
    const struct fbp_array_info *info;
};

/* META_BYTES: space reserved for the metadata before the samples of an HDF5 file [bytes];
 * MAX_HEADER: greatest number of bytes before the samples. */
enum { META_BYTES = 16384, MAX_HEADER = 1 << 20 };

/* ---- the HDF5 file in memory (draft), in the process that calls the HDF5 library */

/* Write an attribute of n doubles to a data set; n 0: a single number, not a list. */
static bool put_doubles(hid_t data, const char *name, const double *v, hsize_t n)
{
    const hid_t space = n ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    const hid_t a = H5Acreate2(data, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = H5Awrite(a, H5T_NATIVE_DOUBLE, v) >= 0;

    H5Aclose(a);
    H5Sclose(space);
    return done;
}

static bool put_text(hid_t data, const char *name, const char *text)
{
    const hid_t space = H5Screate(H5S_SCALAR), type = H5Tcopy(H5T_C_S1);

    H5Tset_size(type, strlen(text) + 1);
    const hid_t a = H5Acreate2(data, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = H5Awrite(a, type, text) >= 0;
    H5Aclose(a);
    H5Tclose(type);
    H5Sclose(space);
    return done;
}

/* Fail with the message `what`, such as "the data set … cannot be created", and the reason. An
 * errno that is not among `reasons` may be left over from an earlier call: it is ignored. */
static fbp_status not_made(const struct draft *w, const char *what)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EIO, EFBIG, EMFILE, ENFILE, ENOMEM};
    const int error = errno;
    const char *remedy = "";
    char why[200];

    if (error == EMFILE || error == ENFILE)
        remedy = "; close other programs, or raise the limit of open files (ulimit -n)";
    else if (error == ENOMEM || error == ENOSPC) /* the file is in memory */
        remedy = "; close other programs";
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (error == reasons[i])
            return fbp_fail(error == ENOMEM ? FBP_ERR_NOMEM : FBP_ERR_IO, "%s: %s: %s%s", w->path,
                            what, strerror(error), remedy);
    fbp_hdf5_reason(why, sizeof why);
    return FBP_INVALID("%s: %s%s", w->path, what,
                       *why ? why : ", perhaps because memory is exhausted");
}

/* Create an HDF5 file in memory with a data set, whose samples are not written, and its attributes.
 * *offset: byte of the first sample. */
static fbp_status build(const struct draft *w, haddr_t *offset)
{
    const struct fbp_array_info *i = w->info;
    const bool series = fbp_array_frames(i) > 1;
    const hsize_t n[4] = {i->time_points, fbp_frame_slices(i), i->n[1], i->n[0]};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_FILE_CREATE);
    char what[120], path[1024];
    bool given = true;

    snprintf(what, sizeof what, "the data set \"%.80s\" cannot be created", w->data_set);
    errno = 0;
    /* HDF5's default driver would replace the link w->sketch (/proc/self/fd/N) by its target */
    H5Pset_fapl_stdio(access);
    H5Pset_meta_block_size(access, META_BYTES);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    H5Pset_obj_track_times(creation, 0); /* of the root group */
    fbp_hdf5_no_locks(access);
    const hid_t file = H5Fcreate(w->sketch, H5F_ACC_TRUNC, creation, access);
    /* not_made() comes first, because other calls of the HDF5 library would clear the reason */
    if (file < 0)
        return not_made(w, what);
    H5Pclose(access);
    H5Pclose(creation);

    /* The data set is contiguous and gets its position at once, but its samples are not written. */
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
    const hid_t groups = H5Pcreate(H5P_GROUP_CREATE), type = fbp_hdf5_type(i->type);
    const hid_t space = series ? H5Screate_simple(4, n, NULL) : H5Screate_simple(3, n + 1, NULL);
    const bool placed = H5Pset_layout(how, H5D_CONTIGUOUS) >= 0 &&
                        H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
                        H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0;
    /* Create the groups that contain the data set without creation times, which the HDF5 library
     * stores by default: equal volumes then give equal files. */
    H5Pset_obj_track_times(groups, 0);
    for (const char *slash = w->data_set; (slash = strchr(slash + 1, '/'));) {
        const int length =
            snprintf(path, sizeof path, "%.*s", (int)(slash - w->data_set), w->data_set);
        if (length >= (int)sizeof path) /* created together with the data set */
            break;
        const hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, groups, H5P_DEFAULT);
        if (group >= 0) /* H5Gcreate2() fails, too, if the group exists ("a//b") */
            H5Gclose(group);
    }
    H5Pclose(groups);
    H5Pset_obj_track_times(how, 0);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t data =
        placed ? H5Dcreate2(file, w->data_set, type, space, links, how, H5P_DEFAULT) : -1;
    H5Pclose(links);
    H5Pclose(how);
    H5Sclose(space);
    if (data < 0)
        return not_made(w, what);

    for (int k = 0; k < 3; k++)
        given = given && i->spacing_mm[k] > 0 && isfinite(i->spacing_mm[k]) &&
                isfinite(i->origin_mm[k]);
    bool done = put_text(data, "row_order", "bottom-up") &&
                put_text(data, "axes", series ? "frame:z:y:x" : "z:y:x");
    if (given)
        done = done && put_doubles(data, "voxel_mm", i->spacing_mm, 3) &&
               put_doubles(data, "origin_mm", i->origin_mm, 3);
    if (i->history[0])
        done = done && put_text(data, "history", i->history);
    if (i->scale != 0)
        done = done && put_doubles(data, FBP_HDF5_SCALE, &i->scale, 0) &&
               put_doubles(data, FBP_HDF5_OFFSET, &i->offset, 0);
    if (i->unit[0])
        done = done && put_text(data, "unit", i->unit);
    if (!done)
        return not_made(w, what);
    *offset = H5Dget_offset(data);
    if (H5Dclose(data) < 0 || H5Fclose(file) < 0)
        return not_made(w, "the HDF5 header cannot be written");
    return FBP_OK;
}

/* Refuse to replace a file that contains other data sets, or that has the signature of HDF5 but
 * cannot be read. Files of any other content are replaced. */
static fbp_status spare_others(const struct draft *w)
{
    unsigned char head[8];
    bool there, is_hdf5 = false;
    struct fbp_hdf5_list list;
    char lost[400] = "";
    hid_t file = -1;
    uint64_t size = 0;
    int fd;

    FBP_TRY(fbp_file_exists(w->file, &there));
    if (!there)
        return FBP_OK;

    /* Find a data set of the existing file that would be lost, or that cannot be read. */
    fbp_status st = fbp_hdf5_open(w->file, w->path, &file);
    if (st == FBP_OK)
        st = fbp_hdf5_list(file, w->file, &list);
    for (size_t i = 0; st == FBP_OK && !*lost && i < list.n; i++)
        if (strcmp(list.entries[i].path + 1, w->data_set + strspn(w->data_set, "/")) != 0)
            snprintf(lost, sizeof lost, "%s", list.entries[i].path);
    const char *end = st == FBP_OK ? strstr(list.unread, " cannot be opened") : NULL;
    if (!*lost && end)
        snprintf(lost, sizeof lost, "%.*s, which cannot be opened", (int)(end - list.unread),
                 list.unread);
    if (st == FBP_ERR_NOMEM || st == FBP_ERR_IO || fbp_hdf5_system_failed())
        return st; /* the list may be incomplete */
    if (st != FBP_OK) {
        fbp_message_clear();
        FBP_TRY(fbp_open_file(w->file, &fd, &size));
        st = FBP_OK;
        for (uint64_t at = 0; st == FBP_OK && !is_hdf5 && at + sizeof head <= size;
             at = at ? 2 * at : 512) {
            st = fbp_read_at(fd, w->path, at, head, sizeof head);
            is_hdf5 = st == FBP_OK && fbp_hdf5_detect(w->file, head, sizeof head);
        }
        close(fd);
        FBP_TRY(st);
        snprintf(lost, sizeof lost, "%s", is_hdf5 ? "data sets that cannot be read" : "");
    }
    if (!*lost)
        return FBP_OK; /* fbp_hdf5_contain() closes all objects */
    return FBP_INVALID("%s: this output would replace the whole file, which %s%s; choose another "
                       "file, or remove that one first",
                       w->path, is_hdf5 ? "may hold " : "also holds ", lost);
}

/* Create an HDF5 file in memory; for fbp_hdf5_contain(). reply: its bytes before the samples. */
static fbp_status make_header(void *arg, struct fbp_blob *reply)
{
    const struct draft *w = arg;
    const size_t bytes =
        w->info->n[0] * w->info->n[1] * w->info->n[2] * fbp_type_size(w->info->type);
    haddr_t at = HADDR_UNDEF;
    void *header = NULL;
    struct stat is;

    fbp_status st = build(w, &at);
    if (st != FBP_OK) {
        fbp_hdf5_leave_open();
        if (ftruncate(w->fd, (off_t)(META_BYTES + bytes)) < 0 && errno == EFBIG) {
            /* The file is too large for the file system: replace the HDF5 library's message. */
            fbp_message_clear();
            return fbp_fail_write(w->file, EFBIG, META_BYTES + bytes);
        }
        return st;
    }
    if (fstat(w->fd, &is) < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: the file in memory for its HDF5 header cannot be examined: %s; try "
                        "again",
                        w->path, strerror(errno));
    if (at == HADDR_UNDEF || at > MAX_HEADER || (uint64_t)is.st_size != at + bytes)
        return FBP_UNSUPPORTED("%s: this version of the HDF5 library stores the samples in an "
                               "unsuitable order; write .mha instead",
                               w->path);
    FBP_TRY(fbp_alloc(&header, at, "an HDF5 header"));
    st = fbp_read_at(w->fd, w->path, 0, header, at);
    if (st == FBP_OK)
        st = fbp_blob_put(reply, header, at);
    fbp_free(header);
    FBP_TRY(st);
    return spare_others(w);
}

/* ---- in this process */

fbp_status fbp_hdf5_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out)
{
    const size_t n = fbp_member_output(path, FBP_HDF5_WRITTEN);
    struct draft draft = {
        .path = path, .data_set = path[n] && path[n + 1] ? path + n + 1 : "volume", .info = info};
    struct fbp_blob reply = {0};

    (void)compressed_bytes;
    FBP_TRY(fbp_print_path(&out->data_path, "%.*s", (int)n, path));
    draft.file = out->data_path;
    FBP_TRY(fbp_output_check(draft.file));
    /* The HDF5 file is created in memory, so nothing remains of it. Its unwritten samples need no
     * memory. */
    draft.fd = memfd_create("fbp", MFD_CLOEXEC);
    if (draft.fd < 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: a file in memory for its HDF5 header cannot be created: %s; close "
                        "other files or programs",
                        path, strerror(errno));
    snprintf(draft.sketch, sizeof draft.sketch, "/proc/self/fd/%d", draft.fd);
    const fbp_status st = fbp_hdf5_contain(path, &fbp_hdf5_limits, make_header, &draft, &reply);
    close(draft.fd);
    FBP_TRY(st);
    out->header = (char *)reply.bytes;
    out->header_bytes = reply.n;
    return FBP_OK;
}
