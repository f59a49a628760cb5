function varargout = fbp_epr_directions(varargin)
%FBP_EPR_DIRECTIONS  Sets of gradient directions.
%
%   [GX, GY, GZ] = FBP_EPR_DIRECTIONS(SET, N) gives unit vectors, of one half of
%   the sphere.  SET is
%
%   'solid-angle'   N rings of equal solid angle; 18 rings have 208 directions
%   'linear-angle'  N rings with as many directions each, or [RINGS DIRECTIONS]
%   'fibonacci'     N directions on a spiral
%
%   FBP_EPR_DIRECTIONS(..., 'Order', ORDER): 'plain' (default), 'flip' (every
%   second ring backwards), or 'msps' (each as far as possible from those before).
%   FBP_EPR_DIRECTIONS(..., 'Pole', AXIS): the rings lie about 'z' (default), 'x'
%   or 'y'.
%
%   See also FBP_EPR.

error('fbp:library', 'fbp_epr_directions: the MEX file is missing: run fbp_epr_build');
end
