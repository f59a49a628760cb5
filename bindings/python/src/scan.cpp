#include "scan.hpp"

#include "call.hpp"

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace fbp_python
{

void set_text(char *&to, const std::optional<std::string> &text)
{
    char *copy = text ? strdup(text->c_str()) : nullptr;

    if (text && !copy)
        throw std::bad_alloc();
    std::free(to);
    to = copy;
}

static std::optional<std::string> text_of(const char *text)
{
    return text ? std::optional<std::string>(text) : std::nullopt;
}

static scan_ptr load(const std::string &path, std::pair<double, double> pitch, bool growing,
                     const std::optional<std::string> &prepare)
{
    auto out = std::make_unique<scan>();
    fbp::scan_known known;

    known.pitch_mm[0] = pitch.first;
    known.pitch_mm[1] = pitch.second;
    known.growing = growing;
    known.prepare = prepare ? prepare->c_str() : nullptr;
    call([&] { return fbp_scan_load(&out->s, path.c_str(), &known); });
    return out;
}

/* The scan in a folder, or the one that it suggests. */
static scan_ptr load_folder(const std::string &folder, double pixel, double sod, double sdd,
                            double arc, nb::object log)
{
    auto out = std::make_unique<scan>();
    fbp::sized<fbp_folder_known> known;
    desk at({nb::none(), std::move(log)});
    desk *now = &at;
    fbp::stopper stop;
    std::string message;

    known.pitch_mm = pixel;
    known.sod_mm = sod;
    known.sdd_mm = sdd;
    known.arc_deg = arc;
    known.log = on_log;
    known.user = &now;
    const fbp_status st = at.run(
        [&] {
            const fbp::stopper::attached here(stop);
            return fbp_folder_load(&out->s, folder.c_str(), &known);
        },
        [&] { stop.stop(); }, message);
    if (st != FBP_OK)
        throw failure{st, message};
    return out;
}

static scan_ptr circle(const std::string &kind, std::vector<double> angles_rad,
                       std::vector<double> sod, std::vector<double> sdd,
                       std::pair<double, double> pitch, std::pair<double, double> offset,
                       std::vector<double> tilt_rad, double skew_rad, std::size_t n_rows,
                       std::size_t n_columns)
{
    auto out = std::make_unique<scan>();
    fbp::circle c;

    c.n_views = angles_rad.size();
    c.angles_rad = angles_rad.data();
    c.sod_mm = sod.data();
    c.sdd_mm = sdd.data();
    c.n_sod = sod.size();
    c.n_sdd = sdd.size();
    c.pitch_mm[0] = pitch.first;
    c.pitch_mm[1] = pitch.second;
    c.offset_mm[0] = offset.first;
    c.offset_mm[1] = offset.second;
    for (std::size_t i = 0; i < 3; i++)
        c.tilt_rad[i] = tilt_rad.at(i);
    c.skew_rad = skew_rad;
    check(
        (kind == "parallel" ? fbp_scan_parallel : fbp_scan_cone)(&out->s, &c, {n_columns, n_rows}));
    return out;
}

static scan_ptr from_matrices(const std::vector<double> &numbers, double pitch_u,
                              std::size_t n_rows, std::size_t n_columns)
{
    auto out = std::make_unique<scan>();

    check(fbp_scan_matrices(&out->s, reinterpret_cast<const double(*)[12]>(numbers.data()),
                            numbers.size() / 12, pitch_u, {n_columns, n_rows}));
    return out;
}

/* s, d, u, v of each view, twelve numbers; of parallel beams s has any length. */
static scan_ptr from_vectors(const std::string &kind, const std::vector<double> &numbers,
                             std::size_t n_rows, std::size_t n_columns)
{
    auto out = std::make_unique<scan>();
    const fbp_kind of = kind == "parallel" ? FBP_PARALLEL : FBP_CONE;
    std::vector<fbp_view> views(numbers.size() / 12);

    for (std::size_t k = 0; k < views.size(); k++) {
        const double *x = &numbers[12 * k];
        fbp_view &v = views[k];
        const double length = std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        /* What is of length 1 stays as it is, to the last bit. */
        const bool divide = of == FBP_PARALLEL && std::fabs(length - 1) > 1e-12;
        if (divide && !(length > 0))
            refuse("vectors[" + std::to_string(k) + "]: its rays have no direction");
        for (int i = 0; i < 3; i++) {
            v.s[i] = divide ? x[i] / length : x[i];
            v.d[i] = x[3 + i];
            v.u[i] = x[6 + i];
            v.v[i] = x[9 + i];
        }
    }
    check(fbp_scan_vectors(&out->s, of, views.data(), views.size(), {n_columns, n_rows}));
    return out;
}

static scan_ptr planes(std::vector<double> directions, double spacing, double first,
                       std::size_t n_frames, std::size_t n_samples)
{
    auto out = std::make_unique<scan>();
    fbp::planes p;

    for (std::size_t k = 0; k + 2 < directions.size(); k += 3) {
        double *d = &directions[k];
        const double length = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int i = 0; i < 3; i++)
            d[i] /= length;
    }
    p.n_views = directions.size() / 3;
    p.direction = reinterpret_cast<const double(*)[3]>(directions.data());
    p.spacing_mm = &spacing;
    p.first_mm = &first;
    p.n_spacing = p.n_first = 1;
    p.n_samples = n_samples;
    p.n_time_points = n_frames;
    check(fbp_scan_planes(&out->s, &p));
    return out;
}

