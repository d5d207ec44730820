"""A real server process to test against."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading

import httpx
import plain_program
from waiting import PATIENCE, until

TOKEN = "a-token-for-tests"


class Served:
    """`cpclean serve` in a process of its own, on a free port of loopback."""

    def __init__(self, *arguments, token=TOKEN, cwd=None, ready=True, port=0):
        self.token = token
        options = ["--no-browser", "--port", str(port), *([] if token else ["--token", ""])]
        command = [sys.executable, "-m", "cpclean.cli", "serve", *map(str, arguments), *options]
        env = {**os.environ, "CPCLEAN_TOKEN": token, "PYTHONUNBUFFERED": "1"}
        code = plain_program.PAGE_CODE
        command[1:3] = ["-c", code]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env, cwd=cwd
        )
        self.lines = []
        self._found = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.address = self._found.get(timeout=PATIENCE)
        if self.address is None:
            raise AssertionError(f"the server did not start: {self.output}")
        self.url = self.address.split("/?")[0]
        if ready:
            self.wait_ready()

    def _read(self):
        with self.process.stdout as lines:
            for line in lines:
                self.lines.append(line)
                if found := re.search(r"cpclean is at (http\S+)", line):
                    self._found.put(found[1])
        self._found.put(None)

    @property
    def output(self):
        return "".join(self.lines)

    def wait_ready(self):
        """Until the engine has had its first look."""
        with self.client() as client:
            until(lambda: not client.get("/api/progress").json()["busy"], "a first look")

    def client(self, timeout=PATIENCE, **options):
        known = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers = {**known, **options.pop("headers", {})}
        return httpx.Client(  # without https: reading certificates takes longer than most requests
            base_url=self.url, headers=headers, timeout=timeout, verify=False, **options
        )

    def interrupt(self):
        """Ctrl-C; the exit code, when all that it said has been read."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code

    def kill(self):
        """SIGKILL: nothing is flushed, nothing is tidied up."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
