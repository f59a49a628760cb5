/* PATH.part, which is a file or a folder of chunks. */
#include "array/chunked.h"
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/sink.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

fbp_status fbp_sink_put(const struct fbp_sink *s, uint64_t at, const void *data, size_t n)
{
    return s->chunked ? fbp_chunked_put(s, at, data, n) : fbp_write_at(s->fd, s->part, at, data, n);
}

fbp_status fbp_sink_get(const struct fbp_sink *s, uint64_t at, void *out, size_t n)
{
    return s->chunked ? fbp_chunked_get(s, at, out, n) : fbp_read_at(s->fd, s->part, at, out, n);
}

fbp_status fbp_sink_sync(const struct fbp_sink *s)
{
    if (!s->chunked)
        return fbp_sync_file(s->fd, s->part);
    /* One call for all chunks, at the price of whatever else the file system has to write. */
    return syncfs(s->fd) < 0 ? fbp_fail_write(s->path, errno, 0) : FBP_OK;
}

fbp_status fbp_sink_part_clear(struct fbp_sink *s, const struct fbp_part_inputs *inputs, bool ours)
{
    return s->chunked ? fbp_chunked_clear(s, inputs, ours) : fbp_part_clear(inputs, s->part, ours);
}

fbp_status fbp_sink_part_create(struct fbp_sink *s)
{
    return s->chunked ? fbp_chunked_begin(s) : fbp_part_create(s->part, &s->fd);
}

fbp_status fbp_sink_part_reopen(struct fbp_sink *s, const struct fbp_part_inputs *inputs)
{
    return s->chunked ? fbp_chunked_reopen(s) : fbp_part_reopen(inputs, s->part, &s->fd);
}

fbp_status fbp_sink_part_check(const struct fbp_sink *s)
{
    struct stat is;

    if (s->chunked) /* chunks come with their slices */
        return FBP_OK;
    if (fstat(s->fd, &is) < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot look at: %s", s->part, strerror(errno));
    return (uint64_t)is.st_size >= fbp_sink_part_bytes(s)
               ? FBP_OK
               : fbp_fail(FBP_ERR_IO,
                          "%s: is too short: another program changed it while the output was "
                          "written: put it back and go on, or remove %s* and start again",
                          s->part, s->part);
}

bool fbp_sink_part_remove(const struct fbp_sink *s)
{
    if (s->chunked)
        fbp_chunked_remove(s);
    else
        unlink(s->part);
    return access(s->part, F_OK) < 0;
}
