/* snippets.h: the names that fragments of programs on pages of the documentation use but do not
 * declare.  snippets.py compiles each fragment after this header. */
#ifdef __cplusplus
#    include <fbp/fbp.hpp>

#    include <cstdio>
#    include <vector>

struct detector_type {
    void read(std::size_t slice0, std::size_t row0, std::size_t n_rows, void *out);
};
extern detector_type detector;
extern fbp::array_info info;
extern fbp::scan scan;
extern fbp::recon_params params;
extern const float *views;
extern std::size_t n_columns, n_rows;
#else
#    include <fbp/fbp.h>

#    include <stdio.h>

struct detector_type;
extern struct detector_type *detector;
bool detector_read(void *user, size_t slice, size_t row0, size_t n_rows, void *out);
void measure(size_t view, float *samples);
void show(const float *volume);

extern struct fbp_scan scan;
extern struct fbp_array_info info;
extern struct fbp_report report;
extern fbp_source *source;
extern fbp_sink *sink;
extern fbp_plan *plan;
extern fbp_status st;
extern float *views, *volume, *samples;
extern size_t bytes, n[3], n_columns, n_rows, n_views;
extern void *stream;
#endif
