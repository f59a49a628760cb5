/* Views and volumes in the memory of a device. */
#include "fbp/device_memory.h"

#include "api/device_memory.h"
#include "array/far.h"
#include "array/file/bytes.h"
#include "backend/backend.h"
#include "base/sizes.h"
#include "plan/devices.h"

static fbp_status find_backend(const char *name, const char *what, const struct fbp_backend **out)
{
    char why[sizeof((struct fbp_device_info *)0)->reason] = "";

    *out = name ? fbp_backend_find(name) : NULL;
    if (!*out)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: device \"%s\" is not in this build", what,
                        name ? name : "");
    if (fbp_backend_count(out, why, sizeof why) == 0)
        return fbp_fail(FBP_ERR_UNSUPPORTED, "%s: device %s cannot be used: %s", what, name, why);
    return FBP_OK;
}

/* The device that has all of this memory, and how to get at that. */
static fbp_status find(const char *name, const char *what, const void *memory, uint64_t bytes,
                       void *queue, struct fbp_far **out)
{
    const struct fbp_backend *backend;

    FBP_TRY(find_backend(name, what, &backend));
    const int index = memory ? backend->far->owner(memory, bytes) : -1;
    if (index < 0)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: the %llu bytes from %p on are not in the memory of one device of %s: "
                        "give memory that its driver has allocated, as large as the array",
                        what, (unsigned long long)bytes, memory, name);
    return backend->far->open(index, queue, out);
}

int fbp_device_of_memory(const char *name, const void *memory, size_t bytes)
{
    char why[sizeof((struct fbp_device_info *)0)->reason] = "";
    const struct fbp_backend *backend = name && memory ? fbp_backend_find(name) : NULL;

    fbp_message_clear();
    if (!backend || fbp_backend_count(&backend, why, sizeof why) == 0)
        return -1;
    return backend->far->owner(memory, bytes);
}

fbp_status fbp_source_device_memory(fbp_source **out, const void *samples,
                                    const struct fbp_array_info *given, const char *backend,
                                    void *queue)
{
    FBP_GIVEN(out, backend);
    struct fbp_array_info info;
    struct fbp_far *far = NULL;
    uint64_t bytes;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(FBP_TAKE(array_info, &info, given));
    FBP_TRY(fbp_array_bytes("views on a device", &info, &bytes));
    FBP_TRY(find(backend, "views on a device", samples, bytes, queue, &far));
    return fbp_source_far_memory(out, samples, &info, far);
}

fbp_status fbp_sink_device_memory(fbp_sink **out, void *samples, enum fbp_type type,
                                  const size_t n[3], const char *backend, void *queue)
{
    FBP_GIVEN(out, n, backend);
    const struct fbp_array_info info = {.n = {n[0], n[1], n[2]}, .type = type};
    struct fbp_far *far = NULL;
    uint64_t bytes;

    fbp_message_clear();
    *out = NULL;
    if (type != FBP_F32 && type != FBP_F64)
        return fbp_fail(FBP_ERR_INVALID,
                        "volume on a device: samples are %s: use float32 or "
                        "float64",
                        fbp_type_name(type));
    FBP_TRY(fbp_array_bytes("volume on a device", &info, &bytes));
    FBP_TRY(find(backend, "volume on a device", samples, bytes, queue, &far));
    return fbp_sink_far_memory(out, type, samples, n, far);
}

static fbp_status find_queues(const char *name, const struct fbp_backend **out)
{
    FBP_TRY(find_backend(name, "queue of a device", out));
    if ((*out)->far->queue)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED, "queue of a device: %s has none", name);
}

fbp_status fbp_device_queue_create(void **out, const char *name, int number)
{
    FBP_GIVEN(out, name);
    const struct fbp_backend *backend;

    fbp_message_clear();
    *out = NULL;
    FBP_TRY(find_queues(name, &backend));
    return backend->far->queue(number, out);
}

fbp_status fbp_device_queue_wait(const char *name, void *queue)
{
    FBP_GIVEN(name);
    const struct fbp_backend *backend;

    fbp_message_clear();
    FBP_TRY(find_queues(name, &backend));
    return backend->far->wait(queue);
}

void fbp_device_queue_destroy(const char *name, void *queue)
{
    FBP_GIVEN_ELSE(, name);
    const struct fbp_backend *backend;

    if (queue && find_queues(name, &backend) == FBP_OK)
        backend->far->drop_queue(queue);
}

/* The first of these devices. */
static fbp_status first_device(const char *device, const struct fbp_backend **backend, int *index)
{
    int devices[FBP_MOST_DEVICES];
    size_t n;

    FBP_TRY(fbp_devices_find(device ? device : "auto", backend, devices, &n));
    *index = devices[0];
    if ((*backend)->far->alloc)
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "device: %s has no memory of its own for views and volumes of callers",
                    (*backend)->name);
}

fbp_status fbp_device_memory_alloc(const char *device, size_t bytes, void **out)
{
    const struct fbp_backend *backend;
    int index;

    *out = NULL;
    FBP_TRY(first_device(device, &backend, &index));
    return backend->far->alloc(index, bytes, out);
}

void fbp_device_memory_release(const char *device, void *memory)
{
    const struct fbp_backend *backend;
    int index;

    if (memory && first_device(device, &backend, &index) == FBP_OK)
        backend->far->release(index, memory);
}

fbp_status fbp_device_memory_copy(const char *device, void *to, const void *from, size_t bytes)
{
    const struct fbp_backend *backend;
    struct fbp_far *far;
    int index;

    FBP_TRY(first_device(device, &backend, &index));
    FBP_TRY(backend->far->open(index, NULL, &far));
    const fbp_status st =
        far->copy(far, &(struct fbp_pieces){.to = to, .from = from, .n = 1, .bytes = bytes});
    far->close(far);
    return st;
}
