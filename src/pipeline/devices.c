/* Finds backends and device indices from names such as "cuda:0,1" or "auto" (fbp_devices_find()),
 * starts them in a thread (fbp_devices_start()), lists all devices (fbp_devices(), public), and
 * gives callers access to device memory and queues: the public functions of fbp/device_memory.h
 * (fbp_source_device_memory(), fbp_sink_device_memory(), fbp_device_of_memory(),
 * fbp_device_queue_…()).
 *
 * Used by: bench/, cli/, analysis/, pipeline/. */
#include "array/device_memory.h"
#include "array/file/bytes.h"
#include "backend/backend.h"
#include "base/base.h"
#include "base/system.h"
#include "pipeline/job.h"
#include "pipeline/plan.h"

#include "fbp/device_memory.h"
#include "fbp/recon.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void describe(const struct fbp_backend *backend, int index, struct fbp_device_info *out)
{
    *out = (struct fbp_device_info){0};
    backend->discovery.describe(index, out);
}

/* Check that a listed device can be used. */
static fbp_status check_device(const struct fbp_backend *backend, int index)
{
    struct fbp_device_info d;

    describe(backend, index, &d);
    if (!d.reason[0])
        return FBP_OK;
    /* Cut the description after the device's name, which may contain a comma in brackets. */
    const char *version = strchr(d.text, ')');
    d.text[version ? (size_t)(version - d.text) + strcspn(version, ",") : strcspn(d.text, ",")] =
        '\0';
    return FBP_UNSUPPORTED("device: %s:%d cannot be used: %s: %s", backend->name, index, d.text,
                           d.reason);
}

/* Return the next backend of the list *at that has a device which the name "auto" may select, set
 * *index to this device, and advance *at; NULL: no further backend has such a device. */
static const struct fbp_backend *next(const struct fbp_backend *const **at, int *index)
{
    char why[300];

    while (**at) {
        const struct fbp_backend *found = *(*at)++;
        if (found->hidden || (found->discovery.load && found->discovery.auto_selectable &&
                              !found->discovery.auto_selectable(-1)))
            continue;
        const int n = fbp_backend_count(&found, why, sizeof why);
        for (*index = 0; *index < n; ++*index)
            if (found->discovery.auto_selectable(*index))
                return found;
    }
    return NULL;
}

const struct fbp_backend *fbp_device_first(const struct fbp_backend *const *list, int *index)
{
    return next(&list, index);
}

/* Return whether the backend can compute the job with any of its kernels. */
static bool is_capable(const struct fbp_backend *backend, const struct fbp_job *job)
{
    struct fbp_job copy = *job;

    copy.selection.requested = NULL;
    return fbp_job_arrange(&copy, backend) == FBP_OK;
}

void fbp_device_capable(const struct fbp_backend *const *list, const struct fbp_job *job,
                        const struct fbp_backend **backend, int *device, char *line, size_t n)
{
    const struct fbp_backend *other;
    bool before = true; /* the loop has not yet passed *backend */
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
        snprintf(line, n, "device: %s is used, because %s does not support this task: %s",
                 other->name, (*backend)->name, why);
        *backend = other;
        *device = index;
        break;
    }
    fbp_message_clear();
}

fbp_status fbp_devices_listed(const char *text, const struct fbp_backend **backend, int *devices,
                              size_t *n_devices)
{
    char name[32], known[200] = "", why[sizeof((struct fbp_device_info *)0)->reason] = "";
    const char *colon = strchr(text, ':');
    const size_t n = colon ? (size_t)(colon - text) : strlen(text);
    struct fbp_device_info d;
    const char *one;
    int index = 0;

    *n_devices = 0;
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    *backend =
        strcmp(name, "auto") == 0 ? fbp_device_first(fbp_backends, &index) : fbp_backend_find(name);
    if (!*backend) {
        for (size_t i = 0; (one = fbp_device_name(i)); i++) {
            strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
            strncat(known, one, sizeof known - strlen(known) - 1);
        }

        return FBP_UNSUPPORTED(
            "device: \"%s\" is unknown, or not part of this build; use one of %s", name, known);
    }
    const int available = fbp_backend_count(backend, why, sizeof why);
    if (available == 0)
        return FBP_UNSUPPORTED("device: %s cannot be used: %s", name, why);
    const bool all = colon && strcmp(colon + 1, "all") == 0;
    /* rest of the text, with indices that are not parsed yet, such as "0,2" */
    const char *at = colon && !all ? colon + 1 : NULL;
    while (at) {
        char *end;
        const long listed = strtol(at, &end, 10);
        if ((end == at || listed < 0 || listed >= available) && available == 1)
            return FBP_INVALID("device: \"%s\": there is only one device, with index 0; use %s",
                               text, (*backend)->name);
        if (end == at || listed < 0 || listed >= available)
            return FBP_INVALID("device: \"%s\": expected indices 0 … %d, such as %s:0,1, or %s:all",
                               text, available - 1, (*backend)->name, (*backend)->name);
        if (*n_devices == FBP_MOST_DEVICES)
            return FBP_INVALID("device: \"%s\": at most %d devices can be named; name fewer", text,
                               FBP_MOST_DEVICES);
        devices[(*n_devices)++] = (int)listed;
        if (*end != '\0' && *end != ',')
            return FBP_INVALID(
                "device: \"%s\": unexpected \"%s\"; give a name and indices, such as cuda:0,1",
                text, end);
        at = *end ? end + 1 : NULL;
    }

    if (!colon)
        devices[(*n_devices)++] = index;
    /* "NAME:all": take all usable devices; software renderers only if there are no others. */
    for (int fast = 1; all && fast >= 0 && *n_devices == 0; fast--)
        for (int i = 0; i < available && *n_devices < FBP_MOST_DEVICES; i++) {
            describe(*backend, i, &d);
            if (!d.reason[0] && (!fast || (*backend)->discovery.auto_selectable(i)))
                devices[(*n_devices)++] = i;
        }
    return FBP_OK;
}

