"""Warnings that are expected in many tests, whose clusters are far apart, are ignored."""


def pytest_configure(config):
    for prefix in ("the graph ha", "the eigengap at"):
        config.addinivalue_line("filterwarnings", f"ignore:{prefix}:UserWarning")
