/* Checks that text from files is printed without control characters that a terminal would
 * execute. */
#include "base/base.h"
#include "base/text.h"
#include "test.h"

TEST(test_characters)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain text, 100 %", "plain text, 100 %"},
        {"\033[31mred", "\\u001b[31mred"},
        {"a\nb\tc\rd", "a\\u000ab\\u0009c\\u000dd"},
        {"\177", "\\u007f"},
        {"\302\233m", "\\u009bm"}, /* CSI of one character */
        {"\233m", "\\u009bm"},     /* and of one byte */
        {"µm é 試料 😀", "µm é 試料 😀"},
        {"\302\240", "\302\240"},                             /* a space, no control */
        {"\342\200\256abc", "\\u202eabc"},                    /* right to left from here */
        {"\300\233", "\\u00c0\\u009b"},                       /* a longer form of ESC */
        {"\355\240\200", "\\u00ed\\u00a0\\u0080"},            /* half of a surrogate pair */
        {"\364\220\200\200", "\\u00f4\\u0090\\u0080\\u0080"}, /* beyond Unicode */
        {"caf\351", "caf\\u00e9"},                            /* Latin-1 */
        {"\342\202", "\\u00e2\\u0082"},                       /* the end is missing */
    };
    char out[80];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t n = fbp_printable(out, sizeof out, rows[i].in, strlen(rows[i].in), "");
        assert_string_equal(out, rows[i].out);
        assert_int_equal(n, strlen(out));
    }
    fbp_printable(out, sizeof out, "a\nb\033", 4, "\n\t");
    assert_string_equal(out, "a\nb\\u001b");
    fbp_printable(out, sizeof out, "a\0b", 3, "\n");
    assert_string_equal(out, "a\\u0000b");
}

/* Nothing is cut inside a character or an escape, and nothing is written beyond the room. */
TEST(test_room)
{
    char out[16];

    for (size_t room = 0; room < 12; room++) {
        memset(out, '#', sizeof out);
        const size_t n = fbp_printable(out, room, "é\033é", 5, "");
        assert_true(n == 0 || n == 2 || n == 8 || n == 10);
        assert_true(room == 0 || (n < room && out[n] == '\0'));
        assert_int_equal(out[room], '#');
    }
}

TEST(test_message)
{
    fbp_message_clear();
    (void)!fbp_fail(FBP_ERR_IO, "%s: what?", "a\033]0;b\007\302\233c\nfbp: done");
    assert_string_equal(fbp_message(), "a\\u001b]0;b\\u0007\\u009bc\\u000afbp: done: what?");
    fbp_message_clear();
    fbp_message_adopt("x\033y");
    assert_string_equal(fbp_message(), "x\\u001by");
    fbp_message_clear();
}

/* Three digits, in the unit that suits the size, and never more than a thousand of one. */
TEST(test_bytes)
{
    static const struct {
        double bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},           {1, "1 B"},
        {999, "999 B"},       {1000, "0.98 KiB"},
        {1023, "1.00 KiB"},   {1024, "1.00 KiB"},
        {10239, "10.0 KiB"},  {102399, "100 KiB"},
        {1023487, "999 KiB"}, {1023489, "0.98 MiB"},
        {0x1p30, "1.00 GiB"}, {0x1p63, "8.00 EiB"},
        {0x1p64, "16.0 EiB"}, {1.5 * 0x1p70, "1536 EiB"},
    };
    char out[32];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(fbp_bytes_estimate_text(out, sizeof out, rows[i].bytes), rows[i].text);
    assert_string_equal(fbp_bytes_text(out, sizeof out, 123), "123 B");
    assert_string_equal(fbp_bytes_text(out, sizeof out, 5ull << 29), "2.50 GiB");
}

/* Never less than what it says. */
TEST(test_bytes_up)
{
    const struct {
        uint64_t bytes;
        const char *text;
    } rows[] = {{0, "0 B"},
                {999, "999 B"},
                {1000, "0.98 KiB"},
                {1024, "1.00 KiB"},
                {1025, "1.01 KiB"},
                {10240, "10.0 KiB"},
                {10241, "10.1 KiB"},
                {102400, "100 KiB"},
                {102401, "101 KiB"},
                {999 * 1024, "999 KiB"},
                {999 * 1024 + 1, "0.98 MiB"},
                {5ull << 29, "2.50 GiB"},
                {(5ull << 29) + 1, "2.51 GiB"},
                {1ull << 63, "8.00 EiB"}};
    char out[32];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(fbp_bytes_up_text(out, sizeof out, rows[i].bytes), rows[i].text);
}

TEST_MAIN(NULL, NULL)
