"""The blobs of the tests lie apart, and the library says that it joined them: that is no news."""


def pytest_configure(config):
    config.addinivalue_line("filterwarnings", "ignore:the graph ha:UserWarning")
