#include "coordinator/task/load.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/file.hpp"

namespace kernelpro {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* whole_task = R"toml(schema = 1
name = "rowmin"
family = "sparse"
summary = "a task that uses every key"
reduction = "cols"

[axes]
rows = {}
cols = {}
nnz = "rows * 2"

[[input]]
name = "row_ptr"
dtype = "i32"
shape = ["rows + 1"]
values = { kind = "offsets", bound = "nnz" }

[[input]]
name = "columns"
dtype = "i64"
shape = ["nnz"]
values = { kind = "csr_columns", bound = "cols", rows_of = "row_ptr" }

[[input]]
name = "weights"
dtype = "f32"
shape = ["cols", 3]
values = { kind = "uniform", low = 0, high = 1.5 }
constant = true

[[output]]
name = "best"
dtype = "i32"
shape = ["rows"]
selects = "distance"

[[selection]]
name = "distance"
shape = ["rows", "cols"]
best = "smallest"

[[scalar]]
name = "alpha"
dtype = "f32"
range = [0.5, 2.0]

[[scalar]]
name = "beta"
dtype = "f64"
value = 3

[tolerance]
baseline_factor = 2
deterministic = true
allow_precision = ["bf16"]

[work]
flops = "2*nnz"
bytes = "4*(rows + nnz)"

[shapes]
timed = [ { rows = 64, cols = 32 }, { rows = 128, cols = 32 } ]
held_out = { rows = [1, 9], cols = [4, 7] }

[reference]
file = "reference.hpp"
call = "rowmin(rows, cols, alpha, beta, row_ptr, columns, weights, best, distance)"

[[baseline]]
name = "naive"
backend = "cpu"
file = "baseline.cpp"
options = ["-O2"]

[[comparator]]
name = "library"
backend = "cpu"
file = "library.cpp"
libraries = ["openblas"]
)toml";

class LoadTask : public testing::Test {
 protected:
  void SetUp() override {
    auto scratch = ScratchDir::create("load_test");
    ASSERT_TRUE(scratch.ok());
    scratch_.emplace(*std::move(scratch));
    for (const char* file : {"reference.hpp", "baseline.cpp", "library.cpp"}) {
      ASSERT_TRUE(write_file_unsynced(folder() / file, "// " + std::string(file)).ok());
    }
  }

  [[nodiscard]] const fs::path& folder() const { return scratch_->path(); }

  [[nodiscard]] Result<Task> load(const std::string& toml) const {
    EXPECT_TRUE(write_file_unsynced(folder() / "task.toml", toml).ok());
    return load_task(folder());
  }

  // The error of the whole task with `before` exchanged for `after`, without the folder.
  [[nodiscard]] std::string error_with(const std::string& before, const std::string& after) const {
    std::string toml = whole_task;
    const std::size_t at = toml.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    const auto task = load(toml.replace(at, before.size(), after));
    if (task.ok()) {
      return "loaded";
    }
    EXPECT_EQ(task.error().kind, ErrorKind::bad_input);
    const std::string text = task.error().text();
    const std::string prefix = folder().string() + "/";
    EXPECT_EQ(text.substr(0, prefix.size()), prefix) << text;
    return text.substr(prefix.size());
  }

  std::optional<ScratchDir> scratch_;
};

TEST_F(LoadTask, ReadsEveryKey) {
  const auto task = load(whole_task);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_EQ(task->name, "rowmin");
  EXPECT_EQ(task->reduction.text(), "cols");
  ASSERT_EQ(task->axes.size(), 3U);
  EXPECT_EQ(task->axes[2].derived->text(), "rows * 2");
  ASSERT_EQ(task->inputs.size(), 3U);
  EXPECT_EQ(task->inputs[0].values.kind, ValueKind::offsets);
  EXPECT_EQ(task->inputs[1].values.rows_of, "row_ptr");
  EXPECT_EQ(task->inputs[1].dtype, DType::i64);
  EXPECT_EQ(task->inputs[2].values.high, 1.5);
  EXPECT_EQ(task->inputs[2].shape[1].text(), "3");
  EXPECT_TRUE(task->inputs[2].constant);
  EXPECT_EQ(task->outputs[0].selects, "distance");
  EXPECT_TRUE(task->selections[0].smallest);
  EXPECT_EQ(task->scalars[0].high, 2.0);
  EXPECT_EQ(task->scalars[1].low, 3.0);
  EXPECT_EQ(task->tolerance.baseline_factor, 2.0);
  EXPECT_EQ(task->tolerance.rounding_factor, 8.0);
  EXPECT_TRUE(task->tolerance.deterministic);
  EXPECT_THAT(task->tolerance.allow_precision, ElementsAre("bf16"));
  EXPECT_EQ(task->work.flops.text(), "2*nnz");
  EXPECT_EQ(task->timed_shapes[1].at("rows"), 128);
  EXPECT_EQ(task->held_out.at("cols").low, 4);
  EXPECT_EQ(task->reference.call.function, "rowmin");
  EXPECT_EQ(task->reference.call.arguments.size(), 9U);
  EXPECT_THAT(task->baselines[0].options, ElementsAre("-O2"));
  EXPECT_THAT(task->comparators[0].libraries, ElementsAre("openblas"));
  EXPECT_EQ(task->files.at("library.cpp"), "// library.cpp");
}

