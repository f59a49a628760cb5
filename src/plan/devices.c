#include "plan/devices.h"

#include "plan/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fbp_status wrong_index(const char *text, const char *name, int available)
{
    if (available == 1)
        return fbp_fail(FBP_ERR_INVALID, "device: \"%s\": there is one, with index 0: use %s", text,
                        name);
    return fbp_fail(FBP_ERR_INVALID,
                    "device: \"%s\": expected indices 0 … %d, as in %s:0,1, or %s:all", text,
                    available - 1, name, name);
}

/* "auto, cpu, …" */
static void list_names(char *out, size_t n)
{
    const char *one;

    out[0] = '\0';
    for (size_t i = 0; (one = fbp_device_name(i)); i++) {
        strncat(out, i ? ", " : "", n - strlen(out) - 1);
        strncat(out, one, n - strlen(out) - 1);
    }
}

static void describe(const struct fbp_backend *backend, int index, struct fbp_device_info *out)
{
    *out = (struct fbp_device_info){0};
    backend->describe(index, out);
}

/* One of those that are listed may be of no use. */
static fbp_status check_device(const struct fbp_backend *backend, int index)
{
    struct fbp_device_info d;

    describe(backend, index, &d);
    if (!d.reason[0])
        return FBP_OK;
    const char *version = strchr(d.text, ')'); /* a name may have a comma between brackets */
    d.text[version ? (size_t)(version - d.text) + strcspn(version, ",") : strcspn(d.text, ",")] =
        '\0';
    return fbp_fail(FBP_ERR_UNSUPPORTED, "device: %s:%d cannot be used: %s: %s", backend->name,
                    index, d.text, d.reason);
}

/* All that can be used; without slow ones (renderers in software) where there are others. */
static void take_all(const struct fbp_backend *backend, int available, int *devices, size_t *n)
{
    struct fbp_device_info d;

    for (int fast = 1; fast >= 0 && *n == 0; fast--)
        for (int i = 0; i < available && *n < FBP_MOST_DEVICES; i++) {
            describe(backend, i, &d);
            if (!d.reason[0] && (!fast || backend->unasked(i)))
                devices[(*n)++] = i;
        }
}

/* "0,2": of `text`, for messages. */
static fbp_status take_listed(const char *list, const char *text, const struct fbp_backend *backend,
                              int available, int *devices, size_t *n)
{
    for (const char *at = list;; at++) {
        char *end;
        const long index = strtol(at, &end, 10);
        if (end == at || index < 0 || index >= available)
            return wrong_index(text, backend->name, available);
        if (*n == FBP_MOST_DEVICES)
            return fbp_fail(FBP_ERR_INVALID, "device: \"%s\": at most %d devices can be named",
                            text, FBP_MOST_DEVICES);
        devices[(*n)++] = (int)index;
        if (*end == '\0')
            return FBP_OK;
        if (*end != ',')
            return fbp_fail(FBP_ERR_INVALID, "device: \"%s\": unexpected \"%s\"", text, end);
        at = end;
    }
}

/* The next backend of a list with a device that `auto` may take, loaded; NULL: there is none. */
static const struct fbp_backend *next(const struct fbp_backend *const **at, int *index)
{
    char why[300];

    while (**at) {
        const struct fbp_backend *found = *(*at)++;
        if (found->hidden || (found->load && found->unasked && !found->unasked(-1)))
            continue;
        const int n = fbp_backend_count(&found, why, sizeof why);
        for (*index = 0; *index < n; ++*index)
            if (found->unasked(*index))
                return found;
    }
    return NULL;
}

const struct fbp_backend *fbp_device_first(const struct fbp_backend *const *list, int *index)
{
    return next(&list, index);
}

/* With any kernel. */
static bool is_capable(const struct fbp_backend *backend, const struct fbp_job *job)
{
    struct fbp_job copy = *job;

    copy.kernel = NULL;
    return fbp_job_arrange(&copy, backend) == FBP_OK;
}

void fbp_device_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        const struct fbp_backend **backend, int *device, char *line, size_t n)
{
    const struct fbp_backend *other;
    bool before = true; /* the one that was chosen */
    char why[300];
    int index;

    line[0] = '\0';
    if (is_capable(*backend, job))
        return;
    snprintf(why, sizeof why, "%s", fbp_message());
    while ((other = next(&list, &index))) {
        const bool is_it = strcmp(other->name, (*backend)->name) == 0;
        if (before || !is_capable(other, job)) {
            before = before && !is_it;
            continue;
        }
        snprintf(line, n, "device: %s, as %s has no way to do this: %s", other->name,
                 (*backend)->name, why);
        *backend = other;
        *device = index;
        break;
    }
    fbp_message_clear();
}

fbp_status fbp_devices_listed(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices)
{
    char name[32], known[200], why[sizeof((struct fbp_device_info *)0)->reason] = "";
    const char *colon = strchr(text, ':');
    const size_t n = colon ? (size_t)(colon - text) : strlen(text);
    int index = 0;

    *n_devices = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    *backend =
        strcmp(name, "auto") == 0 ? fbp_device_first(fbp_backends, &index) : fbp_backend_find(name);
    if (!*backend) {
        list_names(known, sizeof known);
        return fbp_fail(FBP_ERR_UNSUPPORTED, "device: \"%s\" is not in this build: use one of %s",
                        name, known);
    }
    const int available = fbp_backend_count(backend, why, sizeof why);
    if (available == 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "device: %s cannot be used: %s", name, why);
    if (colon && strcmp(colon + 1, "all") == 0)
        take_all(*backend, available, devices, n_devices);
    else if (colon)
        return take_listed(colon + 1, text, *backend, available, devices, n_devices);
    else
        devices[(*n_devices)++] = index;
    return FBP_OK;
}

fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices)
{
    FBP_TRY(fbp_devices_listed(text, backend, devices, n_devices));
    for (size_t i = 0; i < *n_devices; i++)
        FBP_TRY(check_device(*backend, devices[i]));
    if (*n_devices == 0) /* of "all" */
        return check_device(*backend, 0);
    return FBP_OK;
}

uint64_t fbp_device_free(const struct fbp_backend *backend, int index)
{
    struct fbp_device_info d = {0};

    if (!backend->own_memory)
        return 0;
    backend->describe(index, &d);
    return d.free_bytes / 10 * 9;
}
