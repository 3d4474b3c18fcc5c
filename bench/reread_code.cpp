// Makes the facts of the machine code of captured cases again, from the code that was kept.
//
//   reread_code cases.jsonl code.jsonl > newer.jsonl
//
// Both are what capture_defects wrote. Cases whose code was not kept stay as they are.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "code_lines.hpp"
#include "common/base/file.hpp"
#include "common/wire/json.hpp"
#include "common/wire/profile_json.hpp"
#include "must.hpp"
#include "worker/profile/code_facts.hpp"

namespace {

using nlohmann::json;
using namespace kernelpro;

std::map<std::string, CodeFacts> facts_in(const std::string& text) {
  std::map<std::string, CodeFacts> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const json kept = json::parse(line);
    out[kept.at("case")] = code_facts(instructions_of(kept));
  }
  return out;
}

// The profile with these facts of its only kernel.
json with_code(json profile, const json& ceilings, const CodeFacts& code) {
  profile["ceilings"] = ceilings;
  Profile read = must(profile_from_json(profile));
  read.kernels.front().code = code;
  profile = to_json(read);
  profile.erase("ceilings");
  return profile;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    give_up("reread_code cases.jsonl code.jsonl");
  }
  const std::map<std::string, CodeFacts> facts = facts_in(must(read_file(argv[2])));
  std::istringstream lines(must(read_file(argv[1])));
  json ceilings;
  for (std::string text; std::getline(lines, text);) {
    json line = json::parse(text);
    if (line.contains("ceilings")) {
      ceilings = line["ceilings"];
    }
    const auto found = line.contains("case")
                           ? facts.find(line["case"].at("case").get<std::string>())
                           : facts.end();
    if (found != facts.end()) {
      line["profile"] = with_code(line["profile"], ceilings, found->second);
    }
    std::printf("%s\n", line.dump().c_str());
  }
  return 0;
}
