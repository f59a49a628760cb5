/** @file page.h  Pages to look at: one file of HTML that loads nothing and runs its own script
 * alone. */
#ifndef FBP_CLI_PAGE_H
#define FBP_CLI_PAGE_H

#include "page/markup.h"
#include "page/reduced.h"

/** What a page has, as HTML. */
struct page {
    const char *title;           /**< any text */
    struct markup before, after; /**< the viewer */
    struct markup viewer, data;  /**< by page_view(); empty: there is none */
    bool served;                 /**< it may ask the server that it comes from for full slices */
};

/** How a volume is shown first. */
struct page_wish {
    struct reduced_wish volume;
    double window[2]; /**< values shown as black and white; NaN: all but 0.1 % at either end */
    bool mip;
    uint64_t
        slice_cost[3]; /**< of a served page: bytes that a full slice of each plane costs to read */
};

/** Read a volume and add the viewer with its samples to a page; *r has what is known of it,
 * without the samples, and reduced_clear() frees it.  0, or 1: said. */
int page_view(struct page *page, fbp_source *volume, const struct page_wish *wish,
              struct reduced *r);

/** All of the page as text. */
void page_put(struct markup *out, const struct page *page);

/** The policy of a page: no network, no script or style but its own. */
void page_policy(struct markup *out, bool served);

/** Save under a temporary name, then rename; 0, or 1: said.  Frees what the page has. */
int page_save(struct page *page, const char *path);
void page_clear(struct page *page);

#endif /* FBP_CLI_PAGE_H */
