#include "coordinator/manual/man_page.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpro {

namespace {

// As plain text: nothing in it is a request or an escape, and a dash is one that can be copied.
std::string plain(const std::string& text) {
  std::string out = text.starts_with(".") || text.starts_with("'") ? "\\&" : "";
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else if (letter == '\'') {
      out += "\\(aq";
    } else if (letter == '`') {
      out += "\\(ga";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string page_name(const ManualCommand& command) {
  return fmt::format("{}", fmt::join(command.path, "-"));
}

// "\fB\-n\fR, \fB\-\-evaluations\fR \fIINT\fR".
std::string option_words(const ManualOption& option) {
  std::string out;
  for (const std::string& name : option.names) {
    out += fmt::format("{}\\fB{}\\fR", out.empty() ? "" : ", ", plain(name));
  }
  const bool named = !option.argument && !option.value.empty();
  return named ? fmt::format("{} \\fI{}\\fR", out, plain(option.value)) : out;
}

std::string choices_words(const ManualOption& option) {
  return option.choices.empty()
             ? ""
             : plain(fmt::format(" One of {}.", fmt::join(option.choices, ", ")));
}

std::string options_part(const ManualCommand& command, bool arguments, const std::string& title) {
  std::string out;
  for (const ManualOption& option : command.options) {
    if (option.argument == arguments) {
      out += fmt::format(".TP\n{}\n{}{}\n", option_words(option), plain(option.text),
                         choices_words(option));
    }
  }
  return out.empty() ? "" : ".SH " + title + "\n" + out;
}

std::string commands_part(const ManualCommand& command) {
  std::string out;
  for (const CommandGroup& group : commands_by_group(command)) {
    out += fmt::format(".SS {}\n", plain(group.name));
    for (const ManualCommand* one : group.commands) {
      out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", plain(page_name(*one)), plain(one->summary));
    }
  }
  return out.empty() ? "" : ".SH COMMANDS\n" + out;
}

std::string notes_part(const ManualCommand& command) {
  std::string out;
  for (const std::string& note : command.notes) {
    out += (out.empty() ? "" : ".PP\n") + plain(note) + "\n";
  }
  return out.empty() ? "" : ".SH NOTES\n" + out;
}

std::string examples_part(const ManualCommand& command) {
  std::string out;
  for (const std::string& example : command.examples) {
    out += plain(example) + "\n";
  }
  return out.empty() ? "" : ".SH EXAMPLES\n.nf\n" + out + ".fi\n";
}

std::string usage_part(const ManualCommand& command) {
  std::string out =
      fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [\\fIOPTIONS\\fR]", plain(full_name(command)));
  for (const ManualOption& option : command.options) {
    if (option.argument) {
      const std::string name =
          fmt::format("\\fI{}\\fR{}", plain(option.names.front()), option.repeatable ? "..." : "");
      out += option.required ? " " + name : " [" + name + "]";
    }
  }
  if (!command.commands.empty()) {
    out += command.runs_alone ? " [\\fICOMMAND\\fR]" : " \\fICOMMAND\\fR";
  }
  return out + "\n";
}

}  // namespace

ManPage man_page(const ManualCommand& root, const ManualCommand& command,
                 const std::string& version) {
  const std::string name = page_name(command);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  std::string text = fmt::format(".TH \"{}\" \"1\" \"\" \"{} {}\" \"User Commands\"\n",
                                 plain(title), root.path.front(), version);
  text += fmt::format(".SH NAME\n{} \\- {}\n", plain(name), plain(command.summary));
  text += usage_part(command);
  text += commands_part(command);
  text += options_part(command, true, "ARGUMENTS");
  text += options_part(command, false, "OPTIONS");
  text += notes_part(command);
  text += examples_part(command);
  if (&root != &command) {
    text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", plain(page_name(root)));
  }
  return {name + ".1", std::move(text)};
}

std::vector<ManPage> man_pages(const ManualCommand& root, const std::string& version) {
  std::vector<ManPage> pages = {man_page(root, root, version)};
  for (const ManualCommand* command : all_commands(root)) {
    pages.push_back(man_page(root, *command, version));
  }
  return pages;
}

}  // namespace kernelpro
