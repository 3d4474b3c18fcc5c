// The exports for PyTorch, run by a real PyTorch on the CPU with kernels that a real compiler
// builds.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/wire/json.hpp"
#include "coordinator/report/export.hpp"
#include "coordinator/report/torch_certificates.hpp"
#include "support/nvcc.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::relu_certificate;

// What the scripts below begin with. `load` does as the benchmark's evaluator: the problem's text
// and then the export's, in one namespace that is no file.
const std::string preamble = R"py(
import copy, os, sys, torch
def load(problem, export):
    space = {}
    exec(compile(open(problem).read(), "<string>", "exec"), space)
    first = [space[name] for name in ("Model", "get_inputs", "get_init_inputs")]
    exec(compile(open(export).read(), "<string>", "exec"), space)
    return first + [space["ModelNew"], space]
def made(kind, init):
    torch.manual_seed(42)
    with torch.no_grad():
        return kind(*init)
def tensors(found):
    return [found] if torch.is_tensor(found) else [t for part in found for t in tensors(part)]
def check(expected, found):
    assert type(expected) is type(found), (type(expected), type(found))
    if not torch.is_tensor(expected):
        assert len(expected) == len(found)
        for one, other in zip(expected, found):
            check(one, other)
        return
    assert expected.dtype == found.dtype and expected.shape == found.shape
    assert torch.allclose(expected.double(), found.double(), atol=1e-5), (expected, found)
def refused(call, kind=ValueError):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError("was not refused")
Model, get_inputs, get_init_inputs, ModelNew, space = load("problem.py", "model_new.py")
model, new = made(Model, get_init_inputs()), made(ModelNew, get_init_inputs())
inputs = get_inputs()
)py";

class TorchExport : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_TORCH();
    auto scratch = ScratchDir::create("torch_export_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
  }

  [[nodiscard]] fs::path folder() const { return scratch_->path() / "exported"; }
  [[nodiscard]] fs::path cache() const { return scratch_->path() / "cache"; }

  // The problem lies beside, as in a checkout of the benchmark.
  void export_as(const Certificate& certificate, ExportForm form) const {
    const auto files = export_files(certificate, form);
    ASSERT_TRUE(files.ok()) << files.error().text();
    const Status written = write_export(folder(), *files, true);
    ASSERT_TRUE(written.ok()) << written.error().text();
    ASSERT_TRUE(
        write_file_unsynced(folder() / "problem.py", certificate.task.files.at("problem.py")).ok());
  }

  [[nodiscard]] Finished python(const std::string& script,
                                std::map<std::string, std::string> environment = {}) const {
    Command command;
    command.arguments = {python_with_torch()->path, "-c", script};
    command.directory = folder().string();
    command.environment = std::move(environment);
    command.environment.emplace("PATH", "/usr/bin:/bin");
    command.environment.emplace("HOME", (scratch_->path() / "home").string());
    command.environment.emplace("TORCH_EXTENSIONS_DIR", cache().string());
    command.environment.emplace("PYTHONDONTWRITEBYTECODE", "1");
    command.timeout_ms = 240'000;
    const auto finished = run_command(command);
    EXPECT_TRUE(finished.ok());
    return finished.ok() ? *finished : Finished();
  }

  void expect_fine(const std::string& script,
                   const std::map<std::string, std::string>& environment = {}) const {
    const Finished done = python(script, environment);
    EXPECT_TRUE(done.succeeded()) << done.output << done.errors;
  }

  [[nodiscard]] std::vector<fs::path> built() const {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(cache() / "kernelpro_exports")) {
      found.push_back(entry.path());
    }
    return found;
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    const auto text = read_file(folder() / name);
    EXPECT_TRUE(text.ok()) << name;
    return text.ok() ? *text : "";
  }

  std::optional<ScratchDir> scratch_;
};

std::string refusal(const Certificate& certificate, std::optional<ExportForm> form) {
  const auto files = export_files(certificate, form);
  return files.ok() ? "exported" : files.error().text();
}

