# Text: print() and summary().

plural <- function(n, word) paste0(n, " ", word, if (n != 1) "s")

print.huddle <- function(x, ...) {
    title <- x$info$method
    titles <- huddle_methods()
    title <- titles$title[match(title, titles$name)]
    substr(title, 1, 1) <- toupper(substr(title, 1, 1))
    cat(title, " with ", plural(length(x$size), "cluster"), " of sizes ",
        paste(x$size, collapse = ", "), "\n", sep = "")
    if (!is.null(x$centers) && length(x$centers) <= 200) {
        cat("\nCluster means:\n")
        print(x$centers, ...)
    }
    if (length(x$cluster) <= 200) {
        cat("\nClustering vector:\n")
        print(x$cluster, ...)
    }
    if (!is.null(x$gap))
        cat("\nShrink step: proven within ", format(100 * x$gap, digits = 2),
            " % of its optimum\n", sep = "")
    cat("\nAvailable components:\n")
    print(names(x), ...)
    invisible(x)
}

summary.huddle <- function(object, ...) {
    defaults <- huddle_options(object$method)
    used <- vapply(object$info$options[defaults$name], function(value)
        if (is.logical(value)) tolower(value) else format(value, digits = 15, decimal.mark = "."), "")
    same <- used == defaults$default | suppressWarnings(
        !is.na(as.numeric(used)) & as.numeric(used) == as.numeric(defaults$default))
    structure(list(call = object$call, n = length(object$cluster), d = object$info$d,
                   size = object$size, gap = object$gap, gamma = object$gamma,
                   iter = object$iter, graph = object$info$graph, embed = object$info$embed,
                   prepare = object$info$prepare$rule, decision = object$info$decision,
                   range = object$info$range, options = used[!same %in% TRUE],
                   seconds = object$info$seconds$total, warnings = object$info$warnings),
              class = "summary.huddle")
}

print.summary.huddle <- function(x, ...) {
    cat("Call: ", paste(deparse(x$call), collapse = "\n  "), "\n\n", sep = "")
    cat(x$n, " points", if (!is.null(x$d) && x$d > 0) paste(" of", plural(x$d, "feature")),
        if (!is.null(x$prepare)) paste0(", preparation ", x$prepare), "\n", sep = "")
    cat("Clusters: ", length(x$size), ", sizes ", paste(x$size, collapse = ", "), "\n", sep = "")
    if (!is.null(x$graph))
        cat("Graph: ", x$graph$edges, " edges, ", plural(x$graph$components, "component"),
            if (!is.null(x$graph$bridges) && x$graph$bridges > 0)
                paste0(" after ", plural(x$graph$bridges, "bridge")), "\n", sep = "")
    if (!is.null(x$embed))
        cat("Embedding: solver ", x$embed$solver, ", residual ",
            format(x$embed$residual, digits = 2), ", eigengap ",
            format(x$embed$gap, digits = 2), "\n", sep = "")
    if (!is.null(x$gap))
        cat("Shrink step: gamma ", format(x$gamma, digits = 4), ", ", plural(x$iter, "iteration"),
            ", relative duality gap ", format(x$gap, digits = 2), "\n", sep = "")
    if (!is.null(x$decision))
        cat("Labels: ", x$decision, "\n", sep = "")
    if (!is.null(x$range)) {
        cat("Numbers of clusters tried:\n")
        print(x$range, digits = 3, row.names = FALSE)
    }
    if (length(x$options) > 0)
        cat("Options: ", paste(names(x$options), x$options, sep = " = ", collapse = ", "), "\n",
            sep = "")
    if (!is.null(x$seconds))
        cat("Time: ", format(x$seconds, digits = 2), " s\n", sep = "")
    for (text in x$warnings)
        cat("Warning: ", text, "\n", sep = "")
    invisible(x)
}
