test_that("options come from the table of the library", {
    table <- huddle_options()
    expect_named(table, c("name", "default", "allowed", "help"))
    expect_true(all(c("seed", "n_neighbors", "gamma", "guard") %in% table$name))
    expect_false("n_clusters" %in% table$name)
    expect_false("gamma" %in% huddle_options("kmeans")$name)
    # Every default is accepted as a value.
    words <- table[!grepl("^[0-9.e-]+$", table$default), ]
    values <- as.list(words$default)
    names(values) <- words$name
    fit <- do.call(ssc, c(list(flowers, 3), values))
    expect_identical(fit$cluster, ssc(flowers, 3)$cluster)
    expect_match(huddle:::options_rd("ssc"), "\\\\item\\{\\\\code\\{n_neighbors\\}\\}")
})

test_that("values reach the library", {
    options <- ssc(flowers, 3, gamma = 2.5, gap = 1e-7, guard = FALSE, n.neighbors = 8L,
                   prepare = "pca:2")$info$options
    expect_equal(options$gamma, 2.5)
    expect_equal(options$gap, 1e-7)
    expect_false(options$guard)
    expect_equal(options$n_neighbors, 8)
    expect_equal(options$prepare, "pca:2")
    expect_equal(ssc(flowers, 3, seed = 4294967296)$info$options$seed, 4294967296)
    expect_equal(ssc(flowers, 3, gamma = NULL)$info$options$gamma, "auto")
    before <- base::options(OutDec = ",")
    on.exit(base::options(before))
    expect_equal(ssc(flowers, 3, gamma = 2.5)$info$options$gamma, 2.5)
})

test_that("wrong names and values are refused with a hint", {
    expect_error(ssc(flowers, 3, n_neighbours = 4), "did you mean 'n_neighbors'",
                 class = "huddle_error_invalid")
    expect_error(ssc(flowers, 3, n_neighbors = 0), "n_neighbors = 0.*>= 1")
    expect_error(ssc(flowers, 3, n_neighbors = c(2, 5)), "must be one value")
    expect_error(ssc(flowers, 3, 5), "options are given by name; argument 1")
    expect_error(ssc(flowers, 0), "n_clusters = 0")
    expect_error(ssc(flowers, c(2, 4)), "a range such as 2:20")
    expect_error(ssc(flowers, flowers[1:3, ]), "cannot be a matrix of starting centres")
    expect_error(ssc(flowers, 3, n_clusters = 3), "argument centers")
    expect_error(ssc(flowers, 151), "151")
    expect_error(ssc(flowers, 3, threads = 0), "threads must be a whole number")
    expect_error(ssc(flowers, 3, memory = "much"), "much")
    expect_error(ssc(flowers, 3, progress = NA), "progress must be TRUE or FALSE")
    error <- tryCatch(ssc(flowers, 3, metric = "cosin"), error = identity)
    expect_equal(deparse(conditionCall(error)[[1]]), "ssc")
})

test_that("warnings of the library are R warnings with a class", {
    equal <- matrix(rep(c(0, 1), each = 20), 20, 2)
    expect_warning(huddle(rbind(equal, equal + 1), 3, "kmeans"), class = "huddle_warning")
    expect_warning(ssc(flowers, 3, shrink_max_iter = 1, refine = "none"),
                   class = "huddle_warning_not_converged")
})

test_that("too little memory is an error of its own class", {
    expect_error(ssc(flowers, 3, memory = "1K"), class = "huddle_error_no_memory")
})

test_that("progress is shown on request", {
    text <- capture.output(fit <- ssc(blobs(4000)$x, 4, progress = TRUE), type = "message")
    expect_match(paste(text, collapse = ""), "%")
    text <- capture.output(fit <- ssc(blobs(1000)$x, 4), type = "message")
    expect_equal(text, character())
})

test_that("an interrupt cancels the fit", {
    skip_on_cran()
    skip_on_os("windows")
    set.seed(1)
    x <- matrix(rnorm(8000 * 50), ncol = 50)
    began <- Sys.time()
    system(paste0("(sleep .7; kill -INT ", Sys.getpid(), ")"), wait = FALSE)
    outcome <- tryCatch(ssc(x, 20, n_init = 1000),
                        interrupt = function(condition) "interrupted")
    expect_identical(outcome, "interrupted")
    expect_lt(as.numeric(Sys.time() - began, units = "secs"), 10)
    # The next computation is not affected.
    expect_length(ssc(flowers, 3)$size, 3)
})