TEST_F(TorchExport, ModelNewAnswersByTheKernelAndASecondProcessDoesNotBuildIt) {
  export_as(relu_certificate("0.25F"), ExportForm::kernelbench);
  const std::string script = preamble + R"py(
check(model(*inputs) + 0.25, new(*inputs))
check(model(*inputs) + 0.25, copy.deepcopy(new)(*inputs))
base = torch.randn(1000, 41)
check(model(base.t()[1:]) + 0.25, new(base.t()[1:]))            # neither dense
odd = torch.randn(40001)[1:].view(40, 1000)
check(model(odd) + 0.25, new(odd))                              # nor aligned
)py";
  expect_fine(script);
  ASSERT_EQ(built().size(), 1U);
  EXPECT_EQ(built().front().extension(), ".so");
  // With a compiler that builds nothing.
  expect_fine(script, {{"KERNELPRO_CXX", "/bin/false"}});
  EXPECT_EQ(built().size(), 1U);
  EXPECT_EQ(content("certificate.json"), to_json(relu_certificate("0.25F")).dump(2) + "\n");
  EXPECT_THAT(content("README.md"), AllOf(HasSubstr("| 2.000 | [1.900, 2.100] |"),
                                          HasSubstr("scripts/run_and_check.py")));
}

TEST_F(TorchExport, TwoProcessesMayBuildAtOnce) {
  export_as(relu_certificate(), ExportForm::kernelbench);
  expect_fine(R"py(
import subprocess, sys
both = [subprocess.Popen([sys.executable, "model_new.py"]) for _ in range(2)]
assert [one.wait() for one in both] == [0, 0]
)py");
  EXPECT_EQ(built().size(), 1U);
}

TEST_F(TorchExport, ModelNewHasTheProblemsParametersNumbersAndConstructor) {
  export_as(testing::scaled_certificate(), ExportForm::kernelbench);
  expect_fine(preamble + R"py(
assert [n for n, _ in new.named_parameters()] == [n for n, _ in model.named_parameters()]
for one, other in zip(model.parameters(), new.parameters()):
    assert torch.equal(one, other)
check(model(*inputs).detach(), new(*inputs))
with torch.no_grad():
    new.linear.weight.mul_(3)
    model.load_state_dict(new.state_dict())
check(model(*inputs).detach(), new(*inputs))
new.linear.weight = torch.nn.Parameter(torch.ones(16, 24))
model.load_state_dict(new.state_dict())
check(model(*inputs).detach(), new(*inputs))
assert "argument 1 is 3, judged with 2.5 only" in refused(lambda: new(inputs[0], 3, inputs[2]))
assert "called with 1 arguments, judged with 3" in refused(lambda: new(inputs[0]))
wide = torch.rand(32, 25)
assert ("input_0 is torch.float32 of [32, 25], judged as torch.float32 of [32, 24]" in
        refused(lambda: new(wide, 2.5, inputs[2])))
assert "judged as torch.float32" in refused(lambda: new.double()(*inputs))
made(ModelNew, [24, 16, True])
assert "made with bias = False, judged with True" in refused(lambda: made(ModelNew, [24, 16, False]))
)py");
}

TEST_F(TorchExport, ManyParametersAreViewsOfOneTensor) {
  export_as(testing::deep_certificate(), ExportForm::kernelbench);
  expect_fine(preamble + R"py(
check(model(*inputs).detach(), new(*inputs))
weight = new.layers[12].bias
assert weight.data_ptr() == new.layers[0].weight.data_ptr() + 4 * 64 * 25
with torch.no_grad():
    for layer in new.layers:
        layer.weight.mul_(2)                                    # seen through the views
model.load_state_dict(new.state_dict())
check(model(*inputs).detach(), new(*inputs))
assert weight.data_ptr() == new.layers[12].bias.data_ptr()
new = new.double().float()                                      # no longer views
with torch.no_grad():
    new.layers[3].bias.add_(1)
model.load_state_dict(new.state_dict())
check(model(*inputs).detach(), new(*inputs))
with torch.inference_mode():
    new.layers[3].bias.data = torch.zeros(4)
    model.layers[3].bias.zero_()
    check(model(*inputs), new(*inputs))
twin = copy.deepcopy(new)
with torch.no_grad():
    twin.layers[3].bias.add_(1)
check(model(*inputs).detach(), new(*inputs))
assert list(new.state_dict()) == list(model.state_dict())
assert "not all of its parameters are float32" in refused(lambda: new.double()(*inputs))
)py");
}

