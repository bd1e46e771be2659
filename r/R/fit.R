# Clustering: ssc() and huddle(), and the object of class "huddle" that they return.

ssc <- function(X, centers = "auto", ..., graph = FALSE, threads = getOption("huddle.threads"),
                memory = NULL, progress = FALSE) {
    fit_model("ssc", X, centers, list(...), graph, settings(threads, memory, progress),
              match.call())
}

huddle <- function(X, centers = "auto", method = "ssc", ..., graph = FALSE,
                   threads = getOption("huddle.threads"), memory = NULL, progress = FALSE) {
    if (!is_text(method))
        fail("method must be the name of a method, not ", quoted(method))
    fit_model(method, X, centers, list(...), graph, settings(threads, memory, progress),
              match.call())
}

fit_model <- function(method, X, centers, options, graph, settings, call) {
    input <- read_input(X, graph, options$affinity)
    options$affinity <- input$affinity
    options <- option_texts(options, centers)
    model <- run(.Call(r_fit, method, options, input, settings), call)
    new_huddle(model, call, input)
}

# The object of a fitted model; input is NULL for a model from a file.
new_huddle <- function(model, call, input = NULL) {
    info <- jsonlite::fromJSON(run(.Call(r_info, model)))
    cluster <- drop(run(.Call(r_array, model, "labels"))) + 1L
    names(cluster) <- input$names
    k <- max(info$n_clusters, cluster)
    object <- list(cluster = cluster, size = tabulate(cluster, k))
    if (!is.null(input) && !input$graph)
        object <- c(object, describe_centers(input, unname(cluster), object$size))
    object$gap <- info$shrink$gap
    object$objective <- info$shrink$objective
    object$gamma <- info$shrink$gamma
    object$iter <- if (is.null(info$shrink)) info$kmeans$n_iter else info$shrink$n_iter
    object$medoids <- info$medoids + 1L
    object$method <- info$method
    object$info <- info
    object$model <- model
    object$call <- call
    class(object) <- "huddle"
    object
}

# Means of the points of each cluster, and the sums of squares of kmeans().
describe_centers <- function(input, cluster, size) {
    k <- length(size)
    if (input$kind == "sparse") {
        member <- Matrix::sparseMatrix(i = cluster, j = seq_along(cluster), x = 1,
                                       dims = c(k, length(cluster)))
        x <- Matrix::sparseMatrix(i = input$i, p = input$p, x = input$x, dims = input$Dim,
                                  index1 = FALSE)
        sums <- as.matrix(member %*% x)
        dimnames(sums) <- list(seq_len(k), input$features)
        return(list(centers = sums / size))
    }
    x <- input$x
    centers <- matrix(NA_real_, k, ncol(x), dimnames = list(seq_len(k), colnames(x)))
    used <- sort(unique(cluster))
    centers[used, ] <- rowsum(x, cluster) / size[used]
    totss <- sum(sweep(x, 2, colMeans(x))^2)
    withinss <- numeric(k)
    withinss[used] <- rowsum(rowSums((x - centers[cluster, , drop = FALSE])^2), cluster)
    list(centers = centers, totss = totss, withinss = withinss, tot.withinss = sum(withinss),
         betweenss = totss - sum(withinss))
}

# ---- methods --------------------------------------------------------------------------------

fitted.huddle <- function(object, method = c("centers", "classes"), ...) {
    method <- match.arg(method)
    if (method == "classes")
        return(object$cluster)
    if (is.null(object$centers))
        fail("there are no centers: the clusters are those of a graph, of distances or of a model ",
             "file")
    object$centers[object$cluster, , drop = FALSE]
}

predict.huddle <- function(object, newdata, threads = getOption("huddle.threads"),
                           progress = FALSE, ...) {
    if (missing(newdata))
        return(object$cluster)
    d <- object$info$d
    if (is.null(d) || d == 0)
        fail("the model was fitted to a graph or to distances, and cannot predict new points")
    input <- read_newdata(newdata, d, object$info$feature_names)
    labels <- run(.Call(r_predict, object$model, input, settings(threads, NULL, progress)),
                  sys.call())
    names(labels) <- input$names
    labels + 1L
}

huddle_array <- function(object, name) {
    if (!inherits(object, "huddle"))
        fail("object must be of class \"huddle\", not ", class(object)[1])
    if (missing(name))
        return(.Call(r_arrays, object$model))
    out <- run(.Call(r_array, object$model, name))
    if (is.list(out)) {
        if (!requireNamespace("Matrix", quietly = TRUE))
            fail("sparse matrices need the package Matrix")
        out <- Matrix::t(Matrix::sparseMatrix(i = out$i, p = out$p, x = out$x, dims = out$Dim,
                                              index1 = FALSE))
    } else if (ncol(out) == 1) {
        out <- drop(out)
    }
    if (grepl("labels|groups", name)) out + 1L else out
}

# ---- files ----------------------------------------------------------------------------------

huddle_save <- function(object, file) {
    if (!inherits(object, "huddle"))
        fail("object must be of class \"huddle\", not ", class(object)[1])
    if (!is_text(file))
        fail("file must be the name of a file, not ", quoted(file))
    run(.Call(r_save, object$model, path.expand(file)))
    invisible(object)
}

huddle_load <- function(file) {
    if (!is_text(file))
        fail("file must be the name of a file, not ", quoted(file))
    new_huddle(run(.Call(r_load, path.expand(file))), match.call())
}

# ---- scores ---------------------------------------------------------------------------------

huddle_score <- function(truth, cluster) {
    if (inherits(cluster, "huddle"))
        cluster <- cluster$cluster
    if (length(truth) != length(cluster))
        fail("truth has ", length(truth), " elements, cluster has ", length(cluster))
    if (anyNA(truth) || anyNA(cluster))
        fail("labels must not be NA")
    if (is.numeric(cluster) && length(cluster) > 0 && all(cluster == -1))
        fail("no row has a cluster: every label is -1")
    # -1 among 0 and larger numbers: rows without a cluster, as the tool writes them.
    if (is.numeric(cluster) && any(cluster == -1) && identical(min(cluster[cluster != -1], 1), 0)) {
        warning(sum(cluster == -1), " of ", length(cluster), " rows have the label -1 and are left out")
        truth <- truth[cluster != -1]
        cluster <- cluster[cluster != -1]
    }
    run(.Call(r_score, as.integer(factor(truth)), as.integer(factor(cluster))))
}
