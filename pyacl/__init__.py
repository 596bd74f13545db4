"""Huawei Ascend NPU streams from Python at the speed of C, and an emulated runtime for machines without an NPU.

Importing this package touches no library, no device and no thread; the first use does. See `pyacl.runtime` for what
answers the calls.
"""
from pyacl._runtime import runtime
from pyacl.device import Context, Device
from pyacl.errors import *
