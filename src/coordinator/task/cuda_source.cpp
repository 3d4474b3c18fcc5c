#include "coordinator/task/cuda_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "common/base/process.hpp"
#include "coordinator/task/token_list.hpp"

namespace kernelpro {
namespace {

// One declaration at namespace level: tokens from `first` to `last`, the body from `open`.
struct Item {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t open = 0;  // 0: there is none
  std::size_t name = 0;  // of a function; 0: it is none
  std::string scope;
  bool cuda = false;
};

bool starts_as(const std::string& word, const std::vector<std::string_view>& beginnings) {
  std::string lower = word;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(beginnings,
                             [&](std::string_view one) { return lower.starts_with(one); });
}

bool is_cuda_word(const std::string& word) {
  static const std::set<std::string> words = {
      "__global__", "__shared__",    "__constant__", "dim3",   "threadIdx", "blockIdx",
      "blockDim",   "__syncthreads", "half",         "float4", "float2",    "thrust"};
  return words.contains(word) ||
         starts_as(word, {"cuda", "cublas", "curand", "cusparse", "cufft", "__half", "__nv_",
                          "nv_bfloat16", "cooperative_groups"});
}

bool is_cuda_header(const std::string& path) {
  return starts_as(path, {"cuda", "cub", "curand", "cusparse", "cufft", "cusolver", "cudnn",
                          "thrust", "cooperative_groups", "cutlass", "cute", "mma.h", "nvtx",
                          "nccl", "device_launch_parameters", "device_functions", "sm_"});
}

// Words that only say where a function may run.
bool is_place(const std::string& word) {
  static const std::set<std::string> words = {"__host__", "__device__", "__forceinline__",
                                              "__noinline__"};
  return words.contains(word);
}

class Splitter {
 public:
  explicit Splitter(const std::string& source) : source_(source), all_(lex_cpp(source)) {
    std::ranges::copy_if(all_, std::back_inserter(tokens_),
                         [](const Token& token) { return token.directive.empty(); });
    split();
    mark();
  }

