data <- blobs(30)
path <- ssc_path(data$x, 4, n_gamma = 15, keep_shrunk = TRUE)

test_that("the path has levels and a tree", {
    expect_length(path$gamma, 15)
    expect_false(is.unsorted(path$gamma))
    expect_equal(dim(path$groups), c(120, 15))
    expect_equal(path$n_groups, apply(path$groups, 2, max))
    expect_true(all(path$gap <= 1e-3))
    expect_equal(huddle_score(data$y, path$cluster)[["ari"]], 1)
    expect_output(print(path), "Path of 120 points over 15 values of gamma")
})

test_that("the tree works as hclust and dendrogram", {
    tree <- as.hclust(path)
    expect_s3_class(tree, "hclust")
    expect_false(is.unsorted(tree$height))
    expect_gt(min(tree$height), 0)
    expect_setequal(tree$order, 1:120)
    dendrogram <- as.dendrogram(path)
    expect_equal(attr(dendrogram, "members"), 120)
    expect_equal(order.dendrogram(dendrogram), tree$order)
    by_name <- as.matrix(cophenetic(dendrogram))[as.character(1:120), as.character(1:120)]
    expect_equal(by_name, as.matrix(cophenetic(tree)), ignore_attr = TRUE)
})

test_that("cutting the tree gives the groups of a level", {
    tree <- as.hclust(path, "gamma")
    last <- ncol(path$groups)
    at_end <- cutree(tree, h = path$gamma[last])
    # Groups of the last level never split again, so they are those of the tree.
    expect_equal(huddle_score(path$groups[, last], at_end)[["ari"]], 1)
    levels <- as.hclust(path, "level")$height
    expect_true(all(levels %in% 1:16))
    logs <- as.hclust(path)$height
    expect_equal(10^(logs - logs[1]), tree$height / tree$height[1])
})

test_that("fusions are those of the library's linkage", {
    tree <- as.hclust(path, "gamma")
    sizes <- integer(119)
    for (i in 1:119)
        sizes[i] <- sum(ifelse(tree$merge[i, ] < 0, 1, sizes[pmax(tree$merge[i, ], 1)]))
    expect_equal(sizes, path$linkage[, 4])
})

test_that("gammas can be chosen, and misuse is refused", {
    chosen <- ssc_path(data$x, 4, gammas = c(.1, 1, 10))
    expect_equal(chosen$gamma, c(.1, 1, 10))
    expect_null(chosen$shrunk)
    expect_error(ssc_path(data$x, 4, gammas = c(2, 1)), class = "huddle_error_invalid")
    expect_error(ssc_path(data$x, 4, gamma = 1), "covers all values of gamma")
    expect_error(ssc_path(data$x, 2:5), "one number of clusters")
    expect_error(ssc_path(data$x, 4, n_gamma = 0), "n_gamma = 0")
    expect_error(plot(chosen, "rows"), "keep_shrunk = TRUE")
})

test_that("paths can be drawn", {
    file <- tempfile(fileext = ".pdf")
    grDevices::pdf(file)
    on.exit({
        grDevices::dev.off()
        unlink(file)
    })
    for (kind in c("rows", "groups", "tree"))
        expect_silent(plot(path, kind))
    expect_silent(plot(as.dendrogram(path)))
})
