function labels = huddle_predict(model, X, varargin)
%HUDDLE_PREDICT Clusters of new points.
%   LABELS = HUDDLE_PREDICT(MODEL, X) assigns the rows of X to the clusters of a
%   model: the third output of HUDDLE_SSC, or the name of a model file that
%   HUDDLE_SSC(..., 'save', FILE) or "huddle cluster --save" wrote. LABELS is a
%   column of numbers from 1.
%
%   LABELS = HUDDLE_PREDICT(MODEL, X, 'threads', N) uses N threads; 'memory' and
%   'progress' are as for HUDDLE_SSC.
%
%   Example:
%     [labels, info, model] = huddle_ssc(X, 3);
%     more = huddle_predict(model, X + 0.01);
%
%   See also HUDDLE_SSC.
    if nargin < 2
        error('huddle:invalid', 'huddle_predict needs a model and points');
    end
    [~, names, ~, settings] = huddle_arguments('auto', varargin);
    if numel(names) > 1
        error('huddle:invalid', 'huddle_predict has no option ''%s''', names{2});
    end
    model = huddle_text(model);
    if isa(model, 'uint8')
        path = tempname();
        cleaner = onCleanup(@() huddle_delete(path));
        file = fopen(path, 'w');
        fwrite(file, model, 'uint8');
        fclose(file);
    elseif ischar(model)
        path = model;
    else
        error('huddle:invalid', ['model must be the third output of huddle_ssc or the name of ' ...
            'a file, not %s'], class(model));
    end
    labels = huddle_call('predict', path, huddle_input(X, false), settings);
end
