#!/usr/bin/env python3
"""What `kernelpro serve` adds to an evaluation, what waiting work takes of memory, and whether all of it is answered.

  bench/serve.py latency --program build/release/bin/kernelpro [--count 200]
  bench/serve.py mcp     --program build/release/bin/kernelpro [--count 200]
  bench/serve.py queued  --program build/release/bin/kernelpro [--count 10000]
  bench/serve.py proof   --program build/release/bin/kernelpro [--clients 100 --count 1000 --kills 5]

One line of JSON each. latency and mcp need a machine that nobody else uses.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
from kernelpro import Client  # noqa: E402

SOURCE = """// kp:options -O3
#include <cstdint>
#include "kernelpro/candidate.h"
int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const float alpha = static_cast<float>(context->scalars[0]);
  const float* x = static_cast<const float*>(tensors[0].data);
  const float* y = static_cast<const float*>(tensors[1].data);
  float* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) out[i] = alpha * x[i] + y[i];
  return 0;
}
"""


class Service:
    """The program on a port of its own, with a store that outlives it."""

    def __init__(self, program, folder, port=0, options=()):
        self._words = [program, "serve", "--store", os.path.join(folder, "store"), *options]
        self.port = port
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self._words + ["--port", str(self.port)], stdout=subprocess.PIPE, text=True
        )
        line = self.process.stdout.readline()
        if not line.startswith("serving at "):
            raise SystemExit(f"the service did not start: {line}")
        self.port = int(line.rsplit(":", 1)[1])

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


def memory_kb(pid, key):
    with open(f"/proc/{pid}/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key))


def quantiles(added):
    added.sort()
    return {
        "evaluations": len(added),
        "added_ms_median": round(added[len(added) // 2] * 1e3, 3),
        "added_ms_p95": round(added[int(len(added) * 0.95)] * 1e3, 3),
    }


def latency(given, folder):
    service = Service(given.program, folder)
    client = Client(service.url)
    added = []
    for number in range(given.count + 1):
        begun = time.monotonic()
        posted = client._post(
            "/v1/evaluate?wait=60",
            {"task": "axpy", "source": f"{SOURCE}// {number}\n", "mode": "check", "fresh": True},
        )
        seconds = time.monotonic() - begun
        result = posted["results"][0]["result"]
        if result["verdict"]["outcome"] != "passed":
            raise SystemExit(result["verdict"]["summary"])
        if number > 0:  # the first one opens the task
            added.append(seconds - result["build_seconds"] - result["judge_seconds"])
    service.end()
    return quantiles(added)


def mcp(given, folder):
    """The same over `kernelpro mcp` on standard input and output."""
    process = subprocess.Popen(
        [given.program, "mcp", "--store", os.path.join(folder, "store")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )

    def ask(number, method, params):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())["result"]

    ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})
    added = []
    for number in range(given.count + 1):
        begun = time.monotonic()
        arguments = {"task": "axpy", "sources": [f"{SOURCE}// {number}\n"], "mode": "check"}
        told = ask(number + 1, "tools/call", {"name": "evaluate", "arguments": arguments})
        seconds = time.monotonic() - begun
        if "verdicts" not in told.get("structuredContent", {}):
            raise SystemExit(f"it is no verdict, or took longer than 45 s: {told}")
        with open(told["structuredContent"]["verdicts"][0]["certificate"], encoding="utf-8") as file:
            verdict = json.load(file)["verdict"]
        if verdict["outcome"] != "passed":
            raise SystemExit(verdict["summary"])
        if number > 0:  # the first one opens the task
            added.append(seconds - (verdict["build_ns"] + verdict["judge_ns"]) * 1e-9)
    process.stdin.close()
    process.wait()
    return quantiles(added)


def queued(given, folder):
    # Its worker never answers, so that nothing leaves the queue.
    service = Service(
        given.program, folder, options=["--workers", "cmd:sleep 1000000", "--queue", "100000", "--client-queue", "100000"]
    )
    client = Client(service.url)
    before = memory_kb(service.process.pid, "VmRSS")
    size = 20_000
    for begin in range(0, given.count, 100):
        batch = []
        for number in range(begin, min(begin + 100, given.count)):
            padding = "".join(f"// {number} {line} {os.urandom(24).hex()}\n" for line in range(size // 64))
            batch.append({"task": "axpy", "source": SOURCE + padding[: size - len(SOURCE)] + "\n", "mode": "check"})
        client._post("/v1/evaluate", {"evaluations": batch})
    answer = {
        "queued": given.count,
        "source_bytes": size,
        "resident_mb_before": round(before / 1024, 1),
        "resident_mb": round(memory_kb(service.process.pid, "VmRSS") / 1024, 1),
        "resident_mb_peak": round(memory_kb(service.process.pid, "VmHWM") / 1024, 1),
    }
    service.end()
    return answer


def proof(given, folder):
    service = Service(given.program, folder)
    results, failures, lock = {}, [], threading.Lock()

    def work(number):
        client = Client(service.url, patience_seconds=3600)
        for one in range(number, given.count, given.clients):
            try:
                result = client.evaluate("axpy", f"int kernel_{one}\n;\n", mode="check")
                with lock:
                    results[one] = result.id
            except Exception as error:  # whatever it is, it is what the proof is about
                with lock:
                    failures.append(f"{one}: {error}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(given.clients)]
    for thread in threads:
        thread.start()
    kills = 0
    while any(thread.is_alive() for thread in threads):
        with lock:
            done = len(results) + len(failures)
        if kills < given.kills and done >= given.count * (kills + 1) // (given.kills + 1):
            service.kill()
            kills += 1
            service.start()
        time.sleep(0.02)
    service.end()
    rows = sqlite3.connect(os.path.join(folder, "store", "service.sqlite")).execute(
        "SELECT count(*), count(result), max(attempts), sum(attempts) FROM work"
    ).fetchone()
    return {
        "clients": given.clients,
        "evaluations": given.count,
        "kills": kills,
        "answered": len(results),
        "failures": failures[:5],
        "distinct_results": len(set(results.values())),
        "accepted": rows[0],
        "stored_results": rows[1],
        "most_attempts": rows[2],
        "attempts": rows[3],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["latency", "mcp", "queued", "proof"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--count", type=int)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--kills", type=int, default=5)
    given = parser.parse_args()
    given.program = os.path.abspath(given.program)
    given.count = given.count or {"latency": 200, "mcp": 200, "queued": 10_000, "proof": 1000}[given.what]
    folder = tempfile.mkdtemp(prefix="kernelpro-serve-")
    try:
        print(json.dumps({"bench": given.what, **globals()[given.what](given, folder)}))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