  // Without the declarations that the function does not need; lines are kept.
  [[nodiscard]] std::string needed_by(const std::string& function) const {
    std::vector<bool> needed(items_.size(), false);
    std::set<std::string> names = {function};
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < items_.size(); ++i) {
        const std::string name = declared_name(items_[i]);
        if (needed[i] || (!name.empty() && !names.contains(name))) {
          continue;
        }
        needed[i] = changed = true;
        for (std::size_t at = items_[i].first; at <= items_[i].last; ++at) {
          names.insert(tokens_[at].text);
        }
      }
    }
    std::vector<Edit> edits;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (!needed[i]) {
        edits.push_back(without(tokens_[items_[i].first], tokens_[items_[i].last]));
      }
    }
    return apply_edits(source_, edits);
  }

  CudaParts parts() {
    CudaParts out;
    for (const Item& item : items_) {
      if (item.name != 0 && item.open != 0) {
        out.functions.push_back(function_of(item));
      }
    }
    out.plain = apply_edits(source_, plain_edits());
    out.declared = apply_edits(source_, declared_edits());
    return out;
  }

 private:
  void split() {
    Item item;
    std::vector<std::size_t> scopes;  // lengths of `scope` outside of what is open
    std::string scope;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      if (i == item.first && text == "}" && !scopes.empty()) {
        scope.resize(scopes.back());
        scopes.pop_back();
        item = {.first = i + 1, .scope = scope};
      } else if (text == "(" || text == "[") {
        i = std::min(closing(tokens_, i), tokens_.size() - 1);
      } else if (text == "{" && opens_scope(item.first, i)) {
        scopes.push_back(scope.size());
        for (std::size_t word = item.first; word < i; ++word) {
          const bool name = tokens_[word].kind == Token::Kind::word &&
                            tokens_[word].text != "namespace" && tokens_[word].text != "inline" &&
                            tokens_[word].text != "extern";
          scope += name ? tokens_[word].text + "::" : "";
        }
        item = {.first = i + 1, .scope = scope};
      } else if (text == "{") {
        item.name = function_name(item.first, i);
        item.open = i;
        i = std::min(closing(tokens_, i), tokens_.size() - 1);
        if (item.name != 0 || !ends_with_semicolon(item)) {
          finish(item, i);
        }
      } else if (text == ";") {
        item.name = item.name == 0 ? function_name(item.first, i) : item.name;
        finish(item, i);
      }
    }
  }

  void finish(Item& item, std::size_t last) {
    item.last = last;
    items_.push_back(item);
    item = {.first = last + 1, .scope = item.scope};
  }

  [[nodiscard]] bool opens_scope(std::size_t first, std::size_t open) const {
    const bool named = tokens_[first].text == "namespace" ||
                       (first + 1 < open && tokens_[first + 1].text == "namespace");
    return named || (tokens_[first].text == "extern" && open == first + 2);
  }

  // Whether more follows the closing brace, as it does behind a class or an initializer.
  [[nodiscard]] bool ends_with_semicolon(const Item& item) const {
    static const std::set<std::string> kinds = {"class", "struct", "union", "enum", "="};
    int angles = 0;
    for (std::size_t i = item.first; i < item.open; ++i) {
      const std::string& text = tokens_[i].text;
      angles += text == "<" ? 1 : 0;
      angles -= text == ">" ? 1 : 0;
      if (text == "operator" || text == "(") {
        return false;
      }
      if (angles == 0 && kinds.contains(text)) {
        return true;
      }
    }
    return true;
  }

  // The word before the parameters; 0 where the tokens declare no function.
  [[nodiscard]] std::size_t function_name(std::size_t first, std::size_t end) const {
    static const std::set<std::string> others = {"class", "struct", "union",   "enum",
                                                 "=",     "using",  "typedef", "operator"};
    int angles = 0;
    for (std::size_t i = first; i + 1 < end; ++i) {
      const std::string& text = tokens_[i].text;
      angles += text == "<" ? 1 : 0;
      angles -= text == ">" ? 1 : 0;
      if (angles == 0 && others.contains(text)) {
        return 0;
      }
      if (angles == 0 && tokens_[i].kind == Token::Kind::word && tokens_[i + 1].text == "(") {
        const std::size_t close = closing(tokens_, i + 1);
        if ((text.starts_with("__") || is_macro_name(text)) && close + 1 < end) {
          i = close;  // __launch_bounds__(256)
          continue;
        }
        return i > first ? i : 0;
      }
    }
    return 0;
  }

  // Of a function, a class, an alias or a variable; empty: of none of them.
  [[nodiscard]] std::string declared_name(const Item& item) const {
    static const std::set<std::string> kinds = {"class", "struct", "union", "enum", "using"};
    if (item.name != 0) {
      return tokens_[item.name].text;
    }
    const std::size_t end = item.open == 0 ? item.last : item.open;
    int angles = 0;
    std::string last;
    for (std::size_t i = item.first; i < end; ++i) {
      const std::string& text = tokens_[i].text;
      angles += text == "<" ? 1 : 0;
      angles -= text == ">" ? 1 : 0;
      if (text == "operator" || text == "namespace") {
        return "";
      }
      if (text == "alignas" || text == "__align__") {
        i = closing(tokens_, i + 1);
      } else if (angles == 0 && (text == "=" || text == "[" || text == ":" || text == "(")) {
        return last;
      } else if (angles == 0 && tokens_[i].kind == Token::Kind::word && !kinds.contains(text)) {
        last = text;
      }
    }
    return last;
  }

  [[nodiscard]] bool uses_cuda(const Item& item, const std::set<std::string>& cuda_names) const {
    const std::string declared = declared_name(item);
    bool on_device = false;
    bool on_host = false;
    for (std::size_t i = item.first; i <= item.last; ++i) {
      const std::string& text = tokens_[i].text;
      on_device = on_device || text == "__device__";
      on_host = on_host || text == "__host__";
      const bool launch = text == "<" && i + 2 <= item.last && tokens_[i + 1].text == "<" &&
                          tokens_[i + 2].text == "<";
      if (launch || is_cuda_word(text) ||
          (tokens_[i].kind == Token::Kind::word && cuda_names.contains(text) && text != declared)) {
        return true;
      }
    }
    return (on_device && !on_host) || (item.name != 0 && tokens_[item.name].text == "main");
  }

  // What names something of CUDA's is of CUDA itself.
  void mark() {
    std::set<std::string> cuda_names;
    for (bool changed = true; changed;) {
      changed = false;
      for (Item& item : items_) {
        if (!item.cuda && uses_cuda(item, cuda_names)) {
          item.cuda = true;
          changed = true;
          if (const std::string name = declared_name(item); !name.empty()) {
            cuda_names.insert(name);
          }
        }
      }
    }
  }

  [[nodiscard]] CudaFunction function_of(const Item& item) const {
    CudaFunction out;
    out.name = item.scope + tokens_[item.name].text;
    out.is_plain = !item.cuda;
    out.line = tokens_[item.name].line;
    for (std::size_t i = item.first; i < item.name; ++i) {
      out.is_kernel = out.is_kernel || tokens_[i].text == "__global__";
    }
    const std::size_t close = closing(tokens_, item.name + 1);
    Tokens one;
    int depth = 0;
    for (std::size_t i = item.name + 2; i <= close && i < tokens_.size(); ++i) {
      const std::string& text = tokens_[i].text;
      const bool ends = i == close || (text == "," && depth == 0);
      depth += text == "(" || text == "<" || text == "[" ? 1 : 0;
      depth -= text == ")" || text == ">" || text == "]" ? 1 : 0;
      if (!ends) {
        one.push_back(tokens_[i]);
      } else if (one.size() > 1) {
        out.names.push_back(one.back().text);
        one.pop_back();
        std::erase_if(one, [](const Token& token) { return token.text.starts_with("__restrict"); });
        out.types.push_back(joined(one));
        one.clear();
      }
    }
    return out;
  }

  // From one token to another, with only its line breaks left.
  [[nodiscard]] Edit without(const Token& first, const Token& last) const {
    const std::size_t length = last.offset + last.text.size() - first.offset;
    const auto begin = source_.begin() + static_cast<std::ptrdiff_t>(first.offset);
    const auto lines = std::count(begin, begin + static_cast<std::ptrdiff_t>(length), '\n');
    return {first.offset, length, std::string(static_cast<std::size_t>(lines), '\n')};
  }

  [[nodiscard]] std::vector<Edit> plain_edits() const {
    std::vector<Edit> edits;
    for (const Item& item : items_) {
      if (item.cuda) {
        edits.push_back(without(tokens_[item.first], tokens_[item.last]));
        continue;
      }
      for (std::size_t i = item.first; i <= item.last; ++i) {
        if (is_place(tokens_[i].text)) {
          edits.push_back({tokens_[i].offset, tokens_[i].text.size(), ""});
        }
      }
    }
    for (std::size_t i = 0; i + 2 < all_.size(); ++i) {
      if (all_[i].text == "#" && all_[i + 1].text == "include" && !all_[i].directive.empty()) {
        const std::size_t end = std::min(source_.find('\n', all_[i].offset), source_.size());
        const std::string line = source_.substr(all_[i].offset, end - all_[i].offset);
        const std::size_t path = line.find_first_of("<\"");
        if (path != std::string::npos && is_cuda_header(line.substr(path + 1))) {
          edits.push_back({all_[i].offset, line.size(), ""});
        }
      }
    }
    // A directive inside of what is left out goes with it.
    std::ranges::sort(edits, {}, &Edit::offset);
    std::vector<Edit> apart;
    for (const Edit& edit : edits) {
      if (apart.empty() || edit.offset >= apart.back().offset + apart.back().length) {
        apart.push_back(edit);
      }
    }
    return apart;
  }

  [[nodiscard]] std::vector<Edit> declared_edits() const {
    std::vector<Edit> edits;
    for (const Item& item : items_) {
      if (item.cuda && item.open != 0 && item.name != 0) {
        Edit edit = without(tokens_[item.open], tokens_[item.last]);
        edit.text = "{" + edit.text + "}";
        edits.push_back(std::move(edit));
      }
    }
    return edits;
  }

  const std::string& source_;
  Tokens all_;
  Tokens tokens_;  // outside of directives
  std::vector<Item> items_;
};

}  // namespace

CudaParts take_cuda_apart(const std::string& source) {
  return Splitter(source).parts();
}

std::string needed_by(const std::string& source, const std::string& function) {
  return Splitter(source).needed_by(function);
}

std::string cuda_headers() {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<fs::path> roots = {"/usr/local/cuda"};
  if (const auto nvcc = find_program("nvcc")) {
    roots.insert(roots.begin(), fs::weakly_canonical(*nvcc, failed).parent_path().parent_path());
  }
  for (const fs::path& root : roots) {
    if (fs::is_regular_file(root / "include" / "cuda_runtime.h", failed)) {
      return (root / "include").string();
    }
  }
  return "";
}

}  // namespace kernelpro
