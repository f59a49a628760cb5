/* The list of all formats of arrays: FBP_FORMAT(name) for each `const struct fbp_format
 * fbp_format_name` in array/format/. The order is that in which contents and names are compared,
 * and in which messages list formats. Included only by array/formats.c, which defines FBP_FORMAT.
 * Used by: array/formats.c.
 */
FBP_FORMAT(mha)
FBP_FORMAT(nrrd)
FBP_FORMAT(nifti)
FBP_FORMAT(npy)
FBP_FORMAT(hdf5)
FBP_FORMAT(raw)
FBP_FORMAT(tiff)
FBP_FORMAT(png)
FBP_FORMAT(mat)
FBP_FORMAT(zarr)
#ifdef FBP_HAS_EPR
FBP_FORMAT(bes3t)
#endif
FBP_FORMAT(rabbitct)
FBP_FORMAT(his)
FBP_FORMAT(varian)
FBP_FORMAT(txrm)
FBP_FORMAT(vgi)
