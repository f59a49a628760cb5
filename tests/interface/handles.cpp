/*
 * handles: the C++ interface.  Handles move and free themselves, failures are exceptions with
 * status and message, exceptions of callbacks come back out of the call that they stopped.
 */
#include <fbp/fbp.hpp>

#include <cmath>
#include <cstdio>
#include <type_traits>

namespace
{

int failures = 0;

void expect(bool condition, const char *what)
{
    if (condition)
        return;
    std::fprintf(stderr, "handles.cpp: not true: %s\n", what);
    failures++;
}
#define EXPECT(condition) expect(condition, #condition)

static_assert(!std::is_copy_constructible_v<fbp::scan> && !std::is_copy_constructible_v<fbp::plan>);
static_assert(std::is_nothrow_move_constructible_v<fbp::scan> &&
              std::is_nothrow_move_assignable_v<fbp::source> &&
              std::is_nothrow_move_constructible_v<fbp::plan>);
static_assert(FBP_VERSION_MAJOR * 10000 + FBP_VERSION_MINOR * 100 + FBP_VERSION_PATCH >= 100);

fbp::scan circular_scan(std::size_t n, std::size_t side)
{
    const double sod = 400, sdd = 600;
    std::vector<double> angles(n);
    fbp::circle c;

    for (std::size_t k = 0; k < n; k++)
        angles[k] = 6.283185307179586 * static_cast<double>(k) / static_cast<double>(n);
    c.n_views = n;
    c.angles_rad = angles.data();
    c.sod_mm = &sod;
    c.sdd_mm = &sdd;
    c.n_sod = c.n_sdd = 1;
    c.pitch_mm[0] = c.pitch_mm[1] = 3;
    fbp::scan scan = fbp::scan::cone(c, {side, side});
    scan.set_volume({{20, 20, 16}, {5, 5, 5}, {0, 0, 0}});
    return scan;
}

void errors()
{
    try { /* nobody's memory */
        float samples[8] = {0};
        fbp::array_info info;
        info.n[0] = info.n[1] = info.n[2] = 2;
        info.type = FBP_F32;
        fbp::source::device_memory(samples, info, "cpu");
        EXPECT(!"the host's memory is no device's");
    } catch (const fbp::error &e) {
        EXPECT(std::string(e.what()).find("not in the memory of a single") != std::string::npos);
    }
    try {
        fbp::scan scan("none.json");
        EXPECT(!"none.json is not there");
    } catch (const fbp::error &e) {
        EXPECT(e.status() == FBP_ERR_IO);
        EXPECT(std::string(e.what()).find("none.json") == 0);
    }
    fbp::recon_params params;
    params.cutoff = 7;
    try {
        const fbp::scan scan = circular_scan(12, 32);
        fbp::plan plan(scan, params);
        EXPECT(!"there is no such cutoff");
    } catch (const fbp::error &e) {
        EXPECT(e.status() == FBP_ERR_INVALID);
    }
}

void moves()
{
    fbp::scan a = circular_scan(12, 32), b;
    b = std::move(a);
    EXPECT(b->n_views == 12 && b->struct_size == sizeof(fbp_scan));
    const fbp::scan c(std::move(b));
    EXPECT(c->n_views == 12 && c.views().size() == 12);
    EXPECT(std::abs(c.facts().sod_mm[0] - 400) < 1e-9);

    const float samples[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    fbp::array_info info;
    info.type = FBP_F32;
    for (std::size_t &n : info.n)
        n = 2;
    fbp::source s = fbp::source::memory(samples, info), t;
    t = std::move(s);
    EXPECT(!s && t && t.read() == std::vector<float>(samples, samples + 8));
    EXPECT(t.read(1, 1).front() == samples[4]);
}

/* Functions of the C interface that change a scan, and parameters of such functions. */
void changes()
{
    fbp::scan scan = circular_scan(12, 32);
    const double before = scan->views[0].u[1];
    fbp::check(fbp_scan_flip(scan.get(), FBP_FLIP_U));
    EXPECT(std::abs(scan->views[0].u[1] + before) < 1e-12);
    fbp::check(fbp_scan_adjust(scan.get(), FBP_ADJUST_SOD, 410));
    EXPECT(std::abs(scan.facts().sod_mm[0] - 410) < 1e-9);
    fbp::corrections corrections;
    corrections.beam_hardening[0] = 1;
    corrections.beam_hardening[1] = 0.1;
    fbp::check(fbp_scan_correct(scan.get(), &corrections));
    EXPECT(scan->corrections && scan->corrections->beam_hardening[1] == 0.1);
    const std::vector<float> dark(32 * 32, 5);
    fbp::array_info info;
    info.n[0] = info.n[1] = 32;
    info.n[2] = 1;
    info.type = FBP_F32;
    const fbp::source image = fbp::source::memory(dark.data(), info);
    fbp::check(fbp_scan_use_image(scan.get(), FBP_IMAGE_DARK, image.get()));
    EXPECT(scan.is_intensity());
    scan->find_bad_pixels = 1;

    fbp::directions set;
    std::size_t n = 0;
    set.n[0] = 18;
    fbp::check(fbp_directions_make(&set, nullptr, &n));
    EXPECT(n == 208);
    EXPECT(fbp::preparation().struct_size == sizeof(fbp_preparation));
    EXPECT(fbp::folder_known().struct_size == sizeof(fbp_folder_known));
    EXPECT(fbp::team_functions().struct_size == sizeof(fbp_team_functions));
}

struct surprise {
    std::size_t at;
};

void runs()
{
    const fbp::phantom phantom("shepp-logan", 50, 0.02);
    fbp::scan made = circular_scan(24, 48);
    phantom.project(made, "handles.mha");
    fbp::source views("handles.mha");
    std::size_t calls = 0;
    fbp::recon_params params;
    params.input.source = views.get();
    fbp::plan plan(made, params, {[&](const fbp_progress &) { return ++calls > 0; }, nullptr});
    const fbp::report report = plan.run("handles-volume.mha");
    const std::vector<float> volume = plan.run();
    EXPECT(calls > 0 && report.max > report.min);
    EXPECT(volume == fbp::source("handles-volume.mha").read());
    EXPECT(volume == fbp::reconstruct(made, views.read().data()));
    EXPECT(fbp::compare("handles-volume.mha", "handles-volume.mha").psnr_db > 998);
    fbp::write_picture("handles-volume.mha", "handles.png");
    EXPECT(!fbp::devices().empty());

    bool seen = false;
    fbp::plan other(made, params,
                    {[](const fbp_progress &p) -> bool {
                         if (p.done > 0)
                             throw surprise{1};
                         return true;
                     },
                     nullptr});
    try {
        other.run("null:");
    } catch (const surprise &) {
        seen = true;
    }
    EXPECT(seen);
}

/* The surprise that f() throws; what else it does is a failure. */
template <class F> std::size_t surprised(F &&f)
{
    try {
        f();
    } catch (const surprise &s) {
        return s.at;
    } catch (const fbp::error &e) {
        std::fprintf(stderr, "handles.cpp: %s\n", e.what());
    }
    return 0;
}

/* 24 views of 48 x 48 pixels. */
fbp::array_info info_of_views()
{
    fbp::array_info info;
    info.n[0] = info.n[1] = 48;
    info.n[2] = 24;
    info.type = FBP_F32;
    info.row_order = FBP_ROWS_BOTTOM_UP;
    return info;
}

/* Views from a function, slices to functions: the volume of files, and exceptions come back. */
void functions()
{
    const fbp::scan scan = circular_scan(24, 48);
    fbp::phantom("shepp-logan", 50, 0.02).project(scan, "functions.mha");
    const std::vector<float> views = fbp::source("functions.mha").read();
    std::size_t bad_view = 99, bad_slice = 99;
    const auto read = [&](std::size_t slice0, std::size_t n, std::size_t row0, std::size_t n_rows,
                          void *out) {
        if (slice0 <= bad_view && bad_view < slice0 + n)
            throw surprise{bad_view};
        for (std::size_t k = 0; k < n; k++)
            std::memcpy(static_cast<float *>(out) + k * n_rows * 48,
                        &views[((slice0 + k) * 48 + row0) * 48], n_rows * 48 * sizeof(float));
    };
    fbp::source from = fbp::source::callback(info_of_views(), read, {4, true});
    EXPECT(from.read() == views);

    fbp::plan plan(scan, {}, from);
    const std::size_t(&n)[3] = plan.info().volume.n;
    std::vector<float> volume(n[0] * n[1] * n[2]);
    std::size_t begun = 0, complete = 0, broken = 0;
    const fbp::sink_functions to = {
        [&](const std::size_t *size) { begun += size[2] == n[2]; },
        [&](std::size_t z0, std::size_t nz, const float *slices) {
            if (z0 <= bad_slice && bad_slice < z0 + nz)
                throw surprise{bad_slice};
            std::memcpy(&volume[z0 * n[0] * n[1]], slices, nz * n[0] * n[1] * sizeof(float));
        },
        [&](bool whole) { ++(whole ? complete : broken); },
    };
    const auto run = [&] {
        fbp::sink sink = fbp::sink::callback(to, n);
        fbp::sink moved(std::move(sink));
        plan.run_to(moved);
    };
    run();
    EXPECT(begun == 1 && complete == 1 && broken == 0);
    EXPECT(volume == fbp::reconstruct(scan, views.data()));

    bad_view = 7;
    EXPECT(surprised([&] { from.read(); }) == 7);
    EXPECT(surprised(run) == 7);
    EXPECT(surprised([&] { plan.run("functions-volume.mha"); }) == 7);
    bad_view = 99;
    bad_slice = 5;
    EXPECT(surprised(run) == 5);
    EXPECT(complete == 1 && broken > 0 && begun == complete + broken);
    bad_slice = 99;
    run(); /* as if nothing had happened */
    EXPECT(complete == 2 && volume == plan.run());
}

/* Plane integrals along three axes and a fourth direction, one by one. */
void views_one_by_one()
{
    const double along[4][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {.6, .48, .64}};
    const double spacing = 1;
    fbp::planes planes;
    std::vector<float> samples(4 * 24), volume;

    planes.n_views = 4;
    planes.direction = along;
    planes.spacing_mm = &spacing;
    planes.n_spacing = 1;
    planes.n_samples = 24;
    for (std::size_t i = 0; i < samples.size(); i++)
        samples[i] = static_cast<float>(i * 7 % 13);
    fbp::scan scan = fbp::scan::plane_integrals(planes);
    scan.set_volume({{12, 10, 8}, {1, 1, 1}, {0, 0, 0}});
    fbp::accumulator made(scan);
    fbp::accumulator accumulator(std::move(made));
    EXPECT(accumulator.volume() == std::vector<float>(12 * 10 * 8));
    for (std::size_t k = 4; k-- > 0;)
        accumulator.add(k, &samples[k * 24]);
    volume = fbp::reconstruct(scan, samples.data());
    const std::vector<float> added = accumulator.volume();
    EXPECT(added.size() == volume.size());
    for (std::size_t i = 0; i < added.size(); i++)
        EXPECT(std::abs(added[i] - volume[i]) < 1e-4);
    try {
        accumulator.add(3, samples.data());
        EXPECT(!"was already added");
    } catch (const fbp::error &e) {
        EXPECT(e.status() == FBP_ERR_INVALID);
    }

    /* Two time points: views of two rows, the first of them as above, the second of zeros. */
    std::vector<float> rows(2 * samples.size());
    for (std::size_t i = 0; i < samples.size(); i++)
        rows[i / 24 * 48 + i % 24] = samples[i];
    planes.n_time_points = 2;
    fbp::scan series = fbp::scan::plane_integrals(planes);
    series.set_volume({{12, 10, 8}, {1, 1, 1}, {0, 0, 0}});
    const std::vector<float> both = fbp::reconstruct(series, rows.data());
    volume.resize(2 * volume.size());
    EXPECT(both.size() == volume.size());
    for (std::size_t i = 0; i < both.size(); i++)
        EXPECT(std::abs(both[i] - volume[i]) < 1e-4);
}

void no_function()
{
    try {
        fbp::source::callback(info_of_views(), nullptr);
        EXPECT(!"there is no function");
    } catch (const fbp::error &e) {
        EXPECT(e.status() == FBP_ERR_INVALID);
    }
}

} // namespace

int main()
{
    try {
        errors();
        moves();
        changes();
        runs();
        functions();
        views_one_by_one();
        no_function();
    } catch (const std::exception &e) {
        std::fprintf(stderr, "handles.cpp: %s\n", e.what());
        return 1;
    }
    return failures ? 1 : 0;
}
