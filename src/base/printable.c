/* Text that may come from a file, for a terminal: UTF-8 stays, what a terminal would obey does not.
 * Unicode 15, 3.9 (well-formed UTF-8) and 23.1 (control codes). */
#include "fbp/types.h"

#include "base/status.h"

#include <stdio.h>
#include <string.h>

/* The first character of text[0..n): its length, 1 to 4, or 0 if it is none, and its number. */
static size_t decode(const unsigned char *text, size_t n, unsigned *number)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000}; /* longer forms are no UTF-8 */
    const unsigned lead = text[0];
    const size_t len = lead < 0x80            ? 1
                       : (lead >> 5) == 0x06u ? 2
                       : (lead >> 4) == 0x0eu ? 3
                       : (lead >> 3) == 0x1eu ? 4
                                              : 0;

    if (len == 0 || len > n)
        return 0;
    *number = len == 1 ? lead : lead & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((text[i] & 0xc0u) != 0x80)
            return 0;
        *number = *number << 6 | (text[i] & 0x3fu);
    }
    const bool surrogate = *number >= 0xd800 && *number <= 0xdfff;
    return *number < least[len] || *number > 0x10ffff || surrogate ? 0 : len;
}

/* C0, DEL, C1; ends of lines and paragraphs, and what turns the direction of writing round. */
static bool commands_terminal(unsigned number)
{
    return number < 0x20 || (number >= 0x7f && number < 0xa0) ||
           (number >= 0x2028 && number <= 0x202e) || (number >= 0x2066 && number <= 0x2069);
}

size_t fbp_printable(char *out, size_t room, const char *text, size_t n, const char *keep)
{
    FBP_GIVEN_ELSE(0, out, text, keep);
    size_t used = 0;

    for (size_t i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)text + i;
        unsigned number = 0;
        char one[8];
        const size_t len = decode(at, n - i, &number);
        const bool kept = len == 1 && number != 0 && strchr(keep, (int)number);
        if (len > 0 && (kept || !commands_terminal(number)))
            snprintf(one, sizeof one, "%.*s", (int)len, (const char *)at);
        else
            snprintf(one, sizeof one, "\\u%04x", len > 0 ? number : *at);
        const size_t more = strlen(one);
        if (used + more >= room)
            break;
        memcpy(out + used, one, more);
        used += more;
        i += len > 0 ? len : 1;
    }
    if (room > 0)
        out[used] = '\0';
    return used;
}
