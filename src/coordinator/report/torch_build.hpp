// The first part of torch_loader() in torch_export.cpp: what it imports, the interface of a kernel
// for Python, and the build.
#pragma once

#include <string_view>

namespace kernelpro::report {

inline constexpr std::string_view torch_build = R"py(import contextlib
import ctypes
import hashlib
import importlib.util
import inspect
import json
import linecache
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import types
from copy import deepcopy as _kp_deepcopy

import torch


# ---- kernelpro/candidate.h ----

class _KpType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _KpTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", _KpType), ("rank", ctypes.c_int32),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64))]


class _KpContext(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint32), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("threads", ctypes.c_int32),
                ("stream", ctypes.c_void_p), ("workspace", ctypes.c_void_p),
                ("workspace_bytes", ctypes.c_size_t), ("state", ctypes.c_void_p),
                ("state_bytes", ctypes.c_size_t), ("scalars", ctypes.POINTER(ctypes.c_double)),
                ("scalar_count", ctypes.c_int32), ("axes", ctypes.POINTER(ctypes.c_int64)),
                ("axis_count", ctypes.c_int32)]


_KP_ABI_VERSION = 1
_KP_DEVICE_TYPES = {"cpu": 1, "cuda": 2}
_KP_CODES = {"f64": (2, 64), "f32": (2, 32), "f16": (2, 16), "bf16": (4, 16), "i64": (0, 64),
             "i32": (0, 32), "i16": (0, 16), "i8": (0, 8), "u8": (1, 8)}
_KP_DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16,
              "bf16": torch.bfloat16, "i64": torch.int64, "i32": torch.int32, "i16": torch.int16,
              "i8": torch.int8, "u8": torch.uint8}
_KP_ALIGNMENT = 64
_KP_SEED = 42  # that the judge draws constructor arguments under
_KP_PACK_ELEMENTS = 64  # in the flat tensor of all parameters, each starts at a multiple of this


# ---- the build ----

def _kp_architecture(device):
    """What nvcc builds for: "90a" for a device of capability 9.0."""
    major, minor = torch.cuda.get_device_capability(device)
    return f"{10 * major + minor}" + ("a" if major >= 9 else "")


def _kp_processor():
    """What tells processors apart that -march=native would."""
    keys = ("vendor_id", "model", "model name", "flags", "Features", "CPU implementer", "CPU part")
    found = [platform.machine()]
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break
                if line.split(":")[0].strip() in keys:
                    found.append(line.strip())
    return "\n".join(found)


def _kp_nvcc():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")]
    places = [os.path.join(home, "bin", "nvcc") for home in homes if home]
    places += [shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    for place in places:
        if place and os.access(place, os.X_OK):
            return place
    # PyTorch may know of a toolkit that none of these names.
    if importlib.util.find_spec("setuptools"):
        from torch.utils import cpp_extension
        place = os.path.join(cpp_extension.CUDA_HOME or "/", "bin", "nvcc")
        if os.access(place, os.X_OK):
            return place
    raise RuntimeError("the kernel is CUDA C++ and there is no nvcc to build it: install the CUDA "
                       "toolkit, and set CUDA_HOME to its folder (looked in CUDA_HOME, PATH and "
                       "/usr/local/cuda)")


def _kp_host_compiler(recorded):
    """The C++ compiler of the certificate, or the one here that is most like it; or None."""
    name = os.path.basename(recorded)
    for place in (os.environ.get("KERNELPRO_CXX"), recorded, name, name.split("-")[0]):
        found = place and shutil.which(place)
        if found:
            return found
    return None


def _kp_cxx(recorded):
    found = _kp_host_compiler(recorded)
    if not found:
        raise RuntimeError(f"the kernel is C++ and there is no {os.path.basename(recorded)} to "
                           "build it: install that compiler, or set KERNELPRO_CXX to another that "
                           "takes the same options")
    return found


def _kp_includes(spec):
    """The flags for the libraries of headers that the kernel includes."""
    out = []
    for library, variable in spec.get("includes", {}).items():
        place = os.path.abspath(os.environ.get(variable) or "/nowhere")
        if not os.path.isdir(place):
            raise RuntimeError(f"the kernel includes headers of {library}, which are not here: set "
                               f"{variable} to their folder")
        out += ["-isystem", place]
    return out


def _kp_flags(spec, architecture):
    """The certificate's flags, with what belongs to its machine replaced by what is here."""
    given, out = iter(spec["flags"]), []
    for flag in given:
        if flag.startswith("-gencode="):
            out.append(f"-gencode=arch=compute_{architecture},code=sm_{architecture}")
        elif flag == "-ccbin":
            host = _kp_host_compiler(next(given))
            out += ["-ccbin", host] if host else []
        else:
            out.append(flag)
    return out + _kp_includes(spec)


def _kp_command(spec, architecture, root):
    """The compiler's command line, to be run in the folder src of `root`. As the judge's own: the
    same paths as seen from there, so that the same compiler makes the same code."""
    if spec["backend"] == "cuda":
        here = "/proc/self/cwd/"
        return ([_kp_nvcc()] + _kp_flags(spec, architecture) +
                [f"-I{here}../abi", f"-I{here}.", f"{here}candidate.cu", "-o",
                 "../out/candidate.so"] + spec["link"])
    return ([_kp_cxx(spec["compiler"])] + _kp_flags(spec, architecture) +
            [f"-ffile-prefix-map={root}=.", "-I../abi", "-I.", "candidate.cpp", "-o",
             "../out/candidate.so"] + spec["link"])


def _kp_write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    os.utime(path, (0, 0))  # nvcc writes the time of a source into device code


def _kp_lay_sources(spec, source, header, root):
    name = "candidate.cu" if spec["backend"] == "cuda" else "candidate.cpp"
    _kp_write(os.path.join(root, "src", name), source)
    _kp_write(os.path.join(root, "abi", "kernelpro", "candidate.h"), header)
    os.makedirs(os.path.join(root, "out"), exist_ok=True)


def _kp_cache_folder():
    """The first that can be written: TORCH_EXTENSIONS_DIR, the user's cache, a temporary folder."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    for base in (os.environ.get("TORCH_EXTENSIONS_DIR"), home):
        if base:
            folder = os.path.join(os.path.abspath(base), "kernelpro_exports")
            with contextlib.suppress(OSError):
                os.makedirs(folder, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    return tempfile.mkdtemp(prefix="kernelpro_exports_")


def _kp_build(spec, source, header, architecture):
    """The path of the shared object, built unless it is in the cache. Several processes may build
    at once: each in a folder of its own, and what is complete is moved into its place."""
    target = architecture if spec["backend"] == "cuda" else _kp_processor()
    parts = [source, header, json.dumps([spec["compiler"], spec["flags"], spec["link"]]), target]
    key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
    folder = _kp_cache_folder()
    path = os.path.join(folder, f"{spec['name']}-{key}.so")
    if os.path.exists(path):
        return path
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as root:
        _kp_lay_sources(spec, source, header, root)
        done = subprocess.run(_kp_command(spec, architecture, root), cwd=os.path.join(root, "src"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise RuntimeError(f"the kernel does not build here:\n{done.stdout}")
        os.replace(os.path.join(root, "out", "candidate.so"), path)
    return path
)py";

}  // namespace kernelpro::report
