/* Composes the HTML pages of `fbp view` and `fbp recon --report` from a template, style, scripts
 * and the parts of struct page (page_put()), and saves them (page_save()). The viewer inside a page
 * is made by viewer.c.
 * Used by: cli/, cli/page/, cli/serve/.
 */
#include "page/page.h"
#include "cli.h"

#include "array/file/outfile.h"

#include <string.h>

const struct page_text *page_text_of(const char *name)
{
    const struct page_text *t = page_texts;

    while (strcmp(t->name, name) != 0)
        t++;
    return t;
}

void page_fill(struct markup *out, const char *template, const struct page_slot *slots)
{
    size_t all = strlen(template);

    for (const struct page_slot *slot = slots; slot->key; slot++)
        all += slot->value->n;
    markup_reserve(out, all);
    for (const char *open; (open = strstr(template, "{{")); template = strstr(open, "}}") + 2) {
        const size_t n = strcspn(open + 2, "}");
        const struct page_slot *slot = slots;
        while (slot->key && (strlen(slot->key) != n || strncmp(slot->key, open + 2, n) != 0))
            slot++;
        markup_add(out, template, (size_t)(open - template));
        if (slot->key && slot->value->n)
            markup_add(out, slot->value->bytes, slot->value->n);
        out->failed |= slot->key && slot->value->failed;
    }
    markup_put(out, template);
}

/* The scripts of the viewer in the order in which a browser runs them: each uses only scripts
 * before it. Then the script that replaces those after the first two in the page of `fbp tune`. */
static const char *const scripts[] = {"samples.js", "picture.js",  "shown.js",
                                      "address.js", "controls.js", "tune.js"};
enum { N_SCRIPTS = sizeof scripts / sizeof *scripts, SHARED_SCRIPTS = 2 };

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Append the hash of a style or script, 'sha256-…' in base64, for the Content-Security-Policy. */
static void put_hash(struct markup *out, const char *name)
{
    const char *hex = page_text_of(name)->sha256;
    unsigned char bytes[32];

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
    markup_put(out, "'sha256-");
    markup_base64(out, bytes, sizeof bytes);
    markup_put(out, "'");
}

void page_policy(struct markup *out, bool served)
{
    markup_put(out, "default-src 'none'; script-src ");
    for (size_t i = 0; i < N_SCRIPTS; i++) {
        markup_put(out, i ? " " : "");
        put_hash(out, scripts[i]);
    }
    markup_put(out, "; style-src ");
    put_hash(out, "page.css");
    markup_put(out, "; img-src data:; base-uri 'none'; form-action 'none'");
    if (served)
        markup_put(out, "; connect-src 'self'");
}

void page_put(struct markup *out, const struct page *page)
{
    struct markup policy = {0}, network = {0}, title = {0}, version = {0}, style = {0},
                  script = {0};
    const struct page_slot slots[] = {{"policy", &policy},
                                      {"title", &title},
                                      {"version", &version},
                                      {"style", &style},
                                      {"before", &page->before},
                                      {"viewer", &page->viewer},
                                      {"after", &page->after},
                                      {"data", &page->data},
                                      {"network", &network},
                                      {"scripts", &script},
                                      {0}};

    page_policy(&policy, page->server != NULL);
    if (page->server)
        markup_printf(&network, "This page requests slices only from the running %s.",
                      page->server);
    else
        markup_put(&network,
                   "This page is complete in itself: it loads nothing and sends nothing.");
    markup_escaped(&title, page->title);
    markup_escaped(&version, fbp_version());
    markup_put(&style, page_text_of("page.css")->text);
    for (size_t i = 0; page->viewer.n && i < N_SCRIPTS - 1; i++)
        if (!page->script || i < SHARED_SCRIPTS)
            markup_printf(&script, "<script>%s</script>\n", page_text_of(scripts[i])->text);
    if (page->script)
        markup_printf(&script, "<script>%s</script>\n", page_text_of(page->script)->text);
    page_fill(out, page_text_of("page.html")->text, slots);
    markup_clear(&policy);
    markup_clear(&network);
    markup_clear(&title);
    markup_clear(&version);
    markup_clear(&style);
    markup_clear(&script);
}

void page_clear(struct page *page)
{
    markup_clear(&page->before);
    markup_clear(&page->after);
    markup_clear(&page->viewer);
    markup_clear(&page->data);
}

int page_save(struct page *page, const char *path)
{
    struct markup text = {0};
    int rc = 0;

    page_put(&text, page);
    page_clear(page);
    if (text.failed)
        rc = cli_error("%s: out of memory for the page; give a smaller --page-size", path);
    else if (fbp_text_save(path, text.bytes, true) != FBP_OK)
        rc = cli_fail();
    markup_clear(&text);
    return rc;
}
