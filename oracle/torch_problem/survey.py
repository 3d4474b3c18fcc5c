"""Problems one after the other, in one process: what each is and how long it takes."""

import ctypes
import gc
import json
import os
import signal
import sys
import warnings

from .clock import MODES, Clock, set_mode
from .describe import degenerate, describe_problem, device_name, first_outputs
from .problem import MODEL_SEED, Problem, Refused, is_out_of_memory, last_line, torch_module

PR_SET_PDEATHSIG = 1

WARM_UPS = 3
SURVEY_S = 0.4  # for all modes together
MOST_CALLS = 100


def survey_times(problem, modes, given, state, rounds, failed):
    """Nanoseconds of calls by mode, taken in turn: what drifts meanwhile drifts for all."""
    torch = problem.torch
    clock = Clock(torch, problem.device)
    models = {}
    problem.set_state(state, problem.model)

    def one(mode):
        torch.backends.cuda.matmul.allow_tf32 = False  # as PyTorch comes
        torch.backends.cudnn.allow_tf32 = True
        set_mode(torch, mode)
        clock.time(lambda: problem.call(models[mode], given))
        return clock.total_ns()

    last = {}
    for mode in modes:
        try:
            models[mode] = torch.compile(problem.model) if mode == "compile" else problem.model
            last[mode] = min(one(mode) for _ in range(WARM_UPS))
        except Exception as error:
            failed[mode] = last_line(error)
            problem.release()
    times = {mode: [] for mode in last}
    spent = sum(last.values())
    for _ in range(min(MOST_CALLS, max(rounds, int(SURVEY_S * 1e9 / max(1, spent))))):
        for mode in times:
            times[mode].append(one(mode))
    return times


def survey_problem(asked):
    out = {"problem": asked["problem"], "times": {}, "failed": {}}
    try:
        problem = Problem(asked["problem"])
        out |= {"device": device_name(problem), "torch": problem.torch.__version__}
        given, state = problem.draw(MODEL_SEED)
        try:
            outputs, noise = first_outputs(problem, given, state)
            out["described"] = describe_problem(problem, given, state, outputs, noise)
            out["degenerate"] = degenerate(problem, given, outputs, out["described"])
            out["described"]["degenerate"] = out["degenerate"]
            del outputs
        except Refused as error:
            out["refused"] = str(error)
        problem.release()
        out["times"] = survey_times(problem, asked.get("modes", MODES[:3]), given, state,
                                    asked.get("rounds", 10), out["failed"])
    except Refused as error:
        out["refused"] = str(error)
    except Exception as error:
        out["refused"] = ("it does not fit into memory" if is_out_of_memory(error)
                          else f"PyTorch fails: {last_line(error)}")
    return out


def end_with_parent():
    """A problem that hangs must not outlive whoever waits for it."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def survey():
    end_with_parent()
    warnings.filterwarnings("ignore")
    # What a problem prints is not an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        asked = json.loads(line)
        out = survey_problem(asked)
        gc.collect()
        torch = torch_module()
        if hasattr(torch, "_dynamo"):
            torch._dynamo.reset()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        print(json.dumps(out), file=answers, flush=True)
