"""The log of the server: of a browser that has gone it says nothing, of all else it does."""

import logging

import pytest
from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

from hidviz.ui.serve import log_events


@pytest.fixture
def said(capsys):
    """A function that logs an error under a name, and gives what the log then says."""
    names = (None, "bokeh", "tornado", "panel", "hidviz", "tornado.access", "bokeh.core.validation")
    kept = [(logger, logger.level, list(logger.handlers)) for logger in map(logging.getLogger, names)]
    log_events()

    def logged(name, error, text="error handling message"):
        try:
            raise error
        except type(error):
            logging.getLogger(name).error(text, exc_info=True)
        return capsys.readouterr().err

    yield logged
    for logger, level, handlers in kept:
        logger.setLevel(level)
        logger.handlers[:] = handlers


@pytest.mark.parametrize("error", [WebSocketClosedError(), StreamClosedError(), AssertionError()])
def test_a_browser_that_has_gone_is_no_news(said, error):
    assert said("bokeh.server.protocol_handler", error) == ""


def test_everything_else_is(said):
    assert "ValueError" in said("bokeh.server.protocol_handler", ValueError("what came makes no sense"))
    assert "AssertionError" in said("hidviz.ui.dashboard", AssertionError())
