/* How rings are removed, by a text. */
#include "base/base.h"
#include "fbp/correction.h"

#include "array/file/bytes.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A number as people write it, up to a comma or the end; false: something else. */
static bool number(const char **text, double *out)
{
    char *end;

    if (!isdigit((unsigned char)**text) && **text != '.')
        return false;
    errno = 0;
    *out = fbp_number(*text, &end);
    if (end == *text || errno || (*end && *end != ','))
        return false;
    *text = *end ? end + 1 : end;
    return !*end || end[1]; /* a comma with something behind it */
}

static bool whole(const char **text, size_t *out)
{
    double x;

    if (!number(text, &x) || !(x >= 1 && x <= 1e9) || x > floor(x))
        return false;
    *out = (size_t)x;
    return true;
}

/* LEVELS, SIGMA, dbN: one, two or all three. */
static bool take_wavelet(const char *text, struct fbp_corrections *c)
{
    size_t n = 0;

    if (!whole(&text, &c->ring_levels))
        return false;
    if (!*text)
        return true;
    if (!number(&text, &c->ring_sigma) || !(c->ring_sigma > 0))
        return false;
    if (!*text)
        return true;
    if (strncmp(text, "db", 2) != 0)
        return false;
    text += 2;
    if (!whole(&text, &n) || *text)
        return false;
    c->ring_wavelet = (unsigned)n;
    return true;
}

static bool take(const char *text, struct fbp_corrections *c)
{
    const size_t name = strcspn(text, ":");
    const char *rest = text + name + (text[name] == ':');
    const bool more = text[name] == ':';

    if (name == strlen("none") && strncmp(text, "none", name) == 0)
        return !more;
    if (name == strlen("sorting") && strncmp(text, "sorting", name) == 0) {
        c->rings = FBP_RINGS_SORTING;
        return !more || (whole(&rest, &c->ring_size) && !*rest);
    }
    if (name == strlen("wavelet") && strncmp(text, "wavelet", name) == 0) {
        c->rings = FBP_RINGS_WAVELET;
        return !more || take_wavelet(rest, c);
    }
    return false;
}

fbp_status fbp_corrections_rings(struct fbp_corrections *out, const char *text)
{
    FBP_GIVEN(text);
    struct fbp_corrections own;

    fbp_message_clear();
    FBP_TRY(FBP_TAKE(corrections, &own, out));
    own.rings = FBP_RINGS_NONE;
    own.ring_wavelet = 0;
    own.ring_size = own.ring_levels = 0;
    own.ring_sigma = 0;
    if (!take(text, &own))
        return fbp_fail(FBP_ERR_INVALID,
                        "rings: found \"%.60s\", expected none, sorting[:COLUMNS] or "
                        "wavelet[:LEVELS[,SIGMA[,dbN]]]",
                        text);
    FBP_GIVE(corrections, out, &own);
    return FBP_OK;
}
