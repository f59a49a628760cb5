/* An HDF5 file around the samples of a sink: the library makes it without a sample (a hole is in
 * their place), and what stands before them is the header. */
#include "array/file/bytes.h"
#include "array/file/frames.h"
#include "array/file/member.h"
#include "array/file/outfile.h"
#include "array/format/hdf5/hdf5.h"
#include "array/format/hdf5/hdf5_lib.h"
#include "array/format/optional.h"

#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that the library drafts in memory, without samples. */
struct draft {
    const char *path, *file, *data_set;
    int fd;
    char sketch[40]; /* its name, for the library */
    const struct fbp_array_info *info;
};

/* All of the metadata, so that the samples come behind it. */
enum { META_BYTES = 16384, MAX_HEADER = 1 << 20 };

static bool put_doubles(hid_t data, const char *name, hid_t space, const double *v)
{
    const hid_t a = H5Acreate2(data, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    const bool done = H5Awrite(a, H5T_NATIVE_DOUBLE, v) >= 0;

    H5Aclose(a);
    H5Sclose(space);
    return done;
}

static bool put_numbers(hid_t data, const char *name, const double v[3])
{
    const hsize_t n = 3;

    return put_doubles(data, name, H5Screate_simple(1, &n, NULL), v);
}

static bool put_number(hid_t data, const char *name, double v)
{
    return put_doubles(data, name, H5Screate(H5S_SCALAR), &v);
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

static bool put_attributes(hid_t data, const struct fbp_array_info *i)
{
    bool given = true, done;

    for (int k = 0; k < 3; k++)
        given = given && i->spacing_mm[k] > 0 && isfinite(i->spacing_mm[k]) &&
                isfinite(i->origin_mm[k]);
    done = put_text(data, "row_order", "bottom-up") &&
           put_text(data, "axes", fbp_array_frames(i) > 1 ? "frame:z:y:x" : "z:y:x");
    if (given)
        done = done && put_numbers(data, "voxel_mm", i->spacing_mm) &&
               put_numbers(data, "origin_mm", i->origin_mm);
    if (i->history[0])
        done = done && put_text(data, "history", i->history);
    if (i->scale != 0)
        done = done && put_number(data, FBP_HDF5_SCALE, i->scale) &&
               put_number(data, FBP_HDF5_OFFSET, i->offset);
    return i->unit[0] ? done && put_text(data, "unit", i->unit) : done;
}

/* The groups above a data set, without the times that the library would give to those it makes by
 * itself: the same volume is the same file. */
static void create_groups(hid_t file, const char *data_set)
{
    const hid_t how = H5Pcreate(H5P_GROUP_CREATE);
    char path[1024];

    H5Pset_obj_track_times(how, 0);
    for (const char *slash = data_set; (slash = strchr(slash + 1, '/'));) {
        const int n = snprintf(path, sizeof path, "%.*s", (int)(slash - data_set), data_set);
        if (n >= (int)sizeof path) /* made with its data set */
            break;
        const hid_t group = H5Gcreate2(file, path, H5P_DEFAULT, how, H5P_DEFAULT);
        if (group >= 0) /* "a//b" names one twice */
            H5Gclose(group);
    }
    H5Pclose(how);
}

/* Contiguous, at its place from the start, but not written. */
static bool place_here(hid_t how)
{
    return H5Pset_layout(how, H5D_CONTIGUOUS) >= 0 &&
           H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY) >= 0 &&
           H5Pset_fill_time(how, H5D_FILL_TIME_NEVER) >= 0;
}

static hid_t create(hid_t file, const struct draft *w)
{
    const bool series = fbp_array_frames(w->info) > 1;
    const hsize_t n[4] = {w->info->frames, fbp_frame_slices(w->info), w->info->n[1], w->info->n[0]};
    const hid_t space = series ? H5Screate_simple(4, n, NULL) : H5Screate_simple(3, n + 1, NULL);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);

    const hid_t type = fbp_hdf5_type(w->info->type);
    const bool placed = place_here(how);
    create_groups(file, w->data_set);
    H5Pset_obj_track_times(how, 0);
    H5Pset_create_intermediate_group(links, 1);
    const hid_t data =
        placed ? H5Dcreate2(file, w->data_set, type, space, links, how, H5P_DEFAULT) : -1;
    H5Pclose(links);
    H5Pclose(how);
    H5Sclose(space);
    return data;
}

