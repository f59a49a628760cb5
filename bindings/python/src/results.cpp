/* Structs of results as dictionaries. */
#include "results.hpp"

#include "scan.hpp"

namespace fbp_python
{

template <class T, std::size_t N> static nb::tuple tuple_of(const T (&values)[N])
{
    nb::list out;

    for (const T &v : values)
        out.append(v);
    return nb::tuple(out);
}

static const char *coverage_name(fbp_coverage coverage)
{
    return coverage == FBP_COVERAGE_FULL    ? "full"
           : coverage == FBP_COVERAGE_SHORT ? "short"
                                            : "partial";
}

nb::dict facts_of(const fbp_geometry_facts &f)
{
    static constexpr double DEGREES = 180 / 3.14159265358979323846;
    nb::dict out;

    out["axis"] = tuple_of(f.axis);
    out["sod"] = tuple_of(f.sod_mm);
    out["sdd"] = tuple_of(f.sdd_mm);
    out["magnification"] = f.magnification;
    out["direction"] = f.direction;
    out["start_deg"] = f.start_rad * DEGREES;
    out["arc_deg"] = f.arc_rad * DEGREES;
    out["needed_deg"] = f.needed_rad * DEGREES;
    out["gap_deg"] = f.gap_rad * DEGREES;
    out["fan_deg"] = nb::make_tuple(f.fan_rad[0] * DEGREES, f.fan_rad[1] * DEGREES);
    out["coverage"] = coverage_name(f.coverage);
    out["offset"] = f.offset;
    out["overlap"] = f.overlap_mm;
    out["fov_radius"] = f.fov_radius_mm;
    out["fov_z"] = tuple_of(f.fov_half_height_mm);
    out["tilt_deg"] =
        nb::make_tuple(f.tilt_rad[0] * DEGREES, f.tilt_rad[1] * DEGREES, f.tilt_rad[2] * DEGREES);
    out["skew_deg"] = f.skew_rad * DEGREES;
    out["volume_inside"] = f.volume_inside;
    out["n_angles"] = f.n_angles;
    out["helix_pitch"] = f.pitch_mm;
    out["complete_radius"] = f.complete_radius_mm;
    out["gap_error"] = f.gap_error;
    out["method_error"] =
        nb::make_tuple(f.method_error[0], f.method_error[1], f.method_error[2], f.method_error[3]);
    nb::list remarks;
    char text[400];
    for (std::size_t i = 0; fbp_geometry_remark(&f, i, text, sizeof text); i++)
        remarks.append(nb::str(text));
    out["remarks"] = remarks;
    return out;
}

nb::dict report_of(const fbp_report &r)
{
    nb::dict out;

    out["total"] = r.total;
    out["read"] = r.read;
    out["filter"] = r.filter;
    out["backproject"] = r.backproject;
    out["write"] = r.write;
    out["open"] = r.open;
    out["gups"] = r.gups;
    out["min"] = r.min;
    out["max"] = r.max;
    out["mean"] = r.mean;
    out["not_finite"] = r.not_finite;
    out["clipped"] = r.clipped;
    out["output_scale"] = r.output_scale;
    out["output_offset"] = r.output_offset;
    out["output_clipped"] = r.output_clipped;
    out["output_range"] = tuple_of(r.output_range);
    out["slabs_resumed"] = r.slabs_resumed;
    out["hash"] = r.hash;
    out["truncated_views"] = r.truncated_views;
    out["dead_views"] = r.dead_views;
    out["bad_pixels"] = r.bad_pixels;
    out["repaired_pixels"] = r.repaired_pixels;
    out["saturated"] = r.saturated;
    out["saturated_share"] = r.saturated_share;
    out["saturated_value"] = r.saturated_value;
    out["exposure_views"] = r.exposure_views;
    out["devices_dropped"] = r.devices_dropped;
    out["n_batches"] = r.n_batches;
    out["slices_missing"] = r.slices_missing;
    return out;
}

nb::dict summary_of(const fbp_plan_summary &s)
{
    nb::dict out;

    out["backend"] = s.backend;
    out["kernel"] = s.kernel;
    out["isa"] = s.isa;
    out["n_devices"] = s.n_devices;
    out["threads"] = s.n_threads;
    out["volume"] = grid_of(s.volume);
    out["whole"] = grid_of(s.whole);
    out["roi"] = nb::make_tuple(tuple_of(s.box[0]), tuple_of(s.box[1]), tuple_of(s.box[2]));
    out["weights"] = s.weights;
    out["n_slabs"] = s.n_slabs;
    out["slab_slices"] = s.slab_slices;
    out["n_batches"] = s.n_batches;
    out["batch_views"] = s.batch_views;
    out["view_reads"] = s.view_reads;
    out["memory_bytes"] = s.memory_bytes;
    out["memory_limit"] = s.memory_limit;
    out["device_bytes"] = s.device_bytes;
    out["updates"] = s.updates;
    out["unit"] = s.unit;
    out["frames"] = s.time_points;
    out["follows"] = s.follows != 0;
    out["prepared"] = s.prepared;
    out["predicted"] = s.predicted.total;
    return out;
}

} // namespace fbp_python
