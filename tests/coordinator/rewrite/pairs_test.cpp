// Pairs of transformations, one after the other, on the bundled tasks: what comes out compiles
// without warnings and computes what the baseline computes. Of each pair a task tries one order,
// and some other task the other.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>

#include "common/base/process.hpp"
#include "common/base/random.hpp"
#include "coordinator/rewrite/fixture.hpp"
#include "coordinator/task/load.hpp"
#include "kernelpro/candidate.h"
#include "support/keys.hpp"
#include "worker/tensor/buffers.hpp"
#include "worker/tensor/generate.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::numbered_key;
using testing::parsed;
using testing::task_folders;
using testing::text_of;

using Launch = int (*)(const kp_context*, const kp_tensor*, std::int32_t);
using Workspace = std::size_t (*)(const kp_context*, const kp_tensor*, std::int32_t);

struct Variant {
  std::string label;
  std::string source;
};

bool has_workspace(const std::string& source) {
  return source.find("size_t kp_workspace(") != std::string::npos;
}

// Many sources as one: includes in front, each source in a namespace of its own, a table behind.
std::string batch_source(const std::vector<Variant>& variants) {
  std::string includes;
  std::string code;
  std::string table;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const std::string own = std::to_string(i);
    code += "namespace v" + own + " {\n#define kp_launch kp_launch_" + own +
            "\n#define kp_workspace kp_workspace_" + own + "\n";
    std::istringstream lines(variants[i].source);
    for (std::string line; std::getline(lines, line);) {
      (line.starts_with("#include") ? includes : code) += line + "\n";
    }
    code += "#undef kp_launch\n#undef kp_workspace\n}\n";
    const std::string space =
        has_workspace(variants[i].source) ? "&v" + own + "::kp_workspace_" + own : "nullptr";
    table += "{&v" + own + "::kp_launch_" + own + ", " + space + "},\n";
  }
  return includes + "#include \"kernelpro/candidate.h\"\n" + code +
         "struct Entry {\n  int (*launch)(const kp_context*, const kp_tensor*, int32_t);\n"
         "  size_t (*workspace)(const kp_context*, const kp_tensor*, int32_t);\n};\n"
         "extern \"C\" __attribute__((visibility(\"default\"))) const Entry entries[] = {\n" +
         table + "};\n";
}

struct Entry {
  Launch launch;
  Workspace workspace;
};

std::optional<std::string> build(const fs::path& folder, const std::vector<Variant>& variants) {
  std::ofstream(folder / "batch.cpp") << batch_source(variants);
  Command command;
  command.arguments = {KERNELPRO_CXX,
                       "-std=c++20",
                       "-O0",
                       "-Wall",
                       "-Wno-unknown-pragmas",
                       "-Wno-unused-function",
                       "-Werror",
                       "-fopenmp",
                       "-shared",
                       "-fPIC",
                       "-g0",
                       "-I" + (fs::path(KERNELPRO_SOURCE_DIR) / "include").string(),
                       "batch.cpp",
                       "-o",
                       "batch.so"};
  command.directory = folder.string();
  command.timeout_ms = 800'000;
  const Result<Finished> built = run_command(command);
  if (!built) {
    return built.error().text();
  }
  return built->succeeded() ? std::nullopt : std::optional(built->errors.substr(0, 4000));
}

double value_at(const TensorPlan& tensor, const char* data, std::size_t at) {
  const auto as = [&](auto zero) {
    std::memcpy(&zero, data + at * sizeof(zero), sizeof(zero));
    return static_cast<double>(zero);
  };
  switch (tensor.dtype) {
    case DType::f32:
      return as(0.0F);
    case DType::f64:
      return as(0.0);
    case DType::i32:
      return as(std::int32_t{0});
    case DType::i64:
      return as(std::int64_t{0});
    default:
      return as(static_cast<unsigned char>(0));
  }
}

// A task at one shape with its inputs.
class Bench {
 public:
  Bench(const Task& task, const Axes& shape) {
    const Result<Axes> axes = complete_axes(task, shape);
    Result<BufferPlan> plan = plan_buffers(task, *axes, 1, numbered_key(5));
    plan_ = std::move(*plan);
    inputs_ = std::move(*Arena::create(plan_.input_bytes(), false));
    outputs_ = std::move(*Arena::create(plan_.output_bytes(), false));
    fill_inputs(task, plan_, {&inputs_}, 0, {numbered_key(11)});
    for (std::size_t i = 0; i < plan_.tensors.size(); ++i) {
      const TensorPlan& tensor = plan_.tensors[i];
      kp_tensor one{};
      one.data = data(i);
      one.dtype.bits = static_cast<std::uint8_t>(8 * size_of(tensor.dtype));
      one.rank = static_cast<std::int32_t>(tensor.shape.size());
      one.shape = tensor.shape.data();
      tensors_.push_back(one);
    }
  }

  // The outputs one after the other; nothing when the launch failed.
  std::optional<std::vector<double>> run(const Entry& entry) {
    kp_context context{};
    context.abi_version = KP_ABI_VERSION;
    context.device_type = KP_CPU;
    context.threads = 2;
    context.scalars = plan_.scalars.data();
    context.scalar_count = static_cast<std::int32_t>(plan_.scalars.size());
    context.axes = plan_.axis_values.data();
    context.axis_count = static_cast<std::int32_t>(plan_.axis_values.size());
    const auto count = static_cast<std::int32_t>(tensors_.size());
    const std::size_t bytes =
        entry.workspace == nullptr ? 0 : entry.workspace(&context, tensors_.data(), count);
    std::vector<std::max_align_t> workspace(bytes / sizeof(std::max_align_t) + 1);
    std::memset(workspace.data(), poison_byte, workspace.size() * sizeof(std::max_align_t));
    context.workspace = workspace.data();
    context.workspace_bytes = bytes;
    poison_outputs(plan_, outputs_, 0);
    if (entry.launch(&context, tensors_.data(), count) != 0 ||
        !find_breaches(plan_, outputs_, 0).empty()) {
      return std::nullopt;
    }
    std::vector<double> values;
    for (std::size_t i = plan_.input_count; i < plan_.tensors.size(); ++i) {
      for (std::size_t at = 0; at < plan_.tensors[i].elements; ++at) {
        values.push_back(value_at(plan_.tensors[i], data(i), at));
      }
    }
    return values;
  }