fbp_status fbp_devices_find(const char *text, const struct fbp_backend **backend, int *devices,
                            size_t *n_devices)
{
    FBP_TRY(fbp_devices_listed(text, backend, devices, n_devices));
    for (size_t i = 0; i < *n_devices; i++)
        FBP_TRY(check_device(*backend, devices[i]));
    /* "NAME:all" found no usable device: fail with the reason of the first device */
    if (*n_devices == 0)
        return check_device(*backend, 0);
    return FBP_OK;
}

/* ---- Starting devices in a thread ---- */

static struct {
    pthread_mutex_t lock; /* held by the thread that joins */
    pthread_t thread;
    atomic_bool running; /* the thread was created, and no thread has joined it */
    const char *text;
    struct fbp_device_start times;
} start = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Find the devices: this loads the modules, starts the driver, and creates the contexts. A failure
 * is ignored, because the plan finds the devices again. */
static void *start_main(void *unused)
{
    const double began = fbp_seconds();
    const struct fbp_backend *backend;
    int devices[FBP_MOST_DEVICES];
    size_t n;

    (void)unused;
    (void)!fbp_devices_find(start.text, &backend, devices, &n);
    start.times.seconds = fbp_seconds() - began;
    return NULL;
}

void fbp_devices_start(const char *text)
{
    /* a child process of the readers would inherit locks that the thread holds, such as the lock of
     * the dynamic loader */
    if (pthread_atfork(fbp_devices_await, NULL, NULL) != 0)
        return;
    start.text = text ? text : "auto";
    atomic_store(&start.running, pthread_create(&start.thread, NULL, start_main, NULL) == 0);
}

void fbp_devices_await(void)
{
    const double began = fbp_seconds();

    /* The start thread must not join itself: its driver may fork, and the fork handler is here. */
    if (!atomic_load(&start.running) || pthread_equal(start.thread, pthread_self()))
        return;
    pthread_mutex_lock(&start.lock);
    if (atomic_load(&start.running)) {
        pthread_join(start.thread, NULL);
        start.times.waited = fbp_seconds() - began;
        atomic_store(&start.running, false);
    }
    pthread_mutex_unlock(&start.lock);
}

struct fbp_device_start fbp_devices_start_times(void)
{
    return start.times;
}

uint64_t fbp_device_free(const struct fbp_backend *backend, int index)
{
    struct fbp_device_info d = {0};

    if (!backend->can.own_memory)
        return 0;
    backend->discovery.describe(index, &d);
    return d.free_bytes / 10 * 9;
}

/* ---- The list of devices, for callers ---- */

size_t fbp_devices(struct fbp_device_info *out, size_t n)
{
    size_t found = 0;

    fbp_message_clear();
    if (n > 0 && FBP_CHECK(device_info, out) != FBP_OK)
        return 0;
    for (const struct fbp_backend *const *b = fbp_backends; *b; b++) {
        const struct fbp_backend *backend = *b;
        char why[sizeof out->reason] = "";
        if (backend->hidden)
            continue;
        const int count = fbp_backend_count(&backend, why, sizeof why);
        for (int i = 0; i < (count > 0 ? count : 1); i++, found++) {
            if (found >= n)
                continue;
            struct fbp_device_info own = {.struct_size = sizeof own, .numa_node = -1};
            struct fbp_device_info *d = &out[found];
            snprintf(own.name, sizeof own.name, count > 1 ? "%s:%d" : "%s", backend->name, i);
            snprintf(own.text, sizeof own.text, "%s", backend->summary);
            snprintf(own.reason, sizeof own.reason, "%s", why);
            if (count > 0)
                backend->discovery.describe(i, &own);
            d->struct_size = sizeof *d;
            FBP_COPY_OUT(device_info, d, &own);
        }
    }
    return found;
}

