#!/bin/bash
# The output huddle: the tool and its documents. conda-build leaves out what libhuddle, which is
# installed in the same prefix, already has.
set -eu
sh "$RECIPE_DIR/install.sh"
