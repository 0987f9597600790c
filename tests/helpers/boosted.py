"""XGBoost, where it is installed."""

from __future__ import annotations

from typing import Any

import pytest


def installed_xgboost() -> Any:
    return pytest.importorskip("xgboost", reason="xgboost is not installed")
