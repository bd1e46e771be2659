function [Z, path] = huddle_path(X, c, varargin)
%HUDDLE_PATH Spectral shrunk clustering for all values of gamma, as a tree.
%   Z = HUDDLE_PATH(X, C) shrinks the embedding of X for a range of gamma, from no
%   shrinking to collapse, and returns the tree of the fusions as LINKAGE does: row
%   k says that the clusters Z(k,1) and Z(k,2) become cluster n + k at the height
%   Z(k,3). DENDROGRAM, CLUSTER and COPHENET (Statistics Toolbox; for Octave, package
%   statistics) accept it. C is one number of clusters or 'auto'.
%
%   The height is log10(gamma), moved so that the first level is one step above 0,
%   because gamma covers many orders of magnitude. Trees that are still separate at
%   the last gamma are joined one decade above it.
%
%   [Z, PATH] = HUDDLE_PATH(...) returns a struct with
%     gamma, n_groups       the levels, and the number of groups at each
%     groups                group of each point, one column per level
%     objective, dual, gap  of each level
%     labels                clusters read from the path, without K-means
%     chosen                the gamma they were read at; 0 if no level has enough
%     fusion_gamma          gamma of each row of Z
%     gamma_fit, gamma_up   nothing moves up to the first; from the second on every
%                           component of the graph is one point
%
%   Options are those of HUDDLE_SSC, by name, without 'gamma', and
%     'n_gamma'   number of levels; default 30
%     'gammas'    values of gamma in ascending order, instead
%
%   Example:
%     Z = huddle_path(X, 3);
%     dendrogram(Z, 0)
%
%   See also HUDDLE_SSC.
    if nargin < 2
        c = 'auto';
    end
    if isnumeric(c) && numel(c) ~= 1
        error('huddle:invalid', 'a path needs one number of clusters or ''auto'', not a range');
    end
    [options, gammas] = split_options(varargin);
    options(end + 1, :) = {'gamma', 0};
    options(end + 1, :) = {'n_init', 1};
    pairs = options';
    [method, names, values, settings] = huddle_arguments(c, pairs(:)');
    if ~strcmp(method, 'ssc')
        error('huddle:invalid', 'only the method ssc has a path, not %s', method);
    end
    X = huddle_input(X, settings.graph);
    [tree, levels, groups, labels, ends] = ...
        huddle_call('path', X, names, values, settings, gammas);
    [Z, path] = describe(tree, levels);
    path.groups = groups;
    path.labels = labels;
    path.gamma_fit = ends(1);
    path.gamma_up = ends(2);
    path.chosen = ends(3);
end

function [Z, path] = describe(tree, levels)
    path.gamma = levels(:, 1);
    path.n_groups = levels(:, 2);
    path.objective = levels(:, 3);
    path.dual = levels(:, 4);
    path.gap = levels(:, 5);
    path.n_iter = levels(:, 6);
    path.fusion_gamma = tree(:, 3);
    heights = log10(path.gamma);
    step = 1;
    if numel(heights) > 1
        step = min(diff(heights));
    end
    Z = [sort(tree(:, 1:2), 2) + 1, log10(tree(:, 3)) - heights(1) + step];
end

function [options, gammas] = split_options(given)
% The options in rows of name and value, without those of the path itself.
    options = huddle_pairs(given);
    gammas = [];
    for i = size(options, 1):-1:1
        name = options{i, 1};
        value = options{i, 2};
        if strcmp(name, 'gamma')
            error('huddle:invalid', 'a path covers all values of gamma; gammas chooses its levels');
        elseif strcmp(name, 'n_gamma') || strcmp(name, 'gammas')
            single_number = numel(value) == 1;
            if ~isnumeric(value) || isempty(value) || any(~isfinite(value(:))) || ...
                    single_number ~= strcmp(name, 'n_gamma')
                error('huddle:invalid', ['n_gamma must be a whole number, and gammas two or ' ...
                    'more numbers in ascending order']);
            end
            gammas = double(value(:));
            options(i, :) = [];
        end
    end
end
