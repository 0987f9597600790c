"""Run commands as a shell does, without loading the libraries again for each.

A server process loads the libraries once and forks a child for commands. The child has its own
folder, streams and exit codes. Settings that are read from the environment when Python starts or a
library loads, such as a hash seed, are those of the server; :func:`run_program` has none of these.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Run = Callable[..., "subprocess.CompletedProcess[str]"]
"""What the fixture `run` is."""

SAFETY_SECONDS = 900
"""A command that takes longer hangs."""

PLAIN = {"COLUMNS": "100", "NO_COLOR": "1"}

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        "dcglearn.cli",
        "dcglearn.judgments.read",
        "dcglearn.inference.compare",
        "dcglearn.learning.learner",
        "dcglearn.learning.record",
        "dcglearn.measures.measure",
        "dcglearn.lab.experiment_figures",
        "dcglearn.lab.page",
        "dcglearn.lab.config",
        "dcglearn.lab.results",
        "dcglearn.systems.conclusions",
        "dcglearn.interop.export",
        "pyarrow.parquet",
    ]
)


def _in_child(
    commands: list[list[str]], cwd: str, env: dict[str, str], printed: str, program: str
) -> None:
    """Run commands in this process; exit codes and output go to files in the folder `printed`."""
    from dcglearn.base import progress

    progress.QUIET_SECONDS = SAFETY_SECONDS  # what is said depends on no machine's speed
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    sys.path.insert(0, cwd)  # as `python -m` does
    np.random.seed()  # noqa: NPY002 - children would share it, and hide who uses it
    tempfile.tempdir = None  # it is chosen anew
    for stream in (sys.stdout, sys.stderr):  # whose encoding was chosen when the server started
        stream.reconfigure(encoding=env.get("PYTHONIOENCODING", "utf-8"))  # type: ignore[union-attr]  # text
    codes: list[object] = []
    for number, arguments in enumerate(commands):
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            file = os.open(f"{printed}/{number}.{name}", os.O_WRONLY | os.O_CREAT)
            os.dup2(file, descriptor)
            os.close(file)
        sys.argv[:] = [program, *arguments]
        try:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
            codes.append(0)
        except SystemExit as ended:
            codes.append(ended.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
    Path(printed, "codes").write_text(json.dumps(codes))
    pool = getattr(sys.modules.get("joblib.externals.loky.reusable_executor"), "_executor", None)
    if pool is not None:  # this process would wait for its workers
        pool.shutdown(kill_workers=True)


def run_commands(
    commands: Sequence[Sequence[str]],
    cwd: str | Path,
    env: Mapping[str, str] = PLAIN,
    seconds: float = SAFETY_SECONDS,
    program: str = "dcglearn",
) -> list[subprocess.CompletedProcess[str]]:
    """Run commands one after the other in one process; return their exit codes and output.

    They are arguments of this package, or of another `program` that ``python -m`` would run.
    """
    env = {**os.environ, **env}
    with tempfile.TemporaryDirectory() as printed:
        arguments = ([list(one) for one in commands], str(cwd), env, printed, program)
        child = _CONTEXT.Process(target=_in_child, args=arguments)
        child.start()
        child.join(seconds)
        if child.exitcode is None:
            child.kill()
            child.join()
            raise subprocess.TimeoutExpired([*map(list, commands)], seconds)
        codes = json.loads(Path(printed, "codes").read_text())
        encoding = env.get("PYTHONIOENCODING", "utf-8")
        return [
            subprocess.CompletedProcess(
                list(words),
                code,
                Path(printed, f"{number}.stdout").read_text(encoding),
                Path(printed, f"{number}.stderr").read_text(encoding),
            )
            for number, (words, code) in enumerate(zip(commands, codes, strict=True))
        ]


def run_command(
    arguments: Sequence[str], cwd: str | Path, *more: Any
) -> subprocess.CompletedProcess[str]:
    """Run one command, with the environment and the seconds of :func:`run_commands`."""
    (done,) = run_commands([arguments], cwd, *more)
    return done


def run_here(*arguments: str, **options: Any) -> None:
    """Run a command in this process; what is wrong is raised as the command would say it."""
    from typer.testing import CliRunner

    from dcglearn import InputError
    from dcglearn.cli import app
    from dcglearn.cli.output import in_options

    words = list(arguments)
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    try:
        print(CliRunner().invoke(app, words, catch_exceptions=False).stdout, end="")
    except InputError as error:
        raise InputError(in_options(error.problem), in_options(error.remedy), error.place) from None


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
