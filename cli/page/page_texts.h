/** @file page_texts.h  The texts of a page, as they were built: cli/page/ *.html, *.css, *.js. */
#ifndef FBP_CLI_PAGE_TEXTS_H
#define FBP_CLI_PAGE_TEXTS_H

/** `sha256`: of the text, in hexadecimal digits, as a content-security policy needs it. */
struct page_text {
    const char *name, *text, *sha256;
};

/** The last one has no name; made by cmake/texts.cmake. */
extern const struct page_text page_texts[];

/** The text of this name, which is there. */
const struct page_text *page_text_of(const char *name);

#endif /* FBP_CLI_PAGE_TEXTS_H */
