test_that("known clusters are found", {
    data <- rings()
    fit <- ssc(data$x, 2)
    expect_equal(unname(huddle_score(data$y, fit)["acc"]), 1)
    expect_lt(max(huddle_score(data$y, kmeans(data$x, 2, nstart = 5)$cluster)[["acc"]]), .9)
    data <- blobs()
    fit <- ssc(data$x, 4)
    expect_equal(huddle_score(data$y, fit)[["ari"]], 1)
    expect_equal(huddle_score(fit$cluster, kmeans(data$x, 4, nstart = 10)$cluster)[["ari"]], 1)
})

test_that("the object has what users of kmeans() expect", {
    fit <- ssc(flowers, 3)
    reference <- kmeans(flowers, 3)
    expect_true(all(setdiff(names(reference), "ifault") %in% names(fit)))
    expect_type(fit$cluster, "integer")
    expect_setequal(fit$cluster, 1:3)
    expect_equal(fit$size, as.vector(table(fit$cluster)))
    means <- aggregate(flowers, list(fit$cluster), mean)[, -1]
    expect_equal(unname(fit$centers), unname(as.matrix(means)))
    expect_equal(colnames(fit$centers), colnames(flowers))
    expect_equal(fit$totss, reference$totss)
    expect_equal(sum(fit$withinss), fit$tot.withinss)
    expect_equal(fit$tot.withinss, sum((flowers - fitted(fit))^2))
    expect_equal(fitted(fit, "classes"), fit$cluster)
    expect_equal(unname(fit$cluster[fit$medoids]), 1:3)
    expect_true(fit$gap >= 0 && fit$gap <= 1e-4)
    expect_equal(fit$info$n, 150)
    expect_equal(deparse(fit$call), "ssc(X = flowers, centers = 3)")
})

test_that("row names name the clusters, as with kmeans()", {
    cars <- scale(mtcars)
    expect_named(ssc(cars, 2)$cluster, rownames(mtcars))
    expect_null(names(ssc(unname(cars), 2)$cluster))
    expect_null(names(ssc(iris[, 1:4], 3)$cluster))
})

test_that("a range or auto chooses the number of clusters", {
    data <- blobs()
    # For two clusters, the four components of the graph are joined.
    expect_warning(fit <- ssc(data$x, 2:7), class = "huddle_warning_components")
    expect_length(fit$size, 4)
    expect_equal(fit$info$range$n_clusters, 2:7)
    expect_output(print(summary(fit)), "Numbers of clusters tried:")
    expect_length(ssc(data$x)$size, 4)
    expect_identical(ssc(data$x, "auto")$cluster, ssc(data$x)$cluster)
})

test_that("labels depend on seed, not on set.seed() or threads", {
    set.seed(1)
    first <- ssc(flowers, 3, seed = 4)$cluster
    before <- .Random.seed
    set.seed(2)
    expect_identical(ssc(flowers, 3, seed = 4, threads = 2)$cluster, first)
    set.seed(1)
    expect_identical(.Random.seed, before)
    expect_equal(ssc(flowers, 3, seed = 4)$info$options$seed, 4)
})

test_that("the other methods are available", {
    fit <- huddle(flowers, 3, "kmeans", n_init = 20)
    reference <- kmeans(flowers, 3, nstart = 20)
    expect_equal(fit$tot.withinss, reference$tot.withinss, tolerance = 1e-6)
    expect_null(fit$gap)
    expect_error(huddle(flowers, 3, "kmaens"), "did you mean 'kmeans'")
    expect_true("ssc" %in% huddle_methods()$name)
})

test_that("scores are those of their definitions", {
    truth <- c("a", "a", "b", "b")
    expect_equal(huddle_score(truth, c(2, 2, 1, 1)), c(acc = 1, nmi = 1, ari = 1, purity = 1))
    expect_equal(huddle_score(truth, c(1, 2, 2, 2))[["acc"]], .75)
    expect_error(huddle_score(truth, 1:3), "4 elements, cluster has 3")
    expect_error(huddle_score(c("a", NA), 1:2), "must not be NA")
    expect_warning(left <- huddle_score(c(truth, "a"), c(1, 1, 0, 0, -1)), "1 of 5 rows")
    expect_equal(left[["acc"]], 1)
    expect_error(huddle_score(truth, c(-1, -1, -1, -1)), "no row has a cluster")
    expect_silent(signs <- huddle_score(truth, c(1, 1, -1, -1)))
    expect_equal(signs[["acc"]], 1)
})

test_that("text is printed", {
    fit <- ssc(flowers, 3, n_neighbors = 6)
    expect_output(print(fit), "Spectral shrunk clustering with 3 clusters of sizes")
    expect_output(print(summary(fit)), "Options: n_neighbors = 6\n")
    expect_output(print(summary(huddle(flowers, 3, "kmeans"))), "150 points of 4 features")
})

test_that("all kinds of plots can be drawn", {
    file <- tempfile(fileext = ".pdf")
    grDevices::pdf(file)
    on.exit({
        grDevices::dev.off()
        unlink(file)
    })
    for (k in c(1, 2, 3, 9)) {
        fit <- ssc(blobs(40, k)$x, k)
        expect_silent(plot(fit))
    }
    expect_silent(plot(ssc(flowers, 3), "embedding", col = 2:4, main = "F"))
    expect_error(plot(huddle(flowers, 3, "kmeans")), "neither an embedding nor a spectrum")
    expect_error(plot(huddle(flowers, 3, "sc"), "shrunk"), "method sc has no shrunk")
})

test_that("the projection shows all clusters", {
    data <- blobs(40, 8)
    fit <- ssc(data$x, 8)
    place <- huddle:::polygon_projection(huddle_array(fit, "shrunk"), fit$cluster, 8)
    means <- rowsum(place, fit$cluster) / fit$size
    expect_equal(sqrt(rowSums(means^2)), rep(1, 8), ignore_attr = TRUE, tolerance = .05)
    expect_gt(min(dist(means)), .7)
    # Rows of norm 1 stay near the polygon, whatever the clusters are.
    g <- matrix(rnorm(600), 100)
    g <- g / sqrt(rowSums(g^2))
    place <- huddle:::polygon_projection(g, rep(1:5, 20), 5)
    expect_lt(max(abs(place)), 5)
})
