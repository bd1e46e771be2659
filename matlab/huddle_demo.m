function huddle_demo(file)
%HUDDLE_DEMO Two rings and three blobs: points, embedding, spectrum and path.
%   HUDDLE_DEMO clusters points that k-means cannot separate, and draws the
%   clusters, the shrunk embedding, the spectrum and the number of groups along the
%   path of gamma. HUDDLE_DEMO(FILE) writes the picture to FILE, such as demo.png.
%
%   See also HUDDLE_SSC, HUDDLE_PATH.
    [X, truth] = demo_points();
    [labels, info] = huddle_ssc(X, 5, 'refine', 'graph');
    scores = huddle_score(truth, labels);
    fprintf('%d points, %d clusters of sizes %s; accuracy %.3f\n', numel(labels), ...
        info.n_clusters, mat2str(info.sizes'), scores.acc);
    fprintf('shrink step: proven within %.2g %% of its optimum\n', 100 * info.gap);
    [~, path] = huddle_path(X, 5, 'gap', 1e-3);
    handle = figure();
    if nargin > 0
        set(handle, 'visible', 'off');
    end
    colours = [0 114 178; 230 159 0; 0 158 115; 213 94 0; 204 121 167] / 255;
    subplot(2, 2, 1);
    draw(X, labels, colours);
    title('Points');
    subplot(2, 2, 2);
    P = polygon_projection(info.shrunk, labels);
    draw(P, labels, colours);
    axis(1.2 * max(abs(P(:))) * [-1 1 -1 1]);
    set(gca(), 'xtick', [], 'ytick', []);
    title('Shrunk embedding');
    subplot(2, 2, 3);
    values = info.embed.eigenvalues(1:12);
    plot(1:12, values, 'ko', 1:5, values(1:5), 'b.', 'markersize', 12);
    title('Spectrum');
    xlabel('index');
    ylabel('eigenvalue');
    subplot(2, 2, 4);
    loglog(path.gamma, path.n_groups, '.-', 'markersize', 10);
    title('Groups along the path');
    xlabel('gamma');
    ylabel('groups');
    if nargin > 0
        print(handle, file, '-dpng', '-r100');
        close(handle);
        fprintf('wrote %s\n', file);
    end
end

function [X, truth] = demo_points()
% The same points every time: low-discrepancy numbers instead of random ones.
    m = 80;
    k = (1:m)';
    ring = [cos(2 * pi * k / m), sin(2 * pi * k / m)];
    wobble = 0.12 * [sin(7.3 * k), cos(5.1 * k)];
    n = 150;
    k = (1:n)';
    turn = pi * (sqrt(5) - 1) * k;
    blob = 0.7 * repmat(sqrt(k / n), 1, 2) .* [cos(turn), sin(turn)];
    X = [ring + wobble; 3 * ring + wobble; blob + [5, 1.5]; blob + [5, 0]; blob + [5, -1.5]];
    truth = [ones(m, 1); 2 * ones(m, 1); 3 * ones(n, 1); 4 * ones(n, 1); 5 * ones(n, 1)];
end

function draw(P, labels, colours)
    hold('on');
    for j = 1:max(labels)
        here = labels == j;
        plot(P(here, 1), P(here, 2), '.', 'color', colours(j, :), 'markersize', 8);
    end
    hold('off');
    axis('equal');
    box('on');
end

function P = polygon_projection(G, labels)
% A linear projection: the corners of a regular polygon, one for each cluster, weighted by
% the coordinates of a row in the orthonormal directions that are nearest to the means of
% the clusters. All clusters are visible, which two columns of G would not achieve.
    k = max(labels);
    means = zeros(k, size(G, 2));
    for j = 1:k
        middle = mean(G(labels == j, :), 1);
        means(j, :) = middle / norm(middle);
    end
    [U, ~, V] = svd(means, 'econ');
    angle = 2 * pi * (1:k)' / k;
    P = G * (V * U' * [cos(angle), sin(angle)]);
end
