/* Fills HTML templates, and finds the texts that are built into the program (page_texts.h).
 * page_save.c and viewer.c call it. */
#include "page/page_fill.h"

#include "page/page_texts.h"

#include <string.h>

const struct page_text *page_text_of(const char *name)
{
    const struct page_text *t = page_texts;

    while (strcmp(t->name, name) != 0)
        t++;
    return t;
}

static const struct markup *value_of(const struct page_slot *slots, const char *key, size_t n)
{
    static const struct markup none = {0};

    for (; slots->key; slots++)
        if (strlen(slots->key) == n && strncmp(slots->key, key, n) == 0)
            return slots->value;
    return &none;
}

void page_fill(struct markup *out, const char *template, const struct page_slot *slots)
{
    size_t all = strlen(template);

    for (const struct page_slot *slot = slots; slot->key; slot++)
        all += slot->value->n;
    markup_reserve(out, all);
    for (const char *open; (open = strstr(template, "{{")); template = strstr(open, "}}") + 2) {
        const struct markup *value = value_of(slots, open + 2, strcspn(open + 2, "}"));
        markup_add(out, template, (size_t)(open - template));
        if (value->n)
            markup_add(out, value->bytes, value->n);
        out->failed |= value->failed;
    }
    markup_put(out, template);
}
