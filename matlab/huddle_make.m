function huddle_make(prefix)
%HUDDLE_MAKE Compile the MEX function of Huddle, for MATLAB or GNU Octave.
%   HUDDLE_MAKE compiles huddle_mex.c with libhuddle as pkg-config finds it, and
%   puts the result beside this file. It needs a C compiler, pkg-config and, with
%   Octave, mkoctfile (Debian: octave-dev).
%
%   HUDDLE_MAKE(PREFIX) uses the library that is installed under PREFIX, such as
%   '/home/me/huddle'; so does the environment variable HUDDLE_PREFIX.
%
%   Afterwards: addpath('FOLDER OF THIS FILE'), and see HUDDLE_SSC.
    if nargin < 1
        prefix = getenv('HUDDLE_PREFIX');
    end
    folder = fileparts(mfilename('fullpath'));
    [cflags, libs, libdir] = library_flags(prefix);
    % The library is found again at run time by its folder.
    rpath = ['-Wl,-rpath,' libdir];
    source = fullfile(folder, 'huddle_mex.c');
    target = fullfile(folder, ['huddle_mex.' mexext()]);
    if exist('OCTAVE_VERSION', 'builtin')
        % In two steps: at once, mkoctfile leaves the object file in the current folder.
        object = [tempname() '.o'];
        run_compiler([{'-c'}, cflags, {'-o', object, source}]);
        cleaner = onCleanup(@() delete(object));
        run_compiler([{'--mex', '-o', target, object}, libs, {rpath}]);
    else
        mex('-R2018a', cflags{:}, ['LDFLAGS=$LDFLAGS ' rpath], source, libs{:}, '-outdir', folder);
    end
    fprintf('built %s\n', target);
end

function run_compiler(given)
    [output, status] = mkoctfile(given{:});
    if status ~= 0
        error('huddle:make', 'mkoctfile %s failed: %s', strjoin(given, ' '), output);
    end
end

function [cflags, libs, libdir] = library_flags(prefix)
    if ~isempty(prefix)
        [~, found] = system(['find "' prefix '" -name huddle.pc 2>/dev/null']);
        found = strtrim(found);
        if isempty(found)
            error('huddle:make', 'there is no huddle.pc under %s', prefix);
        end
        lines = strsplit(found, sprintf('\n'));
        before = getenv('PKG_CONFIG_PATH');
        setenv('PKG_CONFIG_PATH', [fileparts(lines{1}) ':' before]);
        cleaner = onCleanup(@() setenv('PKG_CONFIG_PATH', before));
    end
    [status, output] = system('pkg-config --print-errors --atleast-version=0.3 huddle 2>&1');
    if status ~= 0
        error('huddle:make', ['pkg-config does not find libhuddle 0.3 or newer: install it ' ...
            '(./dev install in its sources), or name its prefix: huddle_make(''/prefix''). %s'], ...
            strtrim(output));
    end
    cflags = strsplit(ask('--cflags'), ' ');
    libs = strsplit(ask('--libs'), ' ');
    libdir = ask('--variable=libdir');
end

function text = ask(what)
    [~, text] = system(['pkg-config ' what ' huddle']);
    text = strtrim(text);
end
