function result = fbp_epr_example(folder, N)
%FBP_EPR_EXAMPLE  The example of Qiao et al. (2015), from phantom to slices.
%
%   FBP_EPR_EXAMPLE() simulates 208 projections of a bottle, reconstructs 64^3
%   voxels and shows three slices and a profile.  FBP_EPR_EXAMPLE(FOLDER) writes
%   them there instead: slices.png (object, truth, and ten times their difference),
%   profile.csv.  FBP_EPR_EXAMPLE(FOLDER, N) takes another size.
%
%   RESULT has the object, the truth, and numbers that tell how they differ.

if nargin < 2
    N = 64;
end
S = 2 * ceil(sqrt(3) * N / 2);      % samples that reach over the corners, even
d_object = 2 / N;                   % the object is a cube of side 2
d_proj = d_object;

% The host's part: directions, projections, filter and backprojection.
[GX, GY, GZ] = fbp_epr_directions('solid-angle', 18, 'Order', 'msps');
[projection, truth] = fbp_epr_simulate('bottle', GX, GY, GZ, d_object, N, d_proj, S);
[object, info] = fbp_epr(projection, GX, GY, GZ, d_object, N, d_proj, ...
    'Filter', 'hann', 'Cutoff', 0.5);

difference = object - truth;
% CM: two stages, from directions of equal linear angle; CS: these in one.
[X, Y, Z] = fbp_epr_directions('linear-angle', 18);
linear = fbp_epr_simulate('bottle', X, Y, Z, d_object, N, d_proj, S);
[cm, cm_info] = fbp_epr(linear, X, Y, Z, d_object, N, d_proj, 'Filter', 'hann', 'Cutoff', 0.5, ...
    'Stages', 2, 'Device', 'cpu');
[cs, cs_info] = fbp_epr(linear, X, Y, Z, d_object, N, d_proj, 'Filter', 'hann', 'Cutoff', 0.5, ...
    'Device', 'cpu');

% GS: the paper's kernel, by MATLAB's own launch, beside the library's CPU.
gs = [];
if exist('gpuDeviceCount', 'file') && gpuDeviceCount() > 0
    filtered = fbp_epr_filter(projection, GX, GY, GZ, d_proj);
    gs = fbp_epr_gpu(filtered, GX, GY, GZ, d_object, N, d_proj, 'paper');
    same = fbp_epr(filtered, GX, GY, GZ, d_object, N, d_proj, 'Filter', 'none', 'Grid', 'eprit', ...
        'Device', 'cpu');
    fprintf('GS and CS differ by %.2g of the greatest value\n', ...
        max(abs(gs(:) - double(same(:)))) / max(same(:)));
end

inside = convn(double(truth > 0.99 * max(truth(:))), ones(7, 7, 7), 'same') > 342.5; % 3 voxels from the surface
result = struct('object', object, 'truth', truth, 'info', info, ...
    'nrmse', norm(difference(:)) / norm(truth(:)), ...
    'amplitude', mean(object(inside)) / mean(truth(inside)), 'gs', gs, 'cm', cm, 'cs', cs, ...
    'stages', norm(cm(:) - cs(:)) / norm(cs(:)));
fprintf('%d^3 voxels from %d projections of %d samples: %.4f s on %s (%s)\n', N, numel(GX), S, ...
    info.seconds, info.device, info.kernel);
fprintf('amplitude %.4f, error %.4f of the object''s norm\n', result.amplitude, result.nrmse);
fprintf('two stages %.4f s, one %.4f s from %d projections; they differ by %.4f\n', cm_info.seconds, ...
    cs_info.seconds, numel(X), result.stages);

middle = N / 2;
slices = [picture(object, middle); picture(truth, middle); picture(10 * abs(difference), middle)];
profile = [(1:N)', double(squeeze(object(:, middle, middle))), ...
    double(squeeze(truth(:, middle, middle)))];
if nargin > 0 && ~isempty(folder)
    grey = uint8(255 * min(max(double(slices), 0), 1));
    imwrite(grey, fullfile(folder, 'slices.png'));
    file = fopen(fullfile(folder, 'profile.csv'), 'w');
    fprintf(file, '%d,%.6g,%.6g\n', profile');
    fclose(file);
else
    subplot(1, 2, 1), imagesc(slices, [0 1]), axis image, colormap gray
    title('object, truth, 10 x difference')
    subplot(1, 2, 2), plot(profile(:, 1), profile(:, 2:3)), legend('object', 'truth')
end
end

function out = picture(volume, at)
% The slices across z, y and x, side by side; the second index upwards.
across = @(s) flipud(squeeze(s)');
out = [across(volume(:, :, at)), across(volume(:, at, :)), across(volume(at, :, :))];
end
