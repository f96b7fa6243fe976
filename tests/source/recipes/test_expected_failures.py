"""Call sites that are meant to fail are no recipes; all others are."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.source.recipes.test_call_sites import sites

FAILING = {
    "pytest.raises": "def test():\n    net = Net(4)\n    with pytest.raises(ValueError, match='x'):\n        net(X)\n",
    "raises": (
        "from pytest import raises\ndef test():\n    net = Net(4)\n"
        "    with raises(ValueError) as error:\n        net(X)\n"
    ),
    "assertRaises": (
        "class T:\n    def test(self):\n        net = Net(4)\n"
        "        with self.assertRaises(ValueError):\n            net(X)\n"
    ),
    "assertRaisesRegex": (
        "class T:\n    def test(self):\n        net = Net(4)\n"
        "        with self.assertRaisesRegex(ValueError, 'x') as caught:\n            y = net(X)\n"
    ),
    "two context managers": (
        "def test():\n    net = Net(4)\n    with torch.no_grad(), pytest.raises(ValueError):\n        net(X)\n"
    ),
    "nested": (
        "def test():\n    net = Net(4)\n    with pytest.raises(ValueError):\n"
        "        with torch.no_grad():\n            net(X)\n"
    ),
    "a lambda": "def test():\n    net = Net(4)\n    pytest.raises(ValueError, lambda: net(X))\n",
    "a lambda of unittest": (
        "class T:\n    def test(self):\n        net = Net(4)\n        self.assertRaises(ValueError, lambda: net(X))\n"
    ),
    "suppress": "import contextlib\nnet = Net(4)\nwith contextlib.suppress(Exception):\n    net(X)\n",
    "a conditional context": (
        "def test(bad):\n    net = Net(4)\n    context = pytest.raises(ValueError) if bad else nullcontext()\n"
        "    with context:\n        net(X)\n"
    ),
    "xfail": "@pytest.mark.xfail\ndef test():\n    net = Net(4)\n    net(X)\n",
    "xfail with a reason": "@pytest.mark.xfail(reason='no', strict=True)\ndef test():\n    net = Net(4)\n    net(X)\n",
    "expectedFailure": (
        "import unittest\nclass T:\n    @unittest.expectedFailure\n    def test(self):\n"
        "        net = Net(4)\n        net(X)\n"
    ),
    "a marked class": "@pytest.mark.xfail\nclass TestNet:\n    def test(self):\n        net = Net(4)\n        net(X)\n",
    "try and assert False": (
        "net = Net(4)\ntry:\n    net(X)\n    assert False\nexcept ValueError as error:\n    print(error)\n"
    ),
    "try and fail": (
        "def test():\n    net = Net(4)\n    try:\n        net(X)\n        pytest.fail('no')\n"
        "    except ValueError:\n        print()\n"
    ),
    "try, else raise": (
        "net = Net(4)\ntry:\n    net(X)\nexcept ValueError as error:\n    print(error)\nelse:\n"
        "    raise AssertionError\n"
    ),
    "try and pass": "net = Net(4)\ntry:\n    net(X)\nexcept ValueError:\n    pass\n",
    "try and check the error": "net = Net(4)\ntry:\n    net(X)\nexcept ValueError as e:\n    assert 'x' in str(e)\n",
}


@pytest.mark.parametrize("name", FAILING)
def test_a_call_that_is_meant_to_fail_is_no_recipe(name: str) -> None:
    text = FAILING[name].replace("X", "torch.randn(1, 6)")
    assert not [inputs for _, inputs in sites(text) if inputs is not None]


@pytest.mark.parametrize("name", ["pytest.raises", "try and pass"])
def test_a_model_that_is_meant_not_to_be_made_is_no_recipe(name: str) -> None:
    text = FAILING[name].replace("net(X)", "Net(-7)")
    assert not [init for init, _ in sites(text) if init and "-7" in init]


WORKING = {
    "a context": "net = Net(4)\nwith torch.no_grad():\n    net(X)\n",
    "a try that reports": (
        "net = Net(4)\ntry:\n    net(X)\nexcept RuntimeError as error:\n    print('no', error)\n    raise\n"
    ),
    "a finally": "net = Net(4)\ntry:\n    net(X)\nfinally:\n    print()\n",
    "after raises": "def test():\n    net = Net(4)\n    with pytest.raises(ValueError):\n        Net(-1)\n    net(X)\n",
    "in a handler": "net = Net(4)\ntry:\n    import missing\nexcept ImportError:\n    net(X)\n",
    "an interrupted loop": (
        "net = Net(4)\ntry:\n    for batch in loader:\n        net(X)\nexcept KeyboardInterrupt:\n    pass\n"
    ),
    "the end of data": "net = Net(4)\ntry:\n    net(X)\nexcept (StopIteration, EOFError) as e:\n    pass\n",
    "a missing package": "net = Net(4)\ntry:\n    import wandb\n    net(X)\nexcept ImportError:\n    pass\n",
    "a missing file": "net = Net(4)\nwith contextlib.suppress(FileNotFoundError):\n    net(X)\n",
    "parametrised": "@pytest.mark.parametrize('n', [1])\ndef test(n):\n    net = Net(4)\n    net(X)\n",
    "warnings": "def test():\n    net = Net(4)\n    with pytest.warns(UserWarning):\n        net(X)\n",
    "an assertion afterwards": (
        "def test():\n    net = Net(4)\n    try:\n        y = net(X)\n        assert y.shape\n"
        "    except OSError:\n        print()\n"
    ),
}


@pytest.mark.parametrize("name", WORKING)
def test_other_calls_are_recipes(name: str) -> None:
    text = WORKING[name].replace("X", "torch.randn(1, 6)")
    assert ("Net(4)", "torch.randn(1, 6)") in sites(dedent(text))
