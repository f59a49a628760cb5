/* Corrections of measured views in a scan file: beam_hardening. */
#include "scan/file/corrections.h"
#include "scan/file/scan_write.h"
#include "scan/scan_parts.h"

fbp_status fbp_scan_read_corrections(const struct fbp_scan_file *f)
{
    struct fbp_corrections c = {.struct_size = sizeof c};
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(&f->top, "beam_hardening", &fbp_range_finite, 1, FBP_HARDENING_TERMS,
                             c.beam_hardening, &n));
    if (n > 0 && fbp_corrections_none(&c))
        return fbp_json_wrong(&f->top, "beam_hardening",
                              "coefficients of p, p^2 ..., the first of them above 0");
    return fbp_scan_correct(f->scan, &c);
}

void fbp_scan_put_corrections(struct fbp_writer *w, const struct fbp_scan *scan)
{
    const struct fbp_corrections *c = scan->corrections;

    if (!c)
        return;
    if (fbp_corrections_terms(c) > 0) {
        fbp_put_key(w, "beam_hardening");
        fbp_put_numbers(w, c->beam_hardening, fbp_corrections_terms(c));
    }
}