/* The draft is in memory. */
static const char *remedy_of(int error)
{
    if (error == EMFILE || error == ENFILE)
        return ": close other programs, or raise the number of open files (ulimit -n)";
    return error == ENOMEM || error == ENOSPC ? ": close other programs" : "";
}

/* The stdio driver keeps the system's reason to itself, but leaves it in errno, among others that
 * are none. */
static fbp_status not_made(const struct draft *w, const char *what)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EIO, EFBIG, EMFILE, ENFILE, ENOMEM};
    const int error = errno;
    char why[200];

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (error == reasons[i])
            return fbp_fail(error == ENOMEM ? FBP_ERR_NOMEM : FBP_ERR_IO, "%s: %s: %s%s", w->path,
                            what, strerror(error), remedy_of(error));
    fbp_hdf5_reason(why, sizeof why);
    return fbp_fail(FBP_ERR_INVALID, "%s: %s%s", w->path, what,
                    *why ? why : ": there may not be enough memory");
}

static fbp_status build(const struct draft *w, haddr_t *offset)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), how = H5Pcreate(H5P_FILE_CREATE);
    char what[120];

    snprintf(what, sizeof what, "the data set \"%.80s\" cannot be created", w->data_set);
    errno = 0;
    H5Pset_fapl_stdio(access); /* the usual driver resolves links, and the draft has only one */
    H5Pset_meta_block_size(access, META_BYTES);
    H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    H5Pset_obj_track_times(how, 0); /* of the root group */
    fbp_hdf5_no_locks(access);
    const hid_t file = H5Fcreate(w->sketch, H5F_ACC_TRUNC, how, access);
    if (file < 0) /* the library forgets why at its next call */
        return not_made(w, what);
    H5Pclose(access);
    H5Pclose(how);
    const hid_t data = create(file, w);
    if (data < 0 || !put_attributes(data, w->info))
        return not_made(w, what);
    *offset = H5Dget_offset(data);
    if (H5Dclose(data) < 0 || H5Fclose(file) < 0)
        return not_made(w, "the HDF5 header cannot be written");
    return FBP_OK;
}

/* Is there the mark of an HDF5 file, at 0 or behind a user block, whatever else the file is? */
static fbp_status is_marked(const struct draft *w, bool *is)
{
    unsigned char head[8];
    fbp_status st = FBP_OK;
    uint64_t size = 0;
    int fd;

    *is = false;
    FBP_TRY(fbp_open_file(w->file, &fd, &size));
    for (uint64_t at = 0; st == FBP_OK && !*is && at + sizeof head <= size;
         at = at ? 2 * at : 512) {
        st = fbp_read_at(fd, w->path, at, head, sizeof head);
        *is = st == FBP_OK && fbp_hdf5_detect(w->file, head, sizeof head);
    }
    close(fd);
    return st;
}

/* What is lost with the file, "" if nothing is; what cannot be opened is. */
static fbp_status find_others(const struct draft *w, char *lost, size_t n)
{
    struct fbp_hdf5_list list;
    hid_t file = -1;

    lost[0] = '\0';
    FBP_TRY(fbp_hdf5_open(w->file, w->path, &file));
    FBP_TRY(fbp_hdf5_list(file, w->file, &list));
    for (size_t i = 0; !*lost && i < list.n; i++)
        if (strcmp(list.entries[i].path + 1, w->data_set + strspn(w->data_set, "/")) != 0)
            snprintf(lost, n, "%s", list.entries[i].path);
    const char *end = strstr(list.unread, " cannot be opened");
    if (!*lost && end)
        snprintf(lost, n, "%.*s, which cannot be opened", (int)(end - list.unread), list.unread);
    return FBP_OK;
}

