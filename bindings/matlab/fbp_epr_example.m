function result = fbp_epr_example(folder, N)
%FBP_EPR_EXAMPLE  The example of Qiao et al. (2015), from phantom to slices.
%
%   FBP_EPR_EXAMPLE() simulates 208 projections of a bottle, reconstructs 64^3
%   voxels by the paper's three methods and shows three slices and a profile of
%   each: GS (GPU, one stage; only with a GPU), CM (CPU, two stages) and CS (CPU, one
%   stage).  FBP_EPR_EXAMPLE(FOLDER) writes them there instead: slices.png (a row per
%   method, the phantom, and ten times the difference of CM from CS) and profile.csv (a
%   column per method after the voxel, then the phantom).  The three methods have the
%   voxels of the paper's kernel, which are half a voxel off those of the phantom.
%   FBP_EPR_EXAMPLE(FOLDER, N) computes N^3 voxels.
%
%   RESULT has the objects, the truth, and numbers that show how they differ.

if nargin < 2
    N = 64;
end
S = 2 * ceil(sqrt(3) * N / 2);      % samples that reach over the corners, even
d_object = 2 / N;                   % the object is a cube of side 2
d_proj = d_object;

% The host's part: directions and projections.  Of S samples the first is 0, because the paper's
% kernel has t = 0 at sample S/2, the middle of the others.
[GX, GY, GZ] = fbp_epr_directions('solid-angle', 18, 'Order', 'msps');
[projection, truth] = fbp_epr_simulate('bottle', GX, GY, GZ, d_object, N, d_proj, S - 1);
projection = [zeros(1, numel(GX)); projection];
scan = {projection, GX, GY, GZ, d_object, N, d_proj};
[object, info] = fbp_epr(scan{:}, 'First', -S / 2 * d_proj, 'Filter', 'hann', 'Cutoff', 0.5);
difference = object - truth;

% CM: two stages, from the same projections, resampled to equal linear angles; CS: one stage.
paper = {'Filter', 'hann', 'Cutoff', 0.5, 'Grid', 'eprit', 'Device', 'cpu'};
[cm, cm_info] = fbp_epr(scan{:}, paper{:}, 'Angles', 18, 'Stages', 2);
[cs, cs_info] = fbp_epr(scan{:}, paper{:});
methods = {'CM', cm; 'CS', cs; 'phantom', truth};

% GS: the paper's kernel, by MATLAB's own launch.
gs = [];
if exist('gpuDeviceCount', 'file') && gpuDeviceCount() > 0
    filtered = fbp_epr_filter(projection, GX, GY, GZ, d_proj, 0.5, 'hann');
    gs = fbp_epr_gpu(filtered, GX, GY, GZ, d_object, N, d_proj, 'paper');
    fprintf('GS and CS differ by %.2g of the greatest value\n', ...
        max(abs(gs(:) - double(cs(:)))) / max(gs(:)));
    methods = [{'GS', gs}; methods];
end

inside = convn(double(truth > 0.99 * max(truth(:))), ones(7, 7, 7), 'same') > 342.5; % 3 voxels from the surface
result = struct('object', object, 'truth', truth, 'info', info, ...
    'nrmse', norm(difference(:)) / norm(truth(:)), ...
    'amplitude', mean(object(inside)) / mean(truth(inside)), 'gs', gs, 'cm', cm, 'cs', cs, ...
    'stages', norm(cm(:) - cs(:)) / norm(cs(:)));
fprintf('%d^3 voxels from %d projections of %d samples: %.4f s on %s (%s)\n', N, numel(GX), S, ...
    info.seconds, info.device, info.kernel);
fprintf('amplitude %.4f, error %.4f of the object''s norm\n', result.amplitude, result.nrmse);
fprintf('CM %.4f s, CS %.4f s; they differ by %.4f of the norm\n', cm_info.seconds, ...
    cs_info.seconds, result.stages);

middle = ceil(N / 2);
slices = [];
profile = (1:N)';
for i = 1:size(methods, 1)
    slices = [slices; picture(methods{i, 2}, middle)]; %#ok<AGROW>
    profile = [profile, double(squeeze(methods{i, 2}(:, middle, middle)))]; %#ok<AGROW>
end
slices = [slices; picture(10 * abs(cm - cs), middle)];
if nargin > 0 && ~isempty(folder)
    grey = uint8(255 * min(max(double(slices), 0), 1));
    imwrite(grey, fullfile(folder, 'slices.png'));
    file = fopen(fullfile(folder, 'profile.csv'), 'w');
    fprintf(file, ['%d' repmat(',%.6g', 1, size(methods, 1)) '\n'], profile');
    fclose(file);
else
    subplot(1, 2, 1), imagesc(slices, [0 1]), axis image, colormap gray
    title([strjoin(methods(:, 1)', ', ') ', 10 x |CM - CS|'])
    subplot(1, 2, 2), plot(profile(:, 1), profile(:, 2:end)), legend(methods{:, 1})
end
end

function out = picture(volume, at)
% The slices across z, y and x, side by side; the second index upwards.
across = @(s) flipud(squeeze(s)');
out = [across(volume(:, :, at)), across(volume(:, at, :)), across(volume(at, :, :))];
end
