"""Runs whose tables and figures are written by a thread while the next cells are computed."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

from dcglearn.design.config import read_config
from dcglearn.design.own_functions import ALONE
from dcglearn.experiments.running import run_experiments
from dcglearn.lab.experiment_files import load_experiment, make_figures
from helpers.own_functions import written


def test_no_function_of_ones_own_runs_while_figures_are_made(tmp_path: Path) -> None:
    """They would be taken for what prints or draws from NumPy's generator in ``figures``."""
    config = read_config(written(tmp_path))
    code, free = load_experiment(config), []

    def begin_another() -> None:
        free.append(ALONE.acquire(blocking=False))
        if free[0]:
            ALONE.release()

    def figures(table: pd.DataFrame) -> list[Any]:
        with ThreadPoolExecutor(1) as other:
            other.submit(begin_another).result()
        return []

    make_figures(replace(code, figures=figures), config, pd.DataFrame({"precision": [0.9]}))
    assert free == [False]


def test_what_is_being_written_is_finished_although_ctrl_c_is_pressed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = read_config(written(tmp_path))
    usual, go_on, finished = ThreadPoolExecutor.shutdown, Event(), []

    def write(*_: Any) -> None:
        go_on.wait()
        finished.append("written")

    def interrupted(self: ThreadPoolExecutor, wait: bool = True) -> None:
        signal.raise_signal(signal.SIGINT)
        go_on.set()
        usual(self)
        finished.append("ended")

    monkeypatch.setattr("dcglearn.experiments.running.write_results", write)
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", interrupted)
    say = Mock(side_effect=[None, KeyboardInterrupt])  # of the second config
    try:
        with pytest.raises(KeyboardInterrupt):
            run_experiments([config, config], False, "1", tmp_path / "out", say, print)
    finally:
        go_on.set()
    assert finished == ["written", "ended"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
