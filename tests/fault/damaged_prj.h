/** @file damaged_prj.h  prj.mat of a laboratory, each wrong in one way. */
#ifndef FBP_TESTS_DAMAGED_PRJ_H
#define FBP_TESTS_DAMAGED_PRJ_H

void prj_without_b(const char *path);
void prj_without_g(const char *path);
void prj_more_g(const char *path);
void prj_short_b(const char *path);
void prj_b_falls(const char *path);
void prj_b_uneven(const char *path);
void prj_b_nan(const char *path);
void prj_g_zero(const char *path);
void prj_g_infinite(const char *path);
void prj_cut(const char *path);
void prj_cut_whole(const char *path);
void prj_b_cm(const char *path);
void prj_g_flat(const char *path);
void prj_g_same(const char *path);

#endif /* FBP_TESTS_DAMAGED_PRJ_H */
