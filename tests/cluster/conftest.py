import pytest
from cluster.dask_commands import DaskCommands
from storage.conftest import postgres_server, postgres_url  # noqa: F401 (fixtures)

pytest.importorskip("distributed", reason="Dask is not installed")


@pytest.fixture
def commands(tmp_path):
    """A scheduler and workers by their commands; nothing is started yet."""
    made = DaskCommands(tmp_path)
    yield made
    if made.scheduler is not None:
        from cpclean.cluster.dask_cluster import close_all

        close_all()
    made.end()


@pytest.fixture(scope="session")
def local():
    """A cluster of two processes on this machine that everything is sent to."""
    import dask
    from distributed import Client, LocalCluster

    from cpclean.cluster.dask_cluster import DaskCluster, close_all

    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),  # costs while nothing runs
        LocalCluster(
            2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=40,
        ) as started,
        Client(started, set_as_default=False) as client,
    ):
        yield DaskCluster(client, least=1)
        close_all()
