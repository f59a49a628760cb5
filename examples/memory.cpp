/*
 * memory: views that are in memory become a volume in memory; no file is read or written.  The
 * views are those of a ball of water, so that the result is known.
 *
 *     c++ -std=c++17 memory.cpp $(pkg-config --cflags --libs fbp) -o memory && ./memory
 */
#include <fbp/fbp.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace
{

constexpr double pi = 3.14159265358979323846, radius = 40, water = 0.02; // mm, 1/mm
constexpr std::size_t n_views = 120, n_columns = 96, n_rows = 64;

/* A full circle about z: source at 500 mm from the axis, panel at 1000 mm from the source. */
fbp::scan cone_beam(const fbp_panel &panel)
{
    std::vector<double> angles(n_views);
    for (std::size_t k = 0; k < n_views; k++)
        angles[k] = 2 * pi * static_cast<double>(k) / n_views;
    const double sod = 500, sdd = 1000;
    fbp::circle c;
    c.n_views = n_views;
    c.angles_rad = angles.data();
    c.sod_mm = &sod;
    c.sdd_mm = &sdd;
    c.n_sod = c.n_sdd = 1;
    c.pitch_mm[0] = c.pitch_mm[1] = 2;
    return fbp::scan::cone(c, panel);
}

/* What pixel (c, r) measures: the chord of its ray through a ball about the origin. */
float chord(const fbp_view &view, const fbp_panel &panel, std::size_t c, std::size_t r)
{
    const double column = static_cast<double>(c) - (static_cast<double>(panel.n_columns) - 1) / 2;
    const double row = static_cast<double>(r) - (static_cast<double>(panel.n_rows) - 1) / 2;
    double along = 0, length = 0, far = 0;
    for (int i = 0; i < 3; i++) {
        const double d = view.d[i] + column * view.u[i] + row * view.v[i] - view.s[i];
        length += d * d;
        along -= d * view.s[i];
        far += view.s[i] * view.s[i];
    }
    const double distance2 = far - along * along / length;
    return static_cast<float>(2 * water * std::sqrt(std::max(0., radius * radius - distance2)));
}

} // namespace

int main()
{
    try {
        const fbp_panel panel = {n_columns, n_rows};
        const fbp::scan scan = cone_beam(panel);
        std::vector<float> views;
        views.reserve(n_views * n_rows * n_columns);
        for (const fbp_view &view : scan.views())
            for (std::size_t r = 0; r < n_rows; r++)
                for (std::size_t c = 0; c < n_columns; c++)
                    views.push_back(chord(view, panel, c, r));

        fbp::recon_params params;
        params.volume = {{65, 65, 33}, {1.5, 1.5, 1.5}, {0, 0, 0}};
        fbp_grid grid;
        const std::vector<float> volume = fbp::reconstruct(scan, views.data(), params, &grid);

        const std::size_t middle =
            (grid.n[2] / 2 * grid.n[1] + grid.n[1] / 2) * grid.n[0] + grid.n[0] / 2;
        const double found = static_cast<double>(volume[middle]);
        std::printf("water in the middle: %.5f/mm, should be %.5f\n", found, water);
        return std::abs(found - water) < 0.01 * water ? 0 : 1;
    } catch (const fbp::error &e) {
        std::fprintf(stderr, "memory: %s\n", e.what());
        return 1;
    }
}
