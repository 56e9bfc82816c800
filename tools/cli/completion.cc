#include "tools/cli/completion.h"

#include <algorithm>
#include <iterator>

#include <CLI/CLI.hpp>

#include "tools/cli/help_text.h"

namespace infeed {
namespace {

using Values = CompletedFlag::Values;

std::vector<std::string> SplitAt(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(separator));
    parts.emplace_back(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return parts;
}

// "value in {a->0,b->1} OR {0,1}" and "{a,b}", as CLI11 describes its checks.
std::vector<std::string> WordsOfSet(std::string_view text) {
  const std::size_t begin = text.find('{');
  if (begin == std::string_view::npos) {
    return {};
  }
  text = text.substr(begin + 1);
  std::vector<std::string> words = SplitAt(text.substr(0, text.find('}')), ',');
  for (std::string& word : words) {
    word = word.substr(0, word.find("->"));
  }
  return words;
}

// Sets the suggestions for a value described as "a|b=a", "[=FILE]", "DIR", ...
void DescribeValues(std::string_view text, CompletedFlag& flag) {
  if (flag.needs_equals) {
    text = text.substr(2, text.find(']') - 2);
  }
  if (text.starts_with("NAME=VALUE")) {
    flag.values = Values::kParameters;
    return;
  }
  text = text.substr(0, text.find('='));
  if (text.starts_with("FILE") || text == "PATH" || text == "SPEC") {
    flag.values = Values::kFiles;
  } else if (text.starts_with("DIR")) {
    flag.values = Values::kFolders;
  } else {
    flag.words = text.find('|') == std::string_view::npos ? WordsOfSet(text)
                                                          : SplitAt(text, '|');
    flag.values = flag.words.empty() ? Values::kAny : Values::kWords;
  }
}

CompletedFlag DescribeFlag(const CLI::Option& option) {
  const std::string& text = option.get_option_text();
  const std::string& about = option.get_description();
  CompletedFlag flag = {
      .name = "",
      .about = about.substr(0, about.find('\n')),
      .needs_equals = text.starts_with("[="),
      .is_repeated = option.get_items_expected_max() > 1,
      .is_parameter = option.get_group().starts_with(HelpText::kParameters)};
  if (flag.needs_equals || option.get_items_expected_max() > 0) {
    DescribeValues(text.empty() ? option.get_type_name() : text, flag);
  }
  return flag;
}

std::vector<CompletedFlag> DescribeFlags(const CLI::App& app) {
  std::vector<CompletedFlag> flags;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || !option->nonpositional()) {
      continue;
    }
    CompletedFlag flag = DescribeFlag(*option);
    for (const std::string& name : option->get_snames()) {
      flag.name = "-" + name;
      flags.push_back(flag);
    }
    for (const std::string& name : option->get_lnames()) {
      flag.name = "--" + name;
      flags.push_back(flag);
    }
  }
  // CLI11 represents groups of options as apps without a name.
  for (const CLI::App* group :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (group->get_name().empty()) {
      std::ranges::move(DescribeFlags(*group), std::back_inserter(flags));
    }
  }
  return flags;
}

}  // namespace

std::vector<CompletedFlag> Completion::parameters() const {
  std::vector<CompletedFlag> parameters;
  std::ranges::copy_if(flags, std::back_inserter(parameters),
                       &CompletedFlag::is_parameter);
  return parameters;
}

Completion DescribeCompletion(const CLI::App& app) {
  Completion completion = {.program = app.get_name(),
                           .flags = DescribeFlags(app)};
  for (const CLI::App* verb :
       app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!verb->get_name().empty()) {
      completion.verbs.push_back({.name = verb->get_name(),
                                  .about = verb->get_description(),
                                  .flags = DescribeFlags(*verb)});
    }
  }
  return completion;
}

void NameValues(
    CLI::App& app,
    std::initializer_list<std::pair<const char*, const char*>> values) {
  for (const auto& [flag, text] : values) {
    CLI::Option* const option = app.get_option(flag);
    if (std::string_view(text).starts_with("[=")) {
      option->option_text(text);
    } else {
      option->type_name(text);
    }
  }
}

std::string Filled(std::string script, const Places& places) {
  for (const auto& [place, text] : places) {
    for (std::size_t at = script.find(place); at != std::string::npos;
         at = script.find(place, at + text.size())) {
      script.replace(at, place.size(), text);
    }
  }
  return script;
}

std::string JoinedWords(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

std::string WithBackslashes(std::string_view text,
                            std::string_view characters) {
  std::string escaped;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

}  // namespace infeed
