/** @file params.hpp  Keywords of a reconstruction as the library's parameters. */
#ifndef FBP_PYTHON_PARAMS_HPP
#define FBP_PYTHON_PARAMS_HPP

#include "common.hpp"

#include <deque>

namespace fbp_python
{

/** Parameters, and the strings that they point to. */
struct params {
    fbp::recon_params p;
    std::deque<std::string> texts;
    std::vector<double> window;
};

/** From a dictionary whose keys are the keywords of libfbp.Plan, except those that change the scan;
 *  values that are None count as not given. */
void read_params(const nb::dict &given, params &out);

} // namespace fbp_python

#endif // FBP_PYTHON_PARAMS_HPP
