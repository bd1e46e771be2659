# Conditions. Every entry point in C returns list(value, status, message, warnings, codes).

# The value of a call of the library. Its warnings become R warnings of class
# huddle_warning_CODE, a failure an error of class huddle_error_STATUS.
run <- function(result, call = sys.call(-1)) {
    for (i in seq_along(result$warnings)) {
        class <- c(paste0("huddle_warning_", result$codes[i]), "huddle_warning")
        warning(warningCondition(result$warnings[i], class = class, call = call))
    }
    if (result$status == "ok")
        return(result$value)
    if (result$status == "cancelled")
        interrupt()
    fail(result$message, status = result$status, call = call)
}

# Raises an error like those of the library.
fail <- function(..., status = "invalid", call = NULL) {
    class <- c(paste0("huddle_error_", gsub(" ", "_", status)), "huddle_error")
    stop(errorCondition(paste0(...), class = class, call = call))
}

# The C code has consumed the user's interrupt to stop the computation, so it is raised again. A
# script would go on after the restart "abort", and must stop.
interrupt <- function() {
    signalCondition(structure(class = c("interrupt", "condition"),
                              list(message = "interrupted", call = NULL)))
    if (interactive())
        invokeRestart("abort")
    fail("interrupted", status = "cancelled")
}

# Arguments of every computation, as the C code reads them.
settings <- function(threads = NULL, memory = NULL, progress = FALSE) {
    auto <- -1L  # HUDDLE_AUTO
    if (is.null(threads))
        threads <- auto
    else if (!is_number(threads) || threads < 1 || threads != round(threads))
        fail("threads must be a whole number of at least 1, not ", quoted(threads))
    if (is.numeric(memory) && is_number(memory))
        memory <- sprintf("%.0f", memory)
    if (!is.null(memory) && !is_text(memory))
        fail("memory must be a number of bytes or a text such as \"4G\", not ", quoted(memory))
    if (!isTRUE(progress) && !isFALSE(progress))
        fail("progress must be TRUE or FALSE, not ", quoted(progress))
    list(threads = as.integer(threads), memory = memory, progress = progress)
}

is_number <- function(x) is.numeric(x) && length(x) == 1 && is.finite(x)

is_text <- function(x) is.character(x) && length(x) == 1 && !is.na(x)

# A short form of a value for messages.
quoted <- function(x) {
    text <- paste(deparse(x), collapse = " ")
    if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}
