"""A real server that speaks the chat completions protocol, with its faults."""

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def reply(content):
    """An answer as such servers send it."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}]})


def named(data, description="Texts about it."):
    """A sensible answer: the first term in capitals."""
    return reply(json.dumps({"name": data["terms"][0].upper(), "description": description}))


class Chat:
    """What was asked, and a function of the data and the number of the attempt that answers.

    It gives a body, or a status with headers and a body; `SLOW`, `DROP` and `HANG` are faults of the network.
    """

    SLOW, DROP, HANG = "slow", "drop", "hang"

    def __init__(self, answer):
        self.answer = answer
        self.asked = []
        self.headers = []
        self.lock = threading.Lock()
        self.free = threading.Event()

    def handle(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        data = json.loads(body["messages"][1]["content"])
        with self.lock:
            self.asked.append(body)
            self.headers.append(dict(handler.headers))
            attempt = sum(other["messages"] == body["messages"] for other in self.asked)
        found = self.answer(data, attempt)
        if found == self.HANG:
            self.free.wait(60)
            return
        status, headers, text = found if isinstance(found, tuple) else (200, {}, found)
        text = named(data) if text in (self.SLOW, self.DROP) else text
        raw = text.encode(errors="surrogatepass")
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(raw)))
        handler.end_headers()
        if found == self.DROP:
            handler.wfile.write(raw[: len(raw) // 2])
            handler.close_connection = True
        elif found == self.SLOW:
            for at in range(0, len(raw), 8):
                handler.wfile.write(raw[at : at + 8])
                time.sleep(0.2)
        else:
            handler.wfile.write(raw)


@contextmanager
def chat_server(answer):
    """A server on this machine: its address, and what it was asked."""
    chat = Chat(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            assert self.path == "/v1/chat/completions"
            with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has gone
                chat.handle(self)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", chat
    finally:
        chat.free.set()
        server.shutdown()
        server.server_close()
        thread.join()
