"""Strings that a recording may contain."""

from __future__ import annotations

import pytest

from fxlsp.recording.text_rules import is_name_of_secret, reason_to_leave_out

HARMLESS = [
    *("bilinear", "relu", "same", "cuda:0", "cosine", "", "/", "batch_first", "b c h w -> b (h w) c", "[PAD]", "<eos>"),
    *("resnet50.fb_ssl_yfcc100m_ft_in1k", "bert-base-uncased", "sentence-transformers/all-MiniLM-L6-v2", "a.b.c"),
    *("facebook/opt-125m", "data/train.csv", "layer1.0.conv1", "0.5", "torch.float16", "naïve"),
]
LEFT_OUT = [
    *("x" * 65, "/home/me/data", "~/data", "../../other/data", "C:\\Users\\me", "file:///etc/passwd"),
    *("sk-abcdefghijklmnopqrstuvwxyz", "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "hf_abcdefghijklmnop"),
    *("AKIAIOSFODNN7EXAMPLE", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "Bearer abc", "xoxb-123-456"),
    *("https://me:pw@example.com/x", "password=hunter2", "api_key: 12345", "-----BEGIN RSA PRIVATE KEY-----"),
    *("wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY", "d41d8cd98f00b204e9800998ecf8427e", "\ud800"),
    "123e4567-e89b-12d3-a456-426614174000",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_an_option_may_be_recorded(text: str) -> None:
    assert reason_to_leave_out(text) is None


@pytest.mark.parametrize("text", LEFT_OUT)
def test_paths_data_and_what_looks_like_a_secret_are_left_out(text: str) -> None:
    assert reason_to_leave_out(text) is not None


@pytest.mark.parametrize("name", ["password", "db_password", "api_key", "apiKey", "hf_token", "token", "client_secret"])
def test_a_name_of_a_secret_leaves_out_its_value(name: str) -> None:
    assert is_name_of_secret(name)
    assert reason_to_leave_out("short", name) is not None


@pytest.mark.parametrize("name", ["pad_token", "tokenizer", "cls_token", "key_dim", "num_keys", "author", "keyboard"])
def test_a_name_of_a_model_is_none_of_a_secret(name: str) -> None:
    assert not is_name_of_secret(name)
