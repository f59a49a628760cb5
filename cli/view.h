/** @file view.h  Options of fbp view, and its two forms: a file (view_page.c) and a server
 * (view_serve.c). Used by cmd_view.c.
 */
#ifndef FBP_CLI_VIEW_H
#define FBP_CLI_VIEW_H

#include "cli.h"
#include "page/page.h"

/** Limits of --page-size and its default [bytes]. A browser holds the whole page as one text. */
#define PAGE_LEAST (256. * 1024)
#define PAGE_MOST  (384. * 1024 * 1024)
enum { PAGE_BYTES = 16 << 20 };

struct view_args {
    const char *volume, *output, *device;
    double window[2], turn_deg;
    size_t slice[3], frame, page_bytes, port; /**< not given: SIZE_MAX, SIZE_MAX, 0, 0 */
    bool mip, serve, force, quiet, json;
};

/** Write the page a->output; returns the exit status. */
int view_page(const struct view_args *a);
/** Serve the page until Ctrl-C; returns the exit status. */
int view_serve(const struct view_args *a);

/** Parameters of the page (first slice, grey window, size), and its title: the file name. */
struct page_wish view_wish(const struct view_args *a);
const char *view_title(const struct view_args *a);

#endif /* FBP_CLI_VIEW_H */