/* Instead of those of its file, but for what is not told. */
static void correct(scan &of, const std::optional<std::vector<double>> &beam_hardening,
                    const std::optional<std::string> &rings, std::optional<double> zingers)
{
    fbp::sized<fbp_corrections> c;

    if (of.s.corrections)
        c = *of.s.corrections;
    if (beam_hardening && beam_hardening->size() > FBP_HARDENING_TERMS)
        refuse("beam_hardening: found " + std::to_string(beam_hardening->size()) +
               " coefficients, expected at most " + std::to_string(FBP_HARDENING_TERMS));
    for (std::size_t i = 0; beam_hardening && i < FBP_HARDENING_TERMS; i++)
        c.beam_hardening[i] = i < beam_hardening->size() ? (*beam_hardening)[i] : 0;
    if (rings)
        check(fbp_corrections_rings(&c, rings->c_str()));
    if (zingers)
        c.zingers = *zingers;
    check(fbp_scan_correct(&of.s, &c));
}

static void retrieve_phases(scan &of, const std::vector<double> &numbers)
{
    fbp::sized<fbp_corrections> c;

    if (of.s.corrections)
        c = *of.s.corrections;
    if (numbers.size() < 2 || numbers.size() > 3)
        refuse("paganin: found " + std::to_string(numbers.size()) +
               " numbers, expected delta / beta, keV and, of parallel beams, mm");
    c.paganin_delta_beta = numbers[0];
    c.paganin_kev = numbers[1];
    c.paganin_mm = numbers.size() > 2 ? numbers[2] : 0;
    check(fbp_scan_correct(&of.s, &c));
}

static scan_ptr copy(const scan &from)
{
    auto out = std::make_unique<scan>();

    check(fbp_scan_copy(&out->s, &from.s));
    return out;
}

/* (n, 3, 4), as fbp_view_to_matrix() has them. */
static nb::list matrices(const scan &of)
{
    nb::list out;
    double P[12];

    for (std::size_t k = 0; k < of.s.n_views; k++) {
        check(fbp_view_to_matrix(&of.s.views[k], of.s.kind, &of.s.panel, P));
        for (const double p : P)
            out.append(p);
    }
    return out;
}

/* s, d, u, v of each view, twelve numbers. */
static nb::list vectors(const scan &of)
{
    nb::list out;

    for (std::size_t k = 0; k < of.s.n_views; k++) {
        const fbp_view &v = of.s.views[k];
        for (const double *part : {v.s, v.d, v.u, v.v})
            for (int i = 0; i < 3; i++)
                out.append(part[i]);
    }
    return out;
}

nb::dict grid_of(const fbp_grid &g)
{
    nb::dict out;

    out["size"] = nb::make_tuple(g.n[0], g.n[1], g.n[2]);
    out["voxel"] = nb::make_tuple(g.voxel_mm[0], g.voxel_mm[1], g.voxel_mm[2]);
    out["centre"] = nb::make_tuple(g.centre_mm[0], g.centre_mm[1], g.centre_mm[2]);
    return out;
}

fbp_grid to_grid(const nb::dict &grid)
{
    fbp_grid g{};

    for (std::size_t i = 0; i < 3; i++) {
        g.n[i] = nb::cast<std::size_t>(nb::object(grid["size"][i]));
        g.voxel_mm[i] = nb::cast<double>(nb::object(grid["voxel"][i]));
        g.centre_mm[i] = nb::cast<double>(nb::object(grid["centre"][i]));
    }
    return g;
}

static nb::dict resolve(const scan &of, const nb::dict &wanted)
{
    fbp_grid g = to_grid(wanted), out;

    check(fbp_grid_resolve(&g, &of.s, &out));
    return grid_of(out);
}

static nb::dict facts(const scan &of, const std::optional<nb::dict> &grid)
{
    fbp::geometry_facts out;
    fbp_grid g{};

    if (grid)
        g = to_grid(*grid);
    check(fbp_scan_facts(&of.s, grid ? &g : nullptr, &out));
    return facts_of(out);
}

/* Which way rows of files run; arrays say it themselves. */
static void set_row_order(scan &of, const std::string &order)
{
    of.s.row_order = order == "top-down" ? FBP_ROWS_TOP_DOWN : FBP_ROWS_BOTTOM_UP;
}

static nb::list assumed(const scan &of)
{
    nb::list out;

    for (std::size_t i = 0; i < of.s.n_assumed; i++) {
        const fbp_assumed &a = of.s.assumed[i];
        out.append(nb::make_tuple(text_of(a.key), text_of(a.value), text_of(a.why)));
    }
    return out;
}

