"""A loop with `reset` and `step`: python3 python/example.py http://127.0.0.1:8086 axpy FILE..."""

import os
import sys

from kernelpro import Client, Environment


def main() -> None:
    url, task, *files = sys.argv[1:]
    client = Client(url, token=os.environ.get("KERNELPRO_TOKEN", ""))
    environment = Environment(client, task, steps=len(files), mode="check")
    observation, _ = environment.reset()
    print(f"{task}: {observation}")
    for file in files:
        with open(file, encoding="utf-8") as text:
            step = environment.step(text.read())
        print(f"{file}: reward {step.reward}: {step.observation.splitlines()[0]}")


if __name__ == "__main__":
    main()
