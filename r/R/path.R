# The shrink problem for all values of gamma, and the tree of its fusions.

ssc_path <- function(X, centers = "auto", ..., n_gamma = NULL, gammas = NULL, keep_shrunk = FALSE,
                     graph = FALSE, threads = getOption("huddle.threads"), memory = NULL,
                     progress = FALSE) {
    options <- list(...)
    if ("gamma" %in% names(options))
        fail("a path covers all values of gamma; gammas chooses its levels")
    if (length(centers) != 1 && !is.matrix(centers))
        fail("a path needs one number of clusters or \"auto\", not the range ", quoted(centers))
    if (!is.null(gammas) && (!is.numeric(gammas) || length(gammas) == 0 || anyNA(gammas)))
        fail("gammas must be numbers in ascending order, not ", quoted(gammas))
    default <- .Call(r_path_options)
    if (is.null(n_gamma))
        n_gamma <- default$default[default$name == "n_gamma"]
    settings <- settings(threads, memory, progress)
    # Only the embedding and the graph of this fit are used: with gamma = 0 the rest is trivial.
    options <- c(options, list(gamma = 0, n_init = 1))
    fit <- fit_model("ssc", X, centers, options, graph, settings, match.call())
    path <- run(.Call(r_path, fit$model, option_text(n_gamma, "n_gamma"),
                      if (!is.null(gammas)) as.double(gammas), isTRUE(keep_shrunk), settings),
                match.call())
    new_path(path, names(fit$cluster), match.call())
}

new_path <- function(path, names, call) {
    cluster <- path$labels + 1L
    names(cluster) <- names
    structure(list(gamma = path$levels$gamma, n_groups = path$levels$n_groups,
                   groups = path$groups, cluster = cluster,
                   size = tabulate(cluster, path$n_clusters), chosen = path$gamma,
                   objective = path$levels$objective, dual = path$levels$dual,
                   gap = path$levels$gap, iter = path$levels$n_iter, gamma_fit = path$ends[1],
                   gamma_up = path$ends[2], linkage = path$linkage, embedding = path$embedding,
                   shrunk = path$shrunk, call = call),
              class = "huddle_path")
}

print.huddle_path <- function(x, ...) {
    cat("Path of ", length(x$cluster), " points over ", length(x$gamma), " values of gamma, ",
        format(x$gamma[1], digits = 3), " to ", format(x$gamma[length(x$gamma)], digits = 3), "\n",
        "Groups: ", paste(x$n_groups, collapse = " "), "\n",
        "Clusters: ", plural(sum(x$size > 0), "cluster"), " of sizes ",
        paste(x$size[x$size > 0], collapse = ", "),
        if (x$chosen > 0) paste0(", at gamma = ", format(x$chosen, digits = 3)), "\n",
        "Largest relative duality gap: ", format(max(x$gap), digits = 2), "\n", sep = "")
    invisible(x)
}

# Heights of the fusions. Gamma covers many orders of magnitude, so its logarithm is the better
# height; the leaves are one step of the path below the first level, at height 0.
fusion_heights <- function(x, height) {
    gamma <- x$linkage[, 3]
    if (height == "gamma")
        return(gamma)
    if (height == "level")
        return(as.numeric(findInterval(gamma, x$gamma * (1 - 1e-12))) + (gamma > max(x$gamma)))
    levels <- log10(x$gamma)
    step <- if (length(levels) > 1) min(diff(levels)) else 1
    log10(gamma) - levels[1] + step
}

as.hclust.huddle_path <- function(x, height = c("log", "gamma", "level"), ...) {
    height <- match.arg(height)
    n <- length(x$cluster)
    if (n < 2)
        fail("a tree needs at least two points")
    # Rows are 0 .. n - 1 and fusions n, n + 1, ...; hclust has -1 .. -n and 1, 2, ....
    merge <- x$linkage[, 1:2, drop = FALSE]
    merge <- ifelse(merge < n, -merge - 1, merge - n + 1)
    merge <- t(apply(merge, 1, function(pair) if (all(pair < 0)) sort(pair, TRUE) else sort(pair)))
    storage.mode(merge) <- "integer"
    structure(list(merge = merge, height = fusion_heights(x, height), order = leaf_order(merge),
                   labels = names(x$cluster), method = "spectral shrunk clustering",
                   call = x$call, dist.method = paste0(height, c(gamma = "", level = " of gamma",
                                                                 log = " of gamma")[[height]])),
              class = "hclust")
}

# Leaves from left to right, without recursion: a path can be as deep as it has points.
leaf_order <- function(merge) {
    stack <- nrow(merge)
    order <- integer(nrow(merge) + 1)
    count <- 0L
    while (length(stack) > 0) {
        top <- stack[length(stack)]
        stack <- stack[-length(stack)]
        if (top < 0) {
            count <- count + 1L
            order[count] <- -top
        } else {
            stack <- c(stack, merge[top, 2], merge[top, 1])
        }
    }
    order
}

as.dendrogram.huddle_path <- function(object, ...) as.dendrogram(as.hclust(object, ...))

plot.huddle_path <- function(x, which = c("groups", "rows", "tree"), main = NULL, ...) {
    which <- if (missing(which) && !is.null(x$shrunk)) "rows" else match.arg(which)
    if (which == "tree") {
        n <- length(x$cluster)
        plot(as.hclust(x), labels = if (n > 60) FALSE else names(x$cluster), hang = -1,
             main = if (is.null(main)) "Fusions" else main, xlab = "", sub = "",
             ylab = "log10 gamma, from the first level", ...)
        return(invisible(x))
    }
    if (which == "groups")
        plot(x$gamma, x$n_groups, log = "xy", type = "b", pch = 20, xlab = "gamma",
             ylab = "Groups of fused points",
             main = if (is.null(main)) "Groups along the path" else main, ...)
    else
        plot_path_rows(x, main, ...)
    if (x$chosen > 0)
        abline(v = x$chosen, col = "grey50", lty = 3)
    invisible(x)
}

plot_path_rows <- function(x, main, ...) {
    if (is.null(x$shrunk))
        fail("which = \"rows\" needs a path made with keep_shrunk = TRUE")
    f <- sweep(x$embedding, 2, colMeans(x$embedding))
    # The direction is one in which as many clusters as possible differ.
    direction <- svd(f, 0, 1)$v
    rows <- unique(round(seq(1, nrow(f), length.out = min(nrow(f), 500))))
    heights <- vapply(x$shrunk, function(g) drop(g[rows, , drop = FALSE] %*% direction),
                      numeric(length(rows)))
    plot(range(x$gamma), range(heights), type = "n", log = "x", xlab = "gamma",
         ylab = "Rows of G, first component",
         main = if (is.null(main)) "Rows along the path" else main, ...)
    colours <- cluster_colours(length(x$size))
    matlines(x$gamma, t(heights), lty = 1, lwd = .6,
             col = adjustcolor(colours[x$cluster[rows]], .5))
}
