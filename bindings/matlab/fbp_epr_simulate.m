function varargout = fbp_epr_simulate(varargin)
%FBP_EPR_SIMULATE  Plane integrals of a phantom.
%
%   [PROJECTION, TRUTH] = FBP_EPR_SIMULATE(PHANTOM, GX, GY, GZ, D_OBJECT, N, ...
%   D_PROJ, S) gives S samples along each direction, symmetric about t = 0, of a
%   phantom that fills a cube of N voxels a side, and its means over the voxels.
%
%   PHANTOM is 'bottle', 'tubes', 'ball', 'soft-ball', 'ellipsoid', 'ellipsoids',
%   'shepp-logan' ..., or the name of a file (docs/phantoms.md).  Samples are means
%   of 8 points; FBP_EPR_SIMULATE(..., 'Points', n) takes n.
%
%   See also FBP_EPR, FBP_EPR_DIRECTIONS.

error('fbp:library', 'fbp_epr_simulate: the MEX file is missing: run fbp_epr_build');
end
