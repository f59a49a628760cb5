function varargout = fbp_epr_weights(varargin)
%FBP_EPR_WEIGHTS  Solid angles of directions, whose sum is 2 pi.
%
%   [W, WORDS] = FBP_EPR_WEIGHTS(GX, GY, GZ) gives one weight a direction, and how
%   they were found.  FBP_EPR_WEIGHTS(..., 'Quadrature', NAME): 'auto' (default),
%   'bands', 'voronoi' or 'harmonics'.
%
%   See also FBP_EPR, FBP_EPR_FILTER.

error('fbp:library', 'fbp_epr_weights: the MEX file is missing: run fbp_epr_build');
end
