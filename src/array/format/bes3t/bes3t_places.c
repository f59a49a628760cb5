/* The file .XGF beside a description: where the samples of a row are. */
#include "array/file/bytes.h"
#include "array/format/bes3t/bes3t.h"

#include "base/base.h"
#include "base/text.h"

#include <string.h>
#include <unistd.h>

char *fbp_bes3t_beside(const char *path, const char *upper, const char *lower)
{
    const size_t n = strlen(path);
    char *name = fbp_strdup(path), *end = name ? strrchr(name, '.') : NULL;

    if (end && n >= 4 && end == name + n - 4)
        memcpy(end + 1, end[1] >= 'a' ? lower : upper, 3);
    return name;
}

/* XFMT, whose numbers are doubles where it is not said. */
static fbp_status type_of(const struct fbp_bes3t *d, enum fbp_type *out)
{
    static const struct {
        const char *name;
        enum fbp_type type;
    } types[] = {{"D", FBP_F64}, {"F", FBP_F32}, {"I", FBP_I32}, {"S", FBP_I16}};
    const char *text = fbp_bes3t_text(d, "DESC", "XFMT");

    *out = FBP_F64;
    if (!text)
        return FBP_OK;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(text, types[i].name) == 0) {
            *out = types[i].type;
            return FBP_OK;
        }
    return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: XFMT: found \"%.20s\", expected D, F, I or S",
                    d->path, text);
}

static fbp_status read_numbers(const struct fbp_bes3t *d, const struct fbp_bes3t_samples *s,
                               const char *path, enum fbp_type type, double *out)
{
    const size_t n = s->n[0], size = fbp_type_size(type);
    /* Numbers of the file at the end of what they become. */
    unsigned char *const in = (unsigned char *)out + n * (sizeof *out - size);
    uint64_t bytes = 0;
    int fd = -1;

    fbp_status st = fbp_open_file(path, &fd, &bytes);
    if (st == FBP_OK && bytes != (uint64_t)n * size)
        st = fbp_fail(FBP_ERR_INVALID,
                      "%s: its .XGF has %llu bytes, but XPTS and XFMT describe %llu: copy both "
                      "files again",
                      d->path, (unsigned long long)bytes, (unsigned long long)n * size);
    if (st == FBP_OK)
        st = fbp_read_at(fd, path, 0, in, n * size);
    if (fd >= 0)
        close(fd);
    FBP_TRY(st);
    if (fbp_is_foreign(s->big_endian))
        fbp_swap_bytes(in, size, n);
    fbp_to_double(type, 0, 0, in, n, out);
    return FBP_OK;
}

fbp_status fbp_bes3t_places(const struct fbp_bes3t *d, const struct fbp_bes3t_samples *s,
                            char **path, double *out)
{
    enum fbp_type type;
    bool there = false;

    *path = fbp_bes3t_beside(d->path, "XGF", "xgf");
    if (!*path)
        return fbp_fail_nomem(strlen(d->path), "a path");
    FBP_TRY(type_of(d, &type));
    FBP_TRY(fbp_is_there(*path, &there));
    if (there)
        return read_numbers(d, s, *path, type, out);
    return fbp_fail(FBP_ERR_IO,
                    "%s: XTYP is IGD, but %s, the places of the samples, is not there: copy it "
                    "beside the .DSC",
                    d->path, *path);
}
