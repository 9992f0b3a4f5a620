//! Tests that every row of the table must pass.

use super::alphabet::{ALNUM, Alphabet, HEX, LOWER, LOWER_ALNUM, is};
use super::rules::{Check, PatternPart, RULES, SearchScope, SecretRule};
use super::*;

#[test]
fn a_mask_shows_four_characters_at_most_and_none_of_a_short_value() {
    let table = [
        ("", "…"),
        ("hunter2!", "…"),
        ("elevenchars", "…"),
        ("twelve_chars", "twel…(12+)"),
        ("gültig_ist_auch_das", "gült…(12+)"),
        (&"k".repeat(40), "kkkk…(32+)"),
        (&"k".repeat(4000), "kkkk…(64+)"),
    ];
    for (secret, expected) in table {
        assert_eq!(mask(secret), expected, "{secret:?}");
    }
}

#[test]
fn rows_of_one_kind_stand_together() {
    let mut names: Vec<_> = kinds().collect();
    let listed = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), listed, "a kind is listed twice");
}

/// Placeholders were searched inside values, so about one random key in a hundred got through (finding 7).
#[test]
fn random_values_of_every_row_are_caught() {
    const DRAWN: usize = 300;
    let mut draw = Draw(0x5eed);
    let mut prefixed_missed = 0;
    for rule in RULES {
        let plain = matches!(rule.check, Check::Random | Check::Password | Check::Said);
        let missed: Vec<_> =
            (0..DRAWN).map(|_| draw.sample(rule)).filter(|sample| !sample.is_caught()).collect();
        // After a name alone, a value of letters may read like a word: at most 10 of 1,000 are missed.
        let most = if plain { DRAWN / 100 } else { 2 };
        prefixed_missed += if plain { 0 } else { missed.len() };
        let shown: Vec<_> = missed.iter().map(|sample| &sample.text).take(5).collect();
        assert!(missed.len() <= most, "{}: {} of {DRAWN} missed: {shown:#?}", rule.kind, missed.len());
    }
    assert!(prefixed_missed * 1000 <= DRAWN * RULES.len(), "{prefixed_missed} missed");
}

struct Sample {
    text: String,
    value: String,
}

impl Sample {
    fn is_caught(&self) -> bool {
        let redacted = redact(&self.text);
        assert_eq!(scan(&redacted), [], "left in {redacted}");
        !redacted.contains(&self.value)
    }
}

/// SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    fn pick<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    /// A run of the alphabet. `=` only ends base64, and password generators do not use punctuation of code.
    fn run(&mut self, alphabet: Alphabet, length: usize) -> String {
        let drawn = |byte: &u8| is(*byte, alphabet) && !b"=(){}[]|,:?&".contains(byte);
        let bytes: Vec<u8> = (b'!'..=b'~').filter(drawn).collect();
        (0..length).map(|_| bytes[self.below(bytes.len())] as char).collect()
    }

    /// A text that matches its row.
    fn sample(&mut self, rule: &SecretRule) -> Sample {
        let name = match rule.place {
            SearchScope::Anywhere => String::new(),
            SearchScope::NameHas(names) | SearchScope::NameEnds(names) | SearchScope::NameIs(names) => {
                format!("{}{}", self.pick(names), self.pick(&[" = ", ": ", "=\"", ": '"]))
            }
            SearchScope::Userinfo(schemes) => {
                let scheme = schemes.first().unwrap_or(&"https");
                let value = self.run(ALNUM, 16);
                return Sample { text: format!("{scheme}://app:{value}@db.acme.io/x"), value };
            }
        };
        let near = rule.near.first().unwrap_or(&"");
        let mut text = format!("{near} {name}");
        let mut start = text.len();
        for part in rule.shape {
            match *part {
                PatternPart::Lead(texts) => {
                    text.push_str(self.pick(texts));
                    start = text.len();
                }
                PatternPart::Skip(_, least, _) => {
                    text.push_str(&"7".repeat(least));
                    start = text.len();
                }
                PatternPart::Lit(texts) => text.push_str(self.pick(texts)),
                PatternPart::Run(..) if matches!(rule.check, Check::Basic) => text.push_str(&self.basic()),
                // The position allows every character that a token may have, but no token consists mostly of
                // punctuation.
                PatternPart::Run(..) if matches!(rule.check, Check::Random) => {
                    text.push_str(&self.run(ALNUM, 20))
                }
                PatternPart::Run(alphabet, least, most) => {
                    let length = least + self.below(most.min(least + 20) - least + 1);
                    text.push_str(&self.run(alphabet, length));
                }
                PatternPart::Take(alphabet, count) => text.push_str(&self.run(alphabet, count)),
                PatternPart::Uuid => {
                    text.push_str(&[8, 4, 4, 4, 12].map(|length| self.run(HEX & !ALNUM, length)).join("-"));
                }
                PatternPart::PemBody => {
                    let lines: Vec<_> = (0..4).map(|_| self.run(ALNUM, 64)).collect();
                    text.push_str(&format!("\n{}\n", lines.join("\n")));
                }
                PatternPart::Phrase => {
                    let words: Vec<_> = (0..12).map(|_| self.run(LOWER, 5)).collect();
                    text.push_str(&words.join(" "));
                }
                PatternPart::Assigned(_) => {
                    let alphabet = [ALNUM, LOWER_ALNUM][self.below(2)];
                    text.push_str(&self.run(alphabet, 16));
                }
            }
        }
        let value = text[start..].trim().to_owned();
        if let Some(quote) = name.chars().last().filter(|last| matches!(last, '"' | '\'')) {
            text.push(quote);
        }
        Sample { text, value }
    }

    /// The base64 of `user:` and a random password.
    fn basic(&mut self) -> String {
        const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let login = format!("admin:{}", self.run(ALNUM, 15));
        let sextets = |three: &[u8]| {
            let bits = (u32::from(three[0]) << 16) | (u32::from(three[1]) << 8) | u32::from(three[2]);
            [18, 12, 6, 0].map(|shift| BASE64[((bits >> shift) & 63) as usize] as char)
        };
        login.as_bytes().chunks_exact(3).flat_map(sextets).collect()
    }
}
