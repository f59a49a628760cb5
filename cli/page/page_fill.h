/** @file page_fill.h  Templates of HTML: {{key}} stands for a piece. */
#ifndef FBP_CLI_PAGE_FILL_H
#define FBP_CLI_PAGE_FILL_H

#include "page/markup.h"

struct page_slot {
    const char *key;
    const struct markup *value;
};

/** A template with its slots filled; each {{key}} is in the list. */
void page_fill(struct markup *out, const char *template, const struct page_slot *slots);

#endif /* FBP_CLI_PAGE_FILL_H */
