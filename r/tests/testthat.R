library(testthat)
library(huddle)

test_check("huddle")
