"""A real PostgreSQL server on loopback, started and stopped by the tests."""

import glob
import os
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass

import pytest


def _binaries():
    found = [os.path.dirname(os.path.realpath(path)) for path in [shutil.which("pg_ctl")] if path]
    return [*found, *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]


def _free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@dataclass
class Server:
    """A server of our own on loopback; it refuses to be root, so it is somebody else."""

    bin: str
    folder: str
    port: int
    user: dict

    @classmethod
    def start_new(cls):
        binaries = _binaries()
        if not binaries:
            pytest.skip("PostgreSQL is not installed: no pg_ctl")
        if os.name != "posix":
            pytest.skip("the tests start PostgreSQL as another user, as POSIX does")
        user = {}
        if os.geteuid() == 0:
            import pwd

            names = {one.pw_name for one in pwd.getpwall()}
            name = next((one for one in ("postgres", "nobody") if one in names), None)
            if name is None:
                pytest.skip("PostgreSQL refuses to run as root, and there is nobody else")
            own = pwd.getpwnam(name)
            user = {"user": own.pw_uid, "group": own.pw_gid, "extra_groups": []}
        folder = tempfile.mkdtemp(prefix="cpclean-pg-")
        if user:
            os.chown(folder, user["user"], user["group"])
        server = cls(binaries[0], folder, _free_port(), user)
        options = ["-A", "trust", "-U", "cpclean", "-N", "-E", "UTF8"]
        made = server.run("initdb", "-D", f"{folder}/data", *options)
        if made.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"PostgreSQL cannot be set up here: {made.stderr.strip()[-200:]}")
        started = server.start()
        if started.returncode:
            shutil.rmtree(folder, ignore_errors=True)
            pytest.skip(f"PostgreSQL cannot be started here: {started.stdout.strip()[-200:]}")
        return server

    @property
    def url(self):
        return f"postgresql://cpclean@127.0.0.1:{self.port}/postgres"

    def run(self, program, *arguments):
        environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": self.folder, "LC_ALL": "C"}
        # Output to a file: a server that is left running would keep a pipe open.
        with tempfile.TemporaryFile("w+") as out:
            done = subprocess.run(
                [f"{self.bin}/{program}", *arguments],
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, text=True,
                env=environment, cwd=self.folder, timeout=120, check=False, **self.user,
            )  # fmt: skip
            out.seek(0)
            done.stdout = done.stderr = out.read()
        return done

    def start(self):
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= "
            "-c fsync=off -c max_connections=60"
        )
        data, log = f"{self.folder}/data", f"{self.folder}/log"
        return self.run("pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start")

    def stop(self, mode="immediate"):
        return self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", mode, "stop")

    def sql(self, statement):
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else None
