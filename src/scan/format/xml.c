/* Reads XML files (fbp_xml_read()) by expat, for the importers of geometries and scans. A build
 * without expat refuses them.
 * Used by: linac.c, rtk.c. */
#include "scan/format/importers.h"

#include "array/file/bytes.h"
#include "array/file/format.h"

#include <math.h>
#include <string.h>

fbp_status fbp_xml_numbers(const struct fbp_xml *xml, const char *name, double *out, size_t n)
{
    const char *text = xml->text;
    char *end = NULL;
    bool right = true;

    for (size_t i = 0; right && i < n; i++) {
        out[i] = fbp_number(text, &end);
        right = end != text && isfinite(out[i]);
        text = end;
    }
    if (right && text[strspn(text, " \t\r\n")] == '\0')
        return FBP_OK;
    return FBP_INVALID("%s: line %zu: %s: found \"%.40s\", expected %s", xml->path, xml->line, name,
                       xml->text, n == 12 ? "12 numbers" : "a number");
}

#ifdef FBP_HAS_EXPAT
#    include <expat.h>

enum { MAX_BYTES = 1 << 28 };

/* State of the XML parser; the first failure ends the parsing. */
struct reader {
    struct fbp_xml *xml;
    XML_Parser parser;
    fbp_status status;
    size_t n_text;
    bool root; /* true: the root element was read */
};

static void stop(struct reader *r, fbp_status st)
{
    r->status = st;
    XML_StopParser(r->parser, XML_FALSE);
}

static void XMLCALL on_start(void *user, const char *name, const char **attributes)
{
    struct reader *r = user;

    r->n_text = 0;
    const fbp_status st =
        r->root || !r->xml->root ? FBP_OK : r->xml->root(r->xml, name, attributes);
    if (st != FBP_OK)
        stop(r, st);
    r->root = true;
}

static void XMLCALL on_text(void *user, const char *text, int n)
{
    struct reader *r = user;
    const size_t room = sizeof r->xml->text - 1 - r->n_text;
    const size_t take = (size_t)n < room ? (size_t)n : room;

    memcpy(r->xml->text + r->n_text, text, take);
    r->n_text += take;
    /* A text too long for a number is cut off: make it invalid. */
    if (take < (size_t)n)
        r->xml->text[0] = '?';
}

/* XML entities are refused: numbers need none, and entities can expand without limit. */
static void XMLCALL on_entity(void *user, const char *name, int is_parameter, const char *value,
                              int n, const char *base, const char *system, const char *public_id,
                              const char *notation)
{
    struct reader *r = user;

    (void)name, (void)is_parameter, (void)value, (void)n, (void)base, (void)system;
    (void)public_id, (void)notation;
    stop(r, FBP_INVALID("%s: line %zu: declares an XML entity, which is not supported; remove it",
                        r->xml->path, (size_t)XML_GetCurrentLineNumber(r->parser)));
}

static void XMLCALL on_end(void *user, const char *name)
{
    struct reader *r = user;

    r->xml->text[r->n_text] = '\0';
    r->xml->line = (size_t)XML_GetCurrentLineNumber(r->parser);
    const fbp_status st = r->xml->element(r->xml, name);
    r->n_text = 0;
    if (st != FBP_OK)
        stop(r, st);
}

fbp_status fbp_xml_read(struct fbp_xml *xml, const char *what)
{
    struct reader r = {.xml = xml};
    char *text = NULL;
    size_t n = 0;

    (void)what;
    FBP_TRY(fbp_read_text(xml->path, MAX_BYTES, &text, &n));
    r.parser = XML_ParserCreate(NULL);
    if (!r.parser) {
        free(text);
        return fbp_fail_nomem(n, "an XML parser");
    }
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetCharacterDataHandler(r.parser, on_text);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    if (XML_Parse(r.parser, text, (int)n, 1) != XML_STATUS_OK && r.status == FBP_OK)
        r.status = FBP_INVALID("%s: line %zu: the XML is not well-formed (%s); correct it",
                               xml->path, (size_t)XML_GetCurrentLineNumber(r.parser),
                               XML_ErrorString(XML_GetErrorCode(r.parser)));
    XML_ParserFree(r.parser);
    free(text);
    return r.status;
}

#else
fbp_status fbp_xml_read(struct fbp_xml *xml, const char *what)
{
    return fbp_fail_no_library(xml->path, what, "libexpat1-dev", "FBP_EXPAT");
}
#endif
