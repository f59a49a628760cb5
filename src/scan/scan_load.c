/* Scans from their files, into the caller's structs. */
#include "scan/scan_parts.h"

#include "base/base.h"
#include "geometry/ranges.h"

static fbp_status load_theirs(struct fbp_scan *out, const char *path,
                              const struct fbp_scan_known *known)
{
    struct fbp_scan own;

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    const fbp_status st = fbp_scan_load_own(&own, path, known, false);
    FBP_GIVE(scan, out, &own);
    return st;
}

fbp_status fbp_scan_load(struct fbp_scan *out, const char *path)
{
    FBP_GIVEN(path);
    return load_theirs(out, path, &(const struct fbp_scan_known){0});
}

fbp_status fbp_scan_load_growing(struct fbp_scan *out, const char *path)
{
    FBP_GIVEN(path);
    return load_theirs(out, path, &(const struct fbp_scan_known){.growing = true});
}

fbp_status fbp_scan_load_known(struct fbp_scan *out, const char *path,
                               const struct fbp_scan_known *known)
{
    FBP_GIVEN(path);
    struct fbp_scan_known all = {0};

    fbp_message_clear();
    FBP_TRY(FBP_CHECK(scan, out));
    FBP_GIVE(scan, out, &(const struct fbp_scan){0});
    if (known)
        FBP_TRY(FBP_TAKE(scan_known, &all, known));
    const double *p = all.pitch_mm;
    FBP_TRY(fbp_check_optional(&fbp_range_pitch, "known.pitch_mm[0]", p[0]));
    FBP_TRY(fbp_check_optional(&fbp_range_pitch, "known.pitch_mm[1]", p[1]));
    if ((p[0] > 0) != (p[1] > 0))
        return fbp_fail(FBP_ERR_INVALID, "scan: pixels are %g x %g mm: give two positive lengths",
                        p[0], p[1]);
    return load_theirs(out, path, &all);
}
