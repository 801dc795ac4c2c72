"""Language models as a caller meets them: specs, addresses, arguments, and what an import costs."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data.errors import LmrlError
from lmrl_data.llm import ChatMessage, chat_model
from lmrl_data.llm.address import is_loopback, public_name, server_of, tokens_field

QUESTION: list[ChatMessage] = [{"role": "user", "content": "Who?"}]


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize(
    ("spec", "name", "model", "address"),
    [
        ("openai:gpt-4o", "openai:gpt-4o", "gpt-4o", "https://api.openai.com/v1/"),
        ("openai:m@http://localhost:8000/v1", "openai:m", "m", "http://localhost:8000/v1/"),
        (
            "openai:Qwen/Qwen3-8B@https://h.example/v1/",
            "openai:Qwen/Qwen3-8B",
            "Qwen/Qwen3-8B",
            "https://h.example/v1/",
        ),
        ("openai:llama3:8b@http://h/v1", "openai:llama3:8b", "llama3:8b", "http://h/v1/"),
        ("openai:@cf/meta/llama@https://h/v1", "openai:@cf/meta/llama", "@cf/meta/llama", "https://h/v1/"),
        ("openai:/home/me/models/a.gguf@http://h/v1", "openai:a.gguf", "/home/me/models/a.gguf", "http://h/v1/"),
        ("openai:C:\\models\\a.gguf@http://h/v1", "openai:a.gguf", "C:\\models\\a.gguf", "http://h/v1/"),
    ],
)
def test_specs_of_servers(spec: str, name: str, model: str, address: str) -> None:
    made = chat_model(spec)
    assert made.name == name
    assert made._backend.identity == {"backend": "openai", "model": model, "url": address}  # type: ignore[attr-defined]


@pytest.mark.parametrize("spec", ["", "openai", "openai:", "hf:", "knowledge", "gpt:4", "OPENAI:m"])
def test_a_spec_of_another_kind_names_the_kinds(spec: str) -> None:
    with pytest.raises(LmrlError, match=r"openai:MODEL@BASE_URL.*hf:PATH"):
        chat_model(spec)


@pytest.mark.parametrize(
    "address",
    [
        "http://me:hunter2@h.example/v1",
        "https://hunter2@h.example/v1",
        "https://h.example/v1?key=hunter2",
        "https://h.example/v1#hunter2",
        "ftp://h.example/hunter2",
        "http://",
        "http://h:99999/v1/hunter2",
        "http://h:port/hunter2",
        "http://[::1/hunter2",
        "http://h/hunter2 x",
        "http://h/v1\nhunter2",
        "http://h/hünter2/hunter2",
    ],
)
@pytest.mark.parametrize("by_variable", [False, True])
def test_an_address_that_must_not_be_used_is_not_repeated(
    address: str, by_variable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(LmrlError) as caught:
        chat_model("openai:m" if by_variable else f"openai:m@{address}")
    assert "hunter2" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["openai:m@localhost/v1", "openai:m@h.example:8000/v1", "openai:http://h/v1"])
def test_an_address_without_http_is_not_taken_for_a_model(spec: str) -> None:
    with pytest.raises(LmrlError, match="http://"):
        chat_model(spec)


@pytest.mark.parametrize("model", ["a\nb", "a\udcff"])
def test_a_name_that_cannot_be_sent_is_refused(model: str) -> None:
    with pytest.raises(LmrlError, match="model's name"):
        chat_model(f"openai:{model}")


def test_addresses() -> None:
    assert [is_loopback(f"http://{host}/v1") for host in ("127.0.0.1", "127.1.2.3:80", "[::1]:80", "localhost")] == [
        True
    ] * 4
    assert not any(is_loopback(f"http://{host}/v1") for host in ("h", "10.0.0.1", "localhost.evil.example"))
    assert server_of("https://h.example:8/secret/v1") == "https://h.example:8"
    assert server_of("http://[::1]:8/v1") == "http://[::1]:8"


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://eu.api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://notopenai.com/v1", "max_tokens"),
        ("http://localhost:8000/openai.com", "max_tokens"),
    ],
)
def test_openai_has_its_own_word_for_the_limit(address: str, field: str) -> None:
    assert tokens_field(address) == field


@given(st.text())
def test_public_names_hold_no_full_path(text: str) -> None:
    name = public_name(text)
    assert not name.startswith(("/", "~", "\\"))
    assert name == text or name == text.rstrip("/\\").replace("\\", "/").rpartition("/")[2]


@pytest.mark.parametrize(
    "settings",
    [
        {"max_tokens": 0},
        {"temperature": -0.1},
        {"temperature": float("nan")},
        {"temperature": float("inf")},
        {"temperature": 1.0, "seed": -1},
        {"temperature": 1.0, "seed": 2**63},
    ],
)
def test_arguments_that_no_model_takes(settings: dict[str, Any]) -> None:
    with pytest.raises(LmrlError):
        chat_model("openai:m@http://127.0.0.1:9/v1").reply(QUESTION, **{"max_tokens": 7, **settings})


@pytest.mark.parametrize("stop", ["word", [".", ""]])
def test_stop_is_a_list_of_texts(stop: Any) -> None:
    with pytest.raises(ValueError, match="stop"):
        chat_model("openai:m@http://127.0.0.1:9/v1").reply(QUESTION, max_tokens=7, stop=stop)


@pytest.mark.parametrize("settings", [{"concurrency": 0}, {"timeout": 0.0}, {"timeout": float("nan")}, {"retries": -1}])
def test_settings_that_make_no_sense(settings: dict[str, Any]) -> None:
    with pytest.raises(LmrlError, match=next(iter(settings))):
        chat_model("openai:m@http://127.0.0.1:9/v1", **settings)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


def test_nothing_of_it_is_imported_before_it_is_used() -> None:
    done = run(
        "import sys, lmrl_data; before = set(sys.modules); import lmrl_data.llm; print(*sys.modules, '|', *before)"
    )
    after, _, before = done.stdout.partition("|")
    assert not {"torch", "transformers", "openai"} & set(after.split())
    assert not {"lmrl_data.llm", "sqlite3"} & set(before.split())


@pytest.mark.parametrize(
    ("package", "spec", "extra"), [("openai", "openai:m", "lmrl-gym[llm]"), ("torch", "hf:x", "lmrl-gym[train]")]
)
def test_a_missing_extra_is_named(package: str, spec: str, extra: str) -> None:
    done = run(
        f"import sys; sys.modules['{package}'] = None\nfrom lmrl_data.llm import chat_model\nchat_model('{spec}')"
    )
    assert f'pip install "{extra}"' in done.stderr.splitlines()[-1]
