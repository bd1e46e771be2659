function scores = huddle_score(truth, labels)
%HUDDLE_SCORE Agreement of clusters with known classes.
%   SCORES = HUDDLE_SCORE(TRUTH, LABELS) compares two arrays of numbers, or cell
%   arrays of texts, of the same length. It returns a struct with
%     acc     share of points whose cluster is mapped to their class by the best
%             one-to-one mapping
%     nmi     normalised mutual information
%     ari     adjusted Rand index
%     purity  share of points in the largest class of their cluster
%     left_out  number of rows without a cluster, which are not scored: those with
%             -1 in LABELS, whose other labels are 0 and larger numbers, as the
%             command-line tool writes for rows with missing values
%
%   See also HUDDLE_SSC.
    if numel(truth) ~= numel(labels)
        error('huddle:invalid', 'truth has %d elements, labels has %d', numel(truth), ...
            numel(labels));
    end
    truth = truth(:);
    labels = labels(:);
    n = numel(labels);
    if isnumeric(labels) && n > 0 && all(labels == -1)
        error('huddle:invalid', 'no row has a cluster: every label is -1');
    end
    if isnumeric(labels) && any(labels == -1) && min([labels(labels ~= -1); 1]) == 0
        truth = truth(labels ~= -1);
        labels = labels(labels ~= -1);
    end
    [~, ~, truth] = unique(truth(:));
    [~, ~, labels] = unique(labels(:));
    values = huddle_call('score', int32(truth), int32(labels));
    scores = cell2struct(num2cell(values), {'acc', 'nmi', 'ari', 'purity'}, 2);
    scores.left_out = n - numel(labels);
end
