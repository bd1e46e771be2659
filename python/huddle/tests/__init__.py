"""Tests that need nothing but the installed package: pytest --pyargs huddle."""
