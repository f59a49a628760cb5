/* Geometry files of other programs. */
#include "call.hpp"
#include "scan.hpp"

namespace fbp_python
{

static scan_ptr load(const std::string &path, const std::optional<std::string> &format,
                     std::pair<std::size_t, std::size_t> panel, std::pair<double, double> pitch,
                     std::size_t n_views, bool corner)
{
    auto out = std::make_unique<scan>();
    fbp::geometry_known known;

    known.panel = {panel.first, panel.second};
    known.pitch_mm[0] = pitch.first;
    known.pitch_mm[1] = pitch.second;
    known.n_views = n_views;
    known.corner = corner;
    call([&] {
        return fbp_geometry_load(&out->s, path.c_str(), format ? format->c_str() : nullptr, &known);
    });
    return out;
}

static void save(const scan &of, const std::string &path, const std::optional<std::string> &format)
{
    call(
        [&] { return fbp_geometry_save(&of.s, path.c_str(), format ? format->c_str() : nullptr); });
}

static nb::list formats()
{
    fbp::sized<fbp_geometry_format_info> list[64];
    const std::size_t n = fbp_geometry_formats(list, sizeof list / sizeof *list);
    nb::list out;

    for (std::size_t i = 0; i < n && i < sizeof list / sizeof *list; i++)
        out.append(nb::make_tuple(list[i].name, list[i].about, list[i].reads, list[i].writes));
    return out;
}

static void draw(const scan &of, const std::string &svg, const std::optional<nb::dict> &grid)
{
    fbp_grid g{};

    if (grid)
        g = to_grid(*grid);
    check(fbp_scan_draw(&of.s, grid ? &g : nullptr, svg.c_str()));
}

void define_geometry(nb::module_ &m)
{
    m.def("geometry_load", &load, nb::arg("path"), nb::arg("format").none(), nb::arg("panel"),
          nb::arg("pitch"), nb::arg("n_views"), nb::arg("corner"));
    m.def("geometry_save", &save, nb::arg("scan"), nb::arg("path"), nb::arg("format").none());
    m.def("geometry_formats", &formats);
    m.def("geometry_draw", &draw, nb::arg("scan"), nb::arg("svg"), nb::arg("grid").none());
}

} // namespace fbp_python
