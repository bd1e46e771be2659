function [labels, info, model] = huddle_ssc(X, c, varargin)
%HUDDLE_SSC Spectral shrunk clustering.
%   LABELS = HUDDLE_SSC(X, C) clusters the rows of X, a full (double or single) or
%   sparse matrix, into C clusters. LABELS is a column of numbers 1 .. C. C can be a
%   range such as 2:20, of which the number is chosen that fits best, or 'auto',
%   which is also the default.
%
%   LABELS = HUDDLE_SSC(X, C, NAME, VALUE, ...) sets options by name, or with a
%   struct instead of pairs. HUDDLE_OPTIONS lists all options of the method, such
%   as 'n_neighbors', 'gamma' and 'seed'. These are known besides:
%
%     'method'    the name of another method, such as 'sc' or 'kmeans'
%     'graph'     true if X is a symmetric matrix of similarities, full or sparse;
%                 for distances between all points use 'affinity', 'distances'
%     'threads'   number of threads; default: all that are available
%     'memory'    memory that may be used, such as '4G'
%     'progress'  true shows the stages
%     'save'      name of a model file to write; the tool and HUDDLE_PREDICT read it
%
%   [LABELS, INFO] = HUDDLE_SSC(...) returns a struct with the results of all stages:
%     n_clusters, sizes
%     gap         relative duality gap: the objective of the shrink step is proven to
%                 be within this of its optimum
%     embedding   spectral embedding F, one row per point
%     shrunk      shrunk embedding G
%     graph       numbers of edges and components; graph.matrix is sparse
%     shrink, embed, kmeans, refine, range, options, seconds, warnings, ...
%   as in the output of "huddle cluster --json"; points are numbered from 1.
%
%   [LABELS, INFO, MODEL] = HUDDLE_SSC(...) returns the model as an array of uint8,
%   which can be saved in a MAT file and passed to HUDDLE_PREDICT.
%
%   The same data, options and seed give the same labels with any number of threads,
%   and those of the command-line tool plus 1. Errors have identifiers such as
%   huddle:invalid, warnings such as huddle:not_converged.
%
%   Example:
%     t = linspace(0, 2*pi, 200)';
%     X = [cos(t) sin(t); 3*cos(t) 3*sin(t)];
%     labels = huddle_ssc(X, 2);
%     scatter(X(:,1), X(:,2), 20, labels, 'filled')
%
%   See also HUDDLE_OPTIONS, HUDDLE_PREDICT, HUDDLE_PATH, HUDDLE_SCORE, HUDDLE_DEMO.
    if nargin < 1
        error('huddle:invalid', 'huddle_ssc needs a matrix: labels = huddle_ssc(X, c)');
    end
    if nargin < 2
        c = 'auto';
    end
    [method, names, values, settings] = huddle_arguments(c, varargin);
    X = huddle_input(X, settings.graph);
    scratch = '';
    if nargout > 2 && isempty(settings.save)
        scratch = tempname();
        settings.save = scratch;
        cleaner = onCleanup(@() huddle_delete(scratch));
    end
    arrays = {};
    if nargout > 1
        arrays = {'embedding', 'shrunk', 'graph'};
    end
    [labels, json, found] = huddle_call('fit', method, X, names, values, settings, arrays);
    if nargout > 1
        info = describe(jsondecode(json), found);
    end
    if nargout > 2
        file = fopen(settings.save, 'r');
        model = fread(file, Inf, '*uint8');
        fclose(file);
    end
end

function info = describe(info, found)
    info.medoids = info.medoids + 1;
    if isfield(info, 'shrink')
        info.gap = info.shrink.gap;
    end
    names = fieldnames(found);
    for i = 1:numel(names)
        if strcmp(names{i}, 'graph')
            % The numbers about the graph are in the field of the same name.
            info.graph.matrix = found.graph;
        else
            info.(names{i}) = found.(names{i});
        end
    end
end
