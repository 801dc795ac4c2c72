"""Work on Ray: what goes wrong in a worker, and what cannot be started. See also tests/lmrl_generators/test_ray.py."""

import os
import platform
import signal
import sys

import pytest

import lmrl_data.ray_executor as module
from lmrl_data.errors import LmrlError
from lmrl_data.ray_executor import check_node, chosen_cluster, ray_cluster


def test_ray_is_not_needed_where_it_is_not_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with chosen_cluster("local", None, 2) as cluster:
        assert cluster is None
    with (
        pytest.raises(LmrlError, match=r"not installed; pip install \"lmrl-gym\[ray\]\""),
        chosen_cluster("ray", None, 2),
    ):
        pass


@pytest.mark.parametrize(
    ("executor", "address", "message"),
    [("local", "auto", "give --executor ray"), ("spark", None, "unknown executor 'spark'; it is one of: local, ray")],
)
def test_options_that_name_nothing(executor, address, message):
    with pytest.raises(LmrlError, match=message), chosen_cluster(executor, address, None):
        pass


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nonsense", "127.0.0.1:99999"])
def test_an_address_where_nothing_answers(address):
    pytest.importorskip("ray")
    with pytest.raises(LmrlError, match=f"no Ray cluster answers at {address}"), ray_cluster(address):
        pass


def test_a_node_with_other_versions_is_refused():
    ours = {"lmrl-gym": "1", "pyarrow": "2"}
    check_node(ours, {"pyarrow": "2", "lmrl-gym": "1"})
    with pytest.raises(LmrlError, match=f"node {platform.node()} has pyarrow 3, but the run was started with 2"):
        check_node(ours, {"lmrl-gym": "1", "pyarrow": "3"})
    with pytest.raises(LmrlError, match="has pyarrow None"):
        check_node(ours, {"lmrl-gym": "1"})


@pytest.fixture(scope="module")
def cluster():
    pytest.importorskip("ray")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_RETRIES", 1)
        with ray_cluster(workers=1) as cluster:
            from ray import cloudpickle

            cloudpickle.register_pickle_by_value(sys.modules[__name__])  # a worker has no module of tests
            yield cluster


def work(number):
    if number == 1:
        raise LmrlError("one is no number; give another")
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 3:
        raise ZeroDivisionError
    return number**2


@pytest.mark.slow
def test_outcomes_come_with_their_items(cluster):
    assert sorted(cluster.run(work, range(10, 30))) == [(number, number**2) for number in range(10, 30)]


def pool_size(_):
    from lmrl_data.stockfish.pool import EnginePool

    return EnginePool("stockfish").size


@pytest.mark.slow
def test_a_worker_has_an_engine_and_not_one_for_each_core(cluster):
    assert list(cluster.run(pool_size, [0])) == [(0, 1)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (1, LmrlError, "^one is no number; give another$"),
        (2, LmrlError, "died 2 times at the same work"),
        (3, ZeroDivisionError, "ZeroDivisionError"),
    ],
)
def test_an_error_of_a_worker_ends_the_run(cluster, number, error, message):
    with pytest.raises(error, match=message):
        list(cluster.run(work, [5, number, 6]))
    assert list(cluster.run(work, [7])) == [(7, 49)]


@pytest.mark.slow
def test_a_node_that_lacks_a_module(cluster):
    from ray import cloudpickle

    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    with pytest.raises(LmrlError, match=r"a Ray node lacks a package \(No module named 'test_ray_executor'\)"):
        list(cluster.run(work, [5]))


@pytest.mark.slow
def test_a_program_connects_once(cluster):
    with pytest.raises(LmrlError, match="connected to Ray already"), ray_cluster():
        pass
