function varargout = fbp_epr(varargin)
%FBP_EPR  An object from its plane integrals (EPR imaging), by libfbp.
%
%   OBJECT = FBP_EPR(PROJECTION, GX, GY, GZ, D_OBJECT, N, D_PROJ) filters the
%   projections, weights and backprojects them.
%
%   PROJECTION  samples x projections, or samples x delays x projections; double,
%               single, int32, int16 or uint16; real.  They are taken from where
%               they lie, without a copy.
%   GX, GY, GZ  the gradients' directions, unit vectors, one a projection
%   D_OBJECT    distance of voxels, or of x, y and z
%   N           voxels a side, or [NX NY NZ]
%   D_PROJ      distance of samples, in the same unit, or one a projection
%   OBJECT      single (or double) [NX x NY x NZ], or [NX x NY x NZ x delays]; x is the first
%               index
%
%   FBP_EPR(..., D_PROJ, Q, S, ...) also checks the numbers of projections and
%   samples, with which the argument list of Qiao et al. (2015) ends.
%
%   [OBJECT, INFO] = FBP_EPR(...) tells device, kernel, weights, seconds, and
%   the least and greatest value.
%
%   FBP_EPR(..., 'Name', value) takes these options:
%
%   'Filter'         'ram-lak' (default), 'shepp-logan', 'cosine', 'hamming',
%                    'hann', 'second-difference', '3-point-derivative',
%                    '5-point-derivative', 'two-ramps', 'two-ramps-unpadded';
%                    or 'none': the projections are filtered and weighted, and
%                    are only backprojected, as by the paper's kernel
%   'Cutoff'         part of the band that is kept, 0 to 1 (default)
%   'Oversampling'   2: filtered samples half way between, too
%   'Interpolation'  'linear' (default), 'nearest', 'cubic'
%   'Precision'      'single' (default) or 'double': filter, sums and object
%   'Reference'      spectrum without a gradient at the fields of the samples, by
%                    which spectra of continuous waves are divided; with it goes a
%                    'Cutoff' below 1, or 'Wiener', the term of Wiener's division
%   'Stages'         2: first a picture of each plane through an axis, then the
%                    object from these; for directions of equal linear angle
%   'Angles'         number of angles per half turn to which the projections of evenly
%                    spaced rings (such as 'solid-angle') are resampled, so that
%                    'Stages', 2 can use them; 0 (default): none
%   'Quadrature'     'auto' (default), 'bands', 'voronoi', 'harmonics', or a
%                    weight for each projection
%   'Grid'           'symmetric' (default): t = 0 and x = 0 lie in the middle
%                    of samples and voxels; 'eprit': as the paper's kernel has
%                    it, t = 0 at sample S/2 and voxel m at (m + 1 - N/2)
%                    D_OBJECT, both counted from 0
%   'First'          t of the first sample, or one a projection
%   'Centre'         the middle of the object, [x y z]
%   'Device'         'auto' (default), 'cpu', 'cuda', 'gl', 'ref' ...
%   'Kernel'         as for fbp recon --kernel
%   'Threads'        number of threads; 0 (default): all cores
%
%   A failure is an error with an identifier: fbp:arguments, fbp:type, fbp:size,
%   fbp:value, fbp:directions, fbp:option, fbp:memory or fbp:library.  Warnings
%   of the library have the identifier fbp:warning.
%
%   See also FBP_EPR_DIRECTIONS, FBP_EPR_SIMULATE, FBP_EPR_GPU, FBP_EPR_EXAMPLE.

error('fbp:library', 'fbp_epr: the MEX file is missing: run fbp_epr_build');
end
