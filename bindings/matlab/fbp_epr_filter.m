function filtered = fbp_epr_filter(projection, GX, GY, GZ, d_proj, cutoff, name)
%FBP_EPR_FILTER  Filter and weight projections, for kernels that only backproject.
%
%   FILTERED = FBP_EPR_FILTER(PROJECTION, GX, GY, GZ, D_PROJ) convolves each column
%   with the band-limited parabola (fbp_epr's 'ram-lak') and multiplies it by its
%   solid angle over D_PROJ squared, as FBP_EPR does before it backprojects.
%   FBP_EPR_FILTER(..., CUTOFF) keeps this part of the band.
%   FBP_EPR_FILTER(..., CUTOFF, 'hann') also applies a Hann window to it.
%
%   See also FBP_EPR_GPU, FBP_EPR_WEIGHTS.

if nargin < 6
    cutoff = 1;
end
if nargin < 7
    name = 'ram-lak';
end
if ~any(strcmp(name, {'ram-lak', 'hann'}))
    error('fbp:value', 'fbp_epr_filter: name: expected ''ram-lak'' or ''hann'', got ''%s''', name);
end
[S, Q] = size(projection);
if numel(GX) ~= Q
    error('fbp:size', 'fbp_epr_filter: GX, GY, GZ: expected %d numbers each, one a projection', Q);
end
x = cutoff * (-(S - 1):S - 1)';
kernel = parabola(x);
if strcmp(name, 'hann')
    kernel = kernel / 2 + (parabola(x + 1) + parabola(x - 1)) / 4;
end
weights = fbp_epr_weights(GX, GY, GZ);
n = 2 ^ nextpow2(3 * S - 2);
rows = ifft(bsxfun(@times, fft(double(projection), n), fft(cutoff ^ 3 * kernel, n)));
filtered = bsxfun(@times, real(rows(S:2 * S - 1, :)), weights(:)' / d_proj ^ 2);
end

function h = parabola(x)
% The inverse transform of u^2 for |u| <= 1/2.
x = x * pi;
far = abs(x) > 1e-3 * pi;
h = 1 / 12 - 4 * x .^ 2 / 160;     % near 0
h(far) = sin(x(far)) ./ (4 * x(far)) + cos(x(far)) ./ (2 * x(far) .^ 2) ...
    - sin(x(far)) ./ (2 * x(far) .^ 3);
end
