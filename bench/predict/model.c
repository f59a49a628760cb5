/* Reads the text of --model, and derives rates and seconds from it. Called by predict.c.
 * Used by: predict.c. */
#include "bench/predict/model.h"

#include "backend/gpu/gpu_known.h"
#include "pipeline/division.h"
#include "pipeline/job.h"

#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Seconds that a run needs in addition to its commands: start of threads, statistics. */
static const double BEGIN = 1e-3;

/* Seconds to start the driver; seconds per byte to pin host memory for a card; share of that per
 * further card. */
static const double DRIVER = 0.3, READY = 1 / 20e9, FURTHER = 1 / 3.0;

enum key_unit {
    KEY_COUNT,  /* size_t */
    KEY_INT,    /* int */
    KEY_NUMBER, /* double, without a unit */
    KEY_BYTES,  /* uint64_t [bytes]; in texts, G or GiB is 2^30 bytes, and GB 10^9 bytes */
    KEY_RATE,   /* double [bytes/s]; in texts, GB/s is 10^9 bytes per second */
    KEY_WORD,   /* char[KEY_WORD_ROOM] */
};

enum { KEY_WORD_ROOM = 41 };

struct key {
    const char *name;
    enum key_unit unit;
    double least, most;   /* range of a number */
    const char *expected; /* description of valid values for messages; KEY_WORD: not used */
    size_t offset;        /* offset of the field in the filled struct [bytes] */
};

/* Initialiser of a struct key for a rate in a field of type double. */
#define RATE_KEY(NAME, OFFSET)                                                              \
    {                                                                                       \
        NAME, KEY_RATE, 1e6, 100e12, "a rate from 1MB/s to 100TB/s, such as 55GB/s", OFFSET \
    }

/* ---- Texts of the form KEY=VALUE,KEY=VALUE ---- */

enum { MOST_KEYS = 32, MOST_WORD = KEY_WORD_ROOM - 1 };

/* Return the factor of the unit `text` after a number; 0: it is not a unit of this kind. For rates,
 * "GB/s" is 10^9; for bytes, "G" and "GiB" are 2^30, and "GB" is 10^9. */
static double scale_of(enum key_unit unit, const char *text)
{
    static const char letters[] = "KMGT";
    const char *found = *text ? strchr(letters, toupper((unsigned char)*text)) : NULL;
    const char *rest = found ? text + 1 : text;
    const double power = found ? (double)(found - letters + 1) : 0;

    if (unit == KEY_RATE)
        return found && strcmp(rest, "B/s") == 0 ? pow(1000, power) : 0;
    if (unit != KEY_BYTES)
        return *text == '\0' ? 1 : 0;
    if (found && strcmp(rest, "B") == 0)
        return pow(1000, power);
    return *rest == '\0' || (found && strcmp(rest, "iB") == 0) ? pow(1024, power) : 0;
}

/* Convert the value `text` of a key and store it in the key's field of the struct `out`;
 * hexadecimal numbers, "nan" and "inf" are rejected. */
static fbp_status set_value(const char *who, const struct key *key, const char *text, void *out)
{
    const bool decimal = (isdigit((unsigned char)text[0]) || text[0] == '.') &&
                         !(text[0] == '0' && tolower((unsigned char)text[1]) == 'x');
    const bool whole = key->unit == KEY_COUNT || key->unit == KEY_INT;
    void *field = (char *)out + key->offset;
    char *unit = NULL;

    if (key->unit == KEY_WORD) {
        snprintf(field, KEY_WORD_ROOM, "%s", text);
        return FBP_OK;
    }
    const double number = decimal ? strtod(text, &unit) : 0;
    const double scale = unit && unit != text ? scale_of(key->unit, unit) : 0;
    const double v = number * scale;
    if (scale <= 0 || !(v >= key->least && v <= key->most) || (whole && v != floor(v)))
        return FBP_INVALID("%s: %s=%.*s: expected %s", who, key->name, MOST_WORD, text,
                           key->expected);
    if (key->unit == KEY_INT)
        *(int *)field = (int)v;
    else if (key->unit == KEY_COUNT)
        *(size_t *)field = (size_t)v;
    else if (key->unit == KEY_BYTES)
        *(uint64_t *)field = (uint64_t)v;
    else
        *(double *)field = v;
    return FBP_OK;
}