TEST_F(TorchExport, MasksGoInAndTruthValuesNumbersAndNestedOutputsComeBack) {
  export_as(testing::masked_certificate(), ExportForm::kernelbench);
  expect_fine(preamble + R"py(
check(model(*inputs), new(*inputs))
assert new(*inputs)[0].dtype == torch.bool and new(*inputs)[1][0].dim() == 0
x, mask = inputs
check(model(*inputs), new(x, mask.float()))                     # as the benchmark casts them
)py");
}

TEST_F(TorchExport, PreparedStateIsMadeAgainWhenAConstantChanges) {
  Certificate certificate = testing::scaled_certificate();
  for (TensorSpec& input : certificate.task.inputs) {
    input.constant = input.name == "linear_weight";
  }
  certificate.candidate.source = testing::scaled_kernel;
  const std::string launch = "int kp_launch(";
  std::string& source = certificate.candidate.source;
  source.replace(source.find(launch), launch.size(),
                 "static int prepared = 0;\n"
                 "size_t kp_state(const kp_context*, const kp_tensor*, int32_t) { return 1536; }\n"
                 "int kp_prepare(const kp_context* context, const kp_tensor* t, int32_t) {\n"
                 "  float* state = static_cast<float*>(context->state);\n  ++prepared;\n"
                 "  for (int i = 0; i < 384; ++i) state[i] = static_cast<float*>(t[2].data)[i];\n"
                 "  return context->state_bytes == 1536 ? 0 : 9;\n}\n"
                 "extern \"C\" KP_EXPORT int times_prepared() { return prepared; }\n"
                 "int kp_launch(");
  const std::string weight = "in(2)[j * 24 + k]";
  source.replace(source.find(weight), weight.size(),
                 "static_cast<const float*>(context->state)[j * 24 + k]");
  export_as(certificate, ExportForm::kernelbench);
  expect_fine(preamble + R"py(
import ctypes, glob
count = ctypes.CDLL(glob.glob(os.environ["TORCH_EXTENSIONS_DIR"] + "/*/*.so")[0]).times_prepared
check(model(*inputs).detach(), new(*inputs))
check(model(*inputs).detach(), new(*inputs))
assert count() == 1, count()
with torch.no_grad():
    new.linear.weight.mul_(3)
    model.load_state_dict(new.state_dict())
check(model(*inputs).detach(), new(*inputs))
assert count() == 2, count()
)py");
}

TEST_F(TorchExport, AFailingKernelAndAMissingCompilerAreNamed) {
  Certificate certificate = relu_certificate();
  certificate.candidate.source =
      "#include \"kernelpro/candidate.h\"\n"
      "int kp_launch(const kp_context*, const kp_tensor*, int32_t) { return 7; }\n";
  export_as(certificate, ExportForm::kernelbench);
  expect_fine(preamble +
              "assert refused(lambda: new(*inputs), RuntimeError) == 'kp_launch returned 7'\n");

  certificate.candidate.source = "#error not today\n";
  export_as(certificate, ExportForm::kernelbench);
  EXPECT_THAT(python(preamble).errors,
              AllOf(HasSubstr("the kernel does not build here:"), HasSubstr("not today")));

  certificate.build.compiler = "/nowhere/gone++-99";
  export_as(certificate, ExportForm::kernelbench);
  EXPECT_THAT(python(preamble).errors,
              HasSubstr("the kernel is C++ and there is no gone++-99 to build it: install that "
                        "compiler, or set KERNELPRO_CXX to another that takes the same options"));
  EXPECT_EQ(built().size(), 1U) << "what did not build left something behind";

  testing::make_cuda(certificate);
  export_as(certificate, ExportForm::kernelbench);
  EXPECT_THAT(python("import os, shutil\nshutil.which = lambda name: None\n"
                     "os.access = lambda path, mode: 'nvcc' not in path\n" +
                     preamble)
                  .errors,
              HasSubstr("there is no nvcc to build it: install the CUDA toolkit, and set "
                        "CUDA_HOME to its folder"));
}

