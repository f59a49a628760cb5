/* fbp view --serve: an HTTP server for the page of a volume and for its slices in full resolution.
 * Called by cmd_view.c. */
#include "page/page.h"
#include "serve/server.h"
#include "serve/slices.h"
#include "view.h"

#include <stdlib.h>
#include <string.h>

struct volume_server {
    struct markup text; /* the page */
    struct slices slices;
};

static void release_slice(struct answer *a)
{
    slices_release(a->user, (float *)(uintptr_t)a->bytes, a->n / sizeof(float));
}

static void answer_slice(struct volume_server *v, const char *query, struct answer *out)
{
    const struct reduced *r = v->slices.r;
    size_t plane, index, frame, n;

    if (!http_number(query, "plane", 2, &plane) ||
        !http_number(query, "frame", r->frames - 1, &frame) ||
        !http_number(query, "index", r->n[3 - reduced_axes[plane][0] - reduced_axes[plane][1]] - 1,
                     &index)) {
        answer_text(out, 400,
                    "Expected slice?plane=P&index=I&frame=F, with numbers inside the volume.\n");
        return;
    }
    float *values = slices_get(&v->slices, (int)plane, index, r->first_frame + frame, &n);
    if (!values) {
        answer_text(out, 500, "%s\n", *fbp_message() ? fbp_message() : "out of memory");
        return;
    }
    *out = (struct answer){.status = 200,
                           .type = "application/octet-stream",
                           .bytes = values,
                           .n = n * sizeof *values,
                           .release = release_slice,
                           .user = &v->slices};
}

static void answer(void *user, const struct http_request *request, struct answer *out)
{
    struct volume_server *v = user;

    if (strcmp(request->path, "slice") == 0)
        answer_slice(v, request->query, out);
    else if (*request->path)
        answer_text(out, 404, "No such page.\n");
    else
        *out = (struct answer){.status = 200,
                               .type = "text/html; charset=utf-8",
                               .bytes = v->text.bytes,
                               .n = v->text.n};
}

static void say_address(const struct server *s, bool quiet)
{
    if (!quiet)
        fputs("open this address on this machine; Ctrl-C ends it\n", stderr);
    printf("http://127.0.0.1:%u/%s/\n", s->port, s->token);
    (void)!fflush(stdout); /* scripts read the address while the server runs */
}

/* Serve a finished page. `reduced` must exist until the server ends: slices use its sizes and
 * source. */
static int serve_page(const struct view_args *a, struct server *server, struct page *page,
                      const struct reduced *reduced)
{
    struct volume_server v = {0};
    struct markup policy = {0};

    page_policy(&policy, true);
    page_put(&v.text, page);
    page_clear(page);
    slices_open(&v.slices, reduced);
    server->policy = policy.bytes;
    server->answer = answer;
    server->user = &v;
    int rc =
        v.text.failed || policy.failed
            ? cli_error("%s: out of memory for the page; give a smaller --page-size", a->volume)
            : 0;
    if (rc == 0) {
        say_address(server, a->quiet);
        rc = server_run(server);
    }
    server->policy = NULL;
    server->user = NULL;
    slices_close(&v.slices);
    markup_clear(&v.text);
    markup_clear(&policy);
    return rc;
}

int view_serve(const struct view_args *a)
{
    struct server server = {.socket = -1};
    struct page_wish wish = view_wish(a);
    struct page page = {.title = view_title(a), .served = true};
    static struct reduced reduced;
    fbp_source *volume = NULL;

    int rc = server_open(
        &server, (unsigned)a->port); /* first, because it can fail before the volume is read */
    if (rc == 0 && fbp_source_open(&volume, a->volume, NULL) != FBP_OK)
        rc = cli_fail();
    if (rc == 0) {
        slices_cost(fbp_source_info(volume), wish.slice_cost);
        rc = page_view(&page, volume, &wish, &reduced);
    }
    if (rc == 0)
        rc = serve_page(a, &server, &page, &reduced);
    page_clear(&page);
    reduced_clear(&reduced);
    fbp_source_close(&volume);
    server_close(&server);
    return rc;
}