/* ---- Views and volumes in device memory ---- */

static fbp_status find_backend(const char *name, const char *what, const struct fbp_backend **out)
{
    char why[sizeof((struct fbp_device_info *)0)->reason] = "";

    *out = name ? fbp_backend_find(name) : NULL;
    if (!*out)
        return FBP_UNSUPPORTED(
            "%s: device \"%s\" is unknown, or not part of this build; give the name "
            "without an index, as \"fbp devices\" lists it",
            what, name ? name : "");
    if (fbp_backend_count(out, why, sizeof why) == 0)
        return FBP_UNSUPPORTED("%s: device %s cannot be used: %s", what, name, why);
    return FBP_OK;
}

/* Find the device of backend `name` whose memory contains the `bytes` bytes from `memory` on, and
 * open access to that memory. what: prefix of error messages. */
static fbp_status find(const char *name, const char *what, const void *memory, uint64_t bytes,
                       void *queue, struct fbp_device_memory **out)
{
    const struct fbp_backend *backend;

    FBP_TRY(find_backend(name, what, &backend));
    const int index = memory ? backend->memory.of_caller->owner(memory, bytes) : -1;
    if (index < 0)
        return FBP_INVALID("%s: the %llu bytes from %p on are not in the memory of a single %s "
                           "device; give memory of that device, as large as the array",
                           what, (unsigned long long)bytes, memory, name);
    return backend->memory.of_caller->open(index, queue, out);
}

int fbp_device_of_memory(const char *name, const void *memory, size_t bytes)
{
    char why[sizeof((struct fbp_device_info *)0)->reason] = "";
    const struct fbp_backend *backend = name && memory ? fbp_backend_find(name) : NULL;

    fbp_message_clear();
    if (!backend || fbp_backend_count(&backend, why, sizeof why) == 0)
        return -1;
    return backend->memory.of_caller->owner(memory, bytes);
}

fbp_status fbp_source_device_memory(fbp_source **out, const void *samples,
                                    const struct fbp_array_info *given, const char *backend,
                                    void *queue)
{
    FBP_REQUIRE(out, backend);
    struct fbp_array_info info;
    struct fbp_device_memory *far = NULL;
    uint64_t bytes;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_COPY_IN(array_info, &info, given));
    FBP_TRY(fbp_array_bytes("views on a device", &info, &bytes));
    FBP_TRY(find(backend, "views on a device", samples, bytes, queue, &far));
    return fbp_source_on_device(out, samples, &info, far);
}

fbp_status fbp_sink_device_memory(fbp_sink **out, void *samples, enum fbp_type type,
                                  const size_t n[3], const char *backend, void *queue)
{
    FBP_REQUIRE(out, n, backend);
    const struct fbp_array_info info = {.n = {n[0], n[1], n[2]}, .type = type};
    struct fbp_device_memory *far = NULL;
    uint64_t bytes;

    fbp_message_clear();
    *out = NULL;
    if (type != FBP_F32 && type != FBP_F64)
        return FBP_INVALID(
            "volume on a device: samples of type %s are not supported; use float32 or float64",
            fbp_type_name(type));
    FBP_TRY(fbp_array_bytes("volume on a device", &info, &bytes));
    FBP_TRY(find(backend, "volume on a device", samples, bytes, queue, &far));
    return fbp_sink_on_device(out, type, samples, n, far);
}

static fbp_status find_queues(const char *name, const struct fbp_backend **out)
{
    FBP_TRY(find_backend(name, "queue of a device", out));
    if ((*out)->memory.of_caller->queue)
        return FBP_OK;
    return FBP_UNSUPPORTED(
        "queue of a device: device %s has no queues (streams); use a device with "
        "queues, such as cuda, or do not create or wait for one",
        name);
}

fbp_status fbp_device_queue_create(void **out, const char *name, int number)
{
    FBP_REQUIRE(out, name);
    const struct fbp_backend *backend;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(find_queues(name, &backend));
    return backend->memory.of_caller->queue(number, out);
}

fbp_status fbp_device_queue_wait(const char *name, void *queue)
{
    FBP_REQUIRE(name);
    const struct fbp_backend *backend;

    fbp_message_clear();
    FBP_TRY(find_queues(name, &backend));
    return backend->memory.of_caller->wait(queue);
}

void fbp_device_queue_destroy(const char *name, void *queue)
{
    FBP_REQUIRE_ELSE(, name);
    const struct fbp_backend *backend;

    if (queue && find_queues(name, &backend) == FBP_OK)
        backend->memory.of_caller->drop_queue(queue);
}
