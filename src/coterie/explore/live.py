"""The live page of a model in Python: a server in a thread, on a copy of the model in a temporary folder."""

from __future__ import annotations

import html
import secrets
import sys
import threading
import time
import webbrowser
from typing import TYPE_CHECKING, Any, Self

from coterie.errors import InputError
from coterie.explore import check_installed
from coterie.runs.from_model import save_run
from coterie.storage.temporary import TemporaryFolder

if TYPE_CHECKING:
    from coterie.topics import TopicModel

_RUN = "run"
#: Seconds that the server may take to start and to stop, and pixels of its view in a notebook.
_PATIENCE, _HEIGHT = 60.0, 800
#: Most notebooks are at localhost. A browser keeps the cookie only where both pages are of one site.
_SAME_SITE = (
    "if (location.hostname === '127.0.0.1') { const frame = document.getElementById('%s'); "
    "frame.src = frame.src.replace('//localhost:', '//127.0.0.1:'); }"
)


class LivePage:
    """A live page that is open: `url` leads to it, `stop` ends it; it also ends with Python. `model` is the
    model with the edits made there, also after `stop`.

    As the last line of a notebook's cell, it is shown there.
    """

    def __init__(self, model: TopicModel):
        from coterie.explore.server import Settings, address_of, listener, make_server
        from coterie.explore.workspace import Workspace

        self._columns = model.columns
        self._temporary = TemporaryFolder("explore")
        try:
            save_run(model, self._temporary.path / _RUN)
            self._listener = listener("127.0.0.1", 8765, lambda _: None)
        except BaseException:
            self._temporary.close()
            raise
        token, workspace = secrets.token_urlsafe(24), Workspace(self._temporary.path, _RUN)
        self._server = make_server(workspace, Settings(token=token, framed=True))
        self._thread = threading.Thread(
            target=self._server.run, args=([self._listener],), name="coterie-explore", daemon=True
        )
        self.url = address_of("127.0.0.1", self._listener.getsockname()[1], _RUN, token)
        self._thread.start()
        until = time.monotonic() + _PATIENCE
        while not self._server.started and self._thread.is_alive() and time.monotonic() < until:
            time.sleep(0.02)
        if not self._server.started:
            self.stop()
            raise InputError("the live page could not be started; model.save(folder) and "
                             "'coterie explore FOLDER' say why")  # fmt: skip

    @property
    def model(self) -> TopicModel:
        """The model as it is on the page now, with the edits made there."""
        from coterie.runs import open_run

        model = open_run(self._temporary.path / _RUN).with_texts()
        model.columns = self._columns
        return model

    def stop(self) -> None:
        """End the page; `model` still has the edits made there. A second time does nothing."""
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(_PATIENCE)
        self._listener.close()

    def wait(self) -> None:
        """Keep the page until Ctrl-C, in a script that would end otherwise."""
        try:
            while self._thread.is_alive():
                self._thread.join(0.5)
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<live page at {self.url}>" if self._thread.is_alive() else "<live page, stopped>"

    def _repr_html_(self) -> str:
        if not self._thread.is_alive():
            return f"<pre>{html.escape(repr(self))}</pre>"
        address = html.escape(self.url)
        inside = address.replace("//127.0.0.1:", "//localhost:")
        name = f"coterie-{self._listener.getsockname()[1]}"
        return (
            f"<iframe id='{name}' src='{inside}' width='100%' height='{_HEIGHT}' style='border:0'></iframe>"
            f"<script>{_SAME_SITE % name}</script>"
            f"<p><a href='{address}' target='_blank' rel='noopener'>open in a tab of its own</a></p>"
        )


def open_page(model: TopicModel, browser: bool | None) -> LivePage:
    """Start a page, and open it in a browser unless it is shown in a notebook."""
    check_installed("model.explore()")
    page = LivePage(model)
    if not in_notebook() if browser is None else browser:
        webbrowser.open(page.url)
    return page


def in_notebook() -> bool:
    """Whether a notebook shows the last value of a cell."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")
