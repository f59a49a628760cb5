/* Public function fbp_picture_write() (fbp/picture.h): draws slices or maximum intensity
 * projections of a volume as PNG. This file checks the parameters, and finds the device that
 * computes projections; fbp_viewer_draw() (src/picture) draws.
 * Used by: bench/papers/ino2009/pictures.c, bench/papers/okitsu2008/pictures.c, cli/cmd_recon.c,
 * cli/cmd_view.c. */
#include "fbp/picture.h"

#include "base/base.h"
#include "picture/draw.h"
#include "pipeline/job.h"

#include <string.h>

static fbp_status take_params(struct fbp_picture_params *own,
                              const struct fbp_picture_params *given)
{
    FBP_TRY(FBP_COPY_IN(picture_params, own, given ? given : fbp_picture_params()));
    FBP_TRY(fbp_check_range(&fbp_range_value, "view: lo", own->lo));
    FBP_TRY(fbp_check_range(&fbp_range_value, "view: hi", own->hi));
    FBP_TRY(fbp_check_range(&fbp_range_angle, "view: turn_deg", own->turn_deg));
    if (!(own->lo <= own->hi))
        return FBP_INVALID("view: the window %g to %g is empty; give the lower end first", own->lo,
                           own->hi);
    if (own->turn_deg != 0 && !own->mip)
        return FBP_INVALID("view: only projections can be turned, not slices; set mip, too");
    return FBP_OK;
}

/* Find the device that computes maximum intensity projections; *projector NULL: the CPU does. */
static fbp_status find_projector(const struct fbp_picture_params *p,
                                 const struct fbp_projector **projector, int *index)
{
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n = 0;

    *projector = NULL;
    *index = 0;
    if (!p->device || strcmp(p->device, "auto") == 0)
        return FBP_OK;
    FBP_TRY(fbp_devices_find(p->device, &backend, devices, &n));
    if (strcmp(backend->name, "cpu") == 0)
        return FBP_OK;
    *projector = backend->projector;
    *index = devices[0];
    if (!*projector)
        return FBP_UNSUPPORTED("view: device %s cannot draw projections; use gl or cpu",
                               backend->name);
    if (!p->mip)
        return FBP_INVALID(
            "view: slices are drawn by the CPU, and only projections by %s; set mip, too",
            backend->name);
    if (n > 1)
        return FBP_INVALID("view: \"%s\" selects several devices; name one", p->device);
    return FBP_OK;
}

fbp_status fbp_picture_write(const char *volume_path, const char *png_path,
                             const struct fbp_picture_params *params)
{
    FBP_REQUIRE(volume_path, png_path);
    struct fbp_picture_params own;
    const struct fbp_projector *projector;
    fbp_source *opened = NULL;
    int index;

    fbp_message_clear();
    FBP_TRY(take_params(&own, params));
    FBP_TRY(find_projector(&own, &projector, &index));
    if (!own.source)
        FBP_TRY(fbp_source_open(&opened, volume_path, NULL));
    const fbp_status st = fbp_viewer_draw(own.source ? own.source : opened, volume_path, png_path,
                                          &own, projector, index);
    fbp_source_close(&opened);
    return st;
}
