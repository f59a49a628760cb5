/* Corrections of measured views in a scan file: beam_hardening, rings, paganin. */
#include "scan/file/corrections.h"
#include "scan/file/scan_write.h"
#include "scan/scan_parts.h"

static fbp_status read_paganin(const struct fbp_scan_file *f, struct fbp_corrections *c)
{
    static const char *const keys[] = {"delta_beta", "energy_kev", "distance_mm"};
    struct fbp_json o;
    size_t n[3];

    FBP_TRY(fbp_json_child(&f->top, "paganin", "paganin.", keys, 3, &o));
    if (!o.object)
        return FBP_OK;
    double *const to[] = {&c->paganin_delta_beta, &c->paganin_kev, &c->paganin_mm};
    for (size_t i = 0; i < 3; i++) {
        FBP_TRY(fbp_json_numbers(&o, keys[i], &fbp_range_finite, 1, 1, to[i], &n[i]));
        if (n[i] == 0 && i < 2)
            return fbp_json_missing(&o, keys[i],
                                    "give the material's delta / beta and the energy in keV");
    }
    return FBP_OK;
}

fbp_status fbp_scan_read_corrections(const struct fbp_scan_file *f)
{
    struct fbp_corrections c = {.struct_size = sizeof c};
    const char *rings = NULL;
    size_t n = 0;

    FBP_TRY(fbp_json_numbers(&f->top, "beam_hardening", &fbp_range_finite, 1, FBP_HARDENING_TERMS,
                             c.beam_hardening, &n));
    FBP_TRY(fbp_json_text(&f->top, "rings", &rings));
    if (rings)
        FBP_TRY(fbp_because(f->top.file, fbp_corrections_rings(&c, rings)));
    FBP_TRY(read_paganin(f, &c));
    if (n > 0 && fbp_corrections_terms(&c) == 0)
        return fbp_json_wrong(&f->top, "beam_hardening",
                              "coefficients of p, p^2 ..., the first of them above 0");
    return fbp_scan_correct(f->scan, &c);
}

/* As fbp_corrections_rings() reads it; what is the default is left out from the end on. */
static void put_rings(struct fbp_writer *w, const struct fbp_corrections *c)
{
    fbp_put_key(w, "rings");
    if (c->rings == FBP_RINGS_SORTING && c->ring_size)
        fprintf(w->f, "\"sorting:%zu\"", c->ring_size);
    else if (c->rings == FBP_RINGS_SORTING)
        fbp_put_text(w, "sorting");
    else
        fprintf(w->f, "\"wavelet:%zu,%.17g,db%u\"", c->ring_levels ? c->ring_levels : 5,
                c->ring_sigma > 0 ? c->ring_sigma : 1, c->ring_wavelet ? c->ring_wavelet : 9);
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
    if (c->rings)
        put_rings(w, c);
    if (c->paganin_delta_beta > 0) {
        fbp_put_key(w, "paganin");
        fprintf(w->f, "{\"delta_beta\": %.17g, \"energy_kev\": %.17g", c->paganin_delta_beta,
                c->paganin_kev);
        if (c->paganin_mm > 0)
            fprintf(w->f, ", \"distance_mm\": %.17g", c->paganin_mm);
        fputs("}", w->f);
    }
}