/* Read an entry `word`, "KEY=VALUE", into the key's field of the struct `out`; its "=" becomes a 0
 * byte.
 * seen: [n_keys] keys that earlier entries have set. */
static fbp_status read_entry(const char *who, char *word, const struct key *keys, size_t n_keys,
                             bool *seen, void *out)
{
    const char *names[MOST_KEYS];
    char known[240] = "", *equals = strchr(word, '=');
    size_t k = n_keys;

    if (!word[0])
        return FBP_INVALID(
            "%s: an entry is empty; expected KEY=VALUE,KEY=VALUE, such as gups=4,read=2GB/s", who);
    if (equals == word)
        return FBP_INVALID(
            "%s: \"%.*s\": the key before \"=\" is missing; expected KEY=VALUE, such as read=2GB/s",
            who, MOST_WORD, word);
    if (!equals)
        return FBP_INVALID("%s: \"%.*s\": expected KEY=VALUE, such as gups=4", who, MOST_WORD,
                           word);
    *equals = '\0';
    for (size_t i = 0; i < n_keys; i++) {
        const size_t used = strlen(known);
        names[i] = keys[i].name;
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", names[i]);
        if (strcmp(word, names[i]) == 0)
            k = i;
    }
    const char *near = k == n_keys ? fbp_nearest(word, names, n_keys) : NULL;
    if (near)
        return FBP_INVALID("%s: unknown key \"%.*s\"; did you mean %s?", who, MOST_WORD, word,
                           near);
    if (k == n_keys)
        return FBP_INVALID("%s: unknown key \"%.*s\"; use %s", who, MOST_WORD, word, known);
    if (seen[k])
        return FBP_INVALID("%s: %s is given twice; give it once", who, keys[k].name);
    seen[k] = true;
    return set_value(who, &keys[k], equals + 1, out);
}

/* Set the fields of the struct `out` whose keys are in `text`, "KEY=VALUE,KEY=VALUE…"; other fields
 * keep their values.  who: prefix of messages. */
static fbp_status key_values_read(const char *who, const char *text, const struct key *keys,
                                  size_t n_keys, void *out)
{
    bool seen[MOST_KEYS] = {false};
    char *copy = fbp_strdup(text);
    fbp_status st = FBP_OK;

    if (!copy)
        return fbp_fail(FBP_ERR_NOMEM, "%s: out of memory; close other programs", who);
    for (char *word = copy, *comma; st == FBP_OK && word; word = comma) {
        comma = strchr(word, ',');
        if (comma)
            *comma++ = '\0';
        st = read_entry(who, word, keys, n_keys, seen, out);
    }
    free(copy);
    return st;
}

/* ---- The model ---- */

/* A model and the name of its card, as they are read. */
struct words {
    struct fbp_model model;
    char card[KEY_WORD_ROOM];
};

#define AT(MEMBER)   offsetof(struct words, model.MEMBER)
#define RATE(MEMBER) AT(nodes.machine.MEMBER)

static const struct key keys[] = {
    {"nodes", KEY_COUNT, 1, FBP_MODEL_MOST_NODES, "a whole number from 1 to 65536", AT(n_nodes)},
    {"gpus", KEY_COUNT, 0, FBP_MOST_DEVICES, "a whole number from 0 to 64", AT(nodes.ranks)},
    {.name = "gpu", .unit = KEY_WORD, .offset = offsetof(struct words, card)},
    {"gups", KEY_NUMBER, 1e-3, 1e6, "giga-updates a second from 0.001 to 1000000, such as 3400",
     AT(gups)},
    {"filter", KEY_NUMBER, 1e-3, 1e6, "giga-samples a second from 0.001 to 1000000, such as 0.4",
     AT(filter)},
    {"memory", KEY_BYTES, 0x1p26, 0x1p44, "bytes from 64M to 16T, such as 141G", AT(device_bytes)},
    {"host", KEY_BYTES, 0x1p26, 0x1p50, "bytes from 64M to 1024T, such as 256G", AT(host_bytes)},
    {"cores", KEY_INT, 1, 4096, "a whole number from 1 to 4096", AT(nodes.n_threads)},
    RATE_KEY("up", RATE(up)),
    RATE_KEY("down", RATE(down)),
    RATE_KEY("up-all", RATE(up_all)),
    RATE_KEY("down-all", RATE(down_all)),
    RATE_KEY("both", RATE(both)),
    RATE_KEY("both-all", RATE(both_all)),
    RATE_KEY("peer", RATE(peer)),
    RATE_KEY("read", RATE(read)),
    RATE_KEY("write", RATE(write)),
    RATE_KEY("net", AT(nodes.net)),
    RATE_KEY("disk", AT(nodes.disk)),
};

