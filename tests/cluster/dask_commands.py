"""A Dask scheduler and workers as a person starts them, on loopback, ended by their process ids."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from house import ROOT, SRC
from waiting import PATIENCE

COMMANDS = {"scheduler": "distributed.cli.dask_scheduler", "worker": "distributed.cli.dask_worker"}


class DaskCommands:
    """`dask scheduler` and `dask worker` in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.address = ""

    def start_scheduler(self, port: int = 0) -> str:
        """Start the scheduler; its address."""
        place = self.folder / f"scheduler-{len(self.processes)}.json"
        options = ["--host", "127.0.0.1", "--port", str(port), "--scheduler-file", str(place)]
        self.scheduler = self._start("scheduler", *options, "--no-dashboard")
        self.address = _waited(lambda: json.loads(place.read_text())["address"])
        return self.address

    def start_worker(self, package: Path = SRC) -> subprocess.Popen[bytes]:
        """Start one worker without a nanny, so that killing it ends it."""
        own = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        started = self._start("worker", self.address, *own, package=package)
        self.workers.append(started)
        return started

    def kill_workers(self) -> None:
        """SIGKILL to every worker that is alive."""
        for one in self.workers:
            _killed(one)
        self.workers = []

    def end(self) -> None:
        for one in self.processes:
            _killed(one)

    def _start(self, command: str, *options: str, package: Path = SRC) -> subprocess.Popen[bytes]:
        path = os.pathsep.join([str(package), str(ROOT / "tests")])
        env = {**os.environ, "PYTHONPATH": path, "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "0"}
        log = (self.folder / f"{command}-{len(self.processes)}.log").open("wb")
        started = subprocess.Popen(
            [sys.executable, "-m", COMMANDS[command], *options],
            env=env,
            cwd=self.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        log.close()
        self.processes.append(started)
        return started


def _killed(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()


def _waited(found):
    """What a function returns, once it does not raise any more."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return found()
        except (OSError, ValueError, KeyError):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
