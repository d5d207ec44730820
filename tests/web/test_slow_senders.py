"""Requests that never come in whole: connections end, and others are served meanwhile."""

import asyncio
import socket
import threading
import time

import httpx
import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from waiting import PATIENCE

from cpclean.web.server import bounded_reading
from cpclean.web.server.bounded_reading import BoundedReading

pytestmark = pytest.mark.slow  # they wait


async def echo(request):
    return PlainTextResponse(str(len(await request.body())))


async def stream(request):
    async def words():
        for _ in range(8):
            yield "word "
            await asyncio.sleep(0.5)

    return StreamingResponse(words())


@pytest.fixture
def port(monkeypatch):
    """A server that waits for three seconds: far longer than what comes steadily takes to come."""
    monkeypatch.setattr(bounded_reading, "READ_SECONDS", 3.0)
    monkeypatch.setattr(bounded_reading, "_CHECK_SECONDS", 0.1)
    app = Starlette(routes=[Route("/", echo, methods=["GET", "POST"]), Route("/stream", stream)])
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", http=BoundedReading, lifespan="off")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join()


def is_closed(connection):
    connection.settimeout(PATIENCE)
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def asking(port):
    return httpx.Client(base_url=f"http://127.0.0.1:{port}", verify=False, timeout=PATIENCE)


HALVES = [
    b"",
    b"G",
    b"GET / HTTP/1.1\r\nHost: x\r\n",
    b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
]


def test_sixty_half_sent_requests_end_and_others_are_served(port):
    waiting = []
    for number in range(60):
        waiting.append(socket.create_connection(("127.0.0.1", port)))
        waiting[-1].sendall(HALVES[number % len(HALVES)])
    with asking(port) as client:
        assert client.post("/", content=b"12345").text == "5"
    for one in waiting:
        assert is_closed(one)
        one.close()


def test_a_head_that_comes_byte_by_byte_ends_too(port):
    with (
        socket.create_connection(("127.0.0.1", port)) as slow,
        pytest.raises((BrokenPipeError, ConnectionResetError)),
    ):
        send_forever(slow)


def send_forever(connection):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        connection.sendall(b"x")
        time.sleep(0.1)


def test_what_comes_slowly_but_steadily_is_read(port):
    def body():
        for _ in range(9):
            time.sleep(0.4)
            yield b"12345"

    with asking(port) as client:
        assert client.post("/", content=body()).text == "45"


def test_a_long_answer_and_the_next_request_are_not_cut_off(port):
    with asking(port) as client:
        assert client.get("/stream").text == "word " * 8
        time.sleep(4.0)
        assert client.get("/").text == "0"
