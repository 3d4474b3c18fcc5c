"""An environment as training loops have them: reset, then steps, each a source that is judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, Optional, Tuple

from .client import Client, Result


@dataclass(frozen=True)
class Step:
    observation: str
    reward: Optional[float]  # None: leave this step out of the update
    terminated: bool
    truncated: bool
    info: Dict[str, Any] = field(default_factory=dict)

    def as_tuple(self) -> Tuple[str, float, bool, bool, Dict[str, Any]]:
        """For loops that know numbers alone: 0 where there is no reward, and info["masked"] says so."""
        return self.observation, self.reward or 0.0, self.terminated, self.truncated, self.info


def _told(result: Result) -> str:
    verdict = result.verdict
    lines = [f"{verdict.outcome}: {verdict.summary}"]
    if verdict.speedup is not None:
        lines.append(f"speed-up {verdict.speedup:.3g} over the incumbent ({verdict.comparison})")
    return "\n".join(lines + list(verdict.evidence))


class Environment:
    """An episode is up to `steps` attempts at one task."""

    def __init__(self, client: Client, task: str, steps: int = 4, mode: str = "timed", language: str = "cpp") -> None:
        self._client = client
        self._task = task
        self._steps = steps
        self._wishes = {"mode": mode, "language": language}
        self._taken = 0

    def reset(self) -> Tuple[str, Dict[str, Any]]:
        self._taken = 0
        known = {task["name"]: task for task in self._client.tasks()}
        if self._task not in known:
            raise ValueError(f"there is no task {self._task}; known are {', '.join(sorted(known))}")
        return known[self._task].get("summary", ""), {"task": self._task}

    def step(self, source: str) -> Step:
        if self._taken >= self._steps:
            raise RuntimeError("the episode is over: reset first")
        self._taken += 1
        result = self._client.evaluate(self._task, source, **self._wishes)
        info = {"result": result, "masked": result.reward.value is None, "because": result.reward.because}
        return Step(_told(result), result.reward.value, False, self._taken >= self._steps, info)
