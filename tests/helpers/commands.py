"""Run commands as a shell does, without loading the libraries again for each.

A server process loads the libraries once and forks a child for each command. The child has its
own folder, streams and exit code. Settings that are read from the environment when Python
starts or a library loads, such as a hash seed, are those of the server; commands for which they
matter are run by :func:`run_alone`.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""What the fixture `run` is."""

SAFETY_SECONDS = 900
"""A command that takes longer hangs."""

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "dcglearn.cli",
        "dcglearn.judgments.read",
        "dcglearn.inference.compare",
        "dcglearn.learning.learner",
        "dcglearn.learning.record",
        "dcglearn.measures.measure_files",
        "dcglearn.lab.experiment_figures",
        "dcglearn.lab.page",
        "dcglearn.lab.config",
        "dcglearn.lab.results",
        "dcglearn.systems.conclusions",
        "dcglearn.interop.export",
        "pyarrow.parquet",
    ]
)


def _in_child(arguments: list[str], cwd: str, env: dict[str, str], printed: str) -> None:
    """Run the command in this process; its output goes to two files in the folder `printed`."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"{printed}/{name}", os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path.insert(0, cwd)  # as `python -m` does
    np.random.seed()  # noqa: NPY002 - children would share it, and hide who uses it
    for stream in (sys.stdout, sys.stderr):  # whose encoding was chosen when the server started
        stream.reconfigure(encoding=env.get("PYTHONIOENCODING", "utf-8"))  # type: ignore[union-attr]  # text
    tempfile.tempdir = None  # it is chosen anew
    sys.argv[:] = ["dcglearn", *arguments]
    try:
        runpy.run_module("dcglearn", run_name="__main__", alter_sys=True)
    finally:
        pool = getattr(
            sys.modules.get("joblib.externals.loky.reusable_executor"), "_executor", None
        )
        if pool is not None:  # this process would wait for its workers
            pool.shutdown(kill_workers=True)


def run_command(
    arguments: list[str], cwd: str | Path, env: dict[str, str], seconds: float = SAFETY_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run the command line and return its exit code and output."""
    with tempfile.TemporaryDirectory() as printed:
        child = _CONTEXT.Process(target=_in_child, args=(arguments, str(cwd), env, printed))
        child.start()
        child.join(seconds)
        if child.exitcode is None:
            child.kill()
            child.join()
            raise subprocess.TimeoutExpired(arguments, seconds)
        encoding = env.get("PYTHONIOENCODING", "utf-8")
        out, err = (Path(printed, name).read_text(encoding) for name in ("out", "err"))
        return subprocess.CompletedProcess(arguments, child.exitcode, out, err)


def _all_in_child(commands: list[list[str]], cwd: str, env: dict[str, str], printed: str) -> None:
    from dcglearn.base import progress
    from dcglearn.cli import main

    progress.QUIET_SECONDS = SAFETY_SECONDS  # what is said depends on no machine's speed
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    tempfile.tempdir = None
    found = []
    for arguments in commands:
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
        sys.argv[:] = ["dcglearn", *arguments]
        code: object = 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
            except SystemExit as ended:
                code = ended.code or 0
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read())
        found.append([code, *texts])
    Path(printed, "all").write_text(json.dumps(found), encoding="utf-8")


def run_here(*arguments: str, **options: Any) -> None:
    """Run a command in this process; what is wrong is raised as the command would say it."""
    from typer.testing import CliRunner

    from dcglearn import InputError
    from dcglearn.cli import app
    from dcglearn.cli.remedies import in_options

    words = list(arguments)
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    try:
        print(CliRunner().invoke(app, words, catch_exceptions=False).stdout, end="")
    except InputError as error:
        raise InputError(in_options(error.problem), in_options(error.remedy), error.place) from None


def run_commands(
    commands: Sequence[Sequence[str]], cwd: str | Path
) -> list[subprocess.CompletedProcess[str]]:
    """Run commands one after the other in one process, which is faster; exit codes and output."""
    env = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as printed:
        arguments = ([list(one) for one in commands], str(cwd), env, printed)
        child = _CONTEXT.Process(target=_all_in_child, args=arguments)
        child.start()
        child.join(SAFETY_SECONDS)
        if child.exitcode != 0:
            child.kill()
            raise RuntimeError(f"the process of {len(commands)} commands ended unexpectedly")
        found = json.loads(Path(printed, "all").read_text(encoding="utf-8"))
    return [
        subprocess.CompletedProcess(one, *result)
        for one, result in zip(commands, found, strict=True)
    ]


def run_alone(
    arguments: list[str], cwd: str | Path, env: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a new Python."""
    return run_program([sys.executable, "-m", "dcglearn", *arguments], cwd, **env)


def run_program(
    command: Sequence[object], cwd: str | Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run any program to its end."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=SAFETY_SECONDS,
        check=False,
    )
