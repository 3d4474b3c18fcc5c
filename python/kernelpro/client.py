"""Calls of the service, as values with types."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Optional, Sequence

_BATCH = 64
_WAIT_SECONDS = 45


class Failure(Exception):
    """Something that kept the service from answering."""


class ServiceError(Failure):
    """The service refused: `status` is that of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{message} (status {status})")
        self.status = status


class Unavailable(Failure):
    """Nobody answered, for as long as the client was willing to try."""


@dataclass(frozen=True)
class Reward:
    """`value` is None where nothing can be learned: not judged, suspect or unverified."""

    value: Optional[float]
    formula: str
    because: str


@dataclass(frozen=True)
class Verdict:
    outcome: str
    summary: str
    rule: str = ""
    comparison: str = "not_timed"
    speedup: Optional[float] = None
    interval: Optional[Sequence[float]] = None
    evidence: Sequence[str] = ()

    @property
    def passed(self) -> bool:
        return self.outcome == "passed"


@dataclass(frozen=True)
class Result:
    id: str
    verdict: Verdict
    reward: Reward
    suspect: bool
    verified: bool
    stored: bool  # the verdict of an equal source, task and machine
    raw: Dict[str, Any] = field(repr=False, default_factory=dict)


def _verdict(view: Dict[str, Any]) -> Verdict:
    return Verdict(
        outcome=view["outcome"],
        summary=view.get("summary", ""),
        rule=view.get("rule", ""),
        comparison=view.get("comparison", "not_timed"),
        speedup=view.get("speedup"),
        interval=view.get("interval"),
        evidence=tuple(view.get("evidence", ())),
    )


def _result(standing: Dict[str, Any]) -> Result:
    result = standing["result"]
    reward = result["reward"]
    return Result(
        id=standing["id"],
        verdict=_verdict(result["verdict"]),
        reward=Reward(reward["value"], reward["formula"], reward["because"]),
        suspect=result["suspect"],
        verified=result["verified"],
        stored=result.get("stored", False),
        raw=result,
    )


class Client:
    """Waits out restarts and back-pressure: work is sent under a key, so that none is judged twice."""

    def __init__(self, url: str = "http://127.0.0.1:8086", token: str = "", patience_seconds: float = 600) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"expected http://HOST:PORT, found {url}")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._base = parts.path.rstrip("/")
        self._token = token
        self._patience = patience_seconds

    def evaluate(self, task: str, source: str, **wishes: Any) -> Result:
        """`wishes`: language, mode ("timed" or "check"), incumbent, name, fresh."""
        return self.evaluate_many([{"task": task, "source": source, **wishes}])[0]

    def evaluate_many(self, evaluations: Iterable[Dict[str, Any]]) -> List[Result]:
        """Results in the order of the evaluations, each a dictionary as `evaluate` has arguments."""
        wanted = list(evaluations)
        ids: List[str] = []
        for begin in range(0, len(wanted), _BATCH):
            sent = self._post("/v1/evaluate", {"evaluations": wanted[begin : begin + _BATCH]})
            ids += [standing["id"] for standing in sent["results"]]
        return [_result(self._wait_for(one)) for one in ids]

    def diagnose(self, task: str, source: str, language: str = "cpp") -> Dict[str, Any]:
        """Class, findings and moves, as schemas/mcp_diagnosis.json has them."""
        sent = self._post("/v1/diagnose", {"task": task, "source": source, "language": language})
        return self._wait_for(sent["results"][0]["id"])["result"]

    def tasks(self) -> List[Dict[str, Any]]:
        return self._ask("GET", "/v1/tasks", None, {})["tasks"]

    def certificate(self, result_id: str) -> Dict[str, Any]:
        return self._ask("GET", f"/v1/results/{result_id}/certificate", None, {})

    def _wait_for(self, work: str) -> Dict[str, Any]:
        while True:
            standing = self._ask("GET", f"/v1/results/{work}?wait={_WAIT_SECONDS}", None, {})
            if standing["state"] == "done":
                return standing

    def _post(self, path: str, body: Dict[str, Any]) -> Dict[str, Any]:
        return self._ask("POST", path, body, {"Idempotency-Key": str(uuid.uuid4())})

    def _ask(self, method: str, path: str, body: Optional[Dict[str, Any]], headers: Dict[str, str]) -> Dict[str, Any]:
        until = time.monotonic() + self._patience
        pause = 0.1
        while True:
            try:
                status, later, answer = self._once(method, path, body, headers)
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                status, later, answer = 0, 0.0, {"error": str(error)}
            if 200 <= status < 300:
                return answer
            if status not in (0, 429, 503):
                raise ServiceError(status, answer.get("error", ""))
            pause = max(later, min(pause * 2, 5.0))
            if time.monotonic() + pause > until:
                raise Unavailable(answer.get("error", ""))
            time.sleep(pause)

    def _once(self, method: str, path: str, body: Optional[Dict[str, Any]], headers: Dict[str, str]):
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=_WAIT_SECONDS + 30)
        try:
            sent = {"Content-Type": "application/json", **headers}
            if self._token:
                sent["Authorization"] = f"Bearer {self._token}"
            text = None if body is None else json.dumps(body)
            connection.request(method, self._base + path, text, sent)
            answer = connection.getresponse()
            later = float(answer.getheader("Retry-After") or 0)
            return answer.status, later, json.loads(answer.read() or b"{}")
        finally:
            connection.close()