static void define_facts(nb::class_<scan> &c)
{
    c.def_prop_ro("kind", [](const scan &s) { return fbp_name(FBP_LIST_KINDS, s.s.kind); })
        .def_prop_ro("n_views", [](const scan &s) { return s.s.n_views; })
        .def_prop_ro("n_rows", [](const scan &s) { return s.s.panel.n_rows; })
        .def_prop_ro("n_columns", [](const scan &s) { return s.s.panel.n_columns; })
        .def_prop_ro("has_lines", [](const scan &s) { return s.s.kind != FBP_PLANES; })
        .def_prop_ro("is_intensity", [](const scan &s) { return fbp_scan_is_intensity(&s.s); })
        .def_prop_ro("path", [](const scan &s) { return text_of(s.s.path); })
        .def_prop_ro("note", [](const scan &s) { return text_of(s.s.note); })
        .def_prop_ro("assumed", &assumed)
        .def_prop_ro("i0", [](const scan &s) { return s.s.i0; })
        .def_prop_ro("volume",
                     [](const scan &s) {
                         return s.s.volume.n[0] ? nb::object(grid_of(s.s.volume)) : nb::none();
                     })
        .def("matrices", &matrices)
        .def("vectors", &vectors)
        .def("facts", &facts, nb::arg("grid").none())
        .def("resolve", &resolve, nb::arg("wanted"));
}

static void define_changes(nb::class_<scan> &c)
{
    c.def("copy", &copy)
        .def("set_volume", [](scan &s, const nb::dict &grid) { s.s.volume = to_grid(grid); })
        .def("set_row_order", &set_row_order)
        .def("set_filtered", [](scan &s) { s.s.filtered = true; })
        .def("set_i0", [](scan &s, double i0) { s.s.i0 = i0; })
        .def(
            "set_projections",
            [](scan &s, const std::optional<std::string> &p) { set_text(s.s.projections, p); },
            nb::arg("path").none())
        .def("set_reference",
             [](scan &s, const std::string &p) {
                 set_text(s.s.reference, p);
                 fbp_scan_confirm(&s.s, "reference");
             })
        .def("set_quadrature",
             [](scan &s, const std::string &name) {
                 s.s.quadrature = by_name<fbp_quadrature>(FBP_LIST_QUADRATURES, name, "quadrature");
                 std::free(s.s.plane_weights);
                 s.s.plane_weights = nullptr;
             })
        .def("adjust",
             [](scan &s, const std::string &name, double value) {
                 const auto which = by_name<fbp_adjust>(FBP_LIST_ADJUSTMENTS, name, "adjust");
                 check(fbp_scan_adjust(&s.s, which, value));
             })
        .def("correct", &correct, nb::arg("beam_hardening").none(), nb::arg("rings").none(),
             nb::arg("zingers").none())
        .def("retrieve_phases", &retrieve_phases, nb::arg("numbers"))
        .def("flip",
             [](scan &s, bool u, bool v, bool reverse) {
                 const int flips = u * FBP_FLIP_U + v * FBP_FLIP_V + reverse * FBP_FLIP_DIRECTION;
                 check(fbp_scan_flip(&s.s, static_cast<unsigned>(flips)));
             })
        .def("select", [](scan &s, const char *views, const char *skip) {
                 check(fbp_scan_select(&s.s, *views ? views : nullptr, *skip ? skip : nullptr));
             })
        .def("reduce", [](scan &s, std::size_t every, std::size_t bin) {
            check(fbp_scan_reduce(&s.s, every, bin));
        });
}

void define_scan(nb::module_ &m)
{
    nb::class_<scan> c(m, "Scan", "A scan of the C library's: struct fbp_scan.");

    define_facts(c);
    define_changes(c);
    c.def("save", [](const scan &s, const std::string &path) {
        check(fbp_scan_save(&s.s, path.c_str(), nullptr));
    });
    m.def("scan_load", &load, nb::arg("path"), nb::arg("pitch"), nb::arg("growing"),
          nb::arg("prepare").none());
    m.def("scan_load_folder", &load_folder, nb::arg("folder"), nb::arg("pixel"), nb::arg("sod"),
          nb::arg("sdd"), nb::arg("arc"), nb::arg("log").none());
    m.def("scan_circle", &circle, nb::arg("kind"), nb::arg("angles_rad"), nb::arg("sod"),
          nb::arg("sdd"), nb::arg("pitch"), nb::arg("offset"), nb::arg("tilt_rad"),
          nb::arg("skew_rad"), nb::arg("n_rows"), nb::arg("n_columns"));
    m.def("scan_matrices", &from_matrices, nb::arg("numbers"), nb::arg("pitch_u"),
          nb::arg("n_rows"), nb::arg("n_columns"));
    m.def("scan_vectors", &from_vectors, nb::arg("kind"), nb::arg("numbers"), nb::arg("n_rows"),
          nb::arg("n_columns"));
    m.def("scan_planes", &planes, nb::arg("directions"), nb::arg("spacing"), nb::arg("first"),
          nb::arg("n_frames"), nb::arg("n_samples"));
}

} // namespace fbp_python
