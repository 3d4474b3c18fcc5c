#include "coordinator/html/page.hpp"

#include <cctype>

#include "coordinator/html/style.hpp"

namespace kernelpro::html {

namespace {

Markup head(const std::string& title) {
  return Markup::literal(
             "<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'\">\n"
             "<meta name=\"referrer\" content=\"no-referrer\">\n"
             "<meta name=\"color-scheme\" content=\"light dark\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n") +
         element("title", {}, title) + Markup::literal("\n") + style_sheet();
}

Markup links(const std::vector<Section>& sections) {
  Markup out;
  for (const Section& section : sections) {
    if (!section.content.empty()) {
      out += element("a", {{"href", "#" + section.id}}, section.title) + Markup::literal(" ");
    }
  }
  return element("nav", {{"aria-label", "sections"}}, out);
}

Markup section_markup(const Section& section) {
  return element("section", {{"id", section.id}},
                 element("h2", {}, section.title) + section.content) +
         Markup::literal("\n");
}

bool looks_numeric(const std::string& text) {
  return text.empty() || text == "–" || text.starts_with("$") ||
         std::isdigit(static_cast<unsigned char>(text.front())) != 0;
}

}  // namespace

std::string page(const std::string& title, const std::string& sentence,
                 const std::vector<Section>& sections) {
  Markup body = element("h1", {}, title) + classed("p", "sentence", sentence) + links(sections);
  for (const Section& section : sections) {
    body += section.content.empty() ? Markup() : section_markup(section);
  }
  const Markup document = Markup::literal("<!DOCTYPE html>\n") +
                          element("html", {{"lang", "en"}},
                                  element("head", {}, head(title)) + Markup::literal("\n") +
                                      element("body", {}, element("main", {}, body)));
  return document.str() + "\n";
}

Markup paragraph(std::string_view text) {
  return element("p", {}, text);
}

Markup note(std::string_view text) {
  return classed("p", "note", text);
}

Markup heading(std::string_view text) {
  return element("h3", {}, text);
}

Markup folded(std::string_view summary, const Markup& content) {
  return element("details", {}, element("summary", {}, summary) + content);
}

Markup head_cell(std::string_view text, bool numeric) {
  Attributes attributes = {{"scope", "col"}};
  if (numeric) {
    attributes.emplace_back("class", "number");
  }
  return element("th", attributes, text);
}

Markup markup_table(const std::vector<Markup>& header, const std::vector<std::vector<Markup>>& rows,
                    const std::vector<std::string>& ids) {
  Markup head_row;
  for (const Markup& cell : header) {
    head_row += cell;
  }
  Markup body;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    Markup cells;
    for (const Markup& cell : rows[r]) {
      cells += cell;
    }
    body += element("tr", r < ids.size() ? Attributes{{"id", ids[r]}} : Attributes{}, cells) +
            Markup::literal("\n");
  }
  const Markup top = header.empty() ? Markup() : element("thead", {}, element("tr", {}, head_row));
  return element("div", {{"class", "scroll"}},
                 element("table", {}, top + element("tbody", {}, body)));
}

Markup table(const std::vector<std::string>& header, const Rows& rows) {
  std::vector<bool> numeric;
  for (const std::vector<std::string>& row : rows) {
    numeric.resize(row.size(), true);
    for (std::size_t c = 0; c < row.size(); ++c) {
      numeric[c] = numeric[c] && looks_numeric(row[c]);
    }
  }
  std::vector<std::vector<Markup>> cells;
  for (const std::vector<std::string>& row : rows) {
    std::vector<Markup>& out = cells.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (header.empty() && c == 0) {
        out.push_back(element("th", {{"scope", "row"}}, row[c]));
      } else {
        out.push_back(numeric[c] && !header.empty() ? classed("td", "number", row[c])
                                                    : element("td", {}, row[c]));
      }
    }
  }
  std::vector<Markup> head_cells;
  head_cells.reserve(header.size());
  for (std::size_t c = 0; c < header.size(); ++c) {
    head_cells.push_back(head_cell(header[c], c < numeric.size() && numeric[c]));
  }
  return markup_table(head_cells, cells, {});
}

}  // namespace kernelpro::html
