"""The runtime that runs the model reports nothing to its maker and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_CHILD = """
import os, sys
from semantic_search.models.embedder import open_session
try:
    open_session(sys.argv[1])
except Exception as error:
    assert "onnxruntime" in type(error).__module__, error
assert "onnxruntime" in sys.modules
print(os.environ["ORT_DISABLE_TELEMETRY"])
"""


def test_loading_the_runtime_writes_no_identifier(own_environment: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "TF_BUILD")}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(tmp_path / "missing.onnx")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\n"
    assert [str(path) for path in own_environment.rglob("*")] == []
