/*
 * Reads and writes the result files of RabbitCT's runners.  Called by run_command.c and text.c:
 *
 *     int32 magic; v2: int32 2; int32 L, N; uint64 us[N]; float32 slice[L][L];
 *     float64 mse, max; uint32 histogram[11]; int32 end
 * Used by: run_command.c, text.c.
 */
#include "bench/rabbitct/rabbitct.h"

#include "array/file/bytes.h"
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* First and last number, by version. */
static const int32_t magic[3] = {0, 591984, 531982}, end_magic[3] = {0, 489195, 289135};

enum { MOST_SIZE = 1 << 13, MOST_VIEWS = 1 << 20, TAIL = 2 * 8 + FBP_RABBITCT_BINS * 4 + 4 };

static fbp_status put_result(struct fbp_outfile *out, const struct fbp_rabbitct_result *r)
{
    const int32_t head[4] = {magic[r->version], 2, (int32_t)r->size, (int32_t)r->n_views};

    FBP_TRY(fbp_rabbitct_put(out, head, sizeof *head));
    if (r->version == 2)
        FBP_TRY(fbp_rabbitct_put(out, head + 1, sizeof *head));
    FBP_TRY(fbp_rabbitct_put(out, head + 2, 2 * sizeof *head));
    FBP_TRY(fbp_rabbitct_put(out, r->us, r->n_views * sizeof *r->us));
    FBP_TRY(fbp_rabbitct_put(out, r->slice, r->size * r->size * sizeof *r->slice));
    FBP_TRY(fbp_rabbitct_put(out, &r->error.mse, sizeof r->error.mse));
    FBP_TRY(fbp_rabbitct_put(out, &r->error.max, sizeof r->error.max));
    FBP_TRY(fbp_rabbitct_put(out, r->error.histogram, sizeof r->error.histogram));
    return fbp_rabbitct_put(out, &end_magic[r->version], sizeof *end_magic);
}

fbp_status fbp_rabbitct_result_write(const char *path, const struct fbp_rabbitct_result *r)
{
    struct fbp_outfile out = {0};
    fbp_status st = FBP_OK;

    fbp_message_clear();
    if (r->version != 1 && r->version != 2)
        return fbp_fail(FBP_ERR_INVALID, "%s: version %d of a result is unknown: choose 1 or 2",
                        path, r->version);
    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    FBP_TRY_GOTO(put_result(&out, r));
    FBP_TRY_GOTO(fbp_outfile_finish(&out));
fail:
    fbp_outfile_clear(&out);
    return st;
}

static fbp_status damaged(const char *path)
{
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: is not a result of RabbitCT's runner, or it is damaged: copy it again",
                    path);
}

/* Version, L and N; where the times start. */
static fbp_status read_head(int fd, const char *path, uint64_t size,
                            struct fbp_rabbitct_result *out, uint64_t *at)
{
    int32_t head[4];

    if (size < sizeof head)
        return damaged(path);
    FBP_TRY(fbp_read_at(fd, path, 0, head, sizeof head));
    out->version = head[0] == magic[1] ? 1 : head[0] == magic[2] && head[1] == 2 ? 2 : 0;
    const int32_t *sizes = head + out->version;
    if (out->version == 0 || sizes[0] <= 0 || sizes[0] > MOST_SIZE || sizes[1] <= 0 ||
        sizes[1] > MOST_VIEWS)
        return damaged(path);
    out->size = (size_t)sizes[0];
    out->n_views = (size_t)sizes[1];
    *at = (uint64_t)(out->version + 2) * sizeof *head;
    if (size != *at + out->n_views * sizeof *out->us + out->size * out->size * 4 + TAIL)
        return damaged(path);
    return FBP_OK;
}

static fbp_status read_tail(int fd, const char *path, uint64_t at, struct fbp_rabbitct_result *out)
{
    unsigned char tail[TAIL];
    struct fbp_rabbitct_error *e = &out->error;
    int32_t end;

    FBP_TRY(fbp_read_at(fd, path, at, tail, sizeof tail));
    memcpy(&e->mse, tail, 8);
    memcpy(&e->max, tail + 8, 8);
    memcpy(e->histogram, tail + 16, sizeof e->histogram);
    memcpy(&end, tail + TAIL - 4, 4);
    e->rmse = sqrt(e->mse);
    e->psnr_db = e->mse > 1e-8 ? 10 * log10(4095.0 * 4095.0 / e->mse) : INFINITY;
    return end == end_magic[out->version] ? FBP_OK : damaged(path);
}

static fbp_status read_result(int fd, const char *path, uint64_t at,
                              struct fbp_rabbitct_result *out, uint64_t *us, float *slice)
{
    FBP_TRY(fbp_read_at(fd, path, at, us, out->n_views * sizeof *us));
    at += out->n_views * sizeof *us;
    FBP_TRY(fbp_read_at(fd, path, at, slice, out->size * out->size * sizeof *slice));
    return read_tail(fd, path, at + out->size * out->size * sizeof *slice, out);
}

void fbp_rabbitct_result_clear(struct fbp_rabbitct_result *r)
{
    free((void *)(uintptr_t)r->us);
    free((void *)(uintptr_t)r->slice);
    *r = (struct fbp_rabbitct_result){0};
}

fbp_status fbp_rabbitct_result_read(const char *path, struct fbp_rabbitct_result *out)
{
    uint64_t size = 0, at = 0, *us = NULL;
    float *slice = NULL;
    int fd = -1;
    fbp_status st = FBP_OK;

    fbp_message_clear();
    *out = (struct fbp_rabbitct_result){0};
    FBP_TRY(fbp_open_file(path, &fd, &size));
    FBP_TRY_GOTO(read_head(fd, path, size, out, &at));
    FBP_TRY_GOTO(fbp_calloc((void **)&us, out->n_views, sizeof *us, "times"));
    FBP_TRY_GOTO(
        fbp_calloc((void **)&slice, out->size * out->size, sizeof *slice, "a slice of a result"));
    FBP_TRY_GOTO(read_result(fd, path, at, out, us, slice));
fail:
    close(fd);
    out->us = us;
    out->slice = slice;
    if (st != FBP_OK)
        fbp_rabbitct_result_clear(out);
    return st;
}
