"""Which variables of the environment a tracing process receives, and with which values."""

from __future__ import annotations

import pytest

from fxlsp.engine.connection.environment import HIDDEN, tracing_environment

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG",
    "AWS_SESSION_TOKEN": "x",
    "CI_JOB_TOKEN": "x",
    "CODECOV_AUTH": "x",
    "DATABASE_URL": "postgres://someone:word@example.org/base",
    "DB_PASSWORD": "x",
    "GITHUB_PAT": "x",
    "GOOGLE_APPLICATION_CREDENTIALS": "/home/someone/key.json",
    "HARMLESS_NAME": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "HF_TOKEN": "hf_x",
    "MY_SETTING": "sk-proj-0123456789abcdefghijABCDEFGHIJ",
    "OPENAI_API_KEY": "x",
    "PGPASSWORD": "x",
    "PIP_INDEX_URL": "https://someone:word@example.org/simple",
    "SESSION_COOKIE": "x",
    "SOME_KEY": "0123456789abcdefghij0123456789",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "WANDB_API_KEY": "0123456789",
    "api_key": "x",
    "https_proxy": "http://someone:word@proxy:3128",
    "npm_config__authToken": "x",
}
HARMLESS = {
    "AUTHOR": "someone",
    "DATASET_KEY": "image",
    "HOME": "/home/someone",
    "HTTPS_PROXY": "http://proxy:3128",
    "KEYBOARD": "us",
    "LANG": "C.UTF-8",
    "MAX_TOKENS": "512",
    "NUM_KEYS": "8",
    "PATH": "/usr/bin:/bin",
    "PYTHONPATH": "/src",
    "TOKENIZERS_PARALLELISM": "false",
    "USE_AUTH": "1",
    "WITH_TOKEN": "false",
    "TOKENIZER": "bert-base",
    "XAUTHORITY": "/run/xauth",
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_keeps_its_name_and_loses_its_value(name: str) -> None:
    assert tracing_environment(SECRETS)[name] == HIDDEN


@pytest.mark.parametrize("name", HARMLESS)
def test_other_variables_are_passed_on(name: str) -> None:
    assert tracing_environment(HARMLESS)[name] == HARMLESS[name]


def test_a_tracing_process_has_one_thread_and_no_accelerator() -> None:
    environment = tracing_environment({"OMP_NUM_THREADS": "8", "CUDA_VISIBLE_DEVICES": "0"})
    assert (environment["OMP_NUM_THREADS"], environment["CUDA_VISIBLE_DEVICES"]) == ("1", "")


def test_a_tracing_process_caches_bytecode_and_is_not_taken_for_another_python() -> None:
    assert not {"PYTHONDONTWRITEBYTECODE", "__PYVENV_LAUNCHER__"} & set(
        tracing_environment({"PYTHONDONTWRITEBYTECODE": "1", "__PYVENV_LAUNCHER__": "/usr/bin/python3"})
    )
