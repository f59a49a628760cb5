% Run by epr.sh, in a folder with what the command has made.
1;

function check(what, ok)
    if ~ok
        error('FAILED: %s', what);
    end
end

% A call that has to fail, by its identifier and a part of its sentence.
function fails(id, part, varargin)
    try
        fbp_epr(varargin{:});
    catch e
        if ~strcmp(e.identifier, id) || isempty(strfind(e.message, part))
            error('FAILED: expected %s "%s", got %s "%s"', id, part, e.identifier, e.message);
        end
        return
    end
    error('FAILED: no error %s "%s"', id, part);
end

% The last numbers of a file.
function x = read_floats(name, n)
    f = fopen(name);
    fseek(f, -4 * prod(n), 'eof');
    x = reshape(fread(f, prod(n), 'single=>single'), n);
    fclose(f);
end

% The sums of the paper's kernel, as they are defined.
function object = sums(p, GX, GY, GZ, d, N, tau)
    [S, Q] = size(p);
    at = ((0:N - 1) + 1 - N / 2) * d;
    [x, y, z] = ndgrid(at, at, at);
    object = zeros(N, N, N);
    for q = 1:Q
        t = (x * GX(q) + y * GY(q) + z * GZ(q)) / tau + S / 2;
        object = object + interp1(0:S - 1, p(:, q), t, 'linear', 0);
    end
end

