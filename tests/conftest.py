"""What all tests share: the fixtures of pyacl's own pytest plugin under short names."""

import os
import threading
import time

import pytest

import pyacl

pytest_plugins = ["pyacl.testing"]


@pytest.fixture(autouse=True, scope="session")
def away_from_the_checkout(tmp_path_factory):
    """Programs that tests start must find the installed package, not the sources in the folder pytest runs in."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("elsewhere"))
    yield
    os.chdir(before)


@pytest.fixture
def device(acl_device):
    return acl_device


@pytest.fixture
def stream(acl_stream):
    return acl_stream


@pytest.fixture
def kernels(acl_kernels):
    """Look a sample kernel up by name."""
    return acl_kernels.kernel


@pytest.fixture
def gate(kernels):
    """Keeps streams busy: ``gate.close(stream)`` queues a kernel that runs until ``gate.open()``."""
    return Gate(kernels)


class Gate:
    def __init__(self, kernels):
        self.wait_flag = kernels("wait_flag")
        self.flag = pyacl.DeviceBuffer(4)
        self.flag.fill(0)

    def close(self, stream):
        self.wait_flag.launch(stream, 1, self.flag)

    def open(self):
        self.flag.fill(1)

    def open_later(self, seconds):
        """From another thread, which is returned."""

        def run():
            pyacl.Device(0)
            time.sleep(seconds)
            self.open()

        thread = threading.Thread(target=run)
        thread.start()
        return thread
