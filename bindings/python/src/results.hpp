/** @file results.hpp  Structs of results as dictionaries, with the names of libfbp's classes. */
#ifndef FBP_PYTHON_RESULTS_HPP
#define FBP_PYTHON_RESULTS_HPP

#include "common.hpp"

namespace fbp_python
{

nb::dict report_of(const fbp_report &report);
nb::dict summary_of(const fbp_plan_summary &summary);

} // namespace fbp_python

#endif // FBP_PYTHON_RESULTS_HPP
