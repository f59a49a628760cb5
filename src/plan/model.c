#include "plan/model.h"

#include "backend/gpu/gpu_cards.h"
#include "base/text.h"
#include "plan/devices.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an open plan still takes beside its commands, first and last: threads, statistics. */
static const double BEGIN = 1e-3;

/* The driver's start; memory that is made ready for a card, and what each further card adds to
 * that. */
static const double DRIVER = 0.3, READY = 1 / 20e9, FURTHER = 1 / 3.0;

enum unit { COUNT, GUPS, BYTES, RATE };

struct key {
    const char *name;
    enum unit unit;
    double least, most;
    const char *expected;
    size_t offset;
};

#define KEY(NAME, UNIT, LEAST, MOST, EXPECTED, MEMBER)                        \
    {                                                                         \
        NAME, UNIT, LEAST, MOST, EXPECTED, offsetof(struct fbp_model, MEMBER) \
    }
#define RATE_KEY(NAME, MEMBER) \
    KEY(NAME, RATE, 1e6, 100e12, "a rate from 1MB/s to 100TB/s, such as 55GB/s", MEMBER)

static const struct key keys[] = {
    KEY("nodes", COUNT, 1, FBP_MODEL_MOST_NODES, "a whole number from 1 to 65536", n_nodes),
    KEY("gpus", COUNT, 0, FBP_MOST_DEVICES, "a whole number from 0 to 64", n_devices),
    {.name = "gpu"},
    KEY("gups", GUPS, 1e-3, 1e6, "giga-updates a second from 0.001 to 1000000, such as 3400", gups),
    KEY("filter", GUPS, 1e-3, 1e6, "giga-samples a second from 0.001 to 1000000, such as 0.4",
        filter),
    KEY("memory", BYTES, 0x1p26, 0x1p44, "bytes from 64M to 16T, such as 141G", device_bytes),
    KEY("host", BYTES, 0x1p26, 0x1p50, "bytes from 64M to 1024T, such as 256G", host_bytes),
    KEY("cores", COUNT, 1, 4096, "a whole number from 1 to 4096", n_threads),
    RATE_KEY("up", machine.up),
    RATE_KEY("down", machine.down),
    RATE_KEY("up-all", machine.up_all),
    RATE_KEY("down-all", machine.down_all),
    RATE_KEY("both", machine.both),
    RATE_KEY("both-all", machine.both_all),
    RATE_KEY("peer", machine.peer),
    RATE_KEY("read", machine.read),
    RATE_KEY("write", machine.write),
    RATE_KEY("net", net),
    RATE_KEY("disk", disk),
};

enum { KEYS = sizeof keys / sizeof *keys, MOST_WORD = 40 };

_Static_assert(FBP_MOST_DEVICES == 64 && FBP_MODEL_MOST_NODES == 65536, "as the messages say");

/* A number as people write it: no "nan", "inf" or hexadecimal. */
static bool read_number(const char *text, const char **end, double *out)
{
    char *e;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    if (text[0] == '0' && tolower((unsigned char)text[1]) == 'x')
        return false;
    errno = 0;
    *out = strtod(text, &e);
    *end = e;
    return e != text && errno == 0 && isfinite(*out);
}

/* "G" of "GB/s": 10^9.  Of bytes as elsewhere: "G" and "GiB" are 2^30, "GB" is 10^9. */
static double prefix(const char **at, double base)
{
    static const char letters[] = "KMGT";
    const char *found = **at ? strchr(letters, toupper((unsigned char)**at)) : NULL;

    if (!found)
        return 1;
    ++*at;
    return pow(base, (double)(found - letters + 1));
}

/* The unit behind a number; 0: it is another one. */
static double scale_of(enum unit unit, const char *text)
{
    const char *at = text;
    double scale;

    switch (unit) {
    case RATE:
        scale = prefix(&at, 1000);
        return at > text && strcmp(at, "B/s") == 0 ? scale : 0;
    case BYTES:
        scale = prefix(&at, 1024);
        if (strcmp(at, "B") == 0 && at > text)
            return at = text, prefix(&at, 1000);
        return *at == '\0' || (at > text && strcmp(at, "iB") == 0) ? scale : 0;
    default:
        return *text == '\0' ? 1 : 0;
    }
}

static fbp_status set_value(const struct key *key, const char *text, struct fbp_model *out)
{
    void *field = (char *)out + key->offset;
    const char *unit = "";
    double v = 0, scale = 0;

    if (read_number(text, &unit, &v))
        scale = scale_of(key->unit, unit);
    v *= scale;
    if (scale <= 0 || !(v >= key->least && v <= key->most) || (key->unit == COUNT && v != floor(v)))
        return fbp_fail(FBP_ERR_INVALID, "model: %s=%.*s: expected %s", key->name, MOST_WORD, text,
                        key->expected);
    if (key->offset == offsetof(struct fbp_model, n_threads))
        *(int *)field = (int)v;
    else if (key->unit == COUNT)
        *(size_t *)field = (size_t)v;
    else if (key->unit == BYTES)
        *(uint64_t *)field = (uint64_t)v;
    else
        *(double *)field = v;
    return FBP_OK;
}

static void add_word(char *list, size_t n, const char *word)
{
    const size_t used = strlen(list);

    snprintf(list + used, n - used, "%s%s", used ? ", " : "", word);
}

