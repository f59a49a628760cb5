#include "plan/shares.h"

#include "backend/rows.h"
#include "base/mem.h"
#include "plan/roi.h"

#include <string.h>

fbp_status fbp_ledger_empty(struct fbp_ledger *out, const struct fbp_job *job)
{
    *out = (struct fbp_ledger){.n_views = job->n_views, .n_rows = job->panel.n_rows};
    return fbp_calloc((void **)&out->bits, fbp_ledger_words(out->n_views, out->n_rows),
                      sizeof *out->bits, "counts of rows");
}

/* Rows [r0, r1) of a view as bits of a ledger, word by word. */
struct bits {
    size_t first, end;
};

static struct bits bits_of(const struct fbp_ledger *l, size_t view, size_t r0, size_t r1)
{
    return (struct bits){view * l->n_rows + r0, view * l->n_rows + r1};
}

/* Those of them that are in a word which holds some. */
static unsigned in_word(const struct bits *b, size_t word)
{
    const size_t at = word * FBP_LEDGER_BITS;
    const size_t lo = b->first > at ? b->first - at : 0, hi = b->end - at;

    return (hi < FBP_LEDGER_BITS ? (1u << hi) - 1 : ~0u) & ~0u << lo;
}

/* Give it these rows, or take them from it; nobody else has the ledger yet. */
static void set_rows(struct fbp_ledger *l, size_t view, size_t r0, size_t r1, bool has)
{
    const struct bits b = bits_of(l, view, r0, r1);

    for (size_t w = b.first / FBP_LEDGER_BITS; w * FBP_LEDGER_BITS < b.end; w++)
        if (has)
            l->bits[w] |= in_word(&b, w);
        else
            l->bits[w] &= ~in_word(&b, w);
}

/* Those rows that `from` has are the other's from now on. */
static void move(struct fbp_ledger *from, size_t view, size_t r0, size_t r1, struct fbp_ledger *to)
{
    const struct bits b = bits_of(from, view, r0, r1);

    for (size_t w = b.first / FBP_LEDGER_BITS; w * FBP_LEDGER_BITS < b.end; w++) {
        const unsigned moved = from->bits[w] & in_word(&b, w);
        from->bits[w] &= ~moved;
        to->bits[w] |= moved;
    }
}

/* Rows of view k that slices [z0, z1) need, with those beyond them that filters reach. */
static void set_needed(struct fbp_ledger *out, const struct fbp_job *job, size_t k, size_t z0,
                       size_t z1, bool has)
{
    const size_t reach = fbp_column_reach(job), n_rows = job->panel.n_rows;
    size_t r0, r1;

    job->rows(job, k, k + 1, z0, z1, &r0, &r1);
    if (r0 == r1)
        return;
    r0 = r0 > reach ? r0 - reach : 0;
    r1 = n_rows - r1 > reach ? r1 + reach : n_rows;
    set_rows(out, k, r0, r1, has);
}

static void set_share(struct fbp_ledger *out, const struct fbp_job *job, bool has)
{
    size_t z0, n;

    fbp_roi_slices(job, &z0, &n);
    for (size_t k = 0; n > 0 && k < job->n_views; k++)
        set_needed(out, job, k, z0, z0 + n, has);
}

fbp_status fbp_ledger_create(struct fbp_ledger *out, const struct fbp_job *job)
{
    struct fbp_job before = *job;

    FBP_TRY(fbp_ledger_empty(out, job));
    set_share(out, job, true);
    before.share[0] = 0;
    before.share[1] = job->share[0];
    if (job->counts_once && before.share[1] > 0)
        set_share(out, &before, false);
    return FBP_OK;
}

void fbp_ledger_clear(struct fbp_ledger *ledger)
{
    free(ledger->bits);
    *ledger = (struct fbp_ledger){0};
}

static void share_batch(struct fbp_ledger *rest, const struct fbp_job *job,
                        const struct fbp_batch *b, struct fbp_ledger *out)
{
    size_t r0, r1;

    if (b->n_rows == 0)
        return;
    fbp_needed_rows(job, b, &r0, &r1);
    for (size_t k = 0; k < b->n_views; k++)
        move(rest, fbp_batch_view(job, b, k), r0, r1, out);
}

void fbp_ledger_zero(struct fbp_ledger *l)
{
    memset(l->bits, 0, fbp_ledger_words(l->n_views, l->n_rows) * sizeof *l->bits);
}

void fbp_ledger_share(struct fbp_ledger *rest, const struct fbp_job *job,
                      const struct fbp_task *tasks, size_t n_tasks, struct fbp_ledger *out)
{
    fbp_ledger_zero(out);
    for (size_t i = 0; i < n_tasks; i++)
        if (tasks[i].loads)
            share_batch(rest, job, &tasks[i].batch, out);
}

void fbp_ledger_add(struct fbp_ledger *to, const struct fbp_ledger *rows)
{
    for (size_t i = 0; i < fbp_ledger_words(to->n_views, to->n_rows); i++)
        to->bits[i] |= rows->bits[i];
}

size_t fbp_ledger_bytes(const struct fbp_job *job)
{
    return fbp_ledger_words(job->n_views, job->panel.n_rows) * sizeof(unsigned);
}
