# What can be clustered: matrices, data frames, sparse matrices, distances and graphs.

# The input of a fit as the C code reads it, with affinity, the meaning of a matrix that is not one
# of points. `affinity` is the user's option, `graph` the argument.
read_input <- function(X, graph = FALSE, affinity = NULL) {
    if (!isTRUE(graph) && !isFALSE(graph))
        fail("graph must be TRUE or FALSE, not ", quoted(graph))
    if (inherits(X, "dist")) {
        if (graph || !(is.null(affinity) || affinity == "distances"))
            fail("X contains distances (class dist), which are neither points nor a graph")
        affinity <- "distances"
    } else if (graph) {
        if (identical(affinity, "features"))
            fail("graph = TRUE contradicts affinity = \"features\"")
        if (is.null(affinity))
            affinity <- "precomputed"
    }
    pairwise <- !is.null(affinity) && affinity != "features"
    input <- read_rows(X)
    if (pairwise && input_dim(input)[1] != input_dim(input)[2])
        fail("a graph or a matrix of distances must be square, not ",
             paste(input_dim(input), collapse = " x "))
    input$graph <- pairwise
    input$affinity <- affinity
    input
}

read_rows <- function(X) {
    if (is_sparse(X))
        return(read_sparse(X))
    X <- read_matrix(X)
    list(kind = "dense", x = X, features = colnames(X), names = rownames(X))
}

input_dim <- function(input) if (input$kind == "sparse") input$Dim else dim(input$x)

is_sparse <- function(X) isS4(X) && (is(X, "sparseMatrix") || is(X, "diagonalMatrix"))

# The slots of a sparse matrix in compressed columns.
read_sparse <- function(X) {
    if (!requireNamespace("Matrix", quietly = TRUE))
        fail("sparse matrices need the package Matrix")
    X <- as(as(as(X, "CsparseMatrix"), "generalMatrix"), "dMatrix")
    bad <- which(!is.finite(X@x))
    if (length(bad) > 0) {
        column <- findInterval(bad[1] - 1, X@p, left.open = FALSE)
        refuse_value(X@x[bad[1]], X@i[bad[1]] + 1, column, colnames(X))
    }
    list(kind = "sparse", p = X@p, i = X@i, x = X@x, Dim = X@Dim, features = colnames(X),
         names = rownames(X))
}

# A matrix of doubles from a matrix, a data frame, a vector or distances.
read_matrix <- function(X) {
    if (is.data.frame(X))
        X <- read_frame(X)
    else if (inherits(X, "dist") || isS4(X))
        X <- as.matrix(X)
    else if (is.atomic(X) && is.null(dim(X)) && is.numeric(X))
        X <- matrix(X, ncol = 1, dimnames = list(names(X), NULL))
    if (!is.matrix(X) || !(is.numeric(X) || is.logical(X)))
        fail("X must be a numeric matrix, a data frame, a sparse matrix or an object of class ",
             "dist, not ", describe(X))
    storage.mode(X) <- "double"
    if (!all(is.finite(X))) {
        bad <- which(!is.finite(X))[1]
        refuse_value(X[bad], (bad - 1) %% nrow(X) + 1, (bad - 1) %/% nrow(X) + 1, colnames(X))
    }
    X
}

describe <- function(X) {
    if (is.matrix(X)) paste("a matrix of type", typeof(X)) else paste("class", class(X)[1])
}

read_frame <- function(X) {
    usable <- vapply(X, function(column) (is.numeric(column) || is.logical(column)) &&
                         is.null(dim(column)) && !inherits(column, c("Date", "difftime", "POSIXt")),
                     NA)
    if (!all(usable)) {
        bad <- which(!usable)[1]
        more <- if (sum(!usable) > 1) paste0(" (and ", sum(!usable) - 1, " more)") else ""
        fail("column ", bad, " of X, '", names(X)[bad], "'", more, ", is a ",
             class(X[[bad]])[1], ", not numeric; leave it out, or encode it as numbers, for ",
             "example with model.matrix()")
    }
    # as.matrix() would give automatic row names to the result.
    names <- if (.row_names_info(X) > 0) rownames(X)
    out <- as.matrix(X)
    rownames(out) <- names
    out
}

refuse_value <- function(value, row, column, names) {
    fail("X has the value ", value, " in row ", row, ", column ", column,
         if (!is.null(names)) paste0(" ('", names[column], "')"),
         "; only finite numbers can be clustered", if (is.na(value)) " (see na.omit())")
}

# New points for a model that was fitted to d columns with these names.
read_newdata <- function(X, d, names) {
    if (inherits(X, "dist"))
        fail("newdata must be points, not distances")
    known <- colnames(X)
    if (!is.null(names) && !is.null(known) && all(names %in% known))
        X <- if (is.data.frame(X)) as.data.frame(X)[names] else X[, names, drop = FALSE]
    input <- read_rows(X)
    if (input_dim(input)[2] != d)
        fail("newdata has ", input_dim(input)[2], " columns, but the model was fitted to ", d)
    input
}
