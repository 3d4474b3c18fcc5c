// What a page of HTML says.
#include "coordinator/llm/html_text.hpp"

#include <gmock/gmock.h>

namespace kernelpro {
namespace {

TEST(HtmlTextTest, ATitleIsWhatAPageSays) {
  EXPECT_EQ(html_text("<html>\r\n<head><TITLE lang=en> 502 Bad Gateway\n</title></head>\r\n"
                      "<body><h1>nginx</h1>"),
            "502 Bad Gateway");
}

TEST(HtmlTextTest, WithoutATitleItsTextIs) {
  EXPECT_EQ(html_text("\n <h1>words</h1>\nmore"), "words\n\nmore");
  EXPECT_EQ(html_text("<title> </title><!-- > --><style>b { }</style><script>if (a < b)</script>"
                      "<p>words"),
            "words");
  EXPECT_EQ(html_text("<?xml version=\"1.0\"?><Code>AccessDenied</Code>"), "AccessDenied");
}

TEST(HtmlTextTest, WhereThereIsNoneItIsEmpty) {
  for (const std::string page : {"", "plain words", "<html>", "<html", "<!-- words", "<title>",
                                 "<style>words", "{\"a\": \"<b>\"}"}) {
    EXPECT_EQ(html_text(page), "") << page;
  }
}

}  // namespace
}  // namespace kernelpro
