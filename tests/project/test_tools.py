"""The decisions behind `make setup` and `make constraints`; what they run is not run here."""

import subprocess

import pytest

from tools import install_torch, pin

LINUX = {"platform_system": "Linux", "platform_machine": "x86_64", "python_version": "3.11", "sys_platform": "linux"}
MAC = {"platform_system": "Darwin", "platform_machine": "arm64", "python_version": "3.11", "sys_platform": "darwin"}
CUDA = [
    "filelock",
    'nvidia-cublas==13.1; platform_system == "Linux"',
    'cuda-bindings<14,>=13; platform_system == "Linux"',
    'triton==3.7; platform_system == "Linux"',
]


def report(version: str, requires: list[str], environment: dict[str, str]) -> dict:
    metadata = {"name": "torch", "version": version, "requires_dist": requires}
    return {"install": [{"metadata": metadata}], "environment": environment}


@pytest.mark.parametrize(
    ("version", "requires", "environment", "expected"),
    [
        ("2.13.0", CUDA, LINUX, True),
        ("2.13.0", ["nvidia-cublas"], LINUX, True),
        ("2.13.0", ["triton>=3"], LINUX, True),
        ("2.13.0+cpu", CUDA, LINUX, False),
        ("2.13.0", ["filelock", "sympy>=1.13.3"], LINUX, False),
        ("2.13.0", CUDA, MAC, False),  # the wheel for a Mac lists them too, for Linux only
        ("2.13.0", ['triton==3.7; extra == "compile"'], LINUX, False),
    ],
)
def test_which_builds_bring_cuda(version, requires, environment, expected):
    assert install_torch.needs_cuda(report(version, requires, environment)) is expected


def test_torch_is_asked_for_once():
    extras = {"student": ["numpy", "torch==2.13.0"], "test": ["pytest"]}
    assert install_torch.torch_requirement({"project": {"optional-dependencies": extras}}) == "torch==2.13.0"
    with pytest.raises(ValueError, match="asks 0 times"):
        install_torch.torch_requirement({"project": {"optional-dependencies": {"test": ["torchvision"]}}})


@pytest.mark.parametrize(
    ("choice", "cuda", "gpu", "uv_works", "expected"),
    [
        ("auto", False, False, True, ["pip"]),
        ("auto", True, True, True, ["pip"]),
        ("auto", True, False, True, ["uv"]),
        ("auto", True, False, False, ["uv", "pip"]),
        ("default", True, False, True, ["pip"]),
    ],
)
def test_who_installs_torch(monkeypatch, capsys, choice, cuda, gpu, uv_works, expected):
    used = []
    monkeypatch.setattr(install_torch, "is_installed", lambda torch: False)
    monkeypatch.setattr(install_torch, "ask_pip", lambda torch: report("2.13.0", CUDA if cuda else [], LINUX))
    monkeypatch.setattr(install_torch, "has_nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(install_torch, "install_cpu_build", lambda torch: bool(used.append("uv")) or uv_works)
    monkeypatch.setattr(subprocess, "run", lambda command, check: used.append("pip"))
    install_torch.main(choice)
    assert used == expected
    assert ("gigabytes" in capsys.readouterr().out) == (expected == ["uv", "pip"])


def test_unknown_choice_is_quoted():
    with pytest.raises(SystemExit, match="TORCH='cuda'"):
        install_torch.main("cuda")


def test_pins_leave_out_what_is_not_a_version_of_a_package():
    freeze = "Zlib==1\n-e git+x@1#egg=dpcourse\ndpcourse==0.1.0\npip==26\ntorch==2.13.0+cpu\nuv==0.9\nanyio==4.1\nb @ file:///b"
    assert pin.pins(freeze) == ["anyio==4.1", "torch==2.13.0", "Zlib==1"]
