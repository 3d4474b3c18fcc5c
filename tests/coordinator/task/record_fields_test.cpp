#include "coordinator/task/record_fields.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace kernelpro {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

// "struct Blur { const int taps = 3; };", where that is an aggregate or not.
std::vector<nlohmann::json> blur(bool aggregate) {
  nlohmann::json tree = nlohmann::json::parse(R"({
    "kind": "CXXRecordDecl", "name": "Blur", "tagUsed": "class", "completeDefinition": true,
    "definitionData": {},
    "inner": [{"kind": "FieldDecl", "name": "taps", "type": {"qualType": "const int"},
               "hasInClassInitializer": true}]})");
  if (aggregate) {
    tree["definitionData"]["isAggregate"] = true;
  }
  return {tree};
}

// `Blur{5}` is another object than `Blur{}`.
TEST(RecordFields, ConstantsOfAnAggregateAreState) {
  EXPECT_THAT(state_fields(blur(true), "Blur"), Optional(ElementsAre("taps")));
  EXPECT_THAT(state_fields(blur(false), "Blur"), Optional(IsEmpty()));
}

}  // namespace
}  // namespace kernelpro
