function fbp_epr_build(prefix)
%FBP_EPR_BUILD  Compile the MEX files, in MATLAB or Octave.
%
%   FBP_EPR_BUILD(PREFIX) compiles fbp_epr, fbp_epr_directions,
%   fbp_epr_simulate and fbp_epr_weights beside this file, against libfbp under PREFIX, where
%   cmake --install has put it (such as '/usr/local').

here = fileparts(mfilename('fullpath'));
if nargin < 1
    prefix = fileparts(fileparts(fileparts(here))); % PREFIX/share/fbp/matlab
end
lib = fullfile(prefix, 'lib');
names = {'fbp_epr', 'fbp_epr_directions', 'fbp_epr_simulate', 'fbp_epr_weights'};
sources = {{'fbp_epr', 'epr_options', 'epr_run'}, names(2), names(3), names(4)};
flags = {['-I' fullfile(prefix, 'include')], ['-L' lib], '-lfbp'};
for i = 1:numel(names)
    files = [fullfile(here, strcat(sources{i}, '.c')), {fullfile(here, 'mex_args.c')}];
    if exist('OCTAVE_VERSION', 'builtin')
        mex('-o', fullfile(here, names{i}), files{:}, flags{:}, ['-Wl,-rpath,' lib]);
    else
        mex('-R2018a', '-outdir', here, '-output', names{i}, files{:}, flags{:}, ...
            'CFLAGS=$CFLAGS -std=gnu11', ['LDFLAGS=$LDFLAGS -Wl,-rpath,' lib]);
    end
end
rehash(); % this session finds them, too
end
