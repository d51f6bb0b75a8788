"""Serve the built book on this machine and open it in the browser.

python tools/serve.py [port]
"""

from __future__ import annotations

import sys
import webbrowser
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BOOK = Path(__file__).resolve().parent.parent / "_build" / "html"


class Handler(SimpleHTTPRequestHandler):
    """Files of the book; a line of log only for what goes wrong."""

    # Said here because Windows takes these from its registry, where .js may be plain text.
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript", ".css": "text/css"}

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        if int(code) >= 400:
            super().log_request(code, size)


def serve(folder: Path, port: int = 0) -> ThreadingHTTPServer:
    """A server for a folder, not yet running; port 0 takes any that is free."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(folder)))


def main(port: int = 8000) -> None:
    """Serve the book until Ctrl-C."""
    if not (BOOK / "index.html").exists():
        raise SystemExit("There is no book yet: `make book` builds it.")
    try:
        server = serve(BOOK, port)
    except OSError:
        server = serve(BOOK)  # the port is taken: any other will do
    address = f"http://localhost:{server.server_address[1]}/"
    print(f"The book is at {address} (Ctrl-C ends)")
    webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
