#!/bin/bash
# The output libhuddle: everything but the tool, its documents and the Python package.
set -eu
sh "$RECIPE_DIR/install.sh"
rm -rf "$PREFIX/bin/huddle" "$PREFIX/share/man/man1/huddle.1" \
    "$PREFIX/share/bash-completion/completions/huddle" "$PREFIX/share/zsh/site-functions/_huddle" \
    "$PREFIX/share/fish/vendor_completions.d/huddle.fish"
