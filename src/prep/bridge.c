#include "prep/bridge.h"

#include "base/mem.h"
#include "base/stop.h"

/* A good pixel this near in its own row is enough; other rows need not be read then. */
enum { NEAR = 3 };

/* Steps from (c, r) to the next good pixel in a direction; 0 if there is none. */
static size_t reach(const struct fbp_panel *panel, const unsigned char *bad, size_t c, size_t r,
                    int dc, int dr)
{
    for (size_t steps = 1;; steps++) {
        c += (size_t)dc;
        r += (size_t)dr;
        if (c >= panel->n_columns || r >= panel->n_rows) /* also below 0 */
            return 0;
        if (!bad[r * panel->n_columns + c])
            return steps;
    }
}

static void use(struct fbp_bridge *b, int *n, size_t pixel, size_t steps)
{
    if (steps == 0)
        return;
    b->from[*n] = pixel;
    b->weight[(*n)++] = 1 / (float)steps;
}

/* Weights by inverse distance, adding up to 1; unused places repeat the first. */
static void normalise(struct fbp_bridge *b, int n)
{
    float sum = 0;

    for (int i = 0; i < n; i++)
        sum += b->weight[i];
    for (int i = 0; i < 4; i++) {
        if (i >= n)
            b->from[i] = b->from[0];
        b->weight[i] = i < n ? b->weight[i] / sum : 0;
    }
}

/* False if no good pixel lies in the row or column. */
static bool find(struct fbp_prep *p, const unsigned char *bad, size_t c, size_t r,
                 struct fbp_bridge *b)
{
    const size_t nc = p->panel.n_columns, at = r * nc + c;
    const size_t left = reach(&p->panel, bad, c, r, -1, 0);
    const size_t right = reach(&p->panel, bad, c, r, 1, 0);
    const bool near = (left && left <= NEAR) || (right && right <= NEAR);
    int n = 0;

    *b = (struct fbp_bridge){.pixel = at};
    use(b, &n, at - left, left);
    use(b, &n, at + right, right);
    if (!near) {
        const size_t below = reach(&p->panel, bad, c, r, 0, -1);
        const size_t above = reach(&p->panel, bad, c, r, 0, 1);
        use(b, &n, at - below * nc, below);
        use(b, &n, at + above * nc, above);
        if (below > p->margin_rows)
            p->margin_rows = below;
        if (above > p->margin_rows)
            p->margin_rows = above;
    }
    if (n == 0)
        return false;
    normalise(b, n);
    return true;
}

fbp_status fbp_bridges_find(struct fbp_prep *p, const unsigned char *bad)
{
    const size_t nc = p->panel.n_columns, n = nc * p->panel.n_rows;
    size_t n_bad = 0;

    for (size_t i = 0; i < n; i++)
        n_bad += bad[i] != 0;
    if (n_bad == 0)
        return FBP_OK;
    if (n_bad == n)
        return fbp_fail(FBP_ERR_INVALID,
                        "bad pixels: every pixel is marked bad, or has a flat that "
                        "is not above its dark: check mask, flat and dark");
    FBP_TRY(fbp_calloc((void **)&p->bridges, n_bad, sizeof *p->bridges, "bad pixels"));
    for (size_t i = 0; i < n; i++) {
        if (!bad[i])
            continue;
        FBP_TRY(fbp_go_on());
        if (!find(p, bad, i % nc, i / nc, &p->bridges[p->n_bridges++]))
            return fbp_fail(FBP_ERR_INVALID,
                            "bad pixels: (column %zu, row %zu) has no good pixel in its row or "
                            "column: check mask, flat and dark",
                            i % nc, i / nc);
    }
    return FBP_OK;
}
