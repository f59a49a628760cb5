/** @file seeds_foreign.h  Seeds of formats that this program reads and others write, by what the
 *  unit tests make such files with.  Each function writes whole files into a folder. */
#ifndef FBP_TESTS_FUZZ_SEEDS_FOREIGN_H
#define FBP_TESTS_FUZZ_SEEDS_FOREIGN_H

/** The file NAME.NUMBER.EXTENSION of a folder; valid until the next call. */
const char *fuzz_seed_path(const char *folder, const char *name, int number, const char *extension);

void fuzz_seeds_hdf5_arrays(const char *folder);
void fuzz_seeds_hdf5_scans(const char *folder);
void fuzz_seeds_mat_arrays(const char *folder);
void fuzz_seeds_mat_scans(const char *folder);
void fuzz_seeds_mat_eprit(const char *folder);
void fuzz_seeds_mat_tigre(const char *folder);
void fuzz_seeds_tiff(const char *folder);
void fuzz_seeds_png(const char *folder);
void fuzz_seeds_nifti(const char *folder);
void fuzz_seeds_nifti_pairs(const char *folder);
void fuzz_seeds_nifti_gz(const char *folder);

void fuzz_seeds_his(const char *folder);
void fuzz_seeds_varian(const char *folder);
void fuzz_seeds_txrm(const char *folder);

/** Projections beside the XML files of linear accelerators. */
void fuzz_linac_companions(const char *folder);

#endif /* FBP_TESTS_FUZZ_SEEDS_FOREIGN_H */
