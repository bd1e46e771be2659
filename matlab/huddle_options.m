function options = huddle_options(method)
%HUDDLE_OPTIONS Options of a method, or the list of methods.
%   HUDDLE_OPTIONS prints the options of HUDDLE_SSC: names, values, defaults and
%   what they mean. HUDDLE_OPTIONS(METHOD) prints those of another method, and
%   HUDDLE_OPTIONS('methods') the methods.
%
%   OPTIONS = HUDDLE_OPTIONS(...) returns a struct array instead, with the fields
%   name, default, allowed and help (for methods: name, title and summary).
%
%   See also HUDDLE_SSC.
    if nargin < 1
        method = 'ssc';
    end
    if strcmp(method, 'methods')
        table = huddle_call('methods');
        fields = {'name', 'title', 'summary'};
    else
        table = huddle_call('options', method);
        % The number of clusters is an argument of its own.
        table = table(~strcmp(table(:, 1), 'n_clusters'), :);
        fields = {'name', 'default', 'allowed', 'help'};
    end
    if nargout > 0
        options = cell2struct(table, fields, 2);
        return
    end
    for i = 1:size(table, 1)
        if numel(fields) == 4
            fprintf('%s (%s; default %s)\n', table{i, [1 3 2]});
        else
            fprintf('%s: %s\n', table{i, 1:2});
        end
        fprintf('    %s\n', table{i, end});
    end
end
