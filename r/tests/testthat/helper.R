# Small fits gain nothing from threads, and lose where several tests share the cores.
options(huddle.threads = 1)

# Two rings, which kmeans() cannot separate.
rings <- function(n = 150, noise = .03) {
    set.seed(3)
    angle <- seq(0, 2 * pi, length.out = n + 1)[-1]
    inner <- cbind(cos(angle), sin(angle))
    x <- rbind(inner, 3 * inner) + rnorm(4 * n, sd = noise)
    list(x = x, y = rep(1:2, each = n))
}

blobs <- function(n = 60, k = 4) {
    set.seed(5)
    centres <- cbind(6 * cos(2 * pi * seq_len(k) / k), 6 * sin(2 * pi * seq_len(k) / k))
    list(x = centres[rep(seq_len(k), each = n), ] + rnorm(2 * n * k, sd = .6),
         y = rep(seq_len(k), each = n))
}

flowers <- as.matrix(iris[, 1:4])

# The labels of the command-line tool for a matrix or a file, from 1; skips the test without a tool.
tool_labels <- function(x, ...) {
    tool <- Sys.getenv("HUDDLE_TOOL")
    skip_if(tool == "", "HUDDLE_TOOL is not set")
    folder <- tempfile("tool")
    dir.create(folder)
    on.exit(unlink(folder, recursive = TRUE))
    if (is.matrix(x)) {
        file <- file.path(folder, "points.csv")
        text <- format(x, digits = 17)
        write.table(text, file, sep = ",", quote = FALSE, row.names = FALSE, col.names = FALSE)
        x <- file
    }
    labels <- file.path(folder, "labels.txt")
    status <- system2(tool, c("cluster", x, "-q", "-o", labels, ...), stdout = FALSE)
    stopifnot(status == 0)
    scan(labels, quiet = TRUE) + 1L
}
