"""The parameters of a classifier, from the configuration of a run."""

from __future__ import annotations

from typing import Any

from ._results import Result
from ._training import models

_MODEL = ("hidden", "layers", "dropout", "gate", "init", "channels")


def parameters(config: Result) -> dict[str, Any]:
    """The parameters that give this configuration: those that are not the model's own."""
    told, own = config.to_dict(), models(config.model.name).config.to_dict()
    model = _changed(told["model"], own["model"])
    found = {key: model.pop(key) for key in _MODEL if key in model}
    found["model"] = told["model"]["name"]
    model.pop("name", None)
    if model:
        found["settings"] = model
    operator = _changed(told.get("operator"), own.get("operator"))
    found.update({"pass_" if key == "pass" else key: value for key, value in operator.items()})
    filter_ = _changed(told.get("filter"), own.get("filter"))
    found.update({"filter" if key == "kind" else key: value for key, value in filter_.items()})
    train = _changed(told["train"], own["train"])
    optimiser = _changed(train.pop("optimiser", None), own["train"]["optimiser"])
    if "schedule" in optimiser:
        kind, *values = optimiser["schedule"].values()
        optimiser["schedule"] = f"{kind}:{','.join(map(str, values))}" if values else kind
    train.pop("seed", None)
    found.update({**train, **optimiser, "random_state": told["train"]["seed"]})
    found.update(runs=told["runs"]["count"] if told["runs"]["count"] != 1 else None, controls=told["runs"]["controls"])
    found["feature_norm"] = told["data"]["load"]["feature_norm"]
    return found


def _changed(values: dict[str, Any] | None, defaults: dict[str, Any] | None) -> dict[str, Any]:
    """What differs from the defaults."""
    base = defaults or {}
    return {key: value for key, value in (values or {}).items() if key not in base or base[key] != value}
