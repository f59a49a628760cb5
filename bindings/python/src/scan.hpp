/** @file scan.hpp  A scan of the library's as an object. */
#ifndef FBP_PYTHON_SCAN_HPP
#define FBP_PYTHON_SCAN_HPP

#include "common.hpp"

namespace fbp_python
{

struct scan {
    fbp::sized<fbp_scan> s;

    scan() = default;
    ~scan()
    {
        fbp_scan_clear(&s);
    }
    scan(const scan &) = delete;
    scan &operator=(const scan &) = delete;
};

/** Owned by Python. */
using scan_ptr = std::unique_ptr<scan>;

/** A string that a scan owns; None: none. */
void set_text(char *&to, const std::optional<std::string> &text);
/** Numbers of fbp_geometry_facts as a dictionary. */
nb::dict facts_of(const fbp_geometry_facts &facts);
/** {"size": (nx, ny, nz), "voxel": …, "centre": …}, along x, y, z. */
nb::dict grid_of(const fbp_grid &grid);
/** The reverse. */
fbp_grid to_grid(const nb::dict &grid);

} // namespace fbp_python

#endif // FBP_PYTHON_SCAN_HPP
