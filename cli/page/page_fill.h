/** @file page_fill.h  HTML templates, in which {{key}} is replaced by text; called by page_save.c
 * and viewer.c. */
#ifndef FBP_CLI_PAGE_FILL_H
#define FBP_CLI_PAGE_FILL_H

#include "page/markup.h"

/** Value of one {{key}}; a list ends with key NULL. */
struct page_slot {
    const char *key;
    const struct markup *value;
};

/** Append a template with each {{key}} replaced by its value; a key that is not in the list: by
 *  nothing. */
void page_fill(struct markup *out, const char *template, const struct page_slot *slots);

#endif /* FBP_CLI_PAGE_FILL_H */
