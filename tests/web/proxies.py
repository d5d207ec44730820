"""A small reverse proxy on loopback, as people put one in front of a server."""

import http.client
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_HOPS = {"connection", "keep-alive", "transfer-encoding", "content-length", "date", "server"}


class _Handler(BaseHTTPRequestHandler):
    """Passes requests below a prefix on, without the prefix if it is to be taken off."""

    port, prefix, strips, adds = 0, "", True, {}

    def _pass_on(self):
        if not self.path.startswith(f"{self.prefix}/"):
            self.send_error(404, "not below the prefix")
            return
        path = self.path[len(self.prefix) :] if self.strips else self.path
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        headers = {**dict(self.headers.items()), **self.adds}
        behind = http.client.HTTPConnection("127.0.0.1", self.port)
        try:
            behind.request(self.command, path, body, headers)
            found = behind.getresponse()
            self.send_response(found.status)
            for name, value in found.getheaders():
                if name.lower() not in _HOPS:
                    self.send_header(name, value)
            self.end_headers()
            while piece := found.read1(65536):
                self.wfile.write(piece)
                self.wfile.flush()
        except OSError:  # the browser, or the server, has gone
            pass
        finally:
            behind.close()
        self.close_connection = True

    do_GET = do_POST = do_HEAD = _pass_on

    def log_message(self, *_):
        pass


@contextmanager
def proxy_before(port, prefix="/tools/cpclean", strips=True, **adds):
    """A proxy that passes what is below a prefix on to a port; where it is, with the prefix."""
    told = {name.replace("_", "-"): value for name, value in adds.items()}
    own = {"port": port, "prefix": prefix, "strips": strips, "adds": told}
    kind = type("Handler", (_Handler,), own)
    server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{prefix}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
