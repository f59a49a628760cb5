/** @file page.h HTML pages of `fbp view`, `fbp tune` and `fbp recon --report`, with a viewer of the
 * volume. A page contains its style, scripts and samples, and loads nothing, except slices from the
 * server of `fbp view --serve` or `fbp tune`. Implemented in page.c and viewer.c.
 * Used by: cli/, cli/page/, cli/serve/. */
#ifndef FBP_CLI_PAGE_H
#define FBP_CLI_PAGE_H

#include "page/markup.h"
#include "page/reduced.h"

/** The parts of an HTML page. page_put() puts them together. */
struct page {
    const char *title;           /**< title of the page: any text, which page_put() escapes */
    struct markup before, after; /**< HTML before and after the viewer */
    struct markup viewer, data;  /**< HTML of the viewer, and its samples; empty: none */
    const char *server; /**< command that serves the page ("fbp view --serve"); NULL: a file */
    const char *script; /**< last script of the page; NULL: those of the viewer of volumes */
};

/** Request to page_view(): the volume, and what the viewer shows at first. */
struct page_wish {
    struct reduced_wish volume;
    /** values drawn black [0] and white [1]; [0] NaN: range of the samples without 0.1 % per end */
    double window[2];
    bool mip; /**< true: the viewer begins with maximum intensity projections */
    /** Bytes that the server reads per slice of plane xy, xz, yz; 0: the page is not served. */
    uint64_t slice_cost[3];
};

/** Read a volume and add a viewer of its samples to a page. *r: facts about the volume, to be freed
 * by reduced_clear(). Returns 0, or 1 after an error message. */
int page_view(struct page *page, fbp_source *volume, const struct page_wish *wish,
              struct reduced *r);

/** Append the whole HTML text of a page. */
void page_put(struct markup *out, const struct page *page);

/** Append the Content-Security-Policy of a page: it permits only the page's own scripts and style,
 * and no network; served true: connections to the server of the page are permitted. */
void page_policy(struct markup *out, bool served);

/** Save a page (temporary name, then renamed), and free its parts; returns 0, or 1 on failure. */
int page_save(struct page *page, const char *path);
void page_clear(struct page *page);

/** Text that replaces {{key}} in an HTML template; a list of such texts ends with key NULL. */
struct page_slot {
    const char *key;
    const struct markup *value;
};

/** Append a template with each {{key}} replaced by its text in `slots`, or removed. */
void page_fill(struct markup *out, const char *template, const struct page_slot *slots);

/** A file of the folder cli/page that is compiled into the program. sha256: hash of the text, in
 * hexadecimal digits, for the Content-Security-Policy. */
struct page_text {
    const char *name, *text, *sha256;
};

/** Texts compiled into the program (cmake/texts.cmake); the last element has no name. */
extern const struct page_text page_texts[];

/** Get the text with the file name `name`, such as "page.css", which must exist. */
const struct page_text *page_text_of(const char *name);

#endif /* FBP_CLI_PAGE_H */
