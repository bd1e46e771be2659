test_that("new points are assigned to clusters", {
    data <- blobs()
    fit <- ssc(data$x, 4)
    expect_identical(predict(fit), fit$cluster)
    expect_identical(predict(fit, data$x), fit$cluster)
    expect_identical(predict(fit, data$x[c(1, 200), ] + .1), fit$cluster[c(1, 200)])
    expect_error(predict(fit, data$x[, 1]), "newdata has 1 columns, but the model was fitted to 2")
    expect_error(predict(fit, dist(data$x)), "must be points")
})

test_that("columns of new data are found by name", {
    fit <- ssc(iris[, 1:4], 3)
    expected <- predict(fit, iris[, 1:4])
    expect_identical(predict(fit, iris), expected)
    expect_identical(predict(fit, iris[, 4:1]), expected)
    expect_error(predict(fit, iris[, 2:5]), "'Species', is a factor")
})

test_that("large offsets keep their digits", {
    data <- blobs()
    far <- sweep(data$x, 2, c(5e8, -3e8), "+")
    fit <- ssc(far, 4)
    expect_equal(huddle_score(data$y, fit)[["ari"]], 1)
    expect_identical(predict(fit, far), fit$cluster)
})

test_that("a fit survives saveRDS()", {
    fit <- ssc(flowers, 3)
    file <- tempfile()
    on.exit(unlink(file))
    saveRDS(fit, file)
    restored <- readRDS(file)
    expect_identical(predict(restored, flowers), predict(fit, flowers))
    expect_identical(huddle_array(restored, "shrunk"), huddle_array(fit, "shrunk"))
    expect_identical(unserialize(serialize(fit, NULL))$cluster, fit$cluster)
    broken <- fit
    broken$model <- "ssc"
    expect_error(predict(broken, flowers), "contains no model")
})

test_that("model files can be written and read", {
    fit <- ssc(iris[, 1:4], 3)
    file <- tempfile()
    on.exit(unlink(file))
    expect_invisible(huddle_save(fit, file))
    loaded <- huddle_load(file)
    expect_s3_class(loaded, "huddle")
    expect_identical(loaded$cluster, fit$cluster)
    expect_identical(predict(loaded, iris[, 1:4]), predict(fit, iris[, 1:4]))
    expect_equal(loaded$gap, fit$gap)
    expect_error(huddle_load("no/such/file"), "no/such/file", class = "huddle_error_io")
    writeLines("no model", file)
    expect_error(huddle_load(file), class = "huddle_error_format")
    expect_error(huddle_save(fit, "no/such/folder/file"), "no/such", class = "huddle_error_io")
})

test_that("arrays of the model are available", {
    fit <- ssc(flowers, 3, prepare = "none")
    expect_true(all(c("embedding", "shrunk", "graph") %in% huddle_array(fit)))
    expect_equal(dim(huddle_array(fit, "shrunk")), c(150, 3))
    expect_equal(huddle_array(fit, "points"), flowers, ignore_attr = TRUE, tolerance = 1e-6)
    expect_equal(huddle_array(fit, "labels"), unname(fit$cluster))
    expect_error(huddle_array(fit, "shrink"), "shrunk")
    skip_if_not_installed("Matrix")
    graph <- huddle_array(fit, "graph")
    expect_true(Matrix::isSymmetric(graph))
    # The eigenvalues are those of this graph.
    half <- 1 / sqrt(Matrix::rowSums(graph))
    laplacian <- diag(150) - half * as.matrix(graph) * rep(half, each = 150)
    values <- rev(eigen(laplacian, TRUE, TRUE)$values)
    expect_equal(huddle_array(fit, "eigenvalues")[1:4], values[1:4], tolerance = 1e-6)
})
