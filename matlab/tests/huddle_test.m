function huddle_test(tool)
%HUDDLE_TEST Tests of the functions of Huddle; an error means that one failed.
%   HUDDLE_TEST runs all tests. HUDDLE_TEST(TOOL) also compares labels with those of
%   the command-line tool at that path.
    addpath(fileparts(fileparts(mfilename('fullpath'))));
    tests = {@test_clusters, @test_types, @test_info, @test_options, @test_errors, ...
        @test_warnings, @test_graphs, @test_predict, @test_path, @test_score, @test_help};
    for i = 1:numel(tests)
        tests{i}();
        fprintf('ok %s\n', func2str(tests{i}));
    end
    if nargin > 0
        test_same_labels(tool);
        fprintf('ok test_same_labels\n');
        test_model_files(tool);
        fprintf('ok test_model_files\n');
    end
end

% ---- data and checks ------------------------------------------------------------------------

function [X, truth] = rings()
    t = 2 * pi * (1:150)' / 150;
    noise = 0.05 * [sin(7.3 * (1:150)'), cos(5.1 * (1:150)')];
    X = [cos(t), sin(t); 3 * cos(t), 3 * sin(t)] + [noise; noise];
    truth = [ones(150, 1); 2 * ones(150, 1)];
end

function [X, truth] = blobs()
    k = (1:50)';
    golden = (sqrt(5) - 1) / 2;
    disc = [sqrt(k / 50) .* cos(2 * pi * golden * k), sqrt(k / 50) .* sin(2 * pi * golden * k)];
    X = [disc; disc + 4; disc + repmat([4 -4], 50, 1)];
    truth = kron((1:3)', ones(50, 1));
end

function check(condition, text)
    if ~condition
        error('huddle_test:failed', '%s', text);
    end
end

function check_error(action, identifier, pattern)
    try
        action();
    catch problem
        check(strcmp(problem.identifier, identifier), sprintf('%s: %s, expected %s', ...
            func2str(action), problem.identifier, identifier));
        check(~isempty(regexp(problem.message, pattern, 'once')), sprintf('"%s" lacks "%s"', ...
            problem.message, pattern));
        return
    end
    check(false, [func2str(action) ' raised no error']);
end

% ---- tests ----------------------------------------------------------------------------------

function test_clusters()
    [X, truth] = rings();
    labels = huddle_ssc(X, 2);
    check(isequal(size(labels), [300 1]) && isa(labels, 'double'), 'a column of doubles');
    check(isequal(unique(labels), [1; 2]), 'labels from 1');
    check(huddle_score(truth, labels).acc == 1, 'rings are separated');
    [X, truth] = blobs();
    check(huddle_score(truth, huddle_ssc(X, 3)).acc == 1, 'blobs are found');
    scores = huddle_score({'a', 'a', 'b', 'b', 'b'}, [0 0 1 1 -1]);
    check(scores.acc == 1 && scores.left_out == 1, 'rows without a cluster are not scored');
    check_error(@() huddle_score([1 1 2], [-1 -1 -1]), 'huddle:invalid', ...
        'no row has a cluster');
    scores = huddle_score([-1 -1 1 1], [1 1 -1 -1]);
    check(scores.acc == 1 && scores.left_out == 0, '-1 and 1 are clusters');
    check(isequal(huddle_ssc(X), huddle_ssc(X, 'auto')), 'auto is the default');
    check(max(huddle_ssc(X)) == 3, 'auto finds the number of blobs');
end

function test_types()
    [X, ~] = rings();
    expected = huddle_ssc(X, 2);
    check(isequal(huddle_ssc(single(X), 2), expected), 'single');
    whole = int16(100 * X);
    check(isequal(huddle_ssc(whole, 2), huddle_ssc(double(whole), 2)), 'int16');
    options = {'prepare', 'none', 'refine', 'none'};
    full = huddle_ssc(X, 2, options{:});
    check(huddle_score(full, huddle_ssc(sparse(X), 2, options{:})).acc == 1, 'sparse');
    check(isequal(huddle_ssc(X, int32(2)), expected), 'an integer number of clusters');
end

function test_info()
    [X, ~] = blobs();
    [labels, info] = huddle_ssc(X, 3, 'prepare', 'none');
    check(info.n == 150 && info.n_clusters == 3 && info.d == 2, 'sizes');
    check(isequal(info.sizes, accumarray(labels, 1)), 'cluster sizes');
    check(isequal(labels(info.medoids), (1:3)'), 'medoids are numbered from 1');
    check(isequal(size(info.embedding), [150 3]) && isequal(size(info.shrunk), [150 3]), 'F and G');
    check(info.gap >= 0 && info.gap <= 1e-4, 'certified gap');
    W = info.graph.matrix;
    check(issparse(W) && isequal(W, W') && nnz(W) == 2 * info.graph.edges, 'graph');
    D = diag(1 ./ sqrt(full(sum(W))));
    values = sort(eig(eye(150) - D * full(W) * D));
    check(max(abs(info.embed.eigenvalues(1:4) - values(1:4))) < 1e-6, 'eigenvalues');
    [~, info] = huddle_ssc(X, 3, 'method', 'kmeans');
    check(strcmp(info.method, 'kmeans') && ~isfield(info, 'gap'), 'another method');
end

function test_options()
    [X, ~] = rings();
    [labels, info] = huddle_ssc(X, 2, 'n_neighbors', 8, 'guard', false, 'gamma', 2.5, 'seed', 7);
    check(info.options.n_neighbors == 8 && ~info.options.guard && info.options.gamma == 2.5 && ...
        info.options.seed == 7, 'pairs');
    given = struct('n_neighbors', 8, 'guard', false, 'gamma', 2.5, 'seed', 7);
    check(isequal(huddle_ssc(X, 2, given), labels), 'struct');
    check(isequal(huddle_ssc(X, 2, given), huddle_ssc(X, 2, setfield(given, 'threads', 1))), ...
        'threads do not matter'); %#ok<SFLD>
    state = warning('off', 'huddle:components');
    [~, info] = huddle_ssc(X, 2:4);
    warning(state);
    check(isequal([info.range.n_clusters], 2:4), 'range');
    table = huddle_options();
    check(any(strcmp({table.name}, 'n_neighbors')) && ~any(strcmp({table.name}, 'n_clusters')), ...
        'table of options');
    check(any(strcmp({huddle_options('methods').name}, 'ssc')), 'table of methods');
end

function test_errors()
    [X, ~] = rings();
    check_error(@() huddle_ssc(X, 2, 'n_neighbours', 5), 'huddle:invalid', ...
        'did you mean ''n_neighbors''');
    check_error(@() huddle_ssc(X, 2, 'n_neighbors', 0), 'huddle:invalid', 'n_neighbors = 0');
    check_error(@() huddle_ssc(X, 0), 'huddle:invalid', 'n_clusters = 0');
    check_error(@() huddle_ssc(X, [2 4]), 'huddle:invalid', 'range such as 2:20');
    check_error(@() huddle_ssc(X, 2, 'n_neighbors'), 'huddle:invalid', 'pairs');
    check_error(@() huddle_ssc(X, 2, 'threads', 0), 'huddle:invalid', 'threads must be');
    check_error(@() huddle_ssc(X, 2, 'method', 'scc'), 'huddle:invalid', 'did you mean');
    check_error(@() huddle_ssc(X, 2, 'memory', '1K'), 'huddle:no_memory', 'memory');
    check_error(@() huddle_ssc({1}, 2), 'huddle:invalid', 'real matrix, not cell');
    check_error(@() huddle_ssc(zeros(0, 2), 2), 'huddle:invalid', '.');
    X(7, 2) = NaN;
    check_error(@() huddle_ssc(X, 2), 'huddle:invalid', 'X\(7,2\) is NaN');
    check_error(@() huddle_ssc(sparse(X), 2), 'huddle:invalid', 'X\(7,2\) is NaN');
    check_error(@() huddle_mex('nothing'), 'huddle:invalid', 'internal');
end

function test_warnings()
    [X, ~] = blobs(); % three components
    lastwarn('', '');
    text = evalc('huddle_ssc(X, 2);');
    [~, identifier] = lastwarn();
    check(strncmp(identifier, 'huddle:', 7), ['the identifier of a warning is ' identifier]);
    check(~isempty(strfind(text, 'components for 2 clusters')), text);
end

function test_graphs()
    [X, truth] = rings();
    squares = sum(X .^ 2, 2);
    D = sqrt(max(0, squares + squares' - 2 * X * X'));
    check(huddle_score(truth, huddle_ssc(D, 2, 'affinity', 'distances')).acc == 1, 'distances');
    W = exp(-D .^ 2 / 0.02);
    W(W < 1e-4) = 0;
    labels = huddle_ssc(W, 2, 'graph', true);
    check(huddle_score(truth, labels).acc == 1, 'graph');
    check(isequal(huddle_ssc(sparse(W), 2, 'graph', true), labels), 'sparse graph');
    check_error(@() huddle_ssc(X, 2, 'graph', true), 'huddle:invalid', 'square, not 300 x 2');
    A = triu(W); % one direction of each edge
    lastwarn('', '');
    text = evalc('halves = huddle_ssc(A, 2, ''graph'', true);');
    check(~isempty(strfind(text, 'the graph is not symmetric')), text);
    check(isequal(halves, huddle_ssc((A + A') / 2, 2, 'graph', true)), 'the average is used');
    check_error(@() huddle_ssc(-W, 2, 'graph', true), 'huddle:invalid', '-1');
end

function test_predict()
    [X, ~] = blobs();
    [labels, ~, model] = huddle_ssc(X, 3);
    check(isa(model, 'uint8'), 'model');
    check(isequal(huddle_predict(model, X), labels), 'predict');
    some = [1 60 120];
    check(isequal(huddle_predict(model, X(some, :) + 0.01), labels(some)), 'new points');
    check_error(@() huddle_predict(model, X(:, 1)), 'huddle:invalid', '.');
    check_error(@() huddle_predict('no/such/file', X), 'huddle:io', 'no/such/file');
    check_error(@() huddle_predict(uint8(1:9), X), 'huddle:format', '.');
    check_error(@() huddle_predict(model, X, 'gamma', 1), 'huddle:invalid', 'no option ''gamma''');
    far = X + repmat([5e8 -3e8], 150, 1);
    [labels, ~, model] = huddle_ssc(far, 3);
    check(isequal(huddle_predict(model, far), labels), 'large offsets keep their digits');
end

function test_path()
    [X, truth] = blobs();
    [Z, path] = huddle_path(X, 3, 'n_gamma', 12);
    check(isequal(size(Z), [149 3]) && numel(path.gamma) == 12, 'sizes');
    check(issorted(Z(:, 3)) && Z(1, 3) > 0, 'heights');
    parts = Z(:, 1:2);
    check(isequal(sort(parts(:)), (1:298)'), 'every cluster is joined once');
    check(all(max(parts, [], 2) <= 149 + (1:149)'), 'parts exist before they are joined');
    check(huddle_score(truth, path.labels).acc == 1, 'labels of the path');
    check(isequal(path.n_groups, max(path.groups)'), 'groups');
    % The clusters below the last level are the groups of the last level.
    last = path.fusion_gamma <= path.gamma(end) * (1 + 1e-9);
    check(150 - sum(last) == path.n_groups(end), 'trees that remain');
    [~, chosen] = huddle_path(X, 3, 'gammas', [0.1 1 10]);
    check(isequal(chosen.gamma, [0.1; 1; 10]), 'chosen levels');
    check_error(@() huddle_path(X, 3, 'gamma', 1), 'huddle:invalid', 'covers all values');
    check_error(@() huddle_path(X, 2:3), 'huddle:invalid', 'not a range');
    check_error(@() huddle_path(X, 3, 'gammas', [2 1]), 'huddle:invalid', '.');
end

function test_score()
    scores = huddle_score([1 1 2 2], {'b', 'b', 'a', 'a'});
    check(scores.acc == 1 && scores.nmi == 1 && scores.ari == 1 && scores.purity == 1, 'equal');
    check(huddle_score([1 1 2 2], [1 2 2 2]).acc == 0.75, 'one wrong');
    check_error(@() huddle_score(1:3, 1:2), 'huddle:invalid', '3 elements, labels has 2');
end

function test_help()
    names = {'ssc', 'predict', 'path', 'options', 'score', 'demo'};
    for i = 1:numel(names)
        check(numel(help(['huddle_' names{i}])) > 100, ['help of huddle_' names{i}]);
    end
end

% ---- beside the tool ------------------------------------------------------------------------

function labels = tool_labels(tool, X, flags)
    file = [tempname() '.csv'];
    out = [tempname() '.txt'];
    cleaner = onCleanup(@() delete(file, out));
    dlmwrite(file, X, 'precision', '%.17g');
    [status, output] = system([tool ' cluster ' file ' -q ' flags ' -o ' out]);
    check(status == 0, output);
    labels = dlmread(out) + 1;
end

function test_same_labels(tool)
    [X, ~] = rings();
    check(isequal(huddle_ssc(X, 2), tool_labels(tool, X, '-c 2')), 'rings');
    [X, ~] = blobs();
    X(151:200, :) = X(1:50, :) / 2 + 1;
    check(isequal(huddle_ssc(X, 4, 'n_neighbors', 7, 'seed', 9), ...
        tool_labels(tool, X, '-c 4 --n-neighbors 7 --seed 9')), 'blobs');
    check(isequal(huddle_ssc(X, 4, 'method', 'sc'), tool_labels(tool, X, '-c 4 -m sc')), 'sc');
    state = warning('off', 'all');
    check(isequal(huddle_ssc(X, 2:6), tool_labels(tool, X, '-c 2-6')), 'range');
    warning(state);
end

function test_model_files(tool)
    model = tempname();
    cleaner = onCleanup(@() delete(model));
    [X, ~] = blobs();
    labels = huddle_ssc(X, 3, 'save', model);
    check(isequal(huddle_predict(model, X), labels), 'a saved model');
    file = [tempname() '.csv'];
    out = [tempname() '.txt'];
    cleaner2 = onCleanup(@() delete(file, out));
    dlmwrite(file, X, 'precision', '%.17g');
    [status, output] = system([tool ' predict ' model ' ' file ' -q -o ' out]);
    check(status == 0, output);
    check(isequal(dlmread(out) + 1, labels), 'the tool predicts with it');
end