TEST_F(LoadTask, KeepsTheOrderOfAxesOfTheFile) {
  std::string toml = whole_task;
  const std::string before = "rows = {}\ncols = {}\n";
  toml.replace(toml.find(before), before.size(), "zeta = {}\nrows = {}\ncols = {}\nalef = {}\n");
  for (const std::string sizes : {"rows = 64, ", "rows = 128, "}) {
    toml.replace(toml.find(sizes), sizes.size(), sizes + "zeta = 1, alef = 1, ");
  }
  const std::string ranges = "held_out = { ";
  toml.replace(toml.find(ranges), ranges.size(), ranges + "zeta = [1, 2], alef = [1, 2], ");
  const auto task = load(toml);
  ASSERT_TRUE(task.ok()) << task.error().text();
  std::vector<std::string> names;
  for (const AxisSpec& axis : task->axes) {
    names.push_back(axis.name);
  }
  EXPECT_THAT(names, ElementsAre("zeta", "rows", "cols", "alef", "nnz"));
}

TEST_F(LoadTask, SuggestsTheKeyThatWasMeant) {
  EXPECT_EQ(error_with("shape = [\"nnz\"]", "shpe = [\"nnz\"]"),
            "task.toml:21: input.shpe: unknown key; did you mean \"shape\"?");
  EXPECT_EQ(error_with("family", "famly"),
            "task.toml:3: famly: unknown key; did you mean \"family\"?");
  EXPECT_EQ(error_with("flops", "seconds"),
            "task.toml:58: work.seconds: unknown key; known are \"flops\", \"bytes\"");
  EXPECT_THAT(error_with("bound = \"nnz\"", "bound = \"nnz\", low = 1"),
              HasSubstr("task.toml:16: input.values.low: unknown key; known are"));
  EXPECT_THAT(error_with("options = ", "libraries = [\"m\"]\noptions = "),
              HasSubstr("baseline.libraries: unknown key"));
}

TEST_F(LoadTask, SaysWhatWasFoundAndExpected) {
  EXPECT_EQ(error_with("name = \"rowmin\"", "name = 3"),
            "task.toml:2: name: expected a string, found the integer 3");
  EXPECT_EQ(error_with("shape = [\"nnz\"]", "shape = \"nnz\""),
            "task.toml:21: input.shape: expected an array of formulas like [\"m\", \"k\"], found "
            "the string \"nnz\"");
  EXPECT_EQ(error_with("constant = true", "constant = \"yes\""),
            "task.toml:29: input.constant: expected true or false, found the string \"yes\"");
  EXPECT_EQ(error_with("baseline_factor = 2", "baseline_factor = nan"),
            "task.toml:53: tolerance.baseline_factor: expected a finite number, found the number "
            "nan");
  EXPECT_EQ(error_with("[\"-O2\"]", "[\"-O2\", 3]"),
            "task.toml:73: baseline.options: expected strings only, found the integer 3");
  EXPECT_THAT(error_with("[[selection]]", "[selection]"),
              HasSubstr("selection: expected [[selection]] (double brackets"));
  EXPECT_THAT(error_with("rows = {}", "rows = 12"),
              HasSubstr("task.toml:8: axes.rows: expected {} (a given axis) or a formula"));
  EXPECT_EQ(error_with("rows = 64", "rows = 64.5"),
            "task.toml:62: shapes.timed.rows: expected a whole number, found the number 64.5");
}

TEST_F(LoadTask, NamesTheKeyThatIsMissing) {
  EXPECT_EQ(error_with("dtype = \"i32\"\nshape = [\"rows + 1\"]", "shape = [\"rows + 1\"]"),
            "task.toml:12: input.dtype: this key is required and missing");
  EXPECT_THAT(error_with("schema = 1\n", ""), HasSubstr("schema: this key is required"));
  EXPECT_THAT(error_with("held_out = { rows = [1, 9], cols = [4, 7] }", ""),
              HasSubstr("task.toml:61: shapes.held_out: this key is required"));
}

