/** @file view.h  What fbp view was asked for. */
#ifndef FBP_CLI_VIEW_H
#define FBP_CLI_VIEW_H

#include "cli.h"
#include "page/page.h"

/** Bytes that a page may have: a browser keeps all of it as one text. */
#define PAGE_LEAST (256. * 1024)
#define PAGE_MOST  (384. * 1024 * 1024)
enum { PAGE_BYTES = 16 << 20 };

struct view_args {
    const char *volume, *output, *device;
    double window[2], turn_deg;
    size_t slice[3], frame, page_bytes, port; /**< SIZE_MAX, SIZE_MAX, 0, 0: not given */
    bool mip, serve, force, quiet, json;
};

/** Write the page a->output; returns the exit status. */
int view_page(const struct view_args *a);
/** Serve it until Ctrl-C; returns the exit status. */
int view_serve(const struct view_args *a);

/** What a page shows first, and how large it may be; its title. */
struct page_wish view_wish(const struct view_args *a);
const char *view_title(const struct view_args *a);

#endif /* FBP_CLI_VIEW_H */
