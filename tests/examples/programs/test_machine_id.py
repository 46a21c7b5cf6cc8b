"""Which machine a file comes from: two with the same system on one shared disk are told apart."""

import platform

import pytest

from examples.programs import identity
from examples.programs.identity import is_this_machine

ADDRESS = 0x001122334455
INVENTED = ADDRESS | 1 << 40


@pytest.fixture
def address(monkeypatch):
    return lambda number: monkeypatch.setattr(identity.uuid, "getnode", lambda: number)


def test_two_machines_with_one_kernel_are_told_apart(address):
    address(ADDRESS)
    here = {"machine": identity.machine_id(), "kernel": platform.release()}
    assert len(here["machine"]) == 12 and f"{ADDRESS:x}" not in here["machine"]
    assert is_this_machine(here)
    assert is_this_machine(here | {"kernel": "before an update"})
    address(ADDRESS + 1)
    assert not is_this_machine(here)


@pytest.mark.parametrize("noted", [{}, {"machine": None}])
def test_without_an_address_the_kernel_decides(address, noted):
    address(INVENTED)
    assert identity.machine_id() is None
    assert is_this_machine(noted)
    assert is_this_machine(noted | {"kernel": platform.release()})
    assert not is_this_machine(noted | {"kernel": "another"})
    assert is_this_machine({"machine": "0" * 12, "kernel": platform.release()})  # noted while it had one
