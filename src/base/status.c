#define FBP_STATUS_C
#include "base/status.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1200];

const char *fbp_message(void)
{
    return message;
}

const char *fbp_version(void)
{
    return FBP_VERSION;
}

void fbp_message_clear(void)
{
    message[0] = '\0';
}

void fbp_message_adopt(const char *text)
{
    if (!message[0] && text != message)
        snprintf(message, sizeof message, "%s", text);
}

fbp_status fbp_fail(fbp_status status, const char *fmt, ...)
{
    if (!message[0]) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(message, sizeof message, fmt, ap);
        va_end(ap);
    }
    return status;
}

fbp_status fbp_fail_nomem(size_t bytes, const char *what)
{
    char size[32];
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: cannot allocate %s for %s: lower --memory or close other programs",
                    fbp_bytes_text(size, sizeof size, bytes), what);
}
