test_that("matrices, data frames and sparse matrices give the same clusters", {
    skip_if_not_installed("Matrix")
    expected <- ssc(flowers, 3)$cluster
    expect_identical(ssc(iris[, 1:4], 3)$cluster, expected)
    # The rules of prepare and of the choice between labels differ for sparse points.
    expected <- ssc(flowers, 3, prepare = "none", refine = "none")
    for (class in c("CsparseMatrix", "RsparseMatrix", "TsparseMatrix")) {
        fit <- ssc(as(Matrix::Matrix(flowers, sparse = TRUE), class), 3, prepare = "none",
                   refine = "none")
        expect_equal(huddle_score(expected$cluster, fit)[["ari"]], 1)
        expect_equal(fit$centers[fit$cluster[1], ], expected$centers[expected$cluster[1], ])
    }
    dense <- Matrix::Matrix(flowers, sparse = FALSE)
    expect_equal(ssc(dense, 3, prepare = "none", refine = "none")$cluster, expected$cluster)
})

test_that("numbers of other types are converted", {
    data <- blobs()
    whole <- round(100 * data$x)
    expected <- ssc(whole, 4)$cluster
    storage.mode(whole) <- "integer"
    expect_identical(ssc(whole, 4)$cluster, expected)
    line <- c(1:10, 101:110)
    expect_equal(huddle_score(line > 50, ssc(line, 2))[["acc"]], 1)
    expect_equal(ssc(data.frame(a = line, b = line > 50), 2)$size, c(10, 10))
})

test_that("distances are clustered as the points they come from", {
    data <- rings()
    points <- ssc(data$x, 2, prepare = "none", refine = "none")
    fit <- ssc(dist(data$x), 2, refine = "none")
    expect_equal(huddle_score(points$cluster, fit)[["ari"]], 1)
    expect_null(fit$centers)
    expect_error(fitted(fit), "there are no centers")
    expect_error(predict(fit, data$x), "cannot predict new points")
    names <- paste0("p", 1:20)
    expect_named(ssc(dist(matrix(1:40, 20, dimnames = list(names, NULL))), 2)$cluster, names)
    expect_error(ssc(dist(data$x), 2, graph = TRUE), "neither points nor a graph")
    full <- as.matrix(dist(data$x))
    expect_identical(unname(ssc(full, 2, affinity = "distances", refine = "none")$cluster),
                     unname(fit$cluster))
})

test_that("a graph can be given, dense or sparse", {
    skip_if_not_installed("Matrix")
    data <- rings()
    graph <- exp(-as.matrix(dist(data$x))^2 / .02)
    graph[graph < 1e-4] <- 0
    dense <- ssc(graph, 2, graph = TRUE)
    expect_equal(huddle_score(data$y, dense)[["acc"]], 1)
    sparse <- Matrix::Matrix(graph, sparse = TRUE)
    expect_s4_class(sparse, "dsCMatrix")
    expect_identical(ssc(sparse, 2, graph = TRUE)$cluster, dense$cluster)
    expect_error(ssc(graph[, 1:5], 2, graph = TRUE), "must be square, not 300 x 5")
    half <- graph
    half[lower.tri(half)] <- 0
    expect_warning(fit <- ssc(half, 2, graph = TRUE), "the graph is not symmetric")
    expect_identical(fit$cluster, ssc((half + t(half)) / 2, 2, graph = TRUE)$cluster)
    graph[2, 3] <- -1
    expect_error(ssc(graph, 2, graph = TRUE), "-1", class = "huddle_error_invalid")
})

test_that("what cannot be clustered is refused with a reason", {
    expect_error(ssc(iris, 3), "column 5 of X, 'Species', is a factor", class = "huddle_error")
    expect_error(ssc(data.frame(a = 1:3, b = letters[1:3]), 2), "'b', is a character")
    expect_error(ssc(data.frame(a = 1:3, b = Sys.Date() + 1:3), 2), "'b', is a Date")
    expect_error(ssc("iris", 3), "X must be a numeric matrix.*not class character")
    expect_error(ssc(matrix("a", 2, 2), 3), "a matrix of type character")
    holes <- flowers
    holes[7, 2] <- NA
    expect_error(ssc(holes, 3), "value NA in row 7, column 2 \\('Sepal.Width'\\).*na.omit")
    holes[7, 2] <- Inf
    expect_error(ssc(unname(holes), 3), "value Inf in row 7, column 2;")
    skip_if_not_installed("Matrix")
    sparse <- Matrix::sparseMatrix(i = c(1, 3, 4), j = c(1, 2, 2), x = c(1, 2, NaN))
    expect_error(ssc(sparse, 2), "value NaN in row 4, column 2")
    expect_error(ssc(flowers[0, ], 2), class = "huddle_error_invalid")
})
