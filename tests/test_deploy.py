"""The files for containers: they name commands, options, files and variables that exist."""

import json
import re
import shlex

import click
import yaml
from house import ROOT

from cpclean.cli import main
from cpclean.cli.serve import serve

DEPLOY = ROOT / "deploy"


def instructions():
    """The instructions of the Dockerfile: pairs of a word and its arguments, in order."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.M)
    lines = text.replace("\\\n", " ").splitlines()
    return [tuple(one.split(None, 1)) for one in lines if one.strip()]


def one_of(word):
    """The arguments of an instruction that there is once."""
    (found,) = [rest for name, rest in instructions() if name == word]
    return found


def composed():
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def check_options(arguments):
    """Options of `cpclean serve`, and nothing else; those with a value have one."""
    context = click.Context(serve)
    made = serve.make_parser(context)
    _, rest, _ = made.parse_args(list(arguments))
    assert rest == []


def test_the_image_starts_the_server():
    known = {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL",
             "HEALTHCHECK", "ENTRYPOINT", "CMD"}  # fmt: skip
    assert {name for name, _ in instructions()} <= known
    entry, usual = json.loads(one_of("ENTRYPOINT")), json.loads(one_of("CMD"))
    assert entry[0] in re.findall(r"(?m)^(\w+) = \"cpclean\.cli", project_text())
    assert entry[1] in main.commands
    check_options([*entry[2:], *usual])
    port = entry[entry.index("--port") + 1]
    assert one_of("EXPOSE") == port
    probe = one_of("HEALTHCHECK")
    assert f"http://127.0.0.1:{port}/healthz" in probe
    command = json.loads(probe[probe.index("CMD ") + 4 :])
    compile(command[2], "probe", "exec")


def project_text():
    return (ROOT / "pyproject.toml").read_text()


def test_the_image_has_what_it_copies_and_installs():
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    copied = [rest for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    for source in [one for rest in copied for one in rest.split()[:-1]]:
        assert (ROOT / source).exists()
        assert f"!{source}" in ignored
    assert "\npostgres = [" in project_text()


def test_the_server_in_the_image_is_not_root_and_writes_to_a_volume():
    names = [name for name, _ in instructions()]
    assert one_of("USER") == "cpclean"
    assert names.index("USER") < names.index("ENTRYPOINT")
    created = " ".join(rest for name, rest in instructions() if name == "RUN")
    assert "useradd" in created
    assert "--uid 10001" in created
    (folder,) = json.loads(one_of("VOLUME"))
    assert f"chown cpclean:cpclean {folder}" in created
    assert json.loads(one_of("CMD")) == ["--projects", folder]


def test_the_composition():
    services, volumes = composed()["services"], composed()["volumes"]
    ours, database = services["cpclean"], services["database"]
    assert (DEPLOY / ours["build"]["context"] / ours["build"]["dockerfile"]).is_file()
    check_options(ours["command"])
    (address,) = [one for one in ours["command"] if "://" in one]
    user, host, name = re.fullmatch(r"postgresql://(\w+)@(\w+)/(\w+)", address).groups()
    assert (user, name) == (database["environment"]["POSTGRES_USER"],
                            database["environment"]["POSTGRES_DB"])  # fmt: skip
    assert host in ours["depends_on"]
    assert "healthcheck" in database
    assert ours["environment"]["PGPASSWORD"] == database["environment"]["POSTGRES_PASSWORD"]
    read = {one.envvar for one in serve.params if one.envvar}
    given = {one for one in ours["environment"] if one.startswith("CPCLEAN_")}
    assert given == read == {"CPCLEAN_TOKEN", "CPCLEAN_ANSWER_TOKEN"}
    for one in [*ours["volumes"], *database["volumes"]]:
        assert one.partition(":")[0] in volumes
    assert "projects:/data" in ours["volumes"]
    assert all(one.startswith("127.0.0.1:") for one in ours["ports"])


def test_no_secret_is_written_down():
    for path in DEPLOY.iterdir():
        for line in path.read_text().splitlines():
            if re.search(r"(?i)(password|token):", line):
                assert "${" in line
    guide = (ROOT / "docs" / "guides" / "serving.md").read_text()
    assert shlex.split("docker compose up --build")[1] in guide
    for secret in re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()):
        assert secret in guide
