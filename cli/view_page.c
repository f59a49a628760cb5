/* fbp view -o FILE.html: writes a page with a viewer of a volume. Also the page parameters that
 * fbp view --serve (view_serve.c) uses. */
#include "view.h"

#include "say.h"

#include <string.h>

enum { FRAME_BYTES = 96 << 10 }; /* bytes reserved for texts, scripts and histogram */

struct page_wish view_wish(const struct view_args *a)
{
    const size_t bytes = a->page_bytes ? a->page_bytes : PAGE_BYTES;

    return (struct page_wish){.volume = {.name = a->volume,
                                         .frame = a->frame,
                                         .bytes = bytes - FRAME_BYTES,
                                         .slice = a->slice[0] == SIZE_MAX ? NULL : a->slice,
                                         .quiet = a->quiet},
                              .window = {a->window[0], a->window[1]},
                              .mip = a->mip};
}

/* The name of the file, without its folder. */
const char *view_title(const struct view_args *a)
{
    const char *slash = strrchr(a->volume, '/');

    return slash && slash[1] ? slash + 1 : a->volume;
}

static int report(const struct view_args *a, const struct reduced *r)
{
    if (a->json) {
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "volume", a->volume);
        cJSON_AddStringToObject(root, "output", a->output);
        cli_json_sizes(root, "join", r->k, 3);
        cli_json_sizes(root, "samples", r->bins, 3);
        cJSON_AddNumberToObject(root, "frames", (double)r->frames);
        return cli_json(root, false);
    }
    if (a->quiet)
        return 0;
    printf("%s", say_name(a->output));
    if (!reduced_is_whole(r))
        printf(": means of %zu x %zu x %zu voxels", r->k[0], r->k[1], r->k[2]);
    putchar('\n');
    return 0;
}

int view_page(const struct view_args *a)
{
    const struct page_wish wish = view_wish(a);
    struct page page = {.title = view_title(a)};
    static struct reduced reduced;
    fbp_source *volume;

    if (fbp_source_open(&volume, a->volume, NULL) != FBP_OK)
        return cli_fail();
    int rc = page_view(&page, volume, &wish, &reduced);
    if (rc == 0)
        rc = page_save(&page, a->output);
    if (rc == 0)
        rc = report(a, &reduced);
    page_clear(&page);
    reduced_clear(&reduced);
    fbp_source_close(&volume);
    return rc;
}