TEST_F(TorchExport, TheStructuresAreThoseOfTheHeader) {
  export_as(relu_certificate(), ExportForm::kernelbench);
  std::string print =
      "#include <stdio.h>\n#include \"kernelpro/candidate.h\"\nint main(void) {\n"
      "  printf(\"version %d codes %d %d %d %d devices %d %d\\n\", KP_ABI_VERSION, KP_INT, "
      "KP_UINT, KP_FLOAT, KP_BFLOAT, KP_CPU, KP_CUDA);\n";
  const std::map<std::string, std::vector<std::string>> structures = {
      {"kp_dtype", {"code", "bits", "lanes"}},
      {"kp_tensor", {"data", "dtype", "rank", "shape", "strides"}},
      {"kp_context",
       {"abi_version", "device_type", "device_id", "threads", "stream", "workspace",
        "workspace_bytes", "state", "state_bytes", "scalars", "scalar_count", "axes",
        "axis_count"}}};
  for (const auto& [name, fields] : structures) {
    print += "  printf(\"" + name + " %d\\n\", (int)sizeof(" + name + "));\n";
    for (const std::string& field : fields) {
      print += "  printf(\"" + field + " %d %d\\n\", (int)offsetof(" + name + ", " + field +
               "), (int)sizeof(((" + name + "*)0)->" + field + "));\n";
    }
  }
  ASSERT_TRUE(write_file_unsynced(folder() / "print.c", print + "  return 0;\n}\n").ok());
  expect_fine(preamble + R"py(
import ctypes, subprocess
subprocess.run(["gcc", "-I)py" KERNELPRO_SOURCE_DIR
                         R"py(/include", "print.c", "-o", "print"], check=True)
wanted = subprocess.run(["./print"], capture_output=True, text=True, check=True).stdout
codes = space["_KP_CODES"]
found = "version %d codes %d %d %d %d devices %d %d\n" % (
    space["_KP_ABI_VERSION"], codes["i8"][0], codes["u8"][0], codes["f32"][0], codes["bf16"][0],
    space["_KP_DEVICE_TYPES"]["cpu"], space["_KP_DEVICE_TYPES"]["cuda"])
for name, kind in (("kp_context", "_KpContext"), ("kp_dtype", "_KpType"), ("kp_tensor", "_KpTensor")):
    found += f"{name} {ctypes.sizeof(space[kind])}\n"
    for field, _ in space[kind]._fields_:
        at = getattr(space[kind], field)
        found += f"{field} {at.offset} {at.size}\n"
assert wanted == found, wanted + found
)py");
}

