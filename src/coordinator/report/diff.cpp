#include "coordinator/report/diff.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace kernelpro {

namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t context_lines = 3;

// Each with its newline; the last may lack one, and then differs from a line that has it.
Lines split(const std::string& text) {
  Lines lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  return lines;
}

// Myers' greedy search for the shortest edit script. After d edits, the farthest place reached on
// the diagonal k = x - y is kept for every k in [-d, d]; the way back is read from those records.
class Myers {
 public:
  Myers(const Lines& before, const Lines& after)
      : before_(before),
        after_(after),
        columns_(static_cast<std::ptrdiff_t>(before.size())),
        rows_(static_cast<std::ptrdiff_t>(after.size())) {}

  std::vector<DiffStep> steps() {
    search();
    return walk_back();
  }

 private:
  // Where to come from with d edits to diagonal k: from above (a line of `after`) or the left.
  [[nodiscard]] static bool from_above(const std::vector<std::ptrdiff_t>& reached, std::ptrdiff_t d,
                                       std::ptrdiff_t k) {
    return k == -d || (k != d && at(reached, d - 1, k - 1) < at(reached, d - 1, k + 1));
  }

  // The record of d edits holds the diagonals -d, -d + 2, ..., d.
  static std::ptrdiff_t at(const std::vector<std::ptrdiff_t>& reached, std::ptrdiff_t d,
                           std::ptrdiff_t k) {
    return reached[static_cast<std::size_t>((k + d) / 2)];
  }

  [[nodiscard]] bool same(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return before_[static_cast<std::size_t>(x)] == after_[static_cast<std::size_t>(y)];
  }

  void search() {
    for (std::ptrdiff_t d = 0;; ++d) {
      std::vector<std::ptrdiff_t> reached;
      for (std::ptrdiff_t k = -d; k <= d; k += 2) {
        std::ptrdiff_t x = 0;
        if (d > 0) {
          x = from_above(records_.back(), d, k) ? at(records_.back(), d - 1, k + 1)
                                                : at(records_.back(), d - 1, k - 1) + 1;
        }
        while (x < columns_ && x - k < rows_ && same(x, x - k)) {
          ++x;
        }
        reached.push_back(x);
        if (x >= columns_ && x - k >= rows_) {
          records_.push_back(std::move(reached));
          return;
        }
      }
      records_.push_back(std::move(reached));
    }
  }

  [[nodiscard]] std::vector<DiffStep> walk_back() const {
    std::vector<DiffStep> steps;
    std::ptrdiff_t x = columns_;
    std::ptrdiff_t y = rows_;
    const auto add = [&](char sign) {
      steps.push_back({sign, static_cast<std::size_t>(x), static_cast<std::size_t>(y)});
    };
    for (auto d = static_cast<std::ptrdiff_t>(records_.size()) - 1; d >= 0; --d) {
      std::ptrdiff_t start_x = 0;
      std::ptrdiff_t start_y = 0;
      bool above = false;
      if (d > 0) {
        const std::vector<std::ptrdiff_t>& reached = records_[static_cast<std::size_t>(d - 1)];
        const std::ptrdiff_t k = x - y;
        above = from_above(reached, d, k);
        start_x = above ? at(reached, d - 1, k + 1) : at(reached, d - 1, k - 1) + 1;
        start_y = start_x - k;
      }
      while (x > start_x && y > start_y) {
        --x;
        --y;
        add(' ');
      }
      if (d > 0) {
        (above ? y : x) -= 1;
        add(above ? '+' : '-');
      }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const Lines& before_;
  const Lines& after_;
  std::ptrdiff_t columns_;
  std::ptrdiff_t rows_;
  std::vector<std::vector<std::ptrdiff_t>> records_;
};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Ranges of steps that show every change with its context; changes near each other share one.
std::vector<Range> hunks(const std::vector<DiffStep>& steps) {
  std::vector<Range> out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].sign == ' ') {
      continue;
    }
    const std::size_t begin = i - std::min(i, context_lines);
    const std::size_t end = std::min(i + 1 + context_lines, steps.size());
    if (!out.empty() && begin <= out.back().end) {
      out.back().end = end;
    } else {
      out.push_back({begin, end});
    }
  }
  return out;
}

// "12,3"; a side without lines names the line before it.
std::string side_text(char mark, std::size_t first, std::size_t count) {
  const std::string start = std::to_string(count == 0 ? first : first + 1);
  return mark + start + (count == 1 ? "" : "," + std::to_string(count));
}

std::string hunk_text(const std::vector<DiffStep>& steps, const Range& range, const Lines& before,
                      const Lines& after) {
  std::size_t removed = 0;
  std::size_t added = 0;
  std::string body;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const DiffStep& step = steps[i];
    removed += step.sign != '+' ? 1 : 0;
    added += step.sign != '-' ? 1 : 0;
    const std::string_view line = step.sign == '+' ? after[step.after] : before[step.before];
    body += step.sign;
    body += line;
    if (!line.ends_with('\n')) {
      body += "\n\\ No newline at end of file\n";
    }
  }
  const DiffStep& first = steps[range.begin];
  return "@@ " + side_text('-', first.before, removed) + " " + side_text('+', first.after, added) +
         " @@\n" + body;
}

}  // namespace

std::vector<DiffStep> diff_steps(const std::vector<std::string_view>& before,
                                 const std::vector<std::string_view>& after) {
  return Myers(before, after).steps();
}

std::string unified_diff(const std::string& before, const std::string& after,
                         const std::string& before_name, const std::string& after_name) {
  if (before == after) {
    return "";
  }
  const Lines before_lines = split(before);
  const Lines after_lines = split(after);
  const std::vector<DiffStep> steps = Myers(before_lines, after_lines).steps();
  std::string out = "--- " + before_name + "\n+++ " + after_name + "\n";
  for (const Range& range : hunks(steps)) {
    out += hunk_text(steps, range, before_lines, after_lines);
  }
  return out;
}

}  // namespace kernelpro
