// Help, manual pages and completion, read by those who read them: people, man and the shells.
#include <pty.h>
#include <unistd.h>

#include <algorithm>

#include "cli/running.hpp"

namespace kernelpro {
namespace {

using namespace kernelpro::testing;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

const std::string program = KERNELPRO_BIN_DIR "/kernelpro";

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

class Manual : public Cli {
 protected:
  [[nodiscard]] static bool there(const std::string& tool) {
    Command which;
    which.arguments = {"/bin/sh", "-c", "command -v " + tool};
    const Result<Finished> found = run_command(which);
    return found.ok() && found->succeeded();
  }

  // "evaluate", "task new": all that the help lists.
  [[nodiscard]] std::vector<Words> commands() const {
    std::vector<Words> all;
    bool listing = false;
    for (const std::string& line : lines_of(kernelpro({"--help"}).output)) {
      listing = line == "Optimize your function:" || (listing && line != "Options:");
      if (listing && line.starts_with("  ") && line[2] != ' ') {
        std::istringstream words(line.substr(0, 26));
        all.emplace_back(std::istream_iterator<std::string>(words),
                         std::istream_iterator<std::string>());
      }
    }
    return all;
  }

  // The file that `kernelpro completion SHELL` prints.
  [[nodiscard]] std::string script(const std::string& shell) const {
    const Finished printed = kernelpro({"completion", shell});
    expect_exit(printed, 0);
    EXPECT_THAT(printed.errors, IsEmpty());
    const fs::path file = work() / ("kernelpro." + shell);
    write(file, printed.output);
    return file.string();
  }
};

TEST_F(Manual, CommandsAreListedByWhatPeopleDo) {
  const Finished help = kernelpro({"--help"});
  expect_exit(help, 0);
  std::size_t at = 0;
  for (const char* group : {"Optimize your function:", "Look at results:", "Judge and diagnose:",
                            "Tasks:", "Machine and settings:", "Help:"}) {
    const std::string line = std::string("\n") + group + "\n";
    const std::size_t found = help.output.find(line);
    ASSERT_NE(found, std::string::npos) << group;
    EXPECT_GT(found, at) << group;
    EXPECT_EQ(help.output.find(line, found + 1), std::string::npos) << group << " comes twice";
    at = found;
  }
  EXPECT_GE(commands().size(), 24U);
}

TEST_F(Manual, EveryCommandListedHasHelpWithAnExampleByBothNames) {
  for (const Words& words : commands()) {
    Words flag = words;
    flag.emplace_back("-h");
    Words command = {"help"};
    command.insert(command.end(), words.begin(), words.end());
    const Finished by_flag = kernelpro(flag);
    const Finished by_command = kernelpro(command);
    expect_exit(by_flag, 0);
    expect_exit(by_command, 0);
    EXPECT_EQ(by_flag.output, by_command.output);
    EXPECT_THAT(by_flag.output,
                AnyOf(HasSubstr("Example:\n  kernelpro "), HasSubstr("Example:\n  source <(")));
    for (const std::string& line : lines_of(by_flag.output)) {
      EXPECT_LE(line.size(), 104U) << line;  // bytes: some signs have more than one
    }
  }
  EXPECT_EQ(kernelpro({"help"}).output, kernelpro({"--help"}).output);
  EXPECT_EQ(kernelpro({"-V"}).output, kernelpro({"--version"}).output);
}

TEST_F(Manual, WhatIsMisspelledIsNamedWithWhatWasMeant) {
  const struct {
    Words arguments;
    std::string said;
  } cases[] = {
      {{"evalute", "axpy"}, "there is no command \"evalute\"; did you mean \"evaluate\"?"},
      {{"evalute", "--help"}, "there is no command \"evalute\"; did you mean \"evaluate\"?"},
      {{"task", "chek", "-h"}, "there is no command \"chek\"; did you mean \"check\"?"},
      {{"runs", "rn"}, "there is no command \"rn\"; did you mean \"rm\"?"},
      {{"task", "chek"}, "there is no command \"chek\"; did you mean \"check\"?"},
      {{"optimize", "gemm", "--evalutions", "3"},
       "`kernelpro optimize` has no option \"--evalutions\"; did you mean \"--evaluations\"?"},
      {{"optimize", "gemm", "--sede=3"}, "has no option \"--sede\"; did you mean \"--seed\"?"},
      {{"help", "task", "nw"}, "there is no command \"nw\"; did you mean \"new\"?"},
      {{"man", "optimze"}, "there is no command \"optimze\"; did you mean \"optimize\"?"},
      {{"doctor", "gemm"}, "`kernelpro doctor` has no use for \"gemm\""},
  };
  for (const auto& wrong : cases) {
    const Finished finished = kernelpro(wrong.arguments);
    EXPECT_THAT(finished.exit_code, AnyOf(1, 2)) << wrong.said;
    EXPECT_THAT(finished.errors, AllOf(StartsWith("kernelpro: "), HasSubstr(wrong.said)));
    EXPECT_THAT(finished.output, IsEmpty());
  }
}

TEST_F(Manual, DurationsHaveUnitsAndPlainNumbersAreSeconds) {
  for (const char* time : {"90", "90s", "1m30s", "1.5m", "1h30m"}) {
    EXPECT_THAT(
        kernelpro({"optimize", data("wave"), "--dry-run", "--time", time}).output,
        HasSubstr(std::string("at most ") + (std::string(time) == "1h30m" ? "5400 s" : "90 s")))
        << time;
  }
  for (const char* wrong : {"1x", "90 s", "-5", "1m1h", "0", "40d", ""}) {
    const Finished finished = kernelpro({"optimize", data("wave"), "--time", wrong});
    expect_exit(finished, 1);
    EXPECT_THAT(finished.errors,
                HasSubstr("--time: expected 1s to 30d, as 60, 60s, 5m or 1h30m, found \"" +
                          std::string(wrong) + "\""));
  }
  for (const Words& words : {Words{"evaluate", "axpy", "a.cpp", "--timing", "5q"},
                             Words{"evaluate", "axpy", "a.cpp", "--timeout", "2h"},
                             Words{"diagnose", "axpy", "a.cpp", "--timeout", "x"},
                             Words{"bench", "kernelbench", "--limit", "x"},
                             Words{"resume", "a-1", "--llm-timeout", "x"}}) {
    const Finished finished = kernelpro(words);
    expect_exit(finished, 1);
    EXPECT_THAT(finished.errors, HasSubstr(words[words.size() - 2] + ": expected "));
  }
}

// What `kernelpro --help` prints to a terminal.
class Terminal : public Manual {
 protected:
  [[nodiscard]] std::string shown(const Words& arguments) const {
    int master = -1;
    int slave = -1;
    EXPECT_EQ(openpty(&master, &slave, nullptr, nullptr, nullptr), 0);
    const UniqueFd reader(master);
    std::string text;
    {
      const UniqueFd writer(slave);
      Running running(command(with_program(arguments)), work(), slave);
      (void)running.end();
    }
    std::string part(4096, '\0');
    for (ssize_t got = 0; (got = ::read(master, part.data(), part.size())) > 0;) {
      text.append(part, 0, static_cast<std::size_t>(got));
    }
    return text;
  }
};

TEST_F(Terminal, ColorIsForTerminalsUnlessNoColorIsSet) {
  const std::string red = "\033[1;31mkernelpro:\033[0m ";
  set("TERM", "xterm");
  EXPECT_THAT(shown({"evalute"}), StartsWith(red));
  EXPECT_THAT(shown({"evaluate", "axpi", "a.cpp"}), HasSubstr(red));
  set("NO_COLOR", "1");
  EXPECT_THAT(shown({"evalute"}), AllOf(StartsWith("kernelpro: "), Not(HasSubstr("\033"))));
  set("FORCE_COLOR", "1");
  EXPECT_THAT(shown({"evalute"}), Not(HasSubstr("\033"))) << "NO_COLOR wins";
  set("NO_COLOR", "");
  set("FORCE_COLOR", "");
  set("TERM", "dumb");
  EXPECT_THAT(shown({"evalute"}), Not(HasSubstr("\033")));
}

TEST_F(Manual, ColorNeverGoesIntoAPipeUnlessItIsForced) {
  set("TERM", "xterm");
  EXPECT_THAT(kernelpro({"--help"}).output, Not(HasSubstr("\033")));
  EXPECT_THAT(kernelpro({"evalute"}).errors, Not(HasSubstr("\033")));
  set("FORCE_COLOR", "0");
  EXPECT_THAT(kernelpro({"--help"}).output, Not(HasSubstr("\033")));
  set("FORCE_COLOR", "1");
  EXPECT_THAT(kernelpro({"--help"}).output, HasSubstr("\033[1mTasks:\033[0m"));
}

TEST_F(Manual, ThereIsAPageForEveryCommandAndManHasNothingToSayAboutThem) {
  expect_exit(kernelpro({"man", "--into", "pages"}), 0);
  Words wanted = {"kernelpro.1"};
  for (const Words& words : commands()) {
    std::string name = "kernelpro";
    for (const std::string& word : words) {
      name += "-" + word;
    }
    wanted.push_back(name + ".1");
  }
  Words found;
  for (const fs::directory_entry& entry : fs::directory_iterator(work() / "pages")) {
    found.push_back(entry.path().filename().string());
  }
  EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(kernelpro({"man", "optimize"}).output,
            content_of(work() / "pages/kernelpro-optimize.1"));
  if (!there("man")) {
    FAIL() << "there is no man: install Debian's man-db";
  }
  for (const std::string& page : found) {
    const Finished read =
        run_to_end(command({"/usr/bin/env", "LC_ALL=C.UTF-8", "MANWIDTH=78", "man", "--warnings",
                            "-E", "UTF-8", "-l", "pages/" + page}));
    expect_exit(read, 0);
    EXPECT_THAT(read.errors, IsEmpty()) << page;
    EXPECT_THAT(read.output, AllOf(HasSubstr("SYNOPSIS"), HasSubstr("OPTIONS"), HasSubstr("--help"),
                                   HasSubstr("EXAMPLES")))
        << page;
  }
}

TEST_F(Manual, MandocFindsNoFaultWithThePages) {
  if (!there("mandoc")) {
    FAIL() << "there is no mandoc: install Debian's mandoc";
  }
  expect_exit(kernelpro({"man", "--into", "pages"}), 0);
  const Finished read =
      run_to_end(command({"/bin/sh", "-c", "mandoc -T lint -W warning pages/*.1"}));
  for (const std::string& line : lines_of(read.output)) {
    // The same page comes out of the same program on any day.
    EXPECT_THAT(line, HasSubstr("missing date"));
  }
}

class BashCompletion : public Manual {
 protected:
  // What is offered for the last word.
  [[nodiscard]] Words offered(const Words& words) const {
    Words call = {"/bin/bash",
                  "--norc",
                  "-c",
                  "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                  "$(complete -p kernelpro | sed 's/.*-F \\([^ ]*\\).*/\\1/'); "
                  "printf '%s\\n' \"${COMPREPLY[@]}\"",
                  script("bash"),
                  program};
    call.insert(call.end(), words.begin(), words.end());
    const Finished finished = run_to_end(command(call));
    expect_exit(finished, 0);
    EXPECT_THAT(finished.errors, IsEmpty());
    Words lines = lines_of(finished.output);
    std::erase(lines, "");
    return lines;
  }
};

TEST_F(BashCompletion, OffersCommandsOptionsAndTheWordsTheyTake) {
  EXPECT_THAT(offered({"ev"}), ElementsAre("evaluate"));
  EXPECT_THAT(offered({""}), IsSupersetOf({"optimize", "runs", "task", "completion"}));
  EXPECT_THAT(offered({"task", ""}), ElementsAre("list", "show", "check", "new"));
  EXPECT_THAT(offered({"task", "new", "--ent"}), ElementsAre("--entry"));
  EXPECT_THAT(offered({"evaluate", "--ti"}), ElementsAre("--timeout", "--timing"));
  EXPECT_THAT(offered({"evaluate", "--backend", ""}), ElementsAre("cpu", "cuda"));
  EXPECT_THAT(offered({"evaluate", "--backend", "=", "cu"}), ElementsAre("cuda"));
  EXPECT_THAT(offered({"evaluate", "axpy", "--json", "--sandbox", "n"}), ElementsAre("none"));
  EXPECT_THAT(offered({"evaluate", "--timing", ""}), IsEmpty());
}

TEST_F(BashCompletion, OffersTasksRunsFilesAndFolders) {
  copy_task("my_wave");
  write(work() / "candidate.cpp", "");
  fs::create_directories(work() / "candidates");
  EXPECT_THAT(offered({"evaluate", "my_"}), ElementsAre("my_wave"));
  EXPECT_THAT(offered({"evaluate", "my_wave", "cand"}),
              ::testing::UnorderedElementsAre("candidate.cpp", "candidates"));
  EXPECT_THAT(offered({"evaluate", "--certificates", "cand"}), ElementsAre("candidates"));
  EXPECT_THAT(offered({"show", ""}), IsEmpty()) << "there are no runs";
  const Finished made = kernelpro({"optimize", "my_wave", "--timing", "0.02", "-n", "1", "--tier",
                                   "build", "--quiet", "--accept-suspect"});
  ASSERT_THAT(made.exit_code, AnyOf(0, 3)) << made.errors;
  EXPECT_THAT(offered({"show", ""}), ElementsAre("my_wave-1"));
  EXPECT_THAT(offered({"runs", "rm", "my"}), ElementsAre("my_wave-1"));
}

TEST_F(Manual, FishCompletesAsTheHelpSays) {
  if (!there("fish")) {
    FAIL() << "there is no fish: install Debian's fish";
  }
  const std::string file = script("fish");
  const auto offered = [&](const std::string& line) {
    const Finished finished = run_to_end(
        command({"fish", "--no-config", "-c", "source " + file + "; complete -C '" + line + "'"}));
    expect_exit(finished, 0);
    EXPECT_THAT(finished.errors, IsEmpty());
    return lines_of(finished.output);
  };
  copy_task("my_wave");
  EXPECT_THAT(offered("kernelpro eva"), ElementsAre(StartsWith("evaluate\tJudge candidates")));
  EXPECT_THAT(offered("kernelpro task "), ElementsAre(StartsWith("check\t"), StartsWith("list\t"),
                                                      StartsWith("new\t"), StartsWith("show\t")));
  EXPECT_THAT(offered("kernelpro evaluate --tim"),
              ElementsAre(StartsWith("--timeout\t"), StartsWith("--timing\t")));
  EXPECT_THAT(offered("kernelpro evaluate --backend cu"), ElementsAre(StartsWith("cuda")));
  // The program's own folder must be in no PATH for this one.
  EXPECT_THAT(offered(program + " evaluate my_"), ElementsAre(StartsWith("my_wave")));
}

TEST_F(Manual, ZshCompletesAsTheHelpSays) {
  if (!there("zsh")) {
    FAIL() << "there is no zsh: install Debian's zsh";
  }
  copy_task("my_wave");
  write(work() / "ask.zsh", R"sh(
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; autoload -Uz compinit; compinit -u -D; source $1; show() { print -r -- \"<<\$BUFFER>>\" }; zle -N show; bindkey '^Xp' show; print REA''DY"
zpty -r shell out '*READY*'
zpty -w -n shell "$2"$'\t\C-xp'
zpty -r shell out '*<<*>>*'
print -r -- ${${out##*<<}%%>>*}
)sh");
  const std::string file = script("zsh");
  const auto completed = [&](const std::string& line) {
    const Finished finished = run_to_end(command({"zsh", "-f", "ask.zsh", file, line}));
    expect_exit(finished, 0);
    return finished.output.substr(0, finished.output.find('\n'));
  };
  EXPECT_EQ(completed("kernelpro eva"), "kernelpro evaluate ");
  EXPECT_EQ(completed("kernelpro task ch"), "kernelpro task check ");
  EXPECT_EQ(completed("kernelpro evaluate --backend cu"), "kernelpro evaluate --backend cuda ");
  EXPECT_EQ(completed("kernelpro task new --ent"), "kernelpro task new --entry ");
  EXPECT_EQ(completed(program + " evaluate my_"), program + " evaluate my_wave ");
}

}  // namespace
}  // namespace kernelpro
