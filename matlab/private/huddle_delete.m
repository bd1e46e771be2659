function huddle_delete(path)
% Deletes a temporary file if it exists.
    if exist(path, 'file') == 2
        delete(path);
    end
end
