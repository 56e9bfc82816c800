#include "records/bytes/name_text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "records/bytes/plain_text.h"

namespace infeed {
namespace {

// What a mark makes of a letter: pairs of letter and result.
struct Composition {
  char32_t mark;
  std::u32string_view pairs;
};

// All compositions of Unicode 15 (UnicodeData.txt without the exclusions) but
// Hangul, which is computed.
constexpr std::array<Composition, 63> kCompositions = {{
    {U'\u0300',
     U"AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹЕЀИЍеѐиѝĒḔēḕŌṐōṑWẀwẁÂẦâầĂẰăằÊỀêề"
     U"ÔỒôồƠỜơờƯỪưừYỲyỳἀἂἁἃἈἊἉἋἐἒἑἓἘἚἙἛἠἢἡἣἨἪἩἫἰἲἱἳἸἺἹἻὀὂὁὃὈὊὉὋὐὒὑὓ"
     U"ὙὛὠὢὡὣὨὪὩὫαὰεὲηὴιὶοὸυὺωὼΑᾺΕῈΗῊ\u1FBF\u1FCDϊῒΙῚ\u1FFE\u1FDDϋῢ"
     U"ΥῪ\u00A8\u1FEDΟῸΩῺ"},
    {U'\u0301',
     U"AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÅǺåǻ"
     U"ÆǼæǽØǾøǿ\u00A8\u0385ΑΆΕΈΗΉΙΊΟΌΥΎΩΏϊΐαάεέηήιίϋΰοόυύωώϒϓГЃКЌгѓ"
     U"кќÇḈçḉĒḖēḗÏḮïḯKḰkḱMḾmḿÕṌõṍŌṒōṓPṔpṕŨṸũṹWẂwẃÂẤâấĂẮăắÊẾêếÔỐôốƠỚ"
     U"ơớƯỨưứἀἄἁἅἈἌἉἍἐἔἑἕἘἜἙἝἠἤἡἥἨἬἩἭἰἴἱἵἸἼἹἽὀὄὁὅὈὌὉὍὐὔὑὕὙὝὠὤὡὥὨὬὩὭ"
     U"\u1FBF\u1FCE\u1FFE\u1FDE"},
    {U'\u0302',
     U"AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệ"
     U"ỌỘọộ"},
    {U'\u0303', U"AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽÂẪâẫĂẴăẵEẼeẽÊỄêễÔỖôỗƠỠơỡƯỮưữYỸyỹ"},
    {U'\u0304',
     U"AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳИӢиӣ"
     U"УӮуӯGḠgḡḶḸḷḹṚṜṛṝαᾱΑᾹιῑΙῙυῡΥῩ"},
    {U'\u0306',
     U"AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуўЖӁжӂАӐаӑЕӖеӗȨḜȩḝẠẶạặαᾰΑᾸιῐΙῘ"
     U"υῠΥῨ"},
    {U'\u0307',
     U"CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠ"
     U"sṡŚṤśṥŠṦšṧṢṨṣṩTṪtṫWẆwẇXẊxẋYẎyẏſẛ"},
    {U'\u0308',
     U"AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋϒϔЕЁІЇеёіїАӒаӓӘӚәӛЖӜжӝЗӞзӟИӤ"
     U"иӥОӦоӧӨӪөӫЭӬэӭУӰуӱЧӴчӵЫӸыӹHḦhḧÕṎõṏŪṺūṻWẄwẅXẌxẍtẗ"},
    {U'\u0309', U"AẢaảÂẨâẩĂẲăẳEẺeẻÊỂêểIỈiỉOỎoỏÔỔôổƠỞơởUỦuủƯỬưửYỶyỷ"},
    {U'\u030A', U"AÅaåUŮuůwẘyẙ"},
    {U'\u030B', U"OŐoőUŰuűУӲуӳ"},
    {U'\u030C',
     U"CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧ"
     U"KǨkǩƷǮʒǯjǰHȞhȟ"},
    {U'\u030F', U"AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕѴѶѵѷ"},
    {U'\u0311', U"AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ"},
    {U'\u0313', U"αἀΑἈεἐΕἘηἠΗἨιἰΙἸοὀΟὈυὐωὠΩὨρῤ"},
    {U'\u0314', U"αἁΑἉεἑΕἙηἡΗἩιἱΙἹοὁΟὉυὑΥὙωὡΩὩρῥΡῬ"},
    {U'\u031B', U"OƠoơUƯuư"},
    {U'\u0323',
     U"BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹ"
     U"IỊiịOỌoọƠỢơợUỤuụƯỰưựYỴyỵ"},
    {U'\u0324', U"UṲuṳ"},
    {U'\u0325', U"AḀaḁ"},
    {U'\u0326', U"SȘsșTȚtț"},
    {U'\u0327', U"CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ"},
    {U'\u0328', U"AĄaąEĘeęIĮiįUŲuųOǪoǫ"},
    {U'\u032D', U"DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ"},
    {U'\u032E', U"HḪhḫ"},
    {U'\u0330', U"EḚeḛIḬiḭUṴuṵ"},
    {U'\u0331', U"BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ"},
    {U'\u0338',
     U"\u2190\u219A\u2192\u219B\u2194\u21AE\u21D0\u21CD\u21D4\u21CE"
     U"\u21D2\u21CF\u2203\u2204\u2208\u2209\u220B\u220C\u2223\u2224"
     U"\u2225\u2226\u223C\u2241\u2243\u2244\u2245\u2247\u2248\u2249"
     U"=\u2260\u2261\u2262\u224D\u226D<\u226E>\u226F\u2264\u2270"
     U"\u2265\u2271\u2272\u2274\u2273\u2275\u2276\u2278\u2277\u2279"
     U"\u227A\u2280\u227B\u2281\u2282\u2284\u2283\u2285\u2286\u2288"
     U"\u2287\u2289\u22A2\u22AC\u22A8\u22AD\u22A9\u22AE\u22AB\u22AF"
     U"\u227C\u22E0\u227D\u22E1\u2291\u22E2\u2292\u22E3\u22B2\u22EA"
     U"\u22B3\u22EB\u22B4\u22EC\u22B5\u22ED"},
    {U'\u0342',
     U"ἀἆἁἇἈἎἉἏἠἦἡἧἨἮἩἯἰἶἱἷἸἾἹἿὐὖὑὗὙὟὠὦὡὧὨὮὩὯαᾶ\u00A8\u1FC1ηῆ"
     U"\u1FBF\u1FCFιῖϊῗ\u1FFE\u1FDFυῦϋῧωῶ"},
    {U'\u0345',
     U"ἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈᾈἉᾉἊᾊἋᾋἌᾌἍᾍἎᾎἏᾏἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨᾘἩᾙἪᾚἫᾛἬᾜἭᾝ"
     U"ἮᾞἯᾟὠᾠὡᾡὢᾢὣᾣὤᾤὥᾥὦᾦὧᾧὨᾨὩᾩὪᾪὫᾫὬᾬὭᾭὮᾮὯᾯὰᾲαᾳάᾴᾶᾷΑᾼὴῂηῃήῄῆῇΗῌὼῲωῳ"
     U"ώῴῶῷΩῼ"},
    {U'\u0653', U"\u0627\u0622"},
    {U'\u0654',
     U"\u0627\u0623\u0648\u0624\u064A\u0626\u06D5\u06C0\u06C1\u06C2"
     U"\u06D2\u06D3"},
    {U'\u0655', U"\u0627\u0625"},
    {U'\u093C', U"नऩरऱळऴ"},
    {U'\u09BE', U"\u09C7\u09CB"},
    {U'\u09D7', U"\u09C7\u09CC"},
    {U'\u0B3E', U"\u0B47\u0B4B"},
    {U'\u0B56', U"\u0B47\u0B48"},
    {U'\u0B57', U"\u0B47\u0B4C"},
    {U'\u0BBE', U"\u0BC6\u0BCA\u0BC7\u0BCB"},
    {U'\u0BD7', U"ஒஔ\u0BC6\u0BCC"},
    {U'\u0C56', U"\u0C46\u0C48"},
    {U'\u0CC2', U"\u0CC6\u0CCA"},
    {U'\u0CD5', U"\u0CBF\u0CC0\u0CC6\u0CC7\u0CCA\u0CCB"},
    {U'\u0CD6', U"\u0CC6\u0CC8"},
    {U'\u0D3E', U"\u0D46\u0D4A\u0D47\u0D4B"},
    {U'\u0D57', U"\u0D46\u0D4C"},
    {U'\u0DCA', U"\u0DD9\u0DDA\u0DDC\u0DDD"},
    {U'\u0DCF', U"\u0DD9\u0DDC"},
    {U'\u0DDF', U"\u0DD9\u0DDE"},
    {U'\u102E', U"ဥဦ"},
    {U'\u1B35',
     U"ᬅᬆᬇᬈᬉᬊᬋᬌᬍᬎᬑᬒ\u1B3A\u1B3B\u1B3C\u1B3D\u1B3E\u1B40\u1B3F\u1B41"
     U"\u1B42\u1B43"},
    {U'\u3099',
     U"かがきぎくぐけげこごさざしじすずせぜそぞただちぢつづてでとどはばひびふぶ"
     U"へべほぼうゔゝゞカガキギクグケゲコゴサザシジスズ"
     U"セゼソゾタダチヂツヅテデトドハバヒビフブヘベホボウヴワヷヰヸヱヹヲヺヽ"
     U"ヾ"},
    {U'\u309A', U"はぱひぴふぷへぺほぽハパヒピフプヘペホポ"},
    {U'\U000110BA',
     U"\U00011099\U0001109A\U0001109B\U0001109C\U000110A5\U000110AB"},
    {U'\U00011127', U"\U00011131\U0001112E\U00011132\U0001112F"},
    {U'\U0001133E', U"\U00011347\U0001134B"},
    {U'\U00011357', U"\U00011347\U0001134C"},
    {U'\U000114B0', U"\U000114B9\U000114BC"},
    {U'\U000114BA', U"\U000114B9\U000114BB"},
    {U'\U000114BD', U"\U000114B9\U000114BE"},
    {U'\U000115AF', U"\U000115B8\U000115BA\U000115B9\U000115BB"},
    {U'\U00011930', U"\U00011935\U00011938"},
}};

// Letters that are other ones by definition.
constexpr std::u32string_view kSingletons = U"\u212BÅ\u2126Ω\u212AK";

// The Hangul syllables: a leading consonant, a vowel, perhaps a trailing
// consonant.
constexpr char32_t kSyllables = 0xAC00;
constexpr char32_t kLeading = 0x1100;
constexpr char32_t kVowels = 0x1161;
constexpr char32_t kTrailing = 0x11A7;
constexpr char32_t kLeadingCount = 19;
constexpr char32_t kVowelCount = 21;
constexpr char32_t kTrailingCount = 28;

bool IsIn(char32_t code, char32_t first, char32_t count) {
  return code - first < count;
}

// 0: not in the pairs.
char32_t SecondOf(std::u32string_view pairs, char32_t first) {
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    if (pairs[i] == first) {
      return pairs[i + 1];
    }
  }
  return 0;
}

// The one character for two; 0: there is none.
char32_t Compose(char32_t letter, char32_t mark) {
  if (IsIn(letter, kLeading, kLeadingCount) &&
      IsIn(mark, kVowels, kVowelCount)) {
    return kSyllables + ((letter - kLeading) * kVowelCount + mark - kVowels) *
                            kTrailingCount;
  }
  if (IsIn(letter, kSyllables, kLeadingCount * kVowelCount * kTrailingCount) &&
      (letter - kSyllables) % kTrailingCount == 0 &&
      IsIn(mark, kTrailing + 1, kTrailingCount - 1)) {
    return letter + mark - kTrailing;
  }
  const auto* const found =
      std::ranges::lower_bound(kCompositions, mark, {}, &Composition::mark);
  return found == kCompositions.end() || found->mark != mark
             ? 0
             : SecondOf(found->pairs, letter);
}

void AppendUtf8(char32_t code, std::string& text) {
  const auto append = [&](std::uint32_t byte) {
    text.push_back(static_cast<char>(byte));
  };
  if (code < 0x80) {
    return append(code);
  }
  if (code < 0x800) {
    append(0xC0 | code >> 6);
  } else {
    if (code < 0x10000) {
      append(0xE0 | code >> 12);
    } else {
      append(0xF0 | code >> 18);
      append(0x80 | (code >> 12 & 0x3F));
    }
    append(0x80 | (code >> 6 & 0x3F));
  }
  append(0x80 | (code & 0x3F));
}

// Requires: UTF-8.
std::string Composed(std::string_view utf8) {
  std::u32string codes;
  while (!utf8.empty()) {
    const char32_t code = TakeCharacter(utf8);
    const char32_t one = SecondOf(kSingletons, code);
    const char32_t next = one == 0 ? code : one;
    const char32_t composed = codes.empty() ? 0 : Compose(codes.back(), next);
    if (composed == 0) {
      codes.push_back(next);
    } else {
      codes.back() = composed;
    }
  }
  std::string text;
  for (const char32_t code : codes) {
    AppendUtf8(code, text);
  }
  return text;
}

}  // namespace

std::string NameText(std::string_view bytes) {
  std::string text = AsUtf8(bytes);
  const bool is_ascii = std::ranges::all_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return is_ascii ? text : Composed(text);
}

}  // namespace infeed
