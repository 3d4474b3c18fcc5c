#include "common/model/pasted_headers.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "common/base/cpp_text.hpp"
#include "common/base/text.hpp"

namespace kernelpro {
namespace {

// Words of code, in their order; those of comments and strings are too many and do no harm.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t first = at;
    while (at < text.size() && is_word(text[at])) {
      ++at;
    }
    if (at > first) {
      words.emplace_back(text.substr(first, at - first));
    }
  }
  return words;
}

std::size_t behind_line(const std::string& text, std::size_t at) {
  return std::min(text.find('\n', at), text.size() - 1) + 1;
}

std::size_t behind_directive(const std::string& text, std::size_t at) {
  std::size_t end = behind_line(text, at);
  while (end >= 2 && end < text.size() && text[end - 2] == '\\') {
    end = behind_line(text, end);
  }
  return end;
}

bool opens_namespace(const std::string& text, std::size_t first, std::size_t brace) {
  const std::vector<std::string> words = words_in(text.substr(first, brace - first));
  return !words.empty() && (words[0] == "namespace" || (words[0] == "extern" && words.size() == 2));
}

// As __launch_bounds__(256) before a name.
bool is_attribute(const std::string& text, std::size_t first, std::size_t parenthesis) {
  const std::vector<std::string> words = words_in(text.substr(first, parenthesis - first));
  return !words.empty() && words.back().starts_with("__");
}

struct Declaration {
  std::string text;
  std::string head;  // up to the first brace, parenthesis or sign of assignment
};

// The declarations and macros of a text, those in namespaces too.
std::vector<Declaration> declarations_in(const std::string& text) {
  std::vector<Declaration> out;
  std::size_t first = 0;
  std::size_t head = 0;  // where the head of what is open ends; 0: not yet
  int depth = 0;
  const auto finish = [&](std::size_t end) {
    const std::size_t behind_head = head == 0 ? end : head;
    out.push_back({text.substr(first, end - first), text.substr(first, behind_head - first)});
    first = end;
    head = 0;
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool blank = text.find_first_not_of(" \t\n", first) == at;
    if (const std::size_t end = behind_quoted(text, at); end > at) {
      at = end;
      first = blank ? at : first;
      continue;
    }
    if (c == '#' && depth == 0 && blank) {
      first = at;
      at = behind_directive(text, at);
      finish(at);
      continue;
    }
    if (c == '{' && depth == 0 && opens_namespace(text, first, at)) {
      first = ++at;  // what is within stands for itself
      continue;
    }
    if ((c == '{' || c == '(' || c == '=') && depth == 0 && head == 0) {
      head = c == '(' && is_attribute(text, first, at) ? 0 : at;
    }
    depth += c == '{' || c == '(' ? 1 : 0;
    depth -= (c == '}' || c == ')') && depth > 0 ? 1 : 0;
    ++at;
    const bool closed_function = c == '}' && depth == 0 && head != 0 && text[head] == '(';
    if (depth == 0 && (c == ';' || closed_function)) {
      finish(at);
    } else if (c == '}' && depth == 0 && blank) {
      first = at;  // of a namespace
    }
  }
  return out;
}

// What the declaration gives a name to; empty: nothing that is known.
std::string name_of_declaration(const Declaration& one) {
  const std::vector<std::string> words = words_in(one.head);
  if (one.text.starts_with("#")) {
    const std::vector<std::string> all = words_in(one.text);
    return all.size() > 1 && all[0] == "define" ? all[1] : "";
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    static const std::set<std::string> kinds = {"struct", "class", "enum", "union", "using"};
    const bool in_template = one.head.find("template") != std::string::npos && words[i] == "class";
    if (kinds.contains(words[i]) && words[i + 1] != "class" && !in_template) {
      return words[i + 1];
    }
  }
  return words.empty() ? "" : words.back();
}

struct Pasted {
  std::string directive;
  std::string whole;  // with its marks
};

// Those that lie in no other.
std::vector<Pasted> pasted_in(const std::string& source) {
  std::vector<Pasted> out;
  int depth = 0;
  std::size_t first = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = behind_line(source, at);
    if (source.compare(at, pasted_begin.size(), pasted_begin) == 0) {
      first = depth++ == 0 ? at : first;
    } else if (source.compare(at, pasted_end.size(), pasted_end) == 0 && --depth == 0) {
      const std::string line = source.substr(first, behind_line(source, first) - first);
      const std::size_t directive = std::min(line.find(" #") + 1, line.size());
      out.push_back({line.substr(directive), source.substr(first, end - first)});
    }
    at = end;
  }
  return out;
}

}  // namespace

std::optional<Uninlined> take_includes_out(const std::string& text) {
  struct Open {
    std::string header;
    std::string directive;
    std::string text;
  };
  Uninlined out;
  std::vector<Open> open(1);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string line = text.substr(at, end - at);
    at = end;
    if (line.starts_with(pasted_begin)) {
      const std::size_t directive = line.find(" #", pasted_begin.size());
      if (directive == std::string::npos) {
        return {};
      }
      open.push_back({line.substr(pasted_begin.size(), directive - pasted_begin.size()),
                      line.substr(directive + 1), ""});
    } else if (line.starts_with(pasted_end)) {
      if (open.size() < 2 || !line.substr(pasted_end.size()).starts_with(open.back().header)) {
        return {};
      }
      Open done = std::move(open.back());
      open.pop_back();
      for (std::size_t once = done.text.find("// #pragma once"); once != std::string::npos;
           once = done.text.find("// #pragma once", once)) {
        done.text.erase(once, 3);
      }
      open.back().text += done.directive;
      if (!done.text.empty()) {
        out.headers.emplace(std::move(done.header), std::move(done.text));
      }
    } else {
      open.back().text += line;
    }
  }
  out.text = std::move(open.back().text);
  return open.size() == 1 ? std::optional(std::move(out)) : std::nullopt;
}

std::string without_pasted(const std::string& source) {
  const auto parts = take_includes_out(source);
  return parts ? parts->text : source;
}

std::string with_pasted(const std::string& text, const std::string& original) {
  std::string out = text;
  std::size_t from = 0;
  for (const Pasted& one : pasted_in(original)) {
    const std::size_t at = out.find(one.directive, from);
    if (at != std::string::npos && (at == 0 || out[at - 1] == '\n')) {
      out.replace(at, one.directive.size(), one.whole);
      from = at + one.whole.size();
    }
  }
  return out;
}

std::string used_of_pasted(const std::string& source) {
  std::vector<Declaration> all;
  for (const Pasted& one : pasted_in(source)) {
    const std::vector<Declaration> more = declarations_in(one.whole);
    all.insert(all.end(), more.begin(), more.end());
  }
  std::vector<std::string> open = words_in(without_pasted(source));
  std::set<std::string> used(open.begin(), open.end());
  std::vector<bool> kept(all.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!kept[i] && used.contains(name_of_declaration(all[i]))) {
        kept[i] = changed = true;
        for (std::string& word : words_in(all[i].text)) {
          used.insert(std::move(word));
        }
      }
    }
  }
  std::string out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t first = all[i].text.find_first_not_of('\n');
    out += kept[i] ? all[i].text.substr(first) + (all[i].text.ends_with('\n') ? "" : "\n") : "";
  }
  return out;
}

}  // namespace kernelpro
