/** @file page.h  HTML pages with a viewer: one file that loads nothing and runs only its own
 * scripts. Called by view_page.c, view_serve.c, recon_report.c and report_failed.c. */
#ifndef FBP_CLI_PAGE_H
#define FBP_CLI_PAGE_H

#include "page/markup.h"
#include "page/reduced.h"

/** Parts of a page, as HTML. */
struct page {
    const char *title;           /**< any text, escaped by page_put() */
    struct markup before, after; /**< HTML before and after the viewer */
    struct markup viewer, data;  /**< set by page_view(); empty: no viewer */
    bool served;                 /**< the page requests full slices from its server */
};

/** Request for a viewer: the volume, and what it shows at first. */
struct page_wish {
    struct reduced_wish volume;
    double window[2]; /**< values shown as black and white; NaN: without 0.1 % at either end */
    bool mip;         /**< maximum intensity projections at first */
    /** Served pages: bytes read from the file for a full slice of plane xy, xz, yz. */
    uint64_t slice_cost[3];
};

/** Read a volume and add a viewer with its samples to a page.  *r receives the volume's facts
 * without samples; the caller frees it with reduced_clear().  Returns 0, or 1 after an error
 * message. */
int page_view(struct page *page, fbp_source *volume, const struct page_wish *wish,
              struct reduced *r);

/** Append the whole page. */
void page_put(struct markup *out, const struct page *page);

/** Append the Content-Security-Policy of a page: only its own scripts and style, no network;
 * `served` pages may connect to their server. */
void page_policy(struct markup *out, bool served);

/** Save under a temporary name, then rename.  Frees the page's parts.  Returns 0, or 1 after an
 * error message. */
int page_save(struct page *page, const char *path);
void page_clear(struct page *page);

#endif /* FBP_CLI_PAGE_H */
