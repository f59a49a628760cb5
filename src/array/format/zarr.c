/* Reader of OME-Zarr 0.4 and Zarr version 2, which store an array as a folder of chunk files, and
 * writer of the text files of OME-Zarr; sink_chunks.c writes the chunks; table fbp_format_zarr.
 * https://ngff.openmicroscopy.org/0.4, https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html
 * Used by: array/formats.c. */
#include "array/file/bytes.h"
#include "array/file/format.h"
#include "base/text.h"
#include "base/threads.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* First bytes of a .zarray file that fbp writes. */
#define BEGIN "{\n  \"zarr_format\": 2,\n  \"shape\": ["

enum { MAX_TEXT = 1 << 24, MOST_DIMS = 5 };
/* greatest number of chunk files that are checked for changes during the run */
enum { MOST_WATCHED = 256 };
enum { MOST_SMALL = 1000000, SMALL_BYTES = 256 };

/* The cache of decoded chunks has the size of a layer of chunks, but at least LEAST_BYTES, at most
 * CACHE_BYTES, and at least one chunk per thread. */
static const size_t CACHE_BYTES = (size_t)256 << 20;
static const size_t LEAST_BYTES = (size_t)64 << 20;

/* An opened Zarr array: the contents of .zarray except size and type, and its cache of chunks. */
struct zarr {
    int n_dims;      /* number of dimensions, at least 2; all before the last three have size 1 */
    size_t chunk[3]; /* samples x, y, z */
    bool compressed; /* by zlib or gzip */
    bool foreign;    /* other byte order */
    char separator;  /* between numbers in the name of a chunk */
    bool ours;       /* written by fbp, which omits no chunk */
    unsigned char fill[8];
    char *folder; /* folder of the array */
    int dir;      /* descriptor of the folder */
    size_t grid[3], chunk_bytes;
    struct fbp_cache cache; /* decoded chunks, if `compressed` */
};

/* ---- text files */

