"""Keywords, as type checkers, ``help`` and the command line know them."""

import importlib
import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
import typing

import numpy as np
import pytest

import magnon
from magnon import _keywords, _magnon

#: Functions that stand for a call of the library, with the call, and its parameters that are no keywords.
COMMANDS = {
    "train": ("train", set()),
    "tune": ("tune", set()),
    "compare": ("compare", set()),
    "predict": ("predict", {"feature_norm", "split", "split_seed"}),
    "propagate": ("propagate", None),
    "magnetic_operator": ("operator", None),
    "filter_response": ("response", None),
    "spectrum": ("spectrum", None),
    "spectral_density": ("spectrum", None),
    "eigenmap": ("eigenmap", None),
    "denoise": ("denoise", None),
    "cycle_lengths": ("cycles", None),
    "load_dataset": ("info", set()),
}
#: Keywords that are no parameters of the settings.
OWN = {"data", "run", "progress", "return_report", "linear_operator", "self_loops", "seed", "threads", "dtype"}


def parameters(call):
    return {name for name, _ in _magnon.call_parameters(call)}


def keywords(name):
    return {key.rstrip("_"): one for key, one in inspect.signature(getattr(magnon, name)).parameters.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_signatures_name_the_parameters(name):
    command, left_out = COMMANDS[name]
    flags = parameters(command)
    given = set(keywords(name)) - OWN
    assert given <= flags
    if left_out is not None:
        assert flags - given == left_out | ({"no_self_loops"} & flags)


@pytest.mark.parametrize("name", COMMANDS)
def test_choices_are_those_of_the_library(name):
    command, hints = COMMANDS[name][0], {}
    for key, hint in typing.get_type_hints(getattr(magnon, name)).items():
        kind = typing.get_args(hint)[0] if key == "settings" else None
        hints.update(typing.get_type_hints(kind) if kind is not None else {key: hint})
    hints = {key.rstrip("_"): hint for key, hint in hints.items()}
    checked = 0
    for flag, words in _magnon.call_parameters(command):
        if flag not in hints or not words:
            continue
        literals = [one for one in typing.get_args(hints[flag]) if typing.get_origin(one) is typing.Literal]
        if flag == "model":  # magnon.models lists them
            continue
        assert set(typing.get_args(literals[0])) == set(words), flag
        checked += 1
    assert checked


def test_estimators_take_what_the_command_takes():
    flags = parameters("train")
    own = {"settings", "validation_fraction", "data", "random_state", "n_jobs", "self_loops", "preset"}
    assert {name.rstrip("_") for name in magnon.MagneticClassifier._names()} - own <= flags


@pytest.mark.parametrize("name", [name for name in magnon.__all__ if inspect.isfunction(getattr(magnon, name))])
def test_type_hints_can_be_had(name):
    function = getattr(magnon, name)
    hints = typing.get_type_hints(function)
    assert "return" in hints
    for kind in vars(_keywords).values():
        if typing.is_typeddict(kind):
            for key, hint in typing.get_type_hints(kind).items():
                assert hint is typing.Any or type(None) in typing.get_args(hint), key


def public_functions():
    """All functions of the package and of its cluster module, and all methods of its classes."""
    modules = ["magnon"] + (["magnon.ray"] if importlib.util.find_spec("ray") else [])
    for module in map(importlib.import_module, modules):
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isfunction(one):
                yield module.__name__, name
            for key in dir(one) if inspect.isclass(one) else ():
                member = inspect.getattr_static(one, key)
                inner = getattr(member, "__func__", getattr(member, "fget", member))
                if inspect.isfunction(inner) and inner.__module__.startswith("magnon") and not key.startswith("_"):
                    yield module.__name__, f"{name}.{key}"


def test_type_hints_can_be_had_in_a_fresh_process():
    """One function at a time, as what is resolved for one is kept for all."""
    found = list(public_functions())
    assert {name for _, name in found} >= {"predict", "Run.save", "MagneticClassifier.load", "Dataset.splits"}
    code = (
        "import sys, os, inspect, typing, magnon\n"
        f"if {importlib.util.find_spec('ray') is not None}: import magnon.ray\n"
        f"for module, name in {found!r}:\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        try:\n"
        "            thing = sys.modules[module]\n"
        "            for word in name.split('.'): thing = inspect.getattr_static(thing, word)\n"
        "            thing = getattr(thing, '__func__', getattr(thing, 'fget', thing))\n"
        "            typing.get_type_hints(thing)\n"
        "        except BaseException as error:\n"
        "            print(module, name, repr(error), flush=True)\n"
        "        os._exit(0)\n"
        "    os.waitpid(child, 0)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_none_is_taken_for_every_flag(name):
    """None leaves a keyword out, and the types say so."""
    function, flags = getattr(magnon, name), parameters(COMMANDS[name][0])
    hints = typing.get_type_hints(function)
    for key in set(hints) & flags:
        assert hints[key] is typing.Any or type(None) in typing.get_args(hints[key]), key


def test_none_is_the_default():
    assert magnon.spectrum("cycle:nodes=4", vectors=None).vectors is None
    assert magnon.eigenmap("cycle:nodes=6", vectors=None, whole_graph=None).points.shape == (6, 3)
    assert "curves" not in magnon.filter_response("cycle:nodes=6", eigenvalues=None, points=3)
    assert "counts" not in magnon.cycle_lengths("cycle:nodes=6", enumerate=None)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_all_keywords(name):
    text = inspect.getdoc(getattr(magnon, name))
    (settings,) = typing.get_args(typing.get_type_hints(getattr(magnon, name))["settings"])
    for key in {*inspect.signature(getattr(magnon, name)).parameters, *settings.__annotations__} - {"settings"}:
        if key not in ("data", "run", "progress"):
            assert re.search(rf"\b{key}\b", text), key


def test_none_leaves_a_keyword_out():
    data = magnon.generate("cyclic", nodes=60, columns=4)
    left_out = {key: None for key in keywords("train") if key not in OWN}
    left_out["pass_"] = left_out.pop("pass")
    run = magnon.train(data, **{**left_out, "epochs": 3, "charge": 0.2})
    assert run.epochs == 3


def test_a_run_is_shown_in_a_few_lines():
    run = magnon.train("cyclic:nodes=90", epochs=5, charge="1/3")
    text = repr(run)
    assert 5 <= len(text.splitlines()) <= 12
    assert "mgc" in text and "1/3" in text and "verdict" in text and "to_dict" in text
    assert "train_homophily" in run._repr_html_()


def test_several_runs_are_shown_by_their_means():
    run = magnon.train("cyclic:nodes=90", epochs=5, charge="1/3", runs=2)
    text = repr(run)
    assert f"{100 * run.val_accuracy.mean:.1f} %, mean of 2 runs" in text
    assert re.search(r"test_accuracy .* %\), mean of 2 runs", text)
    assert re.search(r"epochs +5, mean of 2 runs", text)


def test_words_of_python_are_attributes_with_an_underscore():
    run = magnon.train("cyclic:nodes=90", epochs=5, charge="1/3")
    assert run.pass_ == run["pass"] == "low" and "pass_" in dir(run)
    response = magnon.filter_response("cycle:nodes=5", charge=0, points=5)
    assert np.array_equal(response.lambda_, response["lambda"])
    with pytest.raises(AttributeError, match="model_"):
        run.model_


@pytest.mark.parametrize("settings", [{}, {"charge": 0.2, "normalize": "rw"}, {"charge": 0}, {"pass_": "high"}])
def test_linear_operators_are_pickled(graph, settings):
    operator = magnon.magnetic_operator(graph, linear_operator=True, **settings)
    again = pickle.loads(pickle.dumps(operator))
    block = np.random.default_rng(0).normal(size=(40, 3))
    assert again.shape == operator.shape and again.dtype == operator.dtype
    assert np.array_equal(again @ block, operator @ block)
    assert np.array_equal(again.rmatvec(block[:, 0]), operator.rmatvec(block[:, 0]))
    assert np.array_equal((pickle.loads(pickle.dumps(operator.T)) @ block), operator.T @ block)


def test_charges_of_pickled_operators_stay():
    data = magnon.generate("cyclic", nodes=90, columns=4)
    operator = magnon.magnetic_operator(data, linear_operator=True, pass_="auto")
    block = np.eye(90)
    assert np.array_equal(pickle.loads(pickle.dumps(operator)) @ block, operator @ block)
