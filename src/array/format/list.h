/* All formats of arrays, FBP_FORMAT(name) of `const struct fbp_format fbp_format_name`: in the
 * order in which content and names are compared, and in which they are named to people.  Included
 * by array/formats.c alone. */
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
FBP_FORMAT(bes3t)
FBP_FORMAT(rabbitct)
