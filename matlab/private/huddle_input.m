function X = huddle_input(X, graph)
% Checks a matrix and converts it to double, single or sparse double.
    if ~(isnumeric(X) || islogical(X)) || ndims(X) > 2 || ~isreal(X)
        error('huddle:invalid', 'X must be a real matrix, not %s', class(X));
    end
    if issparse(X) || graph || ~isa(X, 'single')
        X = double(X);
    end
    if graph && size(X, 1) ~= size(X, 2)
        error('huddle:invalid', 'a graph or a matrix of distances must be square, not %d x %d', ...
            size(X, 1), size(X, 2));
    end
    if issparse(X)
        [rows, columns, values] = find(X);
        bad = find(~isfinite(values), 1);
        row = rows(bad);
        column = columns(bad);
    else
        [row, column] = find(~isfinite(X), 1);
    end
    if ~isempty(row)
        error('huddle:invalid', 'X(%d,%d) is %g; only finite numbers can be clustered', row, ...
            column, full(X(row, column)));
    end
end