static fbp_status set_card(const char *name, struct fbp_model *out)
{
    char known[200] = "";
    const struct gpu_card *card;

    for (size_t i = 0; (card = gpu_card_at(i)); i++) {
        add_word(known, sizeof known, card->name);
        if (strcmp(card->name, name) == 0) {
            out->card = card;
            return FBP_OK;
        }
    }
    return fbp_fail(FBP_ERR_INVALID,
                    "model: gpu=%.*s: known are %s: of another card take the likest, and give "
                    "gups, memory, up and down",
                    MOST_WORD, name, known);
}

static fbp_status find_key(const char *name, const struct key **out)
{
    const char *names[KEYS];
    char known[240] = "";

    for (size_t i = 0; i < KEYS; i++) {
        names[i] = keys[i].name;
        add_word(known, sizeof known, keys[i].name);
        *out = &keys[i];
        if (strcmp(name, keys[i].name) == 0)
            return FBP_OK;
    }
    const char *near = fbp_nearest(name, names, KEYS);
    if (near)
        return fbp_fail(FBP_ERR_INVALID, "model: unknown key \"%.*s\": did you mean %s?", MOST_WORD,
                        name, near);
    return fbp_fail(FBP_ERR_INVALID, "model: unknown key \"%.*s\": use %s", MOST_WORD, name, known);
}

/* "KEY=VALUE", which is taken apart. */
static fbp_status read_one(char *word, bool seen[KEYS], struct fbp_model *out)
{
    char *equals = strchr(word, '=');
    const struct key *key;

    if (!word[0])
        return fbp_fail(FBP_ERR_INVALID,
                        "model: nothing is given, or there is a comma too many: expected "
                        "KEY=VALUE,KEY=VALUE, as in gups=4,read=2GB/s");
    if (equals == word)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: \"%.*s\": there is no key before \"=\": expected KEY=VALUE, as in "
                        "read=2GB/s",
                        MOST_WORD, word);
    if (!equals)
        return fbp_fail(FBP_ERR_INVALID, "model: \"%.*s\": expected KEY=VALUE, as in gpus=4",
                        MOST_WORD, word);
    *equals = '\0';
    FBP_TRY(find_key(word, &key));
    if (seen[key - keys])
        return fbp_fail(FBP_ERR_INVALID, "model: %s is given twice: give it once", key->name);
    seen[key - keys] = true;
    return key->expected ? set_value(key, equals + 1, out) : set_card(equals + 1, out);
}

/* A node's cores in place of cards: no links, and memory that is the host's. */
static fbp_status complete_host(struct fbp_model *m)
{
    if (m->n_devices > 0)
        return FBP_OK;
    if (m->gups <= 0 || m->n_nodes == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: gpus=0 is for nodes that compute on their cores: give nodes, and "
                        "gups of a node");
    m->on_host = true;
    m->n_devices = 1;
    m->device_bytes = m->host_bytes ? m->host_bytes : (uint64_t)1 << 50;
    m->machine =
        (struct fbp_machine){.read = m->machine.read, .write = m->machine.write, .begin = BEGIN};
    return FBP_OK;
}

/* What is not given, from the card; what is given of one card counts for several as well, where
 * they share nothing that is known. */
static void complete(struct fbp_model *m)
{
    const struct gpu_card *c = m->card;
    struct fbp_machine *to = &m->machine;
    const struct {
        double *to, known;
    } facts[] = {{&to->up, c->up},         {&to->down, c->down},
                 {&to->up_all, c->up_all}, {&to->down_all, c->down_all},
                 {&to->both, c->both},     {&to->both_all, c->both_all},
                 {&to->peer, c->peer}};

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (*facts[i].to <= 0)
            *facts[i].to = facts[i].known;
    if (m->device_bytes == 0)
        m->device_bytes = c->memory_bytes;
    to->begin = BEGIN;
}

fbp_status fbp_model_read(const char *text, struct fbp_model *out)
{
    bool seen[KEYS] = {false};
    char *copy = fbp_strdup(text);
    fbp_status st = FBP_OK;

    *out = (struct fbp_model){.card = gpu_card_at(0), .n_devices = 1};
    if (!copy)
        return fbp_fail(FBP_ERR_NOMEM, "model: no memory for its words: close other programs");
    for (char *word = copy, *comma; st == FBP_OK && word; word = comma) {
        comma = strchr(word, ',');
        if (comma)
            *comma++ = '\0';
        st = read_one(word, seen, out);
    }
    free(copy);
    if (st != FBP_OK)
        return st;
    if (out->n_nodes > 1 && out->net <= 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: nodes=%zu: give net, the rate of a node's network, such as "
                        "net=25GB/s",
                        out->n_nodes);
    if (out->n_devices > 0)
        complete(out);
    return complete_host(out);
}

void fbp_model_rates(const struct fbp_model *m, const struct fbp_job *job, struct fbp_rates *out)
{
    gpu_rates(m->card, job, out);
    if (m->on_host) {
        *out = (struct fbp_rates){.update = 1e-9 / m->gups,
                                  .filter = m->filter > 0 ? 1e-9 / m->filter : 0};
        return;
    }
    out->upload = 1 / m->machine.up;
    out->fetch = 1 / m->machine.down;
    if (m->gups > 0)
        out->update = 1e-9 / m->gups;
}

double fbp_model_open(const struct fbp_model *m, const struct fbp_work *w, uint64_t bytes)
{
    if (m->on_host)
        return 0;
    const double own = (double)(w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes);
    const double all = (double)m->n_devices * own + (double)bytes;

    return DRIVER + all * READY * (1 + (double)(m->n_devices - 1) * FURTHER);
}
