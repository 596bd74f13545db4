"""The products a row can hold on, and the groups of them that differ from the rest.

Written down here a second time, apart from csrc/abi/products.json, so that the rows also test those profiles.
"""

PRODUCTS = ("950", "A3", "A2", "310B", "310P", "910")

GROUPS = {
    "CONTROL_SQ": {"950", "A3", "A2"},  # NULL is the default stream for failure mode, abort, cache-op-info
    "FORCE_DESTROY": {"950", "A3", "A2", "310B"},
    "STREAM_ABORT": {"950", "A3", "A2"},
    "OVERFLOW_SWITCH": {"950", "A3", "A2"},
    "OVERFLOW_ALWAYS_ON": {"310P", "910"},
    "CUSTOM_TAG": {"950", "A3", "A2"},
    "PRIORITY_ATTR": {"950", "A3", "A2"},
    "LAUNCH_BLOCKING": {"950", "A3", "A2"},
    "CAPTURE": {"950", "A3", "A2", "310P"},
    "COND_TASKS": {"A3", "A2"},
    "VALUE_OPS": {"950", "A3", "A2"},
    "IPC_EVENT": {"950", "A3", "A2"},
    "IPC": {"950", "A3", "A2", "310P", "910"},  # memory and notifies
    "NOTIFY_RESET": {"950", "A3", "A2"},
    "WAIT_TIMEOUT": {"950", "A3", "A2", "310B"},
    "BATCH_MEMCPY": {"950", "A3", "A2"},
    "RANDOM": {"A3", "A2"},
    "HOST_REGISTER": {"950", "A3", "A2", "910"},
    "TASK_ABORT": {"950", "A3", "A2"},
    "HBM": {"950", "A3", "A2", "910"},
}

STREAMS = {"950": 1984, "A3": 1984, "A2": 1984, "310B": 512, "310P": 1024, "910": 2048}  # default streams count
QUEUE = {"950": 2014, "A3": 2013, "A2": 2013, "310B": 2010, "310P": 2042, "910": 2042}
PERSISTENT_QUEUE = {"950": 60000, "A3": 60000, "A2": 60000, "310B": 65535, "310P": 32760, "910": 60000}
EVENTS = {"950": 65536, "A3": 65536, "A2": 65536, "310B": 65536, "310P": 1023, "910": 65535}
NOTIFIES = {"950": 65535, "A3": 8192, "A2": 8192, "310B": 2048, "310P": 1024, "910": 1024}
TICKS_PER_MS = {"950": 1000000, "A3": 50000, "A2": 50000, "310B": 48000, "310P": 1000000, "910": 1000000}
SOC = {  # what aclrtGetSocName says when the emulator is asked for a product
    "950": "Ascend950PR_9599",
    "A3": "Ascend910_9392",
    "A2": "Ascend910B3",
    "310B": "Ascend310B1",
    "310P": "Ascend310P3",
    "910": "Ascend910A",
}
CUBE_CORES = {"950": 36, "A3": 24, "A2": 20, "310B": 1}
VECTOR_CORES = {"950": 72, "A3": 48, "A2": 40, "310B": 1}


def select(text):
    """The products that ``A2,310P``, ``CAPTURE`` or ``!CAPTURE`` stand for."""
    negated = text.startswith("!")
    chosen = set()
    for word in text.removeprefix("!").split(","):
        if word not in GROUPS and word not in PRODUCTS:
            raise ValueError(f"{word!r} is neither a product nor a group of products")
        chosen |= GROUPS.get(word, {word})
    return frozenset(set(PRODUCTS) - chosen if negated else chosen)


def of_soc(name):
    """The product of an SoC name, or None. "Ascend910B" without a number is of the old 910 family."""
    for prefix, product in (
        ("Ascend950", "950"),
        ("Ascend910_93", "A3"),
        ("Ascend310B", "310B"),
        ("Ascend310P", "310P"),
    ):
        if name.startswith(prefix):
            return product
    if name.startswith("Ascend910B") and name != "Ascend910B":
        return "A2"
    return "910" if name.startswith("Ascend910") else None
