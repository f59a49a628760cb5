#include "picture/svg_page.h"

#include "picture/outfile.h"

#include <locale.h>

void fbp_svg_text(FILE *f, double x, double y, const char *style, const char *words)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, style, words);
}

static void write_page(FILE *f, int width, int height, fbp_svg_draw *draw, const void *user)
{
    fprintf(f,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, sans-serif\">\n"
            "<style>text{fill:#2d3748} .head{font-size:15px;font-weight:bold} "
            ".small{font-size:11px} .name{font-size:12px;fill:#718096} "
            ".value{font-size:12px}</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fcfcfa\"/>\n",
            width, height, width, height, width, height);
    draw(f, user);
    fprintf(f, "</svg>\n");
}

fbp_status fbp_svg_page(const char *path, int width, int height, fbp_svg_draw *draw,
                        const void *user)
{
    struct fbp_outfile out = {0};
    locale_t c_locale = (locale_t)0;
    fbp_status st;

    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) {
        st = fbp_fail_nomem(0, "number format");
        goto fail;
    }
    const locale_t before = uselocale(c_locale);
    write_page(out.f, width, height, draw, user);
    uselocale(before);
    st = fbp_outfile_finish(&out);
fail:
    if (c_locale)
        freelocale(c_locale);
    fbp_outfile_clear(&out);
    return st;
}
