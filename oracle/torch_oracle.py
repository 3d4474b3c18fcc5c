#!/usr/bin/env python3
"""Expected values and baselines of problems in KernelBench's form, by PyTorch.

    torch_oracle.py describe PROBLEM.py     prints what the problem is, as JSON
    torch_oracle.py survey                  answers lines of JSON on standard input: what each
                                            problem is, whether it is degenerate, how long it takes
    torch_oracle.py reference               answers the worker: outputs in double, and fresh inputs
    torch_oracle.py MODE [warm]             answers the worker as a runner does: the module as it is

A MODE is one of eager (PyTorch as it comes), eager-fp32 (no TF32 anywhere), eager-tf32 (TF32
wherever it can be) and compile (torch.compile, no TF32).

A problem defines Model, get_inputs() and get_init_inputs(). Its inputs here are those of
get_inputs(), then the module's parameters and floating buffers by name, packed into one where they
are many; its outputs are the tensors that forward() returns. The module stays in training mode, as
the benchmark has it. Everything is on the GPU where PyTorch has one.

The worker speaks src/common/base/runner_protocol.hpp over descriptor 3.
"""

import json
import sys

sys.dont_write_bytecode = True  # the folder is the installation's, and may be read-only

from torch_problem.clock import MODES  # noqa: E402
from torch_problem.describe import describe  # noqa: E402
from torch_problem.problem import Refused, is_out_of_memory  # noqa: E402
from torch_problem.server import serve  # noqa: E402
from torch_problem.survey import survey  # noqa: E402


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "describe":
        try:
            print(json.dumps(describe(arguments[1]), indent=2))
        except Refused as error:
            print(json.dumps({"refused": str(error)}))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            print(json.dumps({"refused": "it does not fit into memory"}))
        return 0
    if arguments == ["survey"]:
        survey()
        return 0
    if arguments and arguments[0] in MODES + ("reference",) and arguments[1:] in ([], ["warm"]):
        try:
            serve(arguments[0], warm=len(arguments) > 1)
        except Refused as error:
            print(error, file=sys.stderr)
            return 1
        return 0
    print(__doc__, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
