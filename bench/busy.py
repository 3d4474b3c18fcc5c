#!/usr/bin/env python3
"""What a search finds while a compiler runs beside it, judged again when the machine is quiet.

  bench/busy.py --program build/release/bin/kernelpro [--seconds 45] [--tasks gemm,softmax,kmeans_assign,spmv]

Each task is searched twice, for as long: on the quiet machine, and beside one compiler that begins anew whenever it
ends. Then the compiler is gone, and `kernelpro confirm` measures the finalists of the second search. The ratio is the
confirmed best of that over the best of the quiet search; the goal is 0.9. A line of JSON each task, and one for all.
"""

import argparse
import json
import math
import os
import signal
import subprocess
import tempfile

SOURCE = """#include <algorithm>
#include <map>
#include <regex>
#include <string>
int count(const std::string& text) {
  std::map<std::string, int> words;
  const std::regex word("[a-z]+");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) ++words[at->str()];
  return static_cast<int>(words.size());
}
"""


class Compiler:
    """One compiler at a time, over and over, until it is left."""

    def __init__(self, folder):
        self._source = os.path.join(folder, "words.cpp")
        with open(self._source, "w") as file:
            file.write(SOURCE)

    def __enter__(self):
        command = f"while true; do g++ -O2 -c '{self._source}' -o /dev/null; done"
        self._shell = subprocess.Popen(["sh", "-c", command], start_new_session=True)
        return self

    def __exit__(self, *_):
        os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()


class Runs:
    """Searches in a store of their own."""

    def __init__(self, program, store):
        self._words = [program]
        self._store = ["--store", store]

    def _run(self, *words):
        done = subprocess.run([*self._words, *words, *self._store], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # 3: nothing is confirmed.
        if done.returncode not in (0, 3):
            raise SystemExit(f"kernelpro {' '.join(words)}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def optimize(self, task, seconds):
        self._run("optimize", task, "--time", f"{seconds}s", "--memory", "off")

    def confirm(self, run):
        self._run("confirm", run)

    def best(self, run):
        """Its speed-up (1 where nothing is confirmed), and how many candidates were judged."""
        report = json.loads(self._run("report", run, "--json"))
        best = report.get("best") if report.get("confirmed") else None
        return (best["speedup"] if best and best["id"] != 0 else 1.0), report["evaluations"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--seconds", type=int, default=45)
    parser.add_argument("--tasks", default="gemm,softmax,kmeans_assign,spmv")
    options = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory(prefix="busy-") as folder:
        runs = Runs(options.program, os.path.join(folder, "store"))
        for task in options.tasks.split(","):
            runs.optimize(task, options.seconds)
            quiet, quiet_count = runs.best(f"{task}-1")
            with Compiler(folder):
                runs.optimize(task, options.seconds)
            beside, busy_count = runs.best(f"{task}-2")
            runs.confirm(f"{task}-2")
            again, _ = runs.best(f"{task}-2")
            ratios.append(again / quiet)
            print(json.dumps({"task": task, "quiet": round(quiet, 3), "quiet_evaluations": quiet_count,
                              "beside_a_compiler": round(beside, 3), "evaluations": busy_count,
                              "judged_again": round(again, 3), "ratio": round(again / quiet, 3)}), flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(json.dumps({"tasks": len(ratios), "least_ratio": round(min(ratios), 3), "mean_ratio": round(mean, 3),
                      "seconds": options.seconds}))


if __name__ == "__main__":
    main()
