function varargout = huddle_call(varargin)
% Calls the MEX function, which must have been built.
    if exist('huddle_mex', 'file') ~= 3
        error('huddle:not_built', 'the MEX function of Huddle is not built yet: run huddle_make');
    end
    varargout = cell(1, max(nargout, 1));
    [varargout{:}] = huddle_mex(varargin{:});
end
