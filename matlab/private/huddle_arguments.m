function [method, names, values, settings] = huddle_arguments(c, given)
% Splits options into those of the library, as texts, and settings of the call.
    method = 'ssc';
    auto = -1; % HUDDLE_AUTO
    settings = struct('threads', auto, 'memory', '', 'progress', false, 'graph', false, ...
        'save', '');
    names = {'n_clusters'};
    values = {option_text('the number of clusters', huddle_text(c))};
    pairs = huddle_pairs(given);
    affinity = '';
    for i = 1:size(pairs, 1)
        [name, value] = pairs{i, :};
        switch name
            case 'method'
                method = check(ischar(value), name, value, 'the name of a method');
            case 'threads'
                good = isnumeric(value) && isscalar(value) && value >= 1 && value == round(value);
                settings.threads = double(check(good, name, value, 'a whole number of at least 1'));
            case 'memory'
                if isnumeric(value) && isscalar(value)
                    value = sprintf('%.0f', value);
                end
                settings.memory = check(ischar(value), name, value, 'a text such as ''4G''');
            case {'progress', 'graph'}
                good = isscalar(value) && (islogical(value) || isnumeric(value));
                settings.(name) = logical(check(good, name, value, 'true or false'));
            case 'save'
                settings.save = check(ischar(value), name, value, 'the name of a file');
            case 'n_clusters'
                error('huddle:invalid', 'the number of clusters is the second argument');
            otherwise
                names{end + 1} = name;
                values{end + 1} = option_text(name, value);
                if strcmp(name, 'affinity')
                    affinity = values{end};
                end
        end
    end
    [names, values, settings.graph] = meaning(names, values, settings.graph, affinity);
end

function [names, values, graph] = meaning(names, values, graph, affinity)
% Whether X is a graph or distances, and the option that tells the library so.
    if graph && strcmp(affinity, 'features')
        error('huddle:invalid', 'graph = true contradicts affinity = features');
    end
    if graph && isempty(affinity)
        names{end + 1} = 'affinity';
        values{end + 1} = 'precomputed';
    end
    graph = graph || ~(isempty(affinity) || strcmp(affinity, 'features'));
end

function value = check(good, name, value, expected)
    if ~good
        error('huddle:invalid', '%s must be %s', name, expected);
    end
end

function text = option_text(name, value)
% A value as the text that the library parses.
    if ischar(value)
        text = value;
    elseif islogical(value) && isscalar(value)
        words = {'false', 'true'};
        text = words{value + 1};
    elseif isnumeric(value) && isscalar(value) && isreal(value)
        text = sprintf('%.17g', value);
    elseif isnumeric(value) && numel(value) > 1 && all(diff(double(value(:))) == 1)
        text = sprintf('%d-%d', value(1), value(end));
    else
        error('huddle:invalid', ['%s must be one number, text or logical, or a range such as ' ...
            '2:20'], name);
    end
end
