#define FBP_STATUS_C
#include "base/status.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1200];

/* Words quoted from a file may hold anything: a message stays one line, and moves no cursor. */
static void latch(const char *text)
{
    fbp_printable(message, sizeof message, text, strlen(text), "");
}

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
        latch(text);
}

fbp_status fbp_fail(fbp_status status, const char *fmt, ...)
{
    if (!message[0]) {
        char text[sizeof message];
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        latch(text);
    }
    return status;
}

fbp_status fbp_check_given(const char *function, const char *names, const void *const *pointers,
                           size_t n)
{
    for (size_t i = 0; i < n; i++, names += strcspn(names, ","), names += strspn(names, ", "))
        if (!pointers[i]) {
            fbp_message_clear();
            return fbp_fail(FBP_ERR_INVALID, "%s(): %.*s is NULL: give a pointer to it", function,
                            (int)strcspn(names, ","), names);
        }
    return FBP_OK;
}

fbp_status fbp_because(const char *where, fbp_status st)
{
    char why[sizeof message];

    if (st == FBP_OK)
        return st;
    snprintf(why, sizeof why, "%s", message);
    message[0] = '\0';
    return fbp_fail(st, "%s: %s", where, why);
}

fbp_status fbp_fail_nomem(size_t bytes, const char *what)
{
    char size[32];
    return fbp_fail(FBP_ERR_NOMEM,
                    "memory: cannot allocate %s for %s: lower --memory or close other programs",
                    fbp_bytes_text(size, sizeof size, bytes), what);
}
