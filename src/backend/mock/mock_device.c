/* What all calls of the pretended device do: fail if a test wants it, poison, queue commands. */
#include "backend/mock/mock_device.h"

#include "backend/mock/mock.h"

#include <stdlib.h>
#include <string.h>

/* A NaN whose payload no arithmetic makes. */
static const uint32_t POISON = 0x7fc5a5a5u;

/* Is this the one that a test wants to fail? */
static fbp_status planted(struct mock_device *dev, atomic_uint_fast64_t *n, uint64_t fails,
                          const char *what)
{
    if (fails == 0 || atomic_fetch_add(n, 1) + 1 < fails)
        return FBP_OK;
    atomic_fetch_add(&fbp_mock_failures, 1);
    return fbp_fail(FBP_ERR_DEVICE, "mock: device %d: %s fails, as a test wants", dev->index, what);
}

/* From that one on, all fail, as on a device that is lost. */
fbp_status mock_called(fbp_device *device)
{
    struct mock_device *dev = (struct mock_device *)(void *)device;

    return planted(dev, &dev->n_calls, fbp_mock_plant.fail_call[dev->index], "a call");
}

/* ... and it works no more, on nobody's memory, when this returns. */
fbp_status mock_called_last(fbp_device *device)
{
    const struct mock_device *dev = (const struct mock_device *)(const void *)device;
    const fbp_status st = mock_called(device);

    for (int i = 0; st != FBP_OK && i < FBP_N_STAGES; i++)
        mock_stream_finish(dev->streams[i]);
    return st;
}

void mock_poison(void *mem, size_t bytes)
{
    uint32_t *p = mem;
    for (size_t i = 0; i < bytes / sizeof *p; i++)
        p[i] = POISON;
}

bool mock_is_poisoned(const void *mem, size_t n_samples)
{
    const uint32_t *p = mem;
    for (size_t i = 0; i < n_samples; i++)
        if (p[i] == POISON)
            return true;
    return false;
}

static fbp_status run_command(void *user)
{
    const struct mock_command *c = user;

    struct mock_device *dev = c->dev;

    FBP_TRY(planted(dev, &dev->n_commands, fbp_mock_plant.fail_command[dev->index], "a command"));
    return c->run(user);
}

fbp_status mock_submit(struct mock_device *dev, enum fbp_stage stage, mock_command_fn *fn,
                       const struct mock_command *c)
{
    struct mock_command *copy = malloc(sizeof *copy);

    if (!copy)
        return fbp_fail_nomem(sizeof *copy, "mock command");
    *copy = *c;
    copy->dev = dev;
    copy->run = fn;
    return mock_stream_submit(dev->streams[stage], run_command, copy);
}
