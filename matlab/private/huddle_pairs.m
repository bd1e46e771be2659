function pairs = huddle_pairs(given)
% Options, given as name/value pairs or as one struct, in rows of name and value.
    if numel(given) == 1 && isstruct(given{1})
        pairs = [fieldnames(given{1}), cellfun(@huddle_text, struct2cell(given{1}), ...
            'UniformOutput', false)];
        return
    end
    if mod(numel(given), 2) ~= 0
        error('huddle:invalid', 'options are pairs of a name and a value, or one struct');
    end
    pairs = reshape(cellfun(@huddle_text, given, 'UniformOutput', false), 2, [])';
    for i = 1:size(pairs, 1)
        if ~ischar(pairs{i, 1})
            error('huddle:invalid', 'option %d must have a name, not %s', i, class(pairs{i, 1}));
        end
    end
end