_Static_assert(FBP_MOST_DEVICES == 64 && FBP_MODEL_MOST_NODES == 65536, "as the messages say");

static fbp_status find_card(const char *name, const struct gpu_card **out)
{
    char known[200] = "";
    const struct gpu_card *card;

    for (size_t i = 0; (card = gpu_card_at(i)); i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", card->name);
        if (strcmp(card->name, name) == 0) {
            *out = card;
            return FBP_OK;
        }
    }
    return fbp_fail(FBP_ERR_INVALID,
                    "model: gpu=%.*s is unknown: use one of %s, and for another card also give "
                    "gups, memory, up and down",
                    KEY_WORD_ROOM - 1, name, known);
}

/* Complete a model of nodes that compute on their cores: no links, and the memory of the host. */
static fbp_status complete_host(struct fbp_model *m)
{
    if (m->nodes.ranks > 0)
        return FBP_OK;
    if (m->gups <= 0 || m->n_nodes == 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: gpus=0 is for nodes that compute on their cores: give nodes, and "
                        "gups of a node");
    m->nodes.on_host = true;
    m->nodes.ranks = 1;
    m->device_bytes = m->host_bytes ? m->host_bytes : (uint64_t)1 << 50;
    m->nodes.machine = (struct fbp_machine){
        .read = m->nodes.machine.read, .write = m->nodes.machine.write, .begin = BEGIN};
    return FBP_OK;
}

/* Complete missing values from the known card; the rates of one card also hold for all cards
 * together, unless their sum is given. */
static void complete(struct fbp_model *m)
{
    const struct gpu_card *c = m->card;
    struct fbp_machine *to = &m->nodes.machine;
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
    struct words words = {.model = {.card = gpu_card_at(0), .nodes = {.ranks = 1}}};

    FBP_TRY(key_values_read("model", text, keys, sizeof keys / sizeof *keys, &words));
    *out = words.model;
    if (words.card[0] || strstr(text, "gpu="))
        FBP_TRY(find_card(words.card, &out->card));
    if (out->n_nodes > 1 && out->nodes.net <= 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "model: nodes=%zu: give net, the rate of a node's network, such as "
                        "net=25GB/s",
                        out->n_nodes);
    if (out->n_nodes == 0 && (out->nodes.net > 0 || out->nodes.disk > 0))
        return fbp_fail(FBP_ERR_INVALID,
                        "model: %s belongs to a cluster: also give nodes, such as nodes=4, or give "
                        "read and write for the files of one machine",
                        out->nodes.net > 0 ? "net" : "disk");
    if (out->nodes.ranks > 0)
        complete(out);
    return complete_host(out);
}

void fbp_model_rates(const struct fbp_model *m, const struct fbp_job *job, struct fbp_rates *out)
{
    gpu_rates(m->card, job, out);
    if (m->nodes.on_host) {
        *out = (struct fbp_rates){.update = 1e-9 / m->gups,
                                  .filter = m->filter > 0 ? 1e-9 / m->filter : 0};
        return;
    }
    out->upload = 1 / m->nodes.machine.up;
    out->fetch = 1 / m->nodes.machine.down;
    if (m->gups > 0)
        out->update = 1e-9 / m->gups;
}

double fbp_model_open(const struct fbp_model *m, const struct fbp_work *w, uint64_t bytes)
{
    if (m->nodes.on_host)
        return 0;
    const double own = (double)(w->n_raw * w->raw_bytes + w->n_blocks * w->block_bytes);
    const double all = (double)m->nodes.ranks * own + (double)bytes;

    return DRIVER + all * READY * (1 + (double)(m->nodes.ranks - 1) * FURTHER);
}
