#include "picture/svg_page.h"

#include "scan/file/scan_write.h"

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
    struct fbp_writer w;

    FBP_TRY(fbp_writer_open(&w, path));
    write_page(w.f, width, height, draw, user);
    return fbp_writer_close(&w, FBP_OK);
}