/* "FOLDER/NAME", malloc'ed. */
static char *in_folder(const char *folder, const char *name)
{
    const size_t n = strlen(folder);

    return fbp_format("%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

static bool has(const char *folder, const char *name)
{
    char *path = in_folder(folder, name);
    const bool is = path && access(path, F_OK) == 0;

    free(path);
    return is;
}

/* Whether a folder contains a file of a Zarr array or group, such as .zarray. */
static bool is_folder(const char *path)
{
    return has(path, ".zarray") || has(path, ".zattrs") || has(path, ".zgroup") ||
           has(path, "zarr.json");
}

/* Parse a JSON file of a Zarr array, and append it to the inputs; *out NULL: the file does not
 * exist. *ours: fbp wrote the file; ours may be NULL. */
static fbp_status read_json(fbp_source *src, const char *folder, const char *name, bool *ours,
                            cJSON **out)
{
    char *path = in_folder(folder, name), *text = NULL;
    size_t n = 0;
    fbp_status st = path ? FBP_OK : fbp_fail_nomem(strlen(folder), "a path");

    *out = NULL;
    if (st == FBP_OK && access(path, F_OK) == 0) {
        st = fbp_read_text(path, MAX_TEXT, &text, &n);
        if (st == FBP_OK)
            st = fbp_inputs_add(&src->inputs, path);
        if (st == FBP_OK)
            st = fbp_json_parse(text, n, NULL, out);
        if (st == FBP_OK && ours) /* only fbp writes JSON text with this beginning */
            *ours = strncmp(text, BEGIN, strlen(BEGIN)) == 0;
        if (st == FBP_ERR_INVALID)
            st = fbp_fail(st, "%s: is not valid JSON; the file is damaged, copy it again", path);
    }
    free(text);
    free(path);
    return st;
}

static const cJSON *item(const cJSON *of, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(of, key);
}

static const char *text_of(const cJSON *of, const char *key)
{
    const cJSON *it = item(of, key);

    return cJSON_IsString(it) ? it->valuestring : "";
}

static fbp_status refuse(const fbp_source *src, const char *what, const char *remedy)
{
    return FBP_UNSUPPORTED("%s: %s: %s", src->path, what, remedy);
}

/* Take the last three sizes of a list, x first. ones: all numbers before them must be 1. */
static fbp_status take_sizes(const fbp_source *src, const cJSON *list, const char *what, bool ones,
                             size_t out[3], int *count)
{
    const int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;

    *count = n;
    if (n < 2 || n > MOST_DIMS)
        return FBP_UNSUPPORTED(
            "%s: %s of %d dimension%s, expected [z][y][x]; store it in this shape", src->path, what,
            n, n == 1 ? "" : "s");
    out[2] = 1;
    for (int i = 0; i < n; i++) {
        const cJSON *it = cJSON_GetArrayItem(list, n - 1 - i);
        const double v = cJSON_IsNumber(it) ? it->valuedouble : 0;
        if (!(v >= 1 && v < 0x1p48) || v != floor(v))
            return FBP_INVALID("%s: %s: a size of %g is invalid; correct .zarray", src->path, what,
                               v);
        if (i < 3)
            out[i] = (size_t)v;
        else if (ones && v != 1)
            return refuse(src, "it is a series, or has several channels",
                          "store one volume, [z][y][x], as a separate array");
    }
    return FBP_OK;
}

static fbp_status take_array(fbp_source *src, const cJSON *root, struct zarr *z)
{
    static const struct {
        const char *name;
        float value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    const cJSON *compressor = item(root, "compressor"), *filters = item(root, "filters");
    const char *name = text_of(root, "dtype"), *id = text_of(compressor, "id");
    const char *separator = text_of(root, "dimension_separator");
    int n_chunks;

    if (!cJSON_IsNumber(item(root, "zarr_format")) || item(root, "zarr_format")->valuedouble != 2)
        return refuse(src, "its .zarray is not of version 2", "store it as Zarr version 2");
    FBP_TRY(take_sizes(src, item(root, "shape"), "an array", true, src->info.n, &z->n_dims));
    FBP_TRY(take_sizes(src, item(root, "chunks"), "chunks", false, z->chunk, &n_chunks));
    if (n_chunks != z->n_dims)
        return refuse(src, "its chunks have another number of dimensions than the array",
                      "the array is damaged, copy it again");

    if (name[0])
        src->info.type = fbp_type_from_numpy(name + 1, strlen(name + 1));
    if (src->info.type == FBP_TYPE_NONE)
        return FBP_UNSUPPORTED("%s: samples of type %s are not supported; store float32, float64, "
                               "or integers of 8 to 32 bits",
                               src->path, name[0] ? name : "(none)");
    z->foreign = fbp_type_size(src->info.type) > 1 && fbp_is_foreign(name[0] == '>');
    src->info.big_endian = fbp_is_foreign(false); /* samples are delivered in native order */

    if (strcmp(text_of(root, "order"), "C") != 0)
        return refuse(src, "its chunks are in Fortran order", "store them in C order");
    if (cJSON_IsArray(filters) && cJSON_GetArraySize(filters) > 0)
        return refuse(src, "its chunks have filters", "store them without filters");
    z->compressed = compressor && !cJSON_IsNull(compressor);
    if (z->compressed && strcmp(id, "zlib") != 0 && strcmp(id, "gzip") != 0)
        return FBP_UNSUPPORTED("%s: its chunks are compressed by %s, but only zlib and gzip are "
                               "supported; compress by one of these, or store the array "
                               "uncompressed (in Python compressor=None), or as .npy",
                               src->path, id[0] ? id : "an unknown codec");
    if (item(root, "dimension_separator") && strcmp(separator, ".") != 0 &&
        strcmp(separator, "/") != 0)
        return refuse(src, "its dimension_separator is neither \".\" nor \"/\"",
                      "correct it in .zarray");
    z->separator = separator[0] == '/' ? '/' : '.';

    /* The value of samples in chunks that were never written (fill_value); null counts as 0. */
    const cJSON *value = item(root, "fill_value");
    double v = cJSON_IsNumber(value) ? value->valuedouble : cJSON_IsTrue(value);
    for (size_t i = 0; cJSON_IsString(value) && i < sizeof words / sizeof *words; i++)
        if (strcmp(value->valuestring, words[i].name) == 0)
            v = (double)words[i].value;
    const int64_t integer = isnan(v) ? 0 : v < -0x1p62 || v > 0x1p62 ? 0 : (int64_t)v;
    const float single = (float)v;
    if (src->info.type == FBP_F64)
        memcpy(z->fill, &v, sizeof v);
    else if (src->info.type == FBP_F32)
        memcpy(z->fill, &single, sizeof single);
    else
        memcpy(z->fill, &integer, sizeof integer); /* little-endian: its low bytes come first */
    if (z->foreign)
        fbp_swap_bytes(z->fill, fbp_type_size(src->info.type), 1);
    return FBP_OK;
}

/* Read the text files of the array in the folder z->folder. */
static fbp_status open_array(fbp_source *src, struct zarr *z)
{
    struct fbp_array_info *info = &src->info;
    cJSON *array = NULL, *attributes = NULL;
    fbp_status st;

    FBP_TRY_GOTO(read_json(src, z->folder, ".zarray", &z->ours, &array));
    if (!array)
        FBP_TRY_GOTO(FBP_INVALID("%s: its array %s has no .zarray; copy the folder again",
                                 src->path, z->folder));
    FBP_TRY_GOTO(take_array(src, array, z));
    FBP_TRY_GOTO(read_json(src, z->folder, ".zattrs", NULL, &attributes));
    /* Read the JSON attributes with scale, offset and unit of the samples, named as in netCDF's CF
     * conventions. */
    const cJSON *scale = item(attributes, "scale_factor"), *offset = item(attributes, "add_offset");
    snprintf(info->unit, sizeof info->unit, "%s", text_of(attributes, "units"));
    if (cJSON_IsNumber(scale) || cJSON_IsNumber(offset)) {
        info->scale = cJSON_IsNumber(scale) ? scale->valuedouble : 1;
        info->offset = cJSON_IsNumber(offset) ? offset->valuedouble : 0;
    }
fail:
    cJSON_Delete(array);
    cJSON_Delete(attributes);
    return st;
}

/* ---- the image */

/* Apply OME-Zarr's list of coordinate transformations (scale, then translation; z first) to step
 * and origin. */
static void apply(const cJSON *list, int n, double step[MOST_DIMS], double origin[MOST_DIMS])
{
    const cJSON *one;

    cJSON_ArrayForEach(one, list)
    {
        const cJSON *scale = item(one, "scale"), *shift = item(one, "translation");
        for (int i = 0; i < n; i++) {
            const cJSON *a = cJSON_GetArrayItem(scale, i), *b = cJSON_GetArrayItem(shift, i);
            if (cJSON_IsNumber(a)) {
                step[i] *= a->valuedouble;
                origin[i] *= a->valuedouble;
            }
            if (cJSON_IsNumber(b))
                origin[i] += b->valuedouble;
        }
    }
}

/* Set spacing and origin, if the axes of space have units of length. */
static void take_place(fbp_source *src, const cJSON *image, const cJSON *dataset, int n)
{
    double step[MOST_DIMS] = {1, 1, 1, 1, 1}, origin[MOST_DIMS] = {0};
    struct fbp_array_info *info = &src->info;
    bool good = true;

    apply(item(dataset, "coordinateTransformations"), n, step, origin);
    apply(item(image, "coordinateTransformations"), n, step, origin);
    info->spacing_mm[2] = 1; /* of an array of two dimensions */
    for (int i = 0; i < n && i < 3; i++) {
        const int k = n - 1 - i;
        const char *unit = text_of(cJSON_GetArrayItem(item(image, "axes"), k), "unit");
        const double mm = fbp_length_unit_mm(unit, strlen(unit));
        info->spacing_mm[i] = step[k] * mm;
        info->origin_mm[i] = origin[k] * mm;
        good = good && mm != 0 && info->spacing_mm[i] > 0 && isfinite(info->spacing_mm[i]) &&
               isfinite(info->origin_mm[i]);
    }
    info->has_spacing = good;
}

/* Take spacing and origin of an array from the OME-Zarr image in the folder above it. */
static fbp_status look_above(fbp_source *src, int n_dims)
{
    size_t n = strlen(src->file), first;
    cJSON *attributes = NULL;
    const cJSON *one;

    while (n > 1 && src->file[n - 1] == '/')
        n--;
    for (first = n; first > 0 && src->file[first - 1] != '/';)
        first--;
    char *above = first ? fbp_format("%.*s", (int)first, src->file) : fbp_strdup(".");
    fbp_status st =
        above ? read_json(src, above, ".zattrs", NULL, &attributes) : fbp_fail_nomem(n, "a path");
    const cJSON *image = cJSON_GetArrayItem(item(attributes, "multiscales"), 0);
    cJSON_ArrayForEach(one, item(image, "datasets"))
    {
        const char *path = text_of(one, "path");
        if (strlen(path) == n - first && strncmp(path, src->file + first, n - first) == 0) {
            take_place(src, image, one, n_dims);
            break;
        }
    }
    cJSON_Delete(attributes);
    free(above);
    return st;
}

/* Read the description of the folder src->file, a Zarr array or an OME-Zarr image, into src->info
 * and *z. Of an OME-Zarr image, the first listed resolution level is used, which is the finest. */
static fbp_status describe(fbp_source *src, struct zarr *z)
{
    cJSON *attributes = NULL;
    fbp_status st = FBP_OK;

    if (has(src->file, ".zarray")) {
        FBP_TRY(fbp_print_path(&z->folder, "%s", src->file));
        FBP_TRY(open_array(src, z));
        return look_above(src, z->n_dims);
    }
    if (!is_folder(src->file))
        return FBP_UNSUPPORTED(
            "%s: is a file, but a Zarr array is a folder; unpack the archive, or correct the name",
            src->path);
    FBP_TRY(read_json(src, src->file, ".zattrs", NULL, &attributes));
    const cJSON *image = cJSON_GetArrayItem(item(attributes, "multiscales"), 0);
    const cJSON *dataset = cJSON_GetArrayItem(item(image, "datasets"), 0);
    const char *path = text_of(dataset, "path");
    if (path[0] && path[0] != '/' && !strstr(path, "..")) {
        z->folder = in_folder(src->file, path);
        st = z->folder ? open_array(src, z) : fbp_fail_nomem(strlen(path), "a path");
        if (st == FBP_OK)
            take_place(src, image, dataset, z->n_dims);
    } else if (has(src->file, "zarr.json")) {
        st = refuse(src, "is of Zarr version 3, but only version 2 is supported",
                    "store it as version 2 (OME-Zarr 0.4), uncompressed or by zlib (in Python "
                    "zarr_format=2 and compressor=None), or as .npy (numpy.save)");
    } else {
        st = FBP_INVALID("%s: is a Zarr group without an image (no .zarray, and no path in the key "
                         "multiscales of .zattrs); name one of its arrays, such as %s/0",
                         src->path, src->path);
    }
    cJSON_Delete(attributes);
    return st;
}

/* ---- chunks */

/* Name of a chunk's file in the folder of the array. */
struct chunk {
    char name[160];
};

/* Get the file name of chunk k; k counts chunks with x fastest. */
static struct chunk chunk_of(const struct zarr *z, size_t k)
{
    const size_t at[3] = {k % z->grid[0], k / z->grid[0] % z->grid[1], k / z->grid[0] / z->grid[1]};
    struct chunk out;
    size_t n = 0;

    for (int i = z->n_dims - 1; i >= 0; i--)
        n += (size_t)snprintf(out.name + n, sizeof out.name - n, "%zu%c", i < 3 ? at[i] : 0,
                              i ? z->separator : '\0');
    return out;
}

/* Open the file of a chunk; *fd -1: there is no such file, because the chunk was never written. */
static fbp_status open_chunk(const struct zarr *z, const struct chunk *c, int *fd, uint64_t *bytes)
{
    struct stat is;

    do
        *fd = openat(z->dir, c->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0 && errno == ENOENT)
        return FBP_OK;
    if (*fd >= 0 && fstat(*fd, &is) == 0 && S_ISREG(is.st_mode)) {
        *bytes = (uint64_t)is.st_size;
        return FBP_OK;
    }
    const int error = *fd < 0 ? errno : 0;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return fbp_fail(FBP_ERR_IO, "%s/%s: cannot open: %s", z->folder, c->name,
                    error ? strerror(error) : "it is not a regular file");
}

static void fill(const struct zarr *z, size_t size, size_t n, unsigned char *out)
{
    for (size_t i = 0; i < n; i++)
        memcpy(out + i * size, z->fill, size);
}

static fbp_status damaged(const struct zarr *z, const struct chunk *c, const char *how)
{
    return FBP_INVALID("%s/%s: %s; the chunk is damaged, copy it again", z->folder, c->name, how);
}

/* Decompress chunk k; callback of fbp_cache_take() for chunks that are not in the cache. */
static fbp_status load(void *user, size_t k, void *out)
{
    const fbp_source *src = user;
    const struct zarr *z = src->state;
    const struct chunk c = chunk_of(z, k);
    const size_t size = fbp_type_size(src->info.type);
    z_stream s = {.next_out = out, .avail_out = (uInt)z->chunk_bytes};
    void *packed = NULL;
    uint64_t bytes = 0;
    fbp_status st;
    int fd;

    FBP_TRY(open_chunk(z, &c, &fd, &bytes));
    if (fd < 0) {
        fill(z, size, z->chunk_bytes / size, out);
        return FBP_OK;
    }
    if (bytes > 2 * (uint64_t)z->chunk_bytes + 4096)
        FBP_TRY_GOTO(damaged(z, &c, "is larger than a compressed chunk can be"));
    FBP_TRY_GOTO(fbp_alloc(&packed, (size_t)bytes + 1, "a compressed chunk"));
    FBP_TRY_GOTO(fbp_read_at(fd, z->folder, 0, packed, (size_t)bytes));
    s.next_in = packed;
    s.avail_in = (uInt)bytes;
    if (inflateInit2(&s, 15 + 32) != Z_OK) /* zlib's frame or gzip's */
        FBP_TRY_GOTO(fbp_fail_nomem(1 << 16, "zlib"));
    const int code = inflate(&s, Z_FINISH);
    inflateEnd(&s);
    if (code != Z_STREAM_END || s.avail_out != 0)
        st = damaged(z, &c, "cannot be decompressed to the size of a chunk");
fail:
    fbp_free(packed);
    close(fd);
    return st;
}

/* Read rows [y0, y0 + n) of slice `zc` of chunk k; a row has the width of the chunk. */
static fbp_status read_chunk(fbp_source *src, size_t k, size_t zc, size_t y0, size_t n,
                             unsigned char *out)
{
    struct zarr *z = src->state;
    const size_t size = fbp_type_size(src->info.type), row = z->chunk[0] * size;
    const size_t at = (zc * z->chunk[1] + y0) * row;
    struct fbp_cached *cached;
    uint64_t bytes = 0;
    int fd;

    if (z->compressed) {
        FBP_TRY(fbp_cache_take(&z->cache, k, load, src, &cached));
        memcpy(out, (const char *)fbp_cache_data(cached) + at, n * row);
        fbp_cache_give_back(&z->cache, cached);
        return FBP_OK;
    }
    const struct chunk c = chunk_of(z, k);
    FBP_TRY(open_chunk(z, &c, &fd, &bytes));
    if (fd < 0) {
        fill(z, size, n * z->chunk[0], out);
        return FBP_OK;
    }
    const fbp_status st = bytes == z->chunk_bytes
                              ? fbp_read_at(fd, z->folder, at, out, n * row)
                              : damaged(z, &c, "has the wrong size for a chunk");
    close(fd);
    return st;
}

static fbp_status read_rows(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out)
{
    const struct zarr *z = src->state;
    const size_t *c = z->chunk, size = fbp_type_size(src->info.type), nx = src->info.n[0];
    fbp_status st = FBP_OK;
    void *piece = NULL;
    size_t n;

    FBP_TRY(fbp_alloc(&piece, c[0] * c[1] * size, "rows of a chunk"));
    for (size_t y = row0; y < row0 + n_rows && st == FBP_OK; y += n) {
        const size_t y0 = y % c[1];
        n = c[1] - y0 < row0 + n_rows - y ? c[1] - y0 : row0 + n_rows - y;
        for (size_t kx = 0; kx < z->grid[0] && st == FBP_OK; kx++) {
            const size_t k = (slice / c[2] * z->grid[1] + y / c[1]) * z->grid[0] + kx;
            const size_t x = kx * c[0], width = nx - x < c[0] ? nx - x : c[0];
            st = read_chunk(src, k, slice % c[2], y0, n, piece);
            for (size_t j = 0; j < n && st == FBP_OK; j++)
                memcpy((char *)out + ((y - row0 + j) * nx + x) * size,
                       (char *)piece + j * c[0] * size, width * size);
        }
    }
    fbp_free(piece);
    if (st == FBP_OK && z->foreign)
        fbp_swap_bytes(out, size, n_rows * nx);
    return st;
}

static void close_zarr(fbp_source *src)
{
    struct zarr *z = src->state;

    if (z->dir >= 0)
        close(z->dir);
    fbp_cache_close(&z->cache);
    free(z->folder);
    free(z);
}

/* Count the chunk files in the open folder `fd` and in its subfolders, per layer of chunks along z:
 * there[grid[2]]. d: number of indices (one per dimension) that the path of `fd` still lacks. */
static fbp_status count_chunks(const struct zarr *z, int fd, int d, size_t layer, size_t *there)
{
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    fbp_status st = FBP_OK;
    const struct dirent *e;

    if (!dir)
        return fbp_fail(FBP_ERR_IO, "%s: cannot be listed: %s; make it readable", z->folder,
                        strerror(errno));
    while (st == FBP_OK && (errno = 0, e = readdir(dir))) {
        const char *at = e->d_name;
        int i = d;
        for (char *end; i > 0 && isdigit((unsigned char)*at); at = end + (*end == z->separator)) {
            const size_t k = strtoull(at, &end, 10), most = --i < 3 ? z->grid[i] : 1;
            if (k >= most || (at[0] == '0' && end > at + 1))
                break;
            layer = i == 2 ? k : layer;
        }
        if (*at || i == d || (i > 0 && z->separator != '/')) /* not a chunk */
            continue;
        const int below =
            i ? openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (i == 0)
            there[layer]++;
        else if (below >= 0 || errno != ENOTDIR)
            st = count_chunks(z, below, i, layer, there);
    }
    closedir(dir);
    return st == FBP_OK ? fbp_check_cancelled() : st;
}

/* Describe missing chunks in info.missing: either the array is sparse, or its copy is incomplete.
 * If fbp wrote the array, they are an error, because fbp writes all chunks. */
static fbp_status note_missing(fbp_source *src)
{
    const struct zarr *z = src->state;
    const size_t layer = z->grid[0] * z->grid[1], all = layer * z->grid[2];
    const int fd = openat(z->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned char *lacks = NULL;
    size_t *there = NULL, n = 0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_calloc((void **)&there, z->grid[2], sizeof *there, "a table of chunks"));
    FBP_TRY_GOTO(fbp_calloc((void **)&lacks, src->info.n[2], 1, "a table of slices"));
    FBP_TRY_GOTO(count_chunks(z, fd, z->n_dims, 0, there));
    for (size_t i = 0; i < src->info.n[2]; i++)
        lacks[i] = there[i / z->chunk[2]] < layer;
    for (size_t i = 0; i < z->grid[2]; i++)
        n += there[i] < layer ? layer - there[i] : 0;
    if (n > 0)
        fbp_describe_missing(src->path, n, all, "chunks are missing", lacks, &src->info);
    if (n > 0 && z->ours)
        st = FBP_INVALID("%s: %zu of %zu chunks are missing, although fbp wrote all of them; the "
                         "copy is incomplete, copy it again",
                         src->path, n, all);
fail:
    free(lacks);
    free(there);
    return st;
}

static fbp_status open_zarr(fbp_source *src)
{
    size_t bytes, all;
    struct zarr *z = NULL;

    FBP_TRY(fbp_calloc((void **)&z, 1, sizeof *z, "an array of chunks"));
    z->dir = -1;
    fbp_cache_open(&z->cache);
    src->state = z;
    src->close = close_zarr;
    src->read = read_rows;
    FBP_TRY(describe(src, z));
    z->dir = open(z->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (z->dir < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot open: %s", z->folder, strerror(errno));

    /* Sizes and memory of the chunks, and a cache for compressed ones. */
    bytes = fbp_type_size(src->info.type);
    for (int i = 0; i < 3; i++) {
        z->grid[i] = (src->info.n[i] + z->chunk[i] - 1) / z->chunk[i];
        if (__builtin_mul_overflow(bytes, z->chunk[i], &bytes) || bytes > UINT32_MAX)
            return FBP_UNSUPPORTED("%s: its chunks are larger than 4 GiB; store smaller chunks",
                                   src->path);
    }
    const double n_chunks = (double)z->grid[0] * (double)z->grid[1] * (double)z->grid[2];
    if (n_chunks > MOST_SMALL && bytes < SMALL_BYTES)
        return FBP_UNSUPPORTED("%s: %.3g chunks of %zu bytes in separate files take too long to "
                               "read; store chunks of %d bytes or more",
                               src->path, n_chunks, bytes, SMALL_BYTES);
    all = z->grid[0] * z->grid[1] * z->grid[2];
    z->chunk_bytes = bytes;
    src->reader_bytes = bytes / z->chunk[2]; /* rows of one slice of a chunk */
    if (z->compressed) {
        const size_t layer = z->grid[0] * z->grid[1] * bytes, threads = (size_t)fbp_core_count();
        const size_t room = layer < LEAST_BYTES   ? LEAST_BYTES
                            : layer < CACHE_BYTES ? layer
                                                  : CACHE_BYTES;
        size_t n = room / bytes;
        n = n < threads ? threads : n < FBP_CACHE_MOST ? n : FBP_CACHE_MOST;
        n = n < all ? n : all;
        src->unpacks = true;
        src->held_bytes = (uint64_t)n * bytes;
        src->reader_bytes += (uint64_t)bytes * 2; /* bound for the compressed bytes of a chunk */
        FBP_TRY(fbp_cache_make(&z->cache, n, bytes));
    }
    FBP_TRY(note_missing(src));

    /* Chunks are inputs that must not change. At most 256 of their files are checked, because
     * examining many files takes longer than reading a slice. */
    const size_t n_watched = all < MOST_WATCHED ? all : MOST_WATCHED;
    const double step = n_watched > 1 ? (double)(all - 1) / (double)(n_watched - 1) : 0;
    for (size_t i = 0; i < n_watched; i++) {
        const struct chunk c = chunk_of(z, (size_t)((double)i * step + 0.5));
        if (faccessat(z->dir, c.name, F_OK, 0) < 0)
            continue;
        char *path = NULL;
        FBP_TRY(fbp_print_path(&path, "%s/%s", z->folder, c.name));
        const fbp_status st = fbp_inputs_add(&src->inputs, path);
        free(path);
        FBP_TRY(st);
    }
    return FBP_OK;
}

/* ---- writing the text files */

/* JSON attributes that make the folder an OME-Zarr image. The centre of voxel 0 of a resolution
 * level is the mean position of the full-resolution voxels that it covers. */
static char *multiscales(const struct fbp_array_info *info, bool placed,
                         const struct fbp_levels *levels)
{
    const char *unit = placed ? ", \"unit\": \"millimeter\"" : "";
    char *datasets = fbp_strdup(""), *text = NULL, a[120], b[120];

    for (size_t k = 0; datasets && k < levels->n_levels; k++) {
        double step[3], origin[3];
        for (int i = 0; i < 3; i++) {
            const size_t n = levels->level[k].step[i];
            const double spacing = placed ? info->spacing_mm[i] : 1;
            step[2 - i] = spacing * (double)n; /* z first */
            origin[2 - i] = (placed ? info->origin_mm[i] : 0) + spacing * (double)(n - 1) / 2;
        }
        char *more =
            fbp_format("%s%s        {\n"
                       "          \"path\": \"%zu\",\n"
                       "          \"coordinateTransformations\": [\n"
                       "            {\"type\": \"scale\", \"scale\": [%s]},\n"
                       "            {\"type\": \"translation\", \"translation\": [%s]}\n"
                       "          ]\n"
                       "        }",
                       datasets, k ? ",\n" : "", k, fbp_triple_text(a, sizeof a, ", ", step),
                       fbp_triple_text(b, sizeof b, ", ", origin));
        free(datasets);
        datasets = more;
    }
    if (datasets)
        text = fbp_format("{\n"
                          "  \"multiscales\": [\n"
                          "    {\n"
                          "      \"version\": \"0.4\",\n"
                          "      \"name\": \"volume\",\n"
                          "      \"type\": \"mean\",\n"
                          "      \"axes\": [\n"
                          "        {\"name\": \"z\", \"type\": \"space\"%s},\n"
                          "        {\"name\": \"y\", \"type\": \"space\"%s},\n"
                          "        {\"name\": \"x\", \"type\": \"space\"%s}\n"
                          "      ],\n"
                          "      \"datasets\": [\n%s\n      ]\n"
                          "    }\n"
                          "  ]\n"
                          "}\n",
                          unit, unit, unit, datasets);
    free(datasets);
    return text;
}

static char *array(enum fbp_type type, const struct fbp_levels *levels, size_t k, int compression)
{
    const size_t *n = levels->level[k].n, *c = levels->chunk;
    char compressor[60] = "null";

    if (compression)
        snprintf(compressor, sizeof compressor, "{\"id\": \"zlib\", \"level\": %d}", compression);
    return fbp_format(BEGIN "%zu, %zu, %zu],\n"
                            "  \"chunks\": [%zu, %zu, %zu],\n"
                            "  \"dtype\": \"%c%s\",\n"
                            "  \"order\": \"C\",\n"
                            "  \"fill_value\": 0,\n"
                            "  \"compressor\": %s,\n"
                            "  \"filters\": null,\n"
                            "  \"dimension_separator\": \"/\"\n"
                            "}\n",
                      n[2], n[1], n[0], c[2], c[1], c[0], fbp_type_size(type) > 1 ? '<' : '|',
                      fbp_type_to_numpy(type), compressor);
}

/* JSON attributes of an array: unit and scale, named as in the CF conventions. The unit may be any
 * text. */
static char *attributes(const struct fbp_array_info *info)
{
    cJSON *value = info->unit[0] ? cJSON_CreateString(info->unit) : NULL;
    char *unit = cJSON_PrintUnformatted(value), *out = NULL;
    char a[32], b[32], scale[120] = "";

    if (info->scale != 0)
        snprintf(scale, sizeof scale, ",\n  \"scale_factor\": %s,\n  \"add_offset\": %s",
                 fbp_number_text(a, info->scale), fbp_number_text(b, info->offset));
    if (unit || !info->unit[0])
        out = fbp_format("{\n  \"_ARRAY_DIMENSIONS\": [\"z\", \"y\", \"x\"]%s%s%s\n}\n",
                         info->unit[0] ? ",\n  \"units\": " : "", info->unit[0] ? unit : "", scale);
    cJSON_free(unit);
    cJSON_Delete(value);
    return out;
}

static fbp_status text(const struct fbp_array_info *info, const struct fbp_levels *levels,
                       int compression, size_t k, char **name, char **out)
{
    enum { ROOM = 600 };
    const size_t level = k / 2 - 1;
    bool placed;

    *name = *out = NULL;
    FBP_TRY(fbp_sink_spacing("OME-Zarr", info, &placed));
    if (k >= 2 && level >= levels->n_levels)
        return FBP_OK;
    if (k < 2) {
        *name = fbp_strdup(k ? ".zattrs" : ".zgroup");
        *out = k ? multiscales(info, placed, levels) : fbp_strdup("{\n  \"zarr_format\": 2\n}\n");
    } else {
        *name = fbp_format("%zu/%s", level, k % 2 ? ".zattrs" : ".zarray");
        *out = k % 2 ? attributes(info) : array(info->type, levels, level, compression);
    }
    return *name && *out ? FBP_OK : fbp_fail_nomem(ROOM, "an OME-Zarr header");
}

/* Set the file name of a Zarr output, which has no header; text() creates the JSON files beside the
 * chunks. */
static fbp_status layout(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out)
{
    bool given;

    (void)compressed_bytes;
    FBP_TRY(fbp_sink_spacing(path, info, &given));
    return fbp_layout_one(out, path);
}

static const struct fbp_chunk_format chunks = {.text = text};

static const struct fbp_sink_format files[] = {
    {.extensions = ".ome.zarr .zarr", .layout = layout, .can_compress = true, .chunks = &chunks},
    {0}};

const struct fbp_format fbp_format_zarr = {
    .name = "zarr",
    .title = "OME-Zarr",
    .extensions = ".ome.zarr .zarr",
    .is_folder = is_folder,
    .open = open_zarr,
    .not_growing = "--follow cannot read Zarr arrays; start when all views are complete",
    .files = files,
};
