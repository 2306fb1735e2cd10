"""Admission: who is let in, who waits, who is sent away, and that nobody is forgotten."""

import asyncio
import threading
import time

import pytest

from wayfare.errors import InputError
from wayfare.web import Address, Limits
from wayfare.web.gate import Gate
from wayfare.web.refusals import Refusal


async def here():
    return False


def running(limits, scenario):
    async def whole():
        async with Gate(limits) as gate:
            await scenario(gate)
        assert (gate.running, gate.waiting) == (0, 0)

    asyncio.run(whole())


def test_work_beyond_the_places_waits_and_beyond_that_is_sent_away():
    going = threading.Event()

    async def scenario(gate):
        tasks = [
            asyncio.create_task(gate.run(lambda turn, n=n: (going.wait(), n)[1], here))
            for n in range(3)
        ]
        await asyncio.sleep(0.05)
        assert (gate.running, gate.waiting) == (2, 1)
        with pytest.raises(Refusal) as refused:
            await gate.run(lambda turn: 9, here)
        assert (refused.value.status, refused.value.limit) == (429, 1)
        assert refused.value.headers["Retry-After"]
        going.set()
        assert await asyncio.gather(*tasks) == [0, 1, 2]

    running(Limits(running=2, waiting=1, milliseconds=10_000), scenario)


def test_who_waits_too_long_is_sent_away():
    going = threading.Event()

    async def scenario(gate):
        first = asyncio.create_task(
            gate.run(lambda turn: (turn.offer(1), going.wait(), 2)[0:], here)
        )
        await asyncio.sleep(0.01)
        with pytest.raises(Refusal) as refused:
            await gate.run(lambda turn: 9, here)
        assert (refused.value.status, refused.value.code) == (503, "no_place")
        assert await first == 1, "out of time, the best offer is the answer"
        going.set()

    running(Limits(running=1, patience=50, milliseconds=50), scenario)


def test_an_offer_after_the_time_is_taken_at_once():
    going = threading.Event()

    def work(turn):
        time.sleep(0.1)
        turn.offer("late")
        going.wait()

    async def scenario(gate):
        started = time.perf_counter()
        assert await gate.run(work, here) == "late"
        assert time.perf_counter() - started < 1.5
        going.set()

    running(Limits(running=1, milliseconds=1), scenario)


def test_nothing_at_all_is_503(monkeypatch):
    monkeypatch.setattr("wayfare.web.gate.SHORTEST", 20.0)
    going = threading.Event()

    async def scenario(gate):
        with pytest.raises(Refusal) as refused:
            await gate.run(lambda turn: going.wait(), here)
        assert (refused.value.status, refused.value.code) == (503, "out_of_time")
        going.set()

    running(Limits(running=1, milliseconds=5), scenario)


def test_work_of_clients_that_left_is_not_started():
    async def gone():
        return True

    async def scenario(gate):
        with pytest.raises(Refusal):
            await gate.run(lambda turn: pytest.fail("started"), gone)

    running(Limits(running=1), scenario)


def test_errors_reach_who_asked_and_free_the_place():
    async def scenario(gate):
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                await gate.run(lambda turn: 1 / 0, here)

    running(Limits(running=1, waiting=0), scenario)


def test_a_closed_gate_lets_nobody_in():
    async def scenario(gate):
        await gate.__aexit__()
        with pytest.raises(Refusal) as refused:
            await gate.run(lambda turn: 1, here)
        assert refused.value.status == 503

    running(Limits(), scenario)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com"])
def test_others_are_let_in_only_on_purpose_and_with_a_token(host):
    with pytest.raises(InputError, match="--public"):
        Address(host).check(token="correct horse battery")
    with pytest.raises(InputError, match="--token-file"):
        Address(host, public=True).check(token=None)
    with pytest.raises(InputError, match="at least 16"):
        Address(host, public=True).check(token="short")
    Address(host, public=True).check(token="correct horse battery")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_is_let_in(host):
    Address(host).check(token=None)


def test_a_port_in_use_is_said_in_one_line():
    with Address(port=0).listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            InputError, match=f"127.0.0.1:{port} cannot be listened on .*choose another"
        ):
            Address(port=port).listen()
