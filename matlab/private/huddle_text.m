function value = huddle_text(value)
% A string of MATLAB, "sc", as characters, 'sc'; any other value as it is.
    if isa(value, 'string') && isscalar(value)
        value = char(value);
    end
end
