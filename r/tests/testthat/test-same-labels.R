test_that("labels are those of the command-line tool", {
    expect_equal(unname(ssc(flowers, 3)$cluster), tool_labels(flowers, "-c", "3"))
    data <- rings()
    expect_equal(ssc(data$x, 2, n_neighbors = 7, seed = 9)$cluster,
                 tool_labels(data$x, "-c", "2", "--n-neighbors", "7", "--seed", "9"))
    expect_equal(ssc(data$x)$cluster, tool_labels(data$x))
    expect_equal(ssc(flowers, 2:6)$cluster, tool_labels(flowers, "-c", "2-6"))
    expect_equal(huddle(flowers, 3, "sc")$cluster, tool_labels(flowers, "-c", "3", "-m", "sc"))
})

test_that("labels of sparse points and of graphs are those of the tool", {
    skip_if_not_installed("Matrix")
    set.seed(2)
    counts <- Matrix::rsparsematrix(200, 30, .2, rand.x = function(n) rpois(n, 3) + 1)
    counts[1:100, 1:10] <- counts[1:100, 1:10] + 5
    file <- tempfile(fileext = ".mtx")
    on.exit(unlink(file))
    Matrix::writeMM(as(counts, "CsparseMatrix"), file)
    expect_equal(ssc(counts, 2, metric = "cosine")$cluster,
                 tool_labels(file, "-c", "2", "--metric", "cosine"))
    graph <- huddle_array(ssc(rings()$x, 2), "graph")
    Matrix::writeMM(graph, file)
    expect_equal(ssc(graph, 2, graph = TRUE)$cluster,
                 tool_labels(file, "-c", "2", "--affinity", "precomputed"))
})

test_that("model files are exchanged with the tool", {
    tool <- Sys.getenv("HUDDLE_TOOL")
    skip_if(tool == "", "HUDDLE_TOOL is not set")
    folder <- tempfile("models")
    dir.create(folder)
    on.exit(unlink(folder, recursive = TRUE))
    model <- file.path(folder, "digits.model")
    labels <- file.path(folder, "labels.txt")
    stopifnot(system2(tool, c("cluster", "digits", "-c", "10", "-q", "--save", model, "-o", labels),
                      stdout = FALSE) == 0)
    loaded <- huddle_load(model)
    expect_equal(loaded$cluster, scan(labels, quiet = TRUE) + 1)
    expect_equal(loaded$info$n, 1797)
    fit <- ssc(flowers, 3)
    huddle_save(fit, model)
    points <- file.path(folder, "flowers.csv")
    write.table(format(flowers, digits = 17), points, sep = ",", quote = FALSE, row.names = FALSE,
                col.names = FALSE)
    stopifnot(system2(tool, c("predict", model, points, "-q", "-o", labels), stdout = FALSE) == 0)
    expect_equal(unname(predict(fit, flowers)), scan(labels, quiet = TRUE) + 1)
})
