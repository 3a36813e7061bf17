"""A Python client that another program generates from the OpenAPI document of `surefoot serve`, and what it is told."""

import importlib
import json
import subprocess
import sys
import threading
import time
import urllib.request

import pytest
from conftest import ROOT, surefoot

LINEAR = ROOT / "examples/linear"
ANA = {"education": 11, "income": 2400, "savings": 6000}


@pytest.fixture(scope="module")
def service():
    """The address of a service."""
    command = [ROOT / "target/debug/surefoot", "serve", LINEAR / "problem.toml", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    address = next(line.split()[-1] for line in process.stderr if "listening" in line)
    # Nobody else reads what is logged.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    yield address
    process.terminate()
    assert process.wait(60) == 0


@pytest.fixture(scope="module")
def client(service, tmp_path_factory):
    """The generated package."""
    folder = tmp_path_factory.mktemp("client")
    with urllib.request.urlopen(f"{service}/openapi.json") as response:
        (folder / "openapi.json").write_bytes(response.read())
    (folder / "settings.yaml").write_text("package_name_override: surefoot_client\npost_hooks: []\n")
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--path", "openapi.json", "--config", "settings.yaml"]
    done = subprocess.run([*command, "--meta", "none"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    # What it does not understand it leaves out, and says so.
    assert "WARNING" not in done.stdout + done.stderr and "ERROR" not in done.stdout + done.stderr, done.stdout
    sys.path.insert(0, str(folder))
    yield importlib.import_module("surefoot_client")
    sys.path.remove(str(folder))


def operation(name):
    return importlib.import_module(f"surefoot_client.api.routes.{name}")


def test_answers_are_typed_and_those_of_the_command_line(client, service, tmp_path):
    models = importlib.import_module("surefoot_client.models")
    connected = client.Client(base_url=service)
    body = models.RecourseRequest.from_dict({"people": [{"id": "ana", "values": ANA}], "proofs": True})
    answers = operation("recourse").sync(client=connected, body=body)
    assert isinstance(answers, models.RecourseResponse)
    (answer,) = answers.answers
    (option,) = answer.options
    said = surefoot(LINEAR, "recourse", "problem.toml", "--person", json.dumps(ANA))
    assert answer.status == "found" and answer.text == said.strip()
    assert option.action.additional_properties.keys() == set(option.intervention)
    assert option.steps[0].column in option.intervention

    verify = models.VerifyRequest.from_dict({"proofs": [answer.proof.to_dict()]})
    verified = operation("verify").sync(client=connected, body=verify)
    assert verified.all_verified and verified.results[0].verdict == "verified"
    (tmp_path / "proofs.jsonl").write_text(json.dumps(answer.proof.to_dict()) + "\n")
    assert "verified" in surefoot(tmp_path, "verify", LINEAR / "problem.toml", "proofs.jsonl")


def test_every_other_operation_is_understood(client, service):
    models = importlib.import_module("surefoot_client.models")
    connected = client.Client(base_url=service)
    problem = operation("problem").sync(client=connected)
    assert [column.name for column in problem.columns] == list(ANA)
    assert operation("problems").sync(client=connected).problems[0].name == "linear"
    person = {"id": "ana", "values": ANA}
    asked = {"people": [{**person, "action": {"income": 1000}}]}
    certify = operation("certify").sync(client=connected, body=models.CertifyRequest.from_dict(asked))
    assert certify.verdicts[0].verdict == "breaks"
    attack = operation("attack").sync(client=connected, body=models.AttackRequest.from_dict({"people": [person], "cheapest": True}))
    assert not attack.attacks[0].attack.broken and attack.attacks[0].cheapest.broken
    asked = models.TradeOffRequest.from_dict({"person": person, "epsilons": [0, 0.1]})
    curve = operation("trade_off").sync(client=connected, body=asked)
    assert curve.points[0].cost < curve.points[1].cost
    letter = operation("letter").sync(client=connected, body=models.LetterRequest.from_dict({"people": [person], "language": "de"}))
    assert letter.letters[0].content.startswith("<!DOCTYPE html>")


def test_errors_are_typed(client, service):
    models = importlib.import_module("surefoot_client.models")
    body = models.RecourseRequest.from_dict({"people": [{"values": {"education": 11}}]})
    response = operation("recourse").sync_detailed(client=client.Client(base_url=service), body=body)
    assert response.status_code == 422
    details = json.loads(response.content)
    assert details["type"] == "urn:surefoot:error:invalid" and "person 1" in details["detail"]


def test_events_end_with_the_answer(service):
    body = json.dumps({"people": [{"values": ANA}]}).encode()
    request = urllib.request.Request(f"{service}/v1/recourse/stream", body, {"Content-Type": "application/json"})
    start = time.monotonic()
    with urllib.request.urlopen(request) as response:
        events = response.read().decode().strip().split("\n\n")
    assert events[-1].startswith("event: answer\ndata: {") and time.monotonic() - start < 60
