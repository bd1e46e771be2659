# Pictures of a fit, with base graphics.

# Colours that can be told apart; beyond eight clusters, a colour circle.
cluster_colours <- function(k) {
    if (k <= 8) palette.colors(k + 1, "Okabe-Ito")[-1] else hcl.colors(k, "Dark 3")
}

# A linear projection of the rows of g to the plane: the sum of the corners of a regular polygon, one
# for each cluster, weighted by the coordinates of the row in orthonormal directions, those nearest to
# the means of the clusters. If the means are orthogonal, the ideal of an embedding, each is at its
# corner. Principal components would draw most clusters on top of each other. Similar clusters are
# neighbours on the polygon.
polygon_projection <- function(g, cluster, k) {
    used <- sort(unique(cluster))
    means <- rowsum(g, cluster) / tabulate(cluster, k)[used]
    if (length(used) < 3) {
        centre <- colMeans(means)
        return(pair_projection(sweep(g, 2, centre), sweep(means, 2, centre)))
    }
    means <- means / pmax(sqrt(rowSums(means^2)), 1e-300)
    around <- order(hclust(dist(means), "average")$order)
    angle <- pi / 2 - 2 * pi * (around - 1) / length(used)
    parts <- svd(means)
    g %*% (parts$v %*% t(parts$u) %*% cbind(cos(angle), sin(angle)))
}

# For one or two clusters: the direction that joins the means, and the one in which the rest varies
# most.
pair_projection <- function(g, means) {
    axis <- if (nrow(means) == 2) means[2, ] - means[1, ] else svd(g, 0, 1)$v[, 1]
    axis <- axis / max(sqrt(sum(axis^2)), 1e-300)
    first <- drop(g %*% axis)
    rest <- g - outer(first, axis)
    second <- if (ncol(g) > 1) drop(rest %*% svd(rest, 0, 1)$v[, 1]) else 0 * first
    cbind(first, second)
}

plot.huddle <- function(x, which = c("shrunk", "spectrum"), col = NULL, main = NULL, ...) {
    kinds <- c("shrunk", "embedding", "spectrum")
    required <- !missing(which)
    which <- match.arg(which, kinds, several.ok = TRUE)
    available <- c("shrunk", "embedding", "eigenvalues") %in% huddle_array(x)
    absent <- setdiff(which, kinds[available])
    if (length(absent) > 0 && required)
        fail("method ", x$method, " has no ", absent[1], " to plot")
    which <- setdiff(which, absent)
    if (length(which) == 0)
        fail("method ", x$method, " has neither an embedding nor a spectrum to plot")
    if (length(which) > 1) {
        before <- par(mfrow = c(1, length(which)))
        on.exit(par(before))
    }
    for (kind in which) {
        if (kind == "spectrum")
            plot_spectrum(x, main, ...)
        else
            plot_rows(x, kind, col, main, ...)
    }
    invisible(x)
}

plot_rows <- function(x, kind, col, main, ...) {
    k <- length(x$size)
    cluster <- unname(x$cluster)
    colours <- if (is.null(col)) cluster_colours(k) else rep_len(col, k)
    place <- polygon_projection(as.matrix(huddle_array(x, kind)), cluster, k)
    # Rows that were shrunk to one place are one symbol, whose area grows with their number.
    cell <- max(diff(range(place[, 1])), diff(range(place[, 2])), 1e-300) / 150
    key <- paste(round(place[, 1] / cell), round(place[, 2] / cell), cluster)
    first <- !duplicated(key)
    count <- as.vector(table(key)[key[first]])
    cex <- pmin(.6 + .5 * sqrt(count - 1) * sqrt(200 / length(cluster)), 5)
    draw <- order(-count)
    place <- place[first, , drop = FALSE][draw, , drop = FALSE]
    cluster <- cluster[first][draw]
    # Room for circles at the edge.
    edge <- apply(place, 2, grDevices::extendrange, f = .07)
    plot(edge, type = "n", asp = 1, axes = FALSE, xlab = "", ylab = "",
         main = if (is.null(main)) c(shrunk = "Shrunk embedding", embedding = "Embedding")[[kind]]
         else main, ...)
    graphics::box(col = "grey80")
    points(place, pch = 21, cex = cex[draw], col = adjustcolor(colours[cluster], .9),
           bg = adjustcolor(colours[cluster], .35))
    label_clusters(place, cluster, count[draw], k)
}

# The number of each cluster at the place of most of its rows. `place` and `cluster` describe the
# symbols, `count` the rows of each.
label_clusters <- function(place, cluster, count, k) {
    for (j in sort(unique(cluster))) {
        largest <- which(cluster == j)[which.max(count[cluster == j])]
        text(place[largest, 1], place[largest, 2], j, font = 2, cex = if (k > 20) .7 else 1)
    }
}

plot_spectrum <- function(x, main, ...) {
    values <- huddle_array(x, "eigenvalues")
    k <- length(x$size)
    values <- head(values, max(k + 6, 2 * k))
    index <- seq_along(values)
    plot(index, values, type = "n", xlab = "Index", ylab = "Eigenvalue of the Laplacian",
         main = if (is.null(main)) "Spectrum" else main, ...)
    abline(v = k + .5, col = "grey60", lty = 3)
    points(index, values, pch = ifelse(index <= k, 19, 1),
           col = ifelse(index <= k, "#0072B2", "grey40"))
    legend("bottomright", bty = "n", pch = c(19, 1), col = c("#0072B2", "grey40"),
           legend = c(paste0("first ", k, ", one per cluster"), "others"), cex = .8)
}
