#!/usr/bin/env python3
"""Kernel Tuner's own strategies on its recorded caches, counted as `kernelpro simulate` counts.

    kernel_tuner.py --kernel-tuner CHECKOUT --caches FOLDER [--seeds 50] [--jobs 1] STRATEGY...

Needs numpy and scipy (Debian: python3-numpy, python3-scipy). CHECKOUT is one of Kernel Tuner, whose
strategies and search space run unchanged; FOLDER holds KERNEL_milo/DEVICE.json.gz of
AutoTuningAssociation/benchmark_hub. A strategy may have options: name:key=value.

What a strategy sees is the mean of recorded rounds drawn by the seed from the even ones; what it is
scored by is the mean of the odd ones. Only distinct configurations count as evaluations.
"""

import argparse
import gzip
import importlib
import json
import math
import multiprocessing
import random
import sys
import types
from pathlib import Path

LIMIT = 240
MARKS = (30, 60, 120, 240)
UNREACHED = 2 * LIMIT
ROUNDS_SEEN = 7


def load_package(checkout):
    """Imports the modules we need and nothing that asks for a GPU or a constraint solver."""
    package = types.ModuleType("kernel_tuner")
    package.__path__ = [str(Path(checkout) / "kernel_tuner")]
    sys.modules["kernel_tuner"] = package
    constraint = types.ModuleType("constraint")
    constraint.__getattr__ = lambda name: type(name, (), {})
    sys.modules["constraint"] = constraint


class Landscape:
    def __init__(self, path):
        with gzip.open(path) as file:
            self.cache = json.load(file)
        self.name = f"{path.parent.name}/{path.name.removesuffix('.json.gz')}"
        self.rounds = {}
        self.score = {}
        for entry in self.cache["cache"].values():
            key = tuple(entry[name] for name in self.cache["tune_params"])
            passed = isinstance(entry["time"], (int, float))
            times = entry.get("times", [])
            self.rounds[key] = times[0::2] if passed else None
            self.score[key] = sum(times[1::2]) / len(times[1::2]) if passed else math.inf
        self.optimum = min(self.score.values())


class Runner:
    """Stands in the place of Kernel Tuner's runners: answers from the recorded rounds."""

    def __init__(self, landscape, seed, budget):
        self.landscape = landscape
        self.budget = budget
        self.draw = random.Random(seed * 7919 + 17)
        self.seen = {}
        self.best = math.inf
        self.share = 0.0
        self.curve = []

    def add_strategy_time(self, seconds):
        pass

    def measure(self, key):
        from kernel_tuner.util import RuntimeFailedConfig

        self.budget.add_evaluations(1)
        result = dict(zip(self.landscape.cache["tune_params"], key))
        rounds = self.landscape.rounds[key]
        if rounds is None:
            result["__error__"] = RuntimeFailedConfig()
        else:
            value = sum(self.draw.choice(rounds) for _ in range(ROUNDS_SEEN)) / ROUNDS_SEEN
            result["time"] = value
            if value < self.best:
                self.best = value
                self.share = self.landscape.optimum / self.landscape.score[key]
        self.curve.append(self.share)
        return result

    def run(self, configurations, tuning_options):
        results = []
        for configuration in configurations:
            key = tuple(configuration)
            if key not in self.seen and not self.budget.is_done():
                self.seen[key] = self.measure(key)
            results.append(dict(self.seen[key]) if key in self.seen else None)
        return results


class Options(dict):
    """A dictionary whose entries are attributes too, as Kernel Tuner's is."""

    def __getattr__(self, name):
        return self[name]


def parse_strategy(text):
    name, _, rest = text.partition(":")
    options = {}
    for part in filter(None, rest.split(",")):
        key, _, value = part.partition("=")
        options[key] = json.loads(value)
    return name, options


def run_once(strategy, landscape, space, seed):
    import numpy as np

    from kernel_tuner.util import StopCriterionReached, TuningBudget

    name, options = parse_strategy(strategy)
    module = importlib.import_module("kernel_tuner.strategies." + name)
    budget = TuningBudget(max_fevals=LIMIT)
    runner = Runner(landscape, seed, budget)
    if name == "simulated_annealing" and options.pop("drawn_start", False):
        # It would begin in the middle of the space otherwise, whatever the seed.
        options["x0"] = random.Random(seed * 31 + 5).choice(space.list)
    tuning = Options(
        strategy_options=Options(max_fevals=LIMIT, **options),
        strategy=name,
        verbose=False,
        budget=budget,
        tune_params=landscape.cache["tune_params"],
        objective=["time"],
        objective_higher_is_better=[False],
    )
    random.seed(seed)
    np.random.seed(seed)
    rounds = 0
    while len(runner.curve) < LIMIT and rounds < 20:  # a strategy that ends early begins again
        rounds += 1
        try:
            module.tune(space, runner, tuning)
        except StopCriterionReached:
            break
    return runner.curve + [runner.share] * (LIMIT - len(runner.curve))


def run_landscape(job):
    checkout, strategy, path, seeds = job
    load_package(checkout)
    from kernel_tuner.searchspace import Searchspace

    landscape = Landscape(Path(path))
    # A space of its own for each seed: it remembers neighbors that were asked for.
    curves = [
        run_once(strategy, landscape, Searchspace(None, None, None, from_cache=landscape.cache), seed)
        for seed in range(1, seeds + 1)
    ]
    shares = [sum(curve[mark - 1] for curve in curves) / seeds for mark in MARKS]
    needed = [next((i + 1 for i, s in enumerate(c) if s >= 0.95), UNREACHED) for c in curves]
    return {
        "landscape": landscape.name,
        "strategy": strategy,
        "shares": shares,
        "to_95": sum(needed) / seeds,
    }


def geometric_mean(values):
    return math.exp(sum(math.log(max(value, 1e-9)) for value in values) / len(values))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kernel-tuner", required=True)
    parser.add_argument("--caches", required=True)
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--kernels", default="convolution,dedispersion")
    parser.add_argument("strategies", nargs="+")
    args = parser.parse_args()
    paths = [
        path
        for kernel in args.kernels.split(",")
        for path in sorted(Path(args.caches).glob(kernel + "_milo/*.json.gz"))
        if "_T4" not in path.name and "_original" not in path.name
    ]
    with multiprocessing.Pool(args.jobs) as pool:
        for strategy in args.strategies:
            jobs = [(args.kernel_tuner, strategy, str(path), args.seeds) for path in paths]
            rows = pool.map(run_landscape, jobs, chunksize=1)
            for row in rows:
                print(json.dumps(row), flush=True)
            total = {
                "strategy": strategy,
                "landscapes": len(rows),
                "seeds": args.seeds,
                "shares": [
                    round(geometric_mean([row["shares"][i] for row in rows]), 4)
                    for i in range(len(MARKS))
                ],
                "to_95": round(geometric_mean([row["to_95"] for row in rows]), 1),
            }
            print(json.dumps(total), flush=True)


if __name__ == "__main__":
    main()