TEST_F(TorchExport, TheCudaFormBuildsWithNvccAndRunsOnNothingElse) {
  const std::optional<std::string> nvcc = find_nvcc();
  if (!nvcc) {
    GTEST_SKIP() << "there is no nvcc here";
  }
  Certificate certificate = relu_certificate();
  testing::make_cuda(certificate);
  certificate.candidate.source =
      "#include \"kernelpro/candidate.h\"\n"
      "__global__ void relu(const float* x, float* y) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < 40000) y[i] = fmaxf(x[i], 0.0f);\n}\n"
      "int kp_launch(const kp_context* context, const kp_tensor* t, int32_t) {\n"
      "  relu<<<157, 256, 0, static_cast<cudaStream_t>(context->stream)>>>(\n"
      "      static_cast<const float*>(t[0].data), static_cast<float*>(t[1].data));\n"
      "  return cudaGetLastError() == cudaSuccess ? 0 : 1;\n}\n";
  export_as(certificate, ExportForm::kernelbench);
  // At import, for the certificate's architecture, since PyTorch sees no GPU.
  expect_fine(preamble + R"py(
if not torch.cuda.is_available():
    assert "input_0 is on cpu, judged with all on one cuda device" in refused(lambda: new(*inputs))
command = " ".join(space["_kp_command"](space["_KP_SPEC"], "100a", "/r"))
assert "-gencode=arch=compute_100a,code=sm_100a" in command
assert " -lineinfo " in command and "/nowhere" not in command
assert command.endswith("-I/proc/self/cwd/../abi -I/proc/self/cwd/. /proc/self/cwd/candidate.cu "
                        "-o ../out/candidate.so -Xlinker -z,now,-z,defs,-s,--build-id=none")
)py");
  EXPECT_EQ(built().size(), 1U);
  EXPECT_THAT(content("README.md"), HasSubstr("Some GPU (sm_90a, driver for CUDA 13.0)"));
}

// Its static checker refuses these words anywhere in a file, and files without the others.
TEST_F(TorchExport, TheBenchmarksCheckerFindsNoWayAroundTheKernel) {
  Certificate certificate = relu_certificate();
  testing::make_cuda(certificate);
  export_as(certificate, ExportForm::kernelbench);
  expect_fine(R"py(
import re
text = open("model_new.py").read()
for pattern in (r"\btry\s*:", r"\bexcept\s*:", r"\bexcept\s+\w+", r"\bpass\b", r"import\s+threading",
                r"from\s+threading", "multiprocessing", r"concurrent\.futures", "_make_subclass",
                r"class\s+\w+.*\(torch\.Tensor\)", r"torch\.cuda\.Stream\s*\("):
    assert not re.search(pattern, text), pattern
assert "cpp_extension" in text
)py");
}

const std::string package_preamble = R"py(
import torch, relu_op as op
def pair(*changed):
    out = []
    for kind in (op.Model, op.DropIn):
        torch.manual_seed(42)
        out.append(kind(*(changed or op.get_init_inputs())))
    return out
model, drop = pair()
inputs = op.get_inputs()
def counts(one=None):
    one = one or drop
    return one.kernel_calls, one.fallbacks
def same(first, second):
    assert type(first) is type(second)
    if torch.is_tensor(first):
        assert first.dtype == second.dtype and torch.allclose(first, second, atol=1e-5)
    else:
        for one, other in zip(first, second):
            same(one, other)
)py";

std::string package_script(const std::string& name, const std::string& script) {
  std::string text = package_preamble + script;
  text.replace(text.find("relu_op"), 7, name + "_op");
  return text;
}