TEST_F(LoadTask, RefusesAnotherSchema) {
  EXPECT_THAT(error_with("schema = 1", "schema = 2"),
              HasSubstr("task.toml:1: schema: this program reads schema 1, the file has 2"));
}

TEST_F(LoadTask, TellsTheLineOfBrokenToml) {
  EXPECT_THAT(error_with("name = \"rowmin\"", "name = rowmin"),
              HasSubstr("task.toml:2: this is not valid TOML: "));
  EXPECT_THAT(error_with("cols = {}", "cols = {}\ncols = {}"),
              HasSubstr("task.toml:10: this is not valid TOML: "));
}

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) {
    out += text;
  }
  return out;
}

TEST_F(LoadTask, RefusesKeysOfManyParts) {
  for (const int deep : {20, 20'000}) {
    const std::string dotted = repeated("a.", deep) + "a";
    const std::string quoted = repeated("\"a.b\" . 'a#' .", deep) + "a";
    const std::string inner = "{ " + dotted + " = 1 }";
    for (const std::string& line :
         {dotted + " = 1", quoted + " = 1", "[" + dotted + "]", "[[" + dotted + "]]",
          "a = " + inner, R"(a = [ "\"", '\', )" + inner + " ]",
          R"(a = [ """'""""", )" + inner + " ]", R"(a = [ '''"'''', )" + inner + " ]"}) {
      EXPECT_THAT(error_with("[axes]", line + "\n[axes]"),
                  HasSubstr("task.toml:7: a key has more than 16 parts"))
          << line.substr(0, 40);
    }
    EXPECT_THAT(error_with("[axes]", "a = [  # it's\n" + inner + " ]\n[axes]"),
                HasSubstr("task.toml:8: a key has more than 16 parts"));
  }
}

TEST_F(LoadTask, EndsOnValuesThatAreNestedDeep) {
  for (const int deep : {100, 20'000}) {
    for (const std::string& value : {repeated("[", deep), repeated("{a=", deep),
                                     repeated("[{" + repeated("a.", 15) + "a=", deep)}) {
      EXPECT_THAT(error_with("[axes]", "a = " + value + "\n[axes]"),
                  HasSubstr("this is not valid TOML: "));
    }
  }
}

TEST_F(LoadTask, DotsInTextMakeNoKeyDeep) {
  const std::string dots(1000, '.');
  for (const std::string& line :
       {"summary = \"" + dots + "\"", "summary = '" + dots + "'", R"(summary = "\")" + dots + "\"",
        "summary = \"\"\"\n" + dots + R"("""  # )" + dots,
        "summary = '''" + dots + "\n" + dots + "'''", "summary = \"x\"  # it's " + dots}) {
    EXPECT_THAT(error_with("summary = \"a task that uses every key\"", line),
                Not(HasSubstr("a key has more than")))
        << line.substr(0, 40);
  }
}

TEST_F(LoadTask, RefusesFilesThatAreMissingOrElsewhere) {
  EXPECT_EQ(error_with("\"baseline.cpp\"", "\"basline.cpp\""),
            "task.toml:72: baseline.file: the file \"basline.cpp\" is missing: expected a plain "
            "file at " +
                (folder() / "basline.cpp").string());
  EXPECT_THAT(error_with("\"reference.hpp\"", "\"../reference.hpp\""),
              HasSubstr("reference.file: \"../reference.hpp\" leaves the task's folder"));
  EXPECT_THAT(error_with("\"library.cpp\"", "\"/etc/passwd\""),
              HasSubstr("comparator.file: \"/etc/passwd\" leaves the task's folder"));
  fs::create_symlink("/etc/passwd", folder() / "link.cpp");
  EXPECT_THAT(error_with("\"library.cpp\"", "\"link.cpp\""),
              HasSubstr("comparator.file: \"link.cpp\" is a link that leaves the task's folder"));
}

TEST_F(LoadTask, RefusesNamesTwice) {
  EXPECT_THAT(error_with("name = \"columns\"", "name = \"row_ptr\""),
              HasSubstr("task.toml:19: input.name: the name \"row_ptr\" is already taken in line "
                        "13"));
  EXPECT_THAT(error_with("name = \"alpha\"", "name = \"cols\""),
              HasSubstr("scalar.name: the name \"cols\" is already taken in line 9"));
  EXPECT_THAT(error_with("name = \"alpha\"", "name = \"al pha\""),
              HasSubstr("scalar.name: \"al pha\" is not a name"));
}

TEST_F(LoadTask, RefusesShapesThatDoNotFitTheAxes) {
  EXPECT_EQ(error_with("rows = 64, cols = 32", "rows = 64, colls = 32"),
            "task.toml:62: shapes.timed: \"colls\" is not an axis; did you mean \"cols\"?");
  EXPECT_EQ(error_with("rows = 64, cols = 32", "rows = 64"),
            "task.toml:62: shapes.timed: the axis \"cols\" is missing; give all of rows, cols");
  EXPECT_EQ(error_with("rows = 64, cols = 32", "rows = 64, cols = 32, nnz = 5"),
            "task.toml:62: shapes.timed: \"nnz\" is derived (rows * 2); give only rows, cols");
  EXPECT_EQ(error_with("rows = 64, cols = 32", "rows = 0, cols = 32"),
            "task.toml:62: shapes.timed.rows: expected a size of at least 1, found 0");
  EXPECT_THAT(error_with("[ { rows = 64, cols = 32 }, { rows = 128, cols = 32 } ]", "[]"),
              HasSubstr("shapes.timed: expected at least one shape"));
  EXPECT_EQ(error_with("rows = [1, 9]", "rows = [9, 1]"),
            "task.toml:63: shapes.held_out.rows: low (9) is above high (1)");
  EXPECT_EQ(error_with("rows = [1, 9]", "rows = [0, 9]"),
            "task.toml:63: shapes.held_out.rows: low must be at least 1, found 0");
  EXPECT_EQ(error_with("rows = [1, 9]", "rows = [1, 9, 0]"),
            "task.toml:63: shapes.held_out.rows: step must be at least 1, found 0");
  EXPECT_THAT(error_with("rows = [1, 9]", "rows = [1]"),
              HasSubstr("expected two whole numbers, [low, high], or with a step of the sizes, "
                        "[low, high, step], found"));
  EXPECT_EQ(error_with("rows = [1, 9], ", ""),
            "task.toml:63: shapes.held_out: the axis \"rows\" is missing; give all of rows, cols");
}

TEST_F(LoadTask, CudaShapesAreOptionalAndHeldToTheSameRules) {
  EXPECT_THAT(load(whole_task)->shapes_on, IsEmpty());
  const auto with_cuda = [](const std::string& list) {
    return "cuda = " + list + "\nheld_out = { rows";
  };
  std::string toml = whole_task;
  const std::string before = "held_out = { rows";
  toml.replace(toml.find(before), before.size(), with_cuda("[{ rows = 4096, cols = 99 }]"));
  const auto task = load(toml);
  ASSERT_TRUE(task.ok()) << task.error().text();
  EXPECT_THAT(task->shapes_on.at(Backend::cuda), ElementsAre(Axes{{"rows", 4096}, {"cols", 99}}));
  EXPECT_EQ(error_with(before, with_cuda("[{ rows = 4096 }]")),
            "task.toml:63: shapes.cuda: the axis \"cols\" is missing; give all of rows, cols");
  EXPECT_EQ(error_with(before, with_cuda("[{ rows = 0, cols = 9 }]")),
            "task.toml:63: shapes.cuda.rows: expected a size of at least 1, found 0");
  EXPECT_EQ(error_with(before, with_cuda("[]")),
            "task.toml:63: shapes.cuda: expected at least one shape, like [ { n = 1024 } ]");
  EXPECT_THAT(error_with(before, with_cuda("[{ rows = 8, cols = 8 }, { rows = 8, cols = 8 }]")),
              HasSubstr("task.toml:63: shapes.cuda[1]: the shape rows=8 cols=8 is there twice"));
}

TEST_F(LoadTask, ChecksValuesAgainstTheType) {
  EXPECT_THAT(error_with("values = { kind = \"offsets\", bound = \"nnz\" }\n", ""),
              HasSubstr("task.toml:12: input.values: an input of i32 must say which values"));
  EXPECT_THAT(error_with("{ kind = \"uniform\", low = 0, high = 1.5 }",
                         "{ kind = \"index\", bound = \"cols\" }"),
              HasSubstr("task.toml:28: input.values: index, offsets and csr_columns are whole"));
  EXPECT_THAT(error_with("kind = \"uniform\"", "kind = \"unifrom\""),
              HasSubstr("input.values.kind: expected \"normal\", \"uniform\""));
  EXPECT_EQ(error_with("low = 0, high = 1.5", "low = 2, high = 1.5"),
            "task.toml:28: input.values.low: low (2) must be below high (1.5)");
  EXPECT_THAT(error_with("dtype = \"i64\"", "dtype = \"int\""),
              HasSubstr("task.toml:20: input.dtype: \"int\" is not an element type; known are"));
}

TEST_F(LoadTask, ChecksSelectionsAndScalars) {
  EXPECT_EQ(error_with("selects = \"distance\"", "selects = \"distanse\""),
            "task.toml:35: output.selects: there is no [[selection]] named \"distanse\"; did you "
            "mean \"distance\"?");
  EXPECT_THAT(
      error_with("dtype = \"i32\"\nshape = [\"rows\"]", "dtype = \"f32\"\nshape = [\"rows\"]"),
      HasSubstr("output.selects: an output that selects is an index"));
  EXPECT_THAT(error_with("best = \"smallest\"", "best = \"least\""),
              HasSubstr("selection.best: expected \"smallest\" or \"largest\", found \"least\""));
  EXPECT_THAT(error_with("range = [0.5, 2.0]", "range = [2.0, 0.5]"),
              HasSubstr("scalar.range: low (2) is above high (0.5)"));
  EXPECT_THAT(error_with("value = 3", ""),
              HasSubstr("scalar.range: expected either range = [low, high] or value = number"));
}

TEST_F(LoadTask, MapsSemanticErrorsToLines) {
  EXPECT_THAT(error_with("[\"nnz\"]", "[\"nnzz\"]"),
              HasSubstr("task.toml:21: input columns.shape:"));
  EXPECT_THAT(error_with("[\"nnz\"]", "[\"nnz +\"]"), HasSubstr("task.toml:21: input.shape: the "));
  EXPECT_THAT(error_with("\"2*nnz\"", "\"2*k\""), HasSubstr("task.toml:58: work.flops:"));
  EXPECT_THAT(error_with("\"rows * 2\"", "\"k * 2\""), HasSubstr("task.toml:10: axis nnz:"));
  EXPECT_THAT(error_with("rowmin(rows,", "rowmin(raws,"),
              HasSubstr("task.toml:67: reference.call:"));
  EXPECT_THAT(error_with("rowmin(rows,", "rowmin rows,"),
              HasSubstr("task.toml:67: reference.call: expected a call like"));
}

TEST_F(LoadTask, SaysThatThereIsNoTask) {
  const auto task = load_task(folder() / "nowhere");
  ASSERT_FALSE(task.ok());
  EXPECT_THAT(task.error().text(), HasSubstr("nowhere: there is no such file; expected a task"));
}

TEST_F(LoadTask, FindsTasksByNameInTheListedFolders) {
  fs::create_directory(folder() / "rowmin");
  for (const char* file : {"reference.hpp", "baseline.cpp", "library.cpp"}) {
    fs::copy(folder() / file, folder() / "rowmin" / file);
  }
  ASSERT_TRUE(write_file_unsynced(folder() / "rowmin" / "task.toml", whole_task).ok());
  fs::create_directory(folder() / "wrong");
  ASSERT_TRUE(write_file_unsynced(folder() / "wrong" / "task.toml", "schema = 7\n").ok());
  ASSERT_EQ(setenv("KERNELPRO_TASKS", folder().c_str(), 1), 0);

  const auto found = find_task("rowmin");
  ASSERT_TRUE(found.ok()) << found.error().text();
  EXPECT_EQ(*found, folder() / "rowmin");
  EXPECT_EQ(*find_task((folder() / "rowmin").string()), folder() / "rowmin");
  EXPECT_EQ(*find_task((folder() / "rowmin/task.toml").string()), folder() / "rowmin/task.toml");

  const auto unknown = find_task("rowmim");
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().text(), HasSubstr("\"rowmim\"; did you mean rowmin? known are "));
  EXPECT_THAT(unknown.error().text(), HasSubstr("wrong"));
  fs::create_directory(folder() / "empty");
  EXPECT_THAT(find_task((folder() / "empty").string()).error().text(),
              HasSubstr("this folder has no task.toml"));

  bool listed = false;
  for (const TaskListing& listing : list_tasks()) {
    if (listing.name == "rowmin") {
      listed = true;
      EXPECT_EQ(listing.family, "sparse");
      EXPECT_EQ(listing.error, "");
    } else if (listing.name == "wrong") {
      EXPECT_THAT(listing.error, HasSubstr("schema"));
    }
  }
  EXPECT_TRUE(listed);
  unsetenv("KERNELPRO_TASKS");
}

}  // namespace
}  // namespace kernelpro
