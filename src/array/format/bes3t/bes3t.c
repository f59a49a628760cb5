/* Arrays of Bruker's spectrometers, BES3T: a description .DSC and its samples .DTA.
 *
 * FILE is [ZPTS][YPTS][XPTS]; FILE:sinogram has the same spectra as views of one row.  Of complex
 * samples both are the real parts; FILE:imaginary is the other ones. */
#include "array/format/bes3t/bes3t.h"
#include "array/file/bytes.h"
#include "array/file/complex.h"
#include "array/file/format.h"
#include "array/file/member.h"

#include "base/base.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static fbp_status open_samples(struct fbp_source *src, const char *description, uint64_t *size)
{
    char *path = fbp_bes3t_beside(description, "DTA", "dta");
    char why[512];

    if (!path)
        return fbp_fail_nomem(strlen(description), "a path");
    fbp_status st = fbp_inputs_add(&src->inputs, path);
    close(src->fd);
    src->fd = -1;
    if (st == FBP_OK)
        st = fbp_open_file(path, &src->fd, size);
    free(path);
    if (st != FBP_ERR_IO)
        return st;
    snprintf(why, sizeof why, "%s", fbp_message());
    fbp_message_clear();
    return fbp_fail(st, "%s: its samples: %s: copy the .DTA beside the .DSC", src->path, why);
}

static bool names_imaginary(const struct fbp_source *src)
{
    return src->member && strcmp(src->member, "imaginary") == 0;
}

static bool names_sinogram(const struct fbp_source *src)
{
    return src->member &&
           (strcmp(src->member, "sinogram") == 0 || strcmp(src->member, FBP_SINOGRAM) == 0);
}

static fbp_status check_member(const struct fbp_source *src, bool complex)
{
    if (!src->member || names_sinogram(src) || (complex && names_imaginary(src)))
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: has no array %.40s: leave it out, or name sinogram, its spectra as views "
                    "of one row%s",
                    src->file, src->member,
                    complex                ? ", or imaginary, its imaginary parts"
                    : names_imaginary(src) ? "; its samples are not complex"
                                           : "");
}

/* The samples are there, neither more nor less. */
static fbp_status check_bytes(const struct fbp_source *src, bool complex, uint64_t size)
{
    uint64_t bytes = 0;

    FBP_TRY(fbp_array_bytes(src->path, &src->info, &bytes));
    if (!__builtin_mul_overflow(bytes, complex ? 2 : 1, &bytes) && bytes == size)
        return FBP_OK;
    return fbp_fail(FBP_ERR_INVALID,
                    "%s: its .DTA has %llu bytes, but XPTS, YPTS, ZPTS, IRFMT and IKKF describe "
                    "%llu: copy both files again",
                    src->path, (unsigned long long)size, (unsigned long long)bytes);
}

static fbp_status take(struct fbp_source *src, const struct fbp_bes3t *d)
{
    struct fbp_bes3t_samples s;
    uint64_t size = 0;

    FBP_TRY(fbp_bes3t_samples(d, &s));
    FBP_TRY(check_member(src, s.complex));
    memcpy(src->info.n, s.n, sizeof s.n);
    if (names_sinogram(src)) {
        src->info.n[2] = s.n[1] * s.n[2];
        src->info.n[1] = 1;
    }
    for (int i = 0; i < 3; i++)
        src->info.spacing_mm[i] = 1;
    src->info.type = s.type;
    src->info.big_endian = s.big_endian;
    FBP_TRY(open_samples(src, d->path, &size));
    FBP_TRY(check_bytes(src, s.complex, size));
    src->imaginary |= names_imaginary(src);
    if (s.complex)
        fbp_take_part(src);
    return FBP_OK;
}

/* Of a .DTA, the description beside it. */
static fbp_status open_bes3t(struct fbp_source *src)
{
    const bool data = fbp_has_extension(src->file, ".dta");
    char *path = data ? fbp_bes3t_beside(src->file, "DSC", "dsc") : fbp_strdup(src->file);
    struct fbp_bes3t d = {0};

    if (!path)
        return fbp_fail_nomem(strlen(src->file), "a path");
    fbp_status st = data ? fbp_inputs_add(&src->inputs, path) : FBP_OK;
    if (st == FBP_OK && src->growing)
        st = fbp_fail(FBP_ERR_UNSUPPORTED, "%s: a BES3T file cannot be followed while it grows",
                      src->path);
    if (st == FBP_OK)
        st = fbp_bes3t_load(&d, path);
    if (st == FBP_OK)
        st = take(src, &d);
    fbp_bes3t_clear(&d);
    free(path);
    return st;
}

const struct fbp_format fbp_format_bes3t = {
    .name = "bes3t",
    .title = "BES3T",
    .extensions = ".dsc .dta",
    .detect = fbp_bes3t_detect,
    .open = open_bes3t,
    .has_members = true,
};
