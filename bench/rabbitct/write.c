/* Writes RabbitCT data sets as another version, or in separate files. Called by
 * convert_command.c and make.c.
 * Used by: convert_command.c, make.c, result.c. */
#include "array/names.h"
#include "bench/rabbitct/rabbitct.h"

#include "array/file/bytes.h"
#include "base/base.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

fbp_status fbp_rabbitct_put(struct fbp_outfile *out, const void *data, size_t n)
{
    if (fwrite(data, 1, n, out->f) != n)
        return fbp_fail(FBP_ERR_IO,
                        "%s: cannot write: %s: check the free space and the permissions", out->path,
                        strerror(errno));
    return FBP_OK;
}

fbp_status fbp_rabbitct_put_header(struct fbp_outfile *out, const struct fbp_rabbitct_info *info)
{
    const uint32_t head[4] = {2, (uint32_t)info->n_columns, (uint32_t)info->n_rows,
                              (uint32_t)info->n_views};
    const size_t skip = info->version == 2 ? 0 : 1;

    FBP_TRY(fbp_rabbitct_put(out, head + skip, (4 - skip) * sizeof *head));
    return fbp_rabbitct_put(out, info->hu, sizeof info->hu);
}

/* An opened data set, and room for a chunk of it. */
struct input {
    const char *path;
    int fd;
    struct fbp_rabbitct_info info;
    struct fbp_file_states watch;
    char *chunk;
};

static void input_close(struct input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    fbp_file_states_clear(&in->watch);
    free(in->chunk);
}

static fbp_status input_open(struct input *in, const char *path)
{
    uint64_t size = 0;
    fbp_status st = FBP_OK;

    *in = (struct input){.path = path, .fd = -1};
    FBP_TRY_GOTO(fbp_watch_array(&in->watch, path));
    FBP_TRY_GOTO(fbp_open_file(path, &in->fd, &size));
    FBP_TRY_GOTO(fbp_rabbitct_read_info(in->fd, path, size, &in->info));
    FBP_TRY_GOTO(fbp_calloc((void **)&in->chunk, CHUNK, 1, "a piece of a file"));
    if (in->info.matrices_only)
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: holds matrices but no images: give the data set they belong to", path);
fail:
    if (st != FBP_OK)
        input_close(in);
    return st;
}

/* Copy n bytes at offset `at` of the input to the end of the output. */
static fbp_status copy(const struct input *in, uint64_t at, uint64_t n, struct fbp_outfile *out)
{
    while (n > 0) {
        const size_t part = n < CHUNK ? (size_t)n : CHUNK;
        FBP_TRY(fbp_read_at(in->fd, in->path, at, in->chunk, part));
        FBP_TRY(fbp_rabbitct_put(out, in->chunk, part));
        at += part;
        n -= part;
    }
    return FBP_OK;
}

/* Write a header of `version` (0: none) and the bytes [from, to) of the input. */
static fbp_status write_part(const struct input *in, const char *output, int version, uint64_t from,
                             uint64_t to)
{
    struct fbp_rabbitct_info info = in->info;
    struct fbp_outfile out = {0};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_outfile_open(&out, output));
    info.version = version;
    if (version > 0)
        FBP_TRY_GOTO(fbp_rabbitct_put_header(&out, &info));
    FBP_TRY_GOTO(copy(in, from, to - from, &out));
    FBP_TRY_GOTO(fbp_file_states_check(&in->watch));
    FBP_TRY_GOTO(fbp_outfile_finish(&out));
fail:
    fbp_outfile_clear(&out);
    return st;
}

fbp_status fbp_rabbitct_convert(const char *path, const char *output, int version)
{
    struct input in;

    fbp_message_clear();
    if (version != 1 && version != 2)
        return fbp_fail(FBP_ERR_INVALID, "rabbitct: version %d is unknown: choose 1 or 2", version);
    FBP_TRY(input_open(&in, path));
    const fbp_status st = write_part(&in, output, version, in.info.header_bytes, in.info.bytes);
    input_close(&in);
    return st;
}

static fbp_status write_geometry(const struct input *in, const char *output)
{
    struct fbp_rabbitct_info info = in->info;
    struct fbp_outfile out = {0};
    fbp_status st = FBP_OK;

    FBP_TRY_GOTO(fbp_outfile_open(&out, output));
    info.version = 1;
    FBP_TRY_GOTO(fbp_rabbitct_put_header(&out, &info));
    for (size_t k = 0; k < info.n_views; k++)
        FBP_TRY_GOTO(copy(in, fbp_rabbitct_view(&in->info, k), FBP_RABBITCT_MATRIX, &out));
    FBP_TRY_GOTO(fbp_outfile_finish(&out));
fail:
    fbp_outfile_clear(&out);
    return st;
}

static fbp_status split(const struct input *in, char *const names[2 + FBP_RABBITCT_REFERENCES])
{
    const struct fbp_rabbitct_info *info = &in->info;
    uint64_t at = fbp_rabbitct_view(info, info->n_views);

    FBP_TRY(write_part(in, names[0], 1, info->header_bytes, at));
    FBP_TRY(write_geometry(in, names[1]));
    for (size_t i = 0; i < info->n_references; i++) {
        const uint64_t side = fbp_rabbitct_side(i), end = at + 2 * side * side * side;
        FBP_TRY(write_part(in, names[2 + i], 0, at, end));
        at = end;
    }
    return FBP_OK;
}

/* Write the parts into their folder; a new folder is removed again after a failure. */
static fbp_status split_into_folder(const struct input *in,
                                    char *const names[2 + FBP_RABBITCT_REFERENCES])
{
    char *folder = NULL;
    bool made = false;
    fbp_status st = fbp_output_folder(names[0], &folder, &made);

    if (st == FBP_OK)
        st = split(in, names);
    if (st != FBP_OK && made)
        rmdir(folder);
    free(folder);
    return st;
}

fbp_status fbp_rabbitct_split(const char *path, const char *folder)
{
    char *names[2 + FBP_RABBITCT_REFERENCES] = {
        fbp_format("%s/RabbitInput.rct", folder),  fbp_format("%s/RabbitGeometry.rct", folder),
        fbp_format("%s/Reference128.vol", folder), fbp_format("%s/Reference256.vol", folder),
        fbp_format("%s/Reference512.vol", folder), fbp_format("%s/Reference1024.vol", folder)};
    struct input in = {.fd = -1};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!names[i]) {
            st = fbp_fail_nomem(strlen(folder), "a path");
            goto fail;
        }
    FBP_TRY_GOTO(input_open(&in, path));
    st = split_into_folder(&in, names);
    input_close(&in);
fail:
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        free(names[i]);
    return st;
}