% The command's bits, from float and from double samples.
[GX, GY, GZ] = fbp_epr_directions('solid-angle', 9, 'Order', 'flip');
Q = numel(GX);
S = str2double(regexp(fileread('bottle.json'), '"columns": (\d+)', 'tokens'){1}{1});
p = read_floats('bottle.mha', [S Q]);
d = 0.125;
plain = read_floats('plain.raw', [22 22 22]);
[object, info] = fbp_epr(p, GX, GY, GZ, d, 22, d, 'Device', 'cpu');
check('class', isa(object, 'single') && isequal(size(object), [22 22 22]));
check('the command''s bits', isequal(object, plain));
check('of double samples', isequal(fbp_epr(double(p), GX, GY, GZ, d, 22, d, Q, S, 'device', 'cpu'), plain));
check('of columns of directions', isequal(fbp_epr(p, GX', GY', GZ', d, 22, d, 'Device', 'cpu'), plain));
check('places that are given', isequal(fbp_epr(p, GX, GY, GZ, d, 22, d * ones(1, Q), 'Device', 'cpu', ...
    'First', -(S - 1) / 2 * d, 'Centre', [0 0 0], 'Threads', 1), plain));
check('info', strcmp(info.device, 'cpu') && ~isempty(strfind(info.weights, 'sum 2 pi')) && ...
    info.max == max(object(:)) && info.seconds > 0);
other = read_floats('other.raw', [17 22 12]);
check('other options', isequal(fbp_epr(p, GX, GY, GZ, 0.14, [17 22 12], d, 'Filter', 'hann', 'Cutoff', 0.6, ...
    'Oversampling', 2, 'Quadrature', 'voronoi', 'Device', 'cpu'), other));
spectra = read_floats('spectra.raw', [22 22 22]);
h = load('h.txt');
check('a reference', isequal(fbp_epr(p, GX, GY, GZ, d, 22, d, 'Reference', h, 'Cutoff', 0.3, 'Device', 'cpu'), spectra));
check('Wiener''s term', ~isequal(fbp_epr(p, GX, GY, GZ, d, 22, d, 'Reference', h, 'Wiener', 0.1, 'Device', 'cpu'), spectra));
check('no file of a reference is left', isempty(dir('temporary/fbp*')));
weights = 2 * pi / Q * ones(1, Q);
check('given weights', ~isequal(fbp_epr(p, GX, GY, GZ, d, 22, d, 'Quadrature', weights, 'Device', 'cpu'), plain));

% Filtered projections are only backprojected, in the paper's places.
rand('seed', 1);
raw = rand(41, 12) - 0.5;
raw([1 end], :) = 0;
for N = [16 17]
    wanted = sums(raw, GX(1:12), GY(1:12), GZ(1:12), 0.7, N, 0.9);
    got = fbp_epr(raw, GX(1:12), GY(1:12), GZ(1:12), 0.7, N, 0.9, 'Filter', 'none', 'Grid', 'eprit');
    check('the paper''s sums', max(abs(got(:) - wanted(:))) < 1e-6 * max(abs(wanted(:))));
end

% In double: the command's bits, and the float ones but for rounding.
f = fopen('exact.mha');
fseek(f, -8 * S * Q, 'eof');
samples = reshape(fread(f, S * Q, 'double'), [S Q]);
fclose(f);
f = fopen('exact.raw');
exact = reshape(fread(f, 22 ^ 3, 'double'), [22 22 22]);
fclose(f);
% The file's directions and distances are those of the scan but for their last bits.
text = fileread('exact.json');
rows = regexp(text, '\n    \[([^\]]*)\]', 'tokens');
G = cell2mat(cellfun(@(row) str2num(row{1})', rows, 'UniformOutput', false));
number = @(key) str2double(regexp(text, ['"' key '": ([-0-9.e]+)'], 'tokens'){1}{1});
got = fbp_epr(samples, G(1, :), G(2, :), G(3, :), d, 22, number('spacing_mm'), 'First', ...
    number('first_mm'), 'Precision', 'double', 'Device', 'cpu');
check('the command''s bits in double', isa(got, 'double') && isequal(got, exact));
check('double beside float', max(abs(got(:) - double(plain(:)))) < 1e-5 * max(got(:)));
check('double of floats', isa(fbp_epr(p, GX, GY, GZ, d, 22, d, 'Precision', 'double', 'Device', 'cpu'), 'double'));
wanted = sums(raw, GX(1:12), GY(1:12), GZ(1:12), 0.7, 17, 0.9);
got = fbp_epr(raw, GX(1:12), GY(1:12), GZ(1:12), 0.7, 17, 0.9, 'Filter', 'none', 'Grid', 'eprit', ...
    'Precision', 'double', 'Device', 'cpu');
check('the paper''s sums in double', max(abs(got(:) - wanted(:))) < 1e-12 * max(abs(wanted(:))));

% What a kernel is given by fbp_epr_filter is what the library filters.
[weights, words] = fbp_epr_weights(GX, GY, GZ);
check('weights', abs(sum(weights) - 2 * pi) < 1e-12 && ~isempty(strfind(words, 'bands')));
for choice = {1, 0.6, 0.6; 'ram-lak', 'ram-lak', 'hann'}
    filtered = fbp_epr_filter(p, GX, GY, GZ, d, choice{:});
    a = fbp_epr(filtered, GX, GY, GZ, d, 22, d, 'Filter', 'none', 'Device', 'cpu');
    b = fbp_epr(p, GX, GY, GZ, d, 22, d, 'Cutoff', choice{1}, 'Filter', choice{2}, 'Device', 'cpu');
    check('filtered by the script', max(abs(a(:) - b(:))) < 1e-5 * max(b(:)));
end

% Delays: each as alone, bit for bit.
delays = cat(2, reshape(p, [S 1 Q]), reshape(flipud(p), [S 1 Q]), reshape(0.5 * p, [S 1 Q]));
series = fbp_epr(delays, GX, GY, GZ, d, 22, d, 'Device', 'cpu');
check('size of a series', isequal(size(series), [22 22 22 3]));
check('the first delay', isequal(series(:, :, :, 1), plain));
check('the second delay', isequal(series(:, :, :, 2), fbp_epr(flipud(p), GX, GY, GZ, d, 22, d, 'Device', 'cpu')));
check('the third delay', isequal(series(:, :, :, 3), 0.5 * plain));

% Two stages: 64^3 voxels from 18 x 18 directions, as docs have it.
[X, Y, Z] = fbp_epr_directions('linear-angle', 18);
grid = {X, Y, Z, 2 / 64, 64, 2 / 64};
ball = fbp_epr_simulate('soft-ball', grid{:}, 112);
one = fbp_epr(ball, grid{:}, 'Filter', 'hann', 'Cutoff', 0.5, 'Device', 'cpu');
two = fbp_epr(ball, grid{:}, 'Filter', 'hann', 'Cutoff', 0.5, 'Device', 'cpu', 'Stages', 2);
check('two stages', ~isequal(one, two) && norm(one(:) - two(:)) < 0.001 * norm(one(:)));
both = {'Filter', 'hann', 'Cutoff', 0.5, 'Device', 'cpu', 'Stages', 2, 'Precision', 'double'};
exact = fbp_epr(double(ball), grid{:}, both{:});
check('two stages in double', isa(exact, 'double') && max(abs(exact(:) - double(two(:)))) < 1e-6 * max(exact(:)));
ball = reshape(double(ball), [112 1 324]);
series = fbp_epr(cat(2, ball, 0.5 * ball), grid{:}, both{:});
rings = {p, GX, GY, GZ, d, 22, d, 'Device', 'cpu', 'Angles', 9, 'Stages', 2};
check('resampled angles', isequal(fbp_epr(rings{:}), read_floats('angles.raw', [22 22 22])));
check('delays in two stages', isequal(series(:, :, :, 1), exact) && isequal(series(:, :, :, 2), 0.5 * exact));

% Amplitude: the example, which also writes its pictures.
for N = [48 47]
    result = fbp_epr_example(pwd, N);
    check('amplitude', abs(result.amplitude - 1) < 5e-3);
    check('stages of the example', result.stages > 0 && result.stages < 0.05 && isempty(result.gs));
    rows = 3 + 1; % CM, CS, the phantom; and the difference
    check('slices of all methods', isequal(size(imread('slices.png')), [rows * N, 3 * N]));
    profile = csvread('profile.csv');
    check('a profile of each method', isequal(size(profile), [N 4]));
    middle = ceil(N / 2);
    check('the profile of CM', norm(profile(:, 2) - double(result.cm(:, middle, middle))) < 1e-5);
    check('the profile of CS', norm(profile(:, 3) - double(result.cs(:, middle, middle))) < 1e-5);
end

% The host's files are its own: a library that closed one would give its number to the next.
f = fopen('plain.raw');
check('standard input stays open', f > 2);
fclose(f);

% Bad input.
ok = {p, GX, GY, GZ, d, 22, d};
bad = @(i, value) [ok(1:i - 1), {value}, ok(i + 1:end)];
call = bad(1, complex(double(p), 1)); fails('fbp:type', 'complex', call{:});
call = bad(1, 'text'); fails('fbp:type', 'projection: expected double', call{:});
call = bad(1, []); fails('fbp:size', 'projection', call{:});
call = bad(1, p(:, 2:end)); fails('fbp:size', 'GX: expected', call{:});
call = bad(2, 2 * GX); fails('fbp:directions', 'direction 1 has length', call{:});
call = bad(3, GY(2:end)); fails('fbp:size', 'GY: expected', call{:});
call = bad(4, NaN(size(GZ))); fails('fbp:directions', 'has length nan', call{:});
call = bad(5, 0); fails('fbp:value', 'd_object: expected a distance above 0', call{:});
call = bad(6, 22.5); fails('fbp:value', 'N: expected a whole number', call{:});
call = bad(6, [3 3]); fails('fbp:size', 'N: expected 1 number, got 2', call{:});
call = bad(7, [d * ones(1, Q - 1), 0]); fails('fbp:value', sprintf('got 0 for projection %d', Q), call{:});
fails('fbp:arguments', 'got 3 arguments', ok{1:3});
fails('fbp:size', 'Q: found 5', ok{:}, 5);
fails('fbp:size', 'S: found 7', ok{:}, Q, 7);
fails('fbp:option', 'unknown option "Fliter"', ok{:}, 'Fliter', 'hann');
fails('fbp:option', 'Cutoff: its value is missing', ok{:}, 'Cutoff');
fails('fbp:value', 'Filter: expected one of ram-lak', ok{:}, 'Filter', 'han');
fails('fbp:value', 'Cutoff: expected', ok{:}, 'Cutoff', 2);
fails('fbp:size', 'Reference: expected', ok{:}, 'Reference', [1 2 3]);
fails('fbp:library', 'cut', ok{:}, 'Reference', h);
fails('fbp:library', 'reference', ok{:}, 'Reference', 0 * h, 'Cutoff', 0.5);
fails('fbp:size', 'Quadrature', ok{:}, 'Quadrature', [1 2]);
fails('fbp:value', 'Stages: expected 1 to 2', ok{:}, 'Stages', 3);
fails('fbp:value', 'Angles: expected', ok{:}, 'Angles', -1);
fails('fbp:library', 'not part of this build', ok{:}, 'Device', 'abacus');
fails('fbp:library', 'evenly spaced rings', {p(:, 1:9)}{:}, GX(2:10), GY(2:10), GZ(2:10), d, 22, d, 'Quadrature', 'bands');

% The paper's kernel and odd numbers are refused before a GPU is asked for.
try
    fbp_epr_gpu(zeros(57, 3), [1 0 0], [0 1 0], [0 0 1], 1, 8, 1, 'paper');
    check('odd samples', false);
catch e
    check('odd samples', strcmp(e.identifier, 'fbp:size') && ~isempty(strfind(e.message, 'even number of samples')));
end
try
    fbp_epr_gpu(zeros(56, 3), [1 0 0], [0 1 0], [0 0 1], 1, 2000, 1, 'paper');
    check('large sides', false);
catch e
    check('large sides', strcmp(e.identifier, 'fbp:size') && ~isempty(strfind(e.message, 'at most 1024')));
end
disp('passed');
