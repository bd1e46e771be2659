# Options of the library: their names, defaults and allowed values come from its tables.

huddle_options <- function(method = "ssc") {
    if (!is_text(method))
        fail("method must be the name of a method, not ", quoted(method))
    table <- run(.Call(r_options, method))
    table <- as.data.frame(table, stringsAsFactors = FALSE)
    # The number of clusters is the argument centers.
    table <- table[table$name != "n_clusters", ]
    rownames(table) <- NULL
    table
}

huddle_methods <- function() as.data.frame(.Call(r_methods), stringsAsFactors = FALSE)

# The options as a list of a manual page: they are read when the page is shown.
options_rd <- function(method) {
    table <- huddle_options(method)
    escape <- function(text) gsub("([%{}\\\\])", "\\\\\\1", text)
    items <- paste0("\\item{\\code{", table$name, "}}{", escape(table$help), ". Values: ",
                    escape(gsub("|", ", ", table$allowed, fixed = TRUE)),
                    "; default \\code{", escape(table$default), "}.}", collapse = "\n")
    paste0("\\describe{\n", items, "\n}")
}

# An R value as the text that the library parses.
option_text <- function(value, name) {
    if (is.factor(value))
        value <- as.character(value)
    if (length(value) == 1 && !is.na(value)) {
        if (is.logical(value))
            return(if (value) "true" else "false")
        if (is.numeric(value))
            return(format(value, digits = 15, scientific = FALSE, drop0trailing = TRUE,
                          decimal.mark = "."))
        if (is.character(value))
            return(value)
    }
    if (is.numeric(value) && length(value) > 1 && all(is.finite(value)) && all(diff(value) == 1))
        return(paste0(value[1], "-", value[length(value)]))
    fail(name, " = ", quoted(value), " must be one value",
         if (name == "centers") ", a range such as 2:20, or \"auto\"")
}

# The named texts of the options of a call. Names may be written with dots.
option_texts <- function(options, centers) {
    names <- names(options)
    if (length(options) > 0 && (is.null(names) || any(names == "")))
        fail("options are given by name; argument ", which(c(names, "") == "")[1],
             " after centers has none")
    if (is.matrix(centers) || is.data.frame(centers))
        fail("centers must be a number, a range such as 2:20, or \"auto\"; unlike kmeans(), it ",
             "cannot be a matrix of starting centres")
    if ("n_clusters" %in% names)
        fail("the number of clusters is given by the argument centers, not n_clusters")
    options <- options[!vapply(options, is.null, NA)]
    names(options) <- gsub(".", "_", names(options), fixed = TRUE)
    texts <- vapply(names(options), function(name) option_text(options[[name]], name), "")
    c(n_clusters = option_text(centers, "centers"), texts)
}
