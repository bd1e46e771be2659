"""The blobs of the tests lie apart, of which the library warns: that is no news."""


def pytest_configure(config):
    for beginning in ("the graph ha", "the eigengap at"):
        config.addinivalue_line("filterwarnings", f"ignore:{beginning}:UserWarning")
