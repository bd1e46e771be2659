function scores = huddle_score(truth, labels)
%HUDDLE_SCORE Agreement of clusters with known classes.
%   SCORES = HUDDLE_SCORE(TRUTH, LABELS) compares two arrays of numbers, or cell
%   arrays of texts, of the same length. It returns a struct with
%     acc     share of points whose cluster is mapped to their class by the best
%             one-to-one mapping
%     nmi     normalised mutual information
%     ari     adjusted Rand index
%     purity  share of points in the largest class of their cluster
%
%   See also HUDDLE_SSC.
    if numel(truth) ~= numel(labels)
        error('huddle:invalid', 'truth has %d elements, labels has %d', numel(truth), ...
            numel(labels));
    end
    [~, ~, truth] = unique(truth(:));
    [~, ~, labels] = unique(labels(:));
    values = huddle_call('score', int32(truth), int32(labels));
    scores = cell2struct(num2cell(values), {'acc', 'nmi', 'ari', 'purity'}, 2);
end