 private:
  [[nodiscard]] char* data(std::size_t i) const {
    return tensor_data(plan_, plan_.tensors[i].output ? outputs_ : inputs_, 0, i);
  }

  BufferPlan plan_;
  Arena inputs_;
  Arena outputs_;
  std::vector<kp_tensor> tensors_;
};

bool agree(const std::vector<double>& expected, const std::vector<double>& found) {
  double squares = 0;
  for (const double value : expected) {
    squares += value * value;
  }
  const double size =
      std::sqrt(squares / static_cast<double>(std::max<std::size_t>(expected.size(), 1)));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(found[i]) ||
        std::abs(found[i] - expected[i]) > 2e-4 * (std::abs(expected[i]) + size)) {
      return false;
    }
  }
  return true;
}

// The smallest shape, and two that no block size divides.
std::vector<Axes> shapes_of(const Task& task) {
  std::vector<Axes> shapes(3);
  std::int64_t odd = 0;
  for (const auto& [name, range] : task.held_out) {
    shapes[0][name] = range.low;
    shapes[1][name] = std::min(range.high, range.low + 4 + odd % 3);
    shapes[2][name] = std::min(range.high, range.low + 36 + odd % 5);
    ++odd;
  }
  return shapes;
}

// In a process of its own: what is wrong may crash. The first entry is the baseline.
int check_all(const fs::path& library, const Task& task, const std::vector<Variant>& variants) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  const auto* entries =
      handle == nullptr ? nullptr : static_cast<const Entry*>(dlsym(handle, "entries"));
  if (entries == nullptr) {
    std::cerr << dlerror() << "\n";
    return 1;
  }
  int wrong = 0;
  for (const Axes& shape : shapes_of(task)) {
    Bench bench(task, shape);
    const std::optional<std::vector<double>> expected = bench.run(entries[0]);
    for (std::size_t i = 1; i < variants.size(); ++i) {
      std::ofstream(library.parent_path() / "at")
          << variants[i].label << " at " << shape_text(task, shape);
      const std::optional<std::vector<double>> found = bench.run(entries[i]);
      if (!expected || !found || !agree(*expected, *found)) {
        std::cerr << "WRONG: " << variants[i].label << " at " << shape_text(task, shape) << "\n";
        ++wrong;
      }
    }
  }
  return wrong == 0 ? 0 : 1;
}

// Whether `first` comes first in the pairs of that task.
bool is_in_order(const std::string& task, const std::string& first, const std::string& second) {
  const std::string pair = std::min(first, second) + "+" + std::max(first, second);
  const bool by_name = counter_hash(0, std::hash<std::string>()(task + ":" + pair)) % 2 == 0;
  return first == second || (first < second) == by_name;
}

// Every result of every rewriter, and every pair behind the first result of its first; equal
// sources once.
std::vector<Variant> variants_of(const std::string& task, const std::string& source) {
  const std::vector<std::string> names = rewriter_names();
  std::vector<Variant> variants = {{"the baseline", source}};
  std::set<std::string> known;
  const auto add = [&](const std::string& label, const std::string& rewritten) {
    if (known.insert(rewritten).second) {
      variants.push_back({label, rewritten});
    }
  };
  const Program program = parsed(source);
  for (const std::string& first : names) {
    const Result<std::vector<Rewritten>> once = rewrite(first, program, {});
    if (!once) {
      continue;
    }
    for (const Rewritten& one : *once) {
      add(first + " [" + one.site + "]", one.source);
    }
    const Rewritten& best = (*once)[0];
    const Program between = parsed(best.source);
    for (const std::string& second : names) {
      if (!is_in_order(task, first, second)) {
        continue;
      }
      const Result<std::vector<Rewritten>> twice = rewrite(second, between, {});
      if (twice) {
        add(first + " [" + best.site + "], then " + second + " [" + (*twice)[0].site + "]",
            (*twice)[0].source);
      }
    }
  }
  return variants;
}

class PairsTest : public ::testing::TestWithParam<fs::path> {};

TEST_P(PairsTest, ComputeWhatTheBaselineComputes) {
  const fs::path folder = GetParam();
  const Result<Task> task = load_task(folder);
  ASSERT_TRUE(task.ok()) << task.error().text();
  const std::vector<Variant> variants = variants_of(task->name, text_of(folder / "baseline.cpp"));
  EXPECT_GT(variants.size(), 8U);
  const Result<ScratchDir> scratch = ScratchDir::create("pairs-test");
  ASSERT_TRUE(scratch.ok()) << scratch.error().text();
  const std::optional<std::string> failure = build(scratch->path(), variants);
  ASSERT_FALSE(failure) << *failure;
  const pid_t child = fork();
  if (child == 0) {
    _exit(check_all(scratch->path() / "batch.so", *task, variants));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "last tried: " << text_of(scratch->path() / "at");
}

std::string name_of(const ::testing::TestParamInfo<fs::path>& info) {
  return info.param.filename().string();
}

INSTANTIATE_TEST_SUITE_P(Tasks, PairsTest, ::testing::ValuesIn(task_folders()), name_of);

}  // namespace
}  // namespace kernelpro
