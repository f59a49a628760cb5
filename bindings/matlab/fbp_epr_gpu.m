function object = fbp_epr_gpu(projection, GX, GY, GZ, d_object, N, d_proj, kernel, block)
%FBP_EPR_GPU  Backprojection by a kernel that MATLAB launches (CUDAKernel).
%
%   OBJECT = FBP_EPR_GPU(PROJECTION, GX, GY, GZ, D_OBJECT, N, D_PROJ) backprojects
%   projections that are filtered and weighted (FBP_EPR_FILTER), as FBP_EPR does with 'Filter',
%   'none', 'Grid', 'eprit', in double.  It needs a GPU of NVIDIA's and MATLAB's
%   Parallel Computing Toolbox.
%
%   FBP_EPR_GPU(..., 'paper') takes the kernel as Qiao et al. (2015) describe it:
%   blocks of N threads, sums in global memory.  N is at most 1024, S even.
%   FBP_EPR_GPU(..., 'registers', BLOCK) takes the other one (default) with so many
%   threads a block (256).
%
%   Give gpuArrays, and the object is one; else it is gathered.
%
%   See also FBP_EPR, FBP_EPR_FILTER.

if nargin < 8
    kernel = 'registers';
end
if nargin < 9
    block = 256;
end
[S, Q] = size(projection);
check(kernel, S, Q, N, GX, GY, GZ);
k = load_kernel(kernel);
if strcmp(kernel, 'paper')
    k.ThreadBlockSize = [N 1 1];
    k.GridSize = [N N];
else
    k.ThreadBlockSize = [block 1 1];
    k.GridSize = [min(ceil(N ^ 3 / block), 2 ^ 31 - 1) 1];
end
stays = isa(projection, 'gpuArray');
object = feval(k, zeros(N, N, N, 'gpuArray'), gpuArray(double(projection)), ...
    gpuArray(double(GX)), gpuArray(double(GY)), gpuArray(double(GZ)), ...
    d_object, int32(N), d_proj, int32(Q), int32(S));
if ~stays
    object = gather(object);
end
end

function check(kernel, S, Q, N, GX, GY, GZ)
if ~any(strcmp(kernel, {'paper', 'registers'}))
    error('fbp:value', 'fbp_epr_gpu: kernel: expected ''paper'' or ''registers'', got ''%s''', kernel);
end
if ~(N >= 1 && N == floor(N))
    error('fbp:value', 'fbp_epr_gpu: N: expected a whole number, got %g', N);
end
if ~(numel(GX) == Q && numel(GY) == Q && numel(GZ) == Q)
    error('fbp:size', 'fbp_epr_gpu: GX, GY, GZ: expected %d numbers each, one a projection', Q);
end
if strcmp(kernel, 'paper') && mod(S, 2) == 1
    error('fbp:size', ['fbp_epr_gpu: the paper''s kernel needs an even number of samples, got %d: it ' ...
        'halves the number without a remainder, which shifts t by half a sample: add a sample, or ' ...
        'take ''registers'''], S);
end
if strcmp(kernel, 'paper') && N > 1024
    error('fbp:size', ['fbp_epr_gpu: the paper''s kernel takes at most 1024 voxels per side, ' ...
        'got %d: take ''registers'''], N);
end
end

function k = load_kernel(kernel)
folder = fileparts(mfilename('fullpath'));
ptx = fullfile(folder, 'fbp_epr_kernels.ptx');
if ~exist(ptx, 'file')
    error('fbp:library', ['fbp_epr_gpu: %s is missing: build fbp with CUDA, and copy ' ...
        'share/fbp/matlab/fbp_epr_kernels.ptx there'], ptx);
end
if ~exist('gpuArray', 'file')
    error('fbp:library', ['fbp_epr_gpu: there is no gpuArray: MATLAB''s Parallel Computing Toolbox ' ...
        'launches the kernel; fbp_epr(..., ''Device'', ''cuda'') needs none']);
end
k = parallel.gpu.CUDAKernel(ptx, fullfile(folder, 'fbp_epr_kernels.cu'), ['fbp_epr_' kernel]);
end
