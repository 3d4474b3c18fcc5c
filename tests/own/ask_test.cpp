// What the command asks for on a terminal, and what it says without one.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "common/base/paths.hpp"
#include "coordinator/task/load.hpp"
#include "own/project.hpp"

namespace kernelpro {
namespace {

using namespace own_tests;

using ::testing::AllOf;
using ::testing::HasSubstr;

// How far it reaches into x is no formula over n.
constexpr const char* doubling =
    "void doubling(const int* x, int* y, int n, int m) {\n"
    "  for (int j = 0; j < m; ++j) {\n"
    "    int s = 0;\n"
    "    for (int i = 1; i < n; i *= 2) s += x[i];\n"
    "    y[j] = s * 2 + j;\n"
    "  }\n}\n";

class OwnAsks : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto program = sibling_program("kernelpro");
    ASSERT_TRUE(program.ok()) << program.error().text();
    program_ = program->string();
    project_.write("doubling.cpp", doubling);
  }

  [[nodiscard]] Finished without_terminal(const std::string& line) const {
    return run_in({"/bin/sh", "-c", line + " < /dev/null"}, project_.root());
  }

  // Answers each question in turn; returns what stood on the terminal.
  [[nodiscard]] std::string on_terminal(const std::vector<std::string>& words,
                                        std::vector<std::string> answers) const {
    int terminal = -1;
    const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
      std::vector<char*> arguments;
      for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));
      }
      arguments.push_back(nullptr);
      if (chdir(project_.root().c_str()) == 0) {
        execv(arguments[0], arguments.data());
      }
      _exit(127);
    }
    std::string shown;
    std::array<char, 4096> part{};
    for (ssize_t got = 0; (got = ::read(terminal, part.data(), part.size())) > 0;) {
      shown.append(part.data(), static_cast<std::size_t>(got));
      if (shown.ends_with("): ") && !answers.empty()) {
        const std::string line = answers.front() + "\n";
        answers.erase(answers.begin());
        EXPECT_EQ(::write(terminal, line.data(), line.size()), std::ssize(line));
      }
    }
    int status = 0;
    waitpid(child, &status, 0);
    ::close(terminal);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << shown;
    EXPECT_TRUE(answers.empty()) << shown;
    return shown;
  }

  [[nodiscard]] Task the_task() const {
    for (const auto& entry : fs::directory_iterator(project_.store() / "tasks")) {
      auto task = load_task(entry.path());
      EXPECT_TRUE(task.ok()) << task.error().text();
      return task.ok() ? *std::move(task) : Task();
    }
    ADD_FAILURE() << "no task was made";
    return {};
  }

  OwnProject project_;
  std::string program_;
};

TEST_F(OwnAsks, WithoutATerminalItEndsWithALineToPaste) {
  const Finished first =
      without_terminal("'" + program_ + "' optimize doubling.cpp:doubling --dry-run");
  EXPECT_EQ(first.exit_code, 2);
  EXPECT_THAT(first.errors, HasSubstr("does not tell how far it reaches into x"));
  const std::string wanted = "\n  kernelpro optimize doubling.cpp:doubling --dry-run --shape x=n";
  ASSERT_THAT(first.errors, HasSubstr(wanted));
  const std::string pasted =
      "'" + program_ + "'" + wanted.substr(wanted.find(" optimize")) + " --size n=900 --size m=700";
  const Finished second = without_terminal(pasted);
  EXPECT_EQ(second.exit_code, 0) << second.errors;
  EXPECT_EQ(the_task().timed_shapes[0].at("m"), 700);

  project_.write("header.cpp",
                 "#include \"nowhere.h\"\nvoid f(float* x, int n) { x[n - 1] = N; }\n");
  const Finished third = without_terminal("'" + program_ + "' optimize header.cpp:f --size n=9");
  EXPECT_EQ(third.exit_code, 2);
  EXPECT_THAT(third.errors,
              AllOf(HasSubstr("'nowhere.h' file not found"),
                    HasSubstr("\n  kernelpro optimize header.cpp:f --size n=9 -I include\n"),
                    HasSubstr("--size n=9 -D N=64\n"),
                    HasSubstr("--size n=9 --compile-commands build/compile_commands.json")));
}

TEST_F(OwnAsks, OnATerminalEnterTakesWhatIsProposed) {
  const std::string shown =
      on_terminal({program_, "optimize", "doubling.cpp:doubling", "--dry-run"},
                  {"", "n=12 m=x", "m=500", "", "x=uniform:0:9"});
  EXPECT_THAT(shown,
              AllOf(HasSubstr("how far it reaches into x (--shape; Enter takes x=n): "),
                    HasSubstr("sizes that are timed (--size; Enter takes m="),
                    HasSubstr("expected a whole number, such as n=96, found \"m=x\""),
                    HasSubstr("sizes that are checked, from LOW to HIGH (--held-out; Enter "),
                    HasSubstr("what numbers are drawn from (--values; Enter takes ")));
  const Task task = the_task();
  EXPECT_EQ(task.inputs[0].shape[0].text(), "n");
  EXPECT_EQ(task.timed_shapes[0].at("m"), 500);
  EXPECT_EQ(task.inputs[0].values.high, 9);
}

}  // namespace
}  // namespace kernelpro