TEST_F(TorchExport, TheDropInUsesTheKernelAtTheJudgedShapeAndFallsBackElsewhere) {
  export_as(relu_certificate("0.25F"), ExportForm::torch);
  expect_fine(package_script("relu", R"py(
same(drop(*inputs), model(*inputs) + 0.25)
assert counts() == (1, 0)
base = torch.randn(1000, 40)
same(drop(base.t()), model(base.t()) + 0.25)
same(drop(x=inputs[0]), model(*inputs) + 0.25)
assert counts() == (3, 0)
small = torch.randn(3, 5)
same(drop(small), model(small))
assert counts() == (3, 1)
assert drop.fallback_reason == ("input_0 is torch.float32 of [3, 5], judged as torch.float32 of "
                                "[40, 1000]"), drop.fallback_reason
same(drop(inputs[0].double()), model(inputs[0].double()))
wanted = inputs[0].clone().requires_grad_()
drop(wanted).sum().backward()
assert wanted.grad is not None and "gradients are wanted" in drop.fallback_reason
with torch.no_grad():
    same(drop(wanted), model(inputs[0]) + 0.25)
same(drop.eval()(*inputs), model(*inputs) + 0.25)               # its code knows no mode
assert counts() == (5, 3)
# The operator itself, and its shapes for tracing.
same(op.operator([inputs[0]])[0], model(*inputs) + 0.25)
traced = op.operator([torch.empty(40, 1000, device="meta")])[0]
assert traced.device.type == "meta" and traced.shape == (40, 1000)
)py"));
  // Of the kernel's own export, which is wrong by 0.25.
  Command test;
  test.arguments = {python_with_torch()->path, "test_op.py"};
  test.directory = folder().string();
  test.environment = {{"PATH", "/usr/bin:/bin"}, {"TORCH_EXTENSIONS_DIR", cache().string()}};
  const auto wrong = run_command(test);
  ASSERT_TRUE(wrong.ok());
  EXPECT_FALSE(wrong->succeeded());
  EXPECT_THAT(wrong->errors, HasSubstr("AssertionError"));
  export_as(relu_certificate(), ExportForm::torch);
  const auto right = run_command(test);
  ASSERT_TRUE(right.ok());
  EXPECT_TRUE(right->succeeded()) << right->errors;
  EXPECT_THAT(right->output, HasSubstr("kernel calls: 1, fallbacks: 0"));
}

TEST_F(TorchExport, TheDropInKeepsToTheJudgedConstructionNumbersAndParameters) {
  export_as(testing::scaled_certificate(), ExportForm::torch);
  expect_fine(package_script("scaled", R"py(
same(drop(*inputs), model(*inputs))
assert counts() == (0, 1) and "gradients are wanted" in drop.fallback_reason
with torch.no_grad():
    same(drop(*inputs), model(*inputs))
    assert counts() == (1, 1)
    x, factor, y = inputs
    same(drop(x, 3, y), model(x, 3, y))
    assert counts() == (1, 2) and "judged with 2.5 only" in drop.fallback_reason
    drop.linear = torch.nn.Linear(24, 16)                       # another part, same shape
    model.linear = drop.linear
    same(drop(*inputs), model(*inputs))
    assert counts() == (2, 2)
    plain, other = pair(24, 16, False)
    same(other(*inputs), plain(*inputs))
    assert counts(other) == (0, 1) and "made with bias = False" in other.fallback_reason
)py"));
}

TEST_F(TorchExport, TheDropInFallsBackWhereTheModeMattersOrBuffersChange) {
  export_as(testing::normal_certificate(), ExportForm::torch);
  expect_fine(package_script("normal", R"py(
with torch.no_grad():
    same(drop(*inputs), model(*inputs))
    assert counts() == (0, 1)
    assert "forward() also changes norm.running_mean" in drop.fallback_reason, drop.fallback_reason
    same(drop.norm.running_mean, model.norm.running_mean)
    same(drop.eval()(*inputs), model.eval()(*inputs))
    assert counts() == (0, 2) and "in eval mode" in drop.fallback_reason
)py"));
}

TEST_F(TorchExport, TheDropInPacksParametersAndArrangesOutputs) {
  export_as(testing::deep_certificate(), ExportForm::torch);
  export_as(testing::masked_certificate(), ExportForm::torch);
  expect_fine(package_script("deep", R"py(
with torch.no_grad():
    for _ in range(2):
        same(drop(*inputs), model(*inputs))
        drop.layers[5].weight.mul_(2)
        model.load_state_dict(drop.state_dict())
    assert counts() == (2, 0), drop.fallback_reason
import masked_op
mask = masked_op.DropIn()
values = masked_op.get_inputs()
same(mask(*values), masked_op.Model()(*values))
assert counts(mask) == (1, 0), mask.fallback_reason
)py"));
}

// PyTorch from 2.4 on has torch.library.custom_op; this stands in for it where it is older.
TEST_F(TorchExport, TheOperatorIsRegisteredByCustomOpWherePyTorchHasIt) {
  export_as(relu_certificate(), ExportForm::torch);
  expect_fine(R"py(
import torch
class Stand:
    def __init__(self, name, function, *, mutates_args, device_types, schema):
        space, self.name = name.split("::")
        self.library = torch.library.Library(space, "DEF")
        self.library.define(self.name + schema)
        self.library.impl(self.name, function, device_types.upper())
    def register_fake(self, function):
        self.library.impl(self.name, function, "Meta")
        self.library.impl(self.name, function, "AutogradMeta")
if not hasattr(torch.library, "custom_op"):
    torch.library.custom_op = Stand
import relu_op as op
drop, inputs = op.DropIn(), op.get_inputs()
assert torch.equal(drop(*inputs), torch.relu(*inputs)) and drop.kernel_calls == 1
assert op.operator([torch.empty(40, 1000, device="meta")])[0].shape == (40, 1000)
)py");
}

TEST_F(TorchExport, RunsNothingThatACertificateSmugglesIn) {
  Certificate certificate = relu_certificate();
  certificate.task.name = "re\"\"\"lu\nopen('pwned', 'w')#\\";
  certificate.candidate.name = "\n\"\"\"\nopen('pwned', 'w')";
  certificate.candidate.source += "// \"\"\"\\\n// '''\\\"\"\"\r\n";
  certificate.task.files["problem.py"] += "\n# \"\"\" \\ ''' \\x41\n";
  export_as(certificate, ExportForm::kernelbench);
  expect_fine(preamble + R"py(
check(model(*inputs), new(*inputs))
assert space["_KP_PROBLEM_TEXT"] == open("problem.py").read()
assert space["_KP_SOURCE"].endswith("// \"\"\"\\\n// '''\\\"\"\"\r\n")
)py");
  EXPECT_FALSE(fs::exists(folder() / "pwned"));
}

TEST(TorchExportRefusals, SayWhatIsPossible) {
  const Certificate certificate = relu_certificate();
  EXPECT_THAT(refusal(certificate, std::nullopt),
              AllOf(HasSubstr("its inputs are drawn by PyTorch"),
                    HasSubstr("--as can be kernelbench, torch, header")));
  EXPECT_EQ(refusal(certificate, ExportForm::source), refusal(certificate, std::nullopt));
  const Certificate plain =
      testing::passed_certificate(testing::small_task(), testing::small_source("x[i] + y[i]"));
  for (const ExportForm form : {ExportForm::kernelbench, ExportForm::torch}) {
    EXPECT_THAT(refusal(plain, form), AllOf(HasSubstr("its task is no PyTorch module"),
                                            HasSubstr("--as can be source, header")));
    Certificate wrong = certificate;
    wrong.verdict.outcome = Outcome::incorrect;
    EXPECT_THAT(refusal(wrong, form), HasSubstr("only a candidate that passed is exported"));
    wrong = certificate;
    wrong.candidate.compiler = torch_compiler;
    EXPECT_THAT(refusal(wrong, form), HasSubstr("it is PyTorch's own module, not a kernel"));
    wrong = certificate;
    wrong.candidate.libraries = {"openblas"};
    EXPECT_THAT(refusal(wrong, form), HasSubstr("it links openblas, which is not exported"));
    wrong = testing::scaled_certificate();
    wrong.task.scalars.front().name = "factor";
    EXPECT_THAT(refusal(wrong, form), HasSubstr("its scalar 'factor' does not say which argument"));
    wrong = certificate;
    wrong.candidate.backend = Backend::cuda;
    EXPECT_THAT(refusal(wrong, form), HasSubstr("names no architecture"));
  }
  Certificate untimed = certificate;
  untimed.verdict.timing.shapes.clear();
  EXPECT_EQ(refusal(untimed, ExportForm::kernelbench), "exported");
}

}  // namespace
}  // namespace kernelpro