/* The file is replaced as a whole: other data sets in it would be lost, and so might be what the
 * library cannot read.  What is no HDF5 file is replaced as any other file is. */
static fbp_status spare_others(const struct draft *w)
{
    char lost[400];
    bool there, is_hdf5 = false;

    FBP_TRY(fbp_is_there(w->file, &there));
    if (!there)
        return FBP_OK;
    const fbp_status st = find_others(w, lost, sizeof lost);
    if (st == FBP_ERR_NOMEM || st == FBP_ERR_IO || fbp_hdf5_system_failed())
        return st; /* there may be others */
    if (st != FBP_OK) {
        fbp_message_clear();
        FBP_TRY(is_marked(w, &is_hdf5));
        snprintf(lost, sizeof lost, "%s", is_hdf5 ? "data sets that cannot be read" : "");
    }
    if (!*lost)
        return FBP_OK; /* the child ends behind this: what is open or allocated goes with it */
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: this output would replace the whole file, which %s%s: choose another "
                    "file, or remove that one first",
                    w->path, is_hdf5 ? "may hold " : "also holds ", lost);
}

/* After a failure: a file that must not become so large has a sentence of its own. */
static fbp_status check_size(const struct draft *w, size_t bytes)
{
    if (ftruncate(w->fd, (off_t)bytes) == 0 || errno != EFBIG)
        return FBP_OK;
    fbp_message_clear();
    return fbp_fail_write(w->file, EFBIG, bytes);
}

/* In a child: the file without its samples; the reply is what stands before them. */
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
        FBP_TRY(check_size(w, META_BYTES + bytes));
    }
    FBP_TRY(st);
    if (fstat(w->fd, &is) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: the HDF5 header is lost: %s", w->path, strerror(errno));
    if (at == HADDR_UNDEF || at > MAX_HEADER || (uint64_t)is.st_size != at + bytes)
        return fbp_fail(FBP_ERR_UNSUPPORTED,
                        "%s: this HDF5 library does not put the samples last: write .mha", w->path);
    FBP_TRY(fbp_alloc(&header, at, "an HDF5 header"));
    st = fbp_read_at(w->fd, w->path, 0, header, at);
    if (st == FBP_OK)
        st = fbp_blob_put(reply, header, at);
    fbp_free(header);
    FBP_TRY(st);
    return spare_others(w);
}

/* The library drafts into memory that has no name, and of which a hole takes nothing: whatever
 * happens, nothing of it is left. */
static fbp_status open_memory(struct draft *w)
{
    w->fd = memfd_create("fbp", MFD_CLOEXEC);
    if (w->fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s: no memory to draft its header: %s", w->path,
                        strerror(errno));
    snprintf(w->sketch, sizeof w->sketch, "/proc/self/fd/%d", w->fd);
    return FBP_OK;
}

static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    const size_t n = fbp_member_output(path, FBP_HDF5_WRITTEN);
    struct draft draft = {
        .path = path, .data_set = path[n] && path[n + 1] ? path + n + 1 : "volume", .info = info};
    struct fbp_blob reply = {0};

    (void)compressed_bytes;
    draft.file = out->data_path = fbp_format("%.*s", (int)n, path);
    if (!draft.file)
        return fbp_fail_nomem(n, "a path");
    FBP_TRY(fbp_output_check(draft.file));
    FBP_TRY(open_memory(&draft));
    const fbp_status st = fbp_hdf5_contain(path, &fbp_hdf5_limits, make_header, &draft, &reply);
    close(draft.fd);
    FBP_TRY(st);
    out->header = (char *)reply.bytes;
    out->header_bytes = reply.n;
    return FBP_OK;
}

const struct fbp_sink_format fbp_hdf5_files[] = {
    {.extensions = FBP_HDF5_WRITTEN, .layout = layout, .frames = true}, {0}};
