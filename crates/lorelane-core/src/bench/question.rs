//! Generates questions from the memories, each with its answer.
//!
//! Generation is deterministic: the same memories give the same questions, so two runs differ only by recall.
//! Memories are sampled by the digests of their addresses, so a growing store keeps most of its questions.

use crate::digest::short_digest;
use crate::memory::Address;
use crate::terms::{Language, Term, each_word, term_of};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The maximum number of questions about memories, at most two per memory.
pub const QUESTIONS_MAX: usize = 200;
const QUESTIONS_EACH: usize = 2;
/// Words of a question from a passage, and the minimum for other questions.
const PASSAGE_WORDS: usize = 5;
const FEW_WORDS: usize = 3;
/// A word is common if it occurs in this share of the memories, and in at least this many.
const COMMON_SHARE: f64 = 0.1;
const COMMON_MIN: usize = 4;

/// Topics that memories about software hardly mention. Only words that occur in no memory are used.
const ELSEWHERE: [&str; 32] = [
    "penguins hatch eggs antarctic winter",
    "sourdough yeast dough fermentation bakery",
    "violin sonata quartet rehearsal orchestra",
    "glacier moraine avalanche alpine hikers",
    "tomato seedlings compost greenhouse harvest",
    "midfielder penalty goalkeeper stadium referee",
    "medieval castle knights siege drawbridge",
    "volcano lava eruption crater ashfall",
    "orchids pollination petals bumblebees meadow",
    "submarine coral reef diving snorkel",
    "marathon runners hydration knee sprain",
    "saturn telescope comet astronomer eclipse",
    "wool knitting scarf needles yarn",
    "dentist molar toothache anaesthetic enamel",
    "camel caravan desert oasis dunes",
    "ballet dancer pirouette choreography theatre",
    "espresso barista roasting arabica crema",
    "falcon nest talons prey feathers",
    "sailing yacht rudder harbour monsoon",
    "pottery kiln glaze ceramic teapot",
    "emperor dynasty throne coronation empire",
    "mosquito malaria fever quinine swamp",
    "chess grandmaster bishop gambit endgame",
    "vineyard grapes oak barrels sommelier",
    "dinosaur fossil jurassic skeleton excavation",
    "carpenter chisel walnut plank sawdust",
    "ferry island lighthouse seagulls tide",
    "poet sonnet rhyme stanza romantic",
    "giraffe savanna acacia herd zebra",
    "wedding bride bouquet groom chapel",
    "mortgage landlord tenant plumbing basement",
    "saffron risotto parmesan mushrooms simmer",
];

/// A memory to generate questions from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionSource {
    pub address: Address,
    /// Empty if it has no title of its own.
    pub title: String,
    pub tags: Vec<String>,
    pub passages: Vec<String>,
}

/// A question and the memory that answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub text: String,
    /// `None` for an unanswerable question.
    pub wanted: Option<Address>,
}

impl Question {
    /// A digest that identifies the question in saved runs, which have no words.
    pub fn id(&self) -> String {
        let wanted = self.wanted.as_ref().map(ToString::to_string).unwrap_or_default();
        short_digest(&format!("{}\n{wanted}", self.text), 12)
    }
}

/// The memories of each term.
#[derive(Clone, Debug, Default)]
pub struct TermIndex {
    /// Numbers of memories, sorted.
    memories_with: HashMap<Term, Vec<u32>>,
    memories: u32,
}

impl TermIndex {
    pub fn take(&mut self, source: &QuestionSource) {
        let name = source.name();
        let texts = source.passages.iter().chain([&name]);
        let met: HashSet<Term> = texts.flat_map(|text| topics(text)).map(|topic| topic.term).collect();
        met.into_iter().for_each(|term| self.memories_with.entry(term).or_default().push(self.memories));
        self.memories += 1;
    }

    fn memories_with(&self, topic: &Topic) -> &[u32] {
        self.memories_with.get(&topic.term).map_or(&[], Vec::as_slice)
    }

    /// Whether exactly one memory has all of these. Otherwise several would answer the question equally well.
    fn tells_apart(&self, topics: &[&Topic]) -> bool {
        let Some((first, others)) = topics.split_first() else { return false };
        let has = |memory: &&u32| {
            others.iter().all(|topic| self.memories_with(topic).binary_search(memory).is_ok())
        };
        self.memories_with(first).iter().filter(has).count() == 1
    }
}

impl QuestionSource {
    fn name(&self) -> String {
        format!("{}\n{}", self.title, self.tags.join("\n"))
    }
}

/// Samples the memories to generate questions from.
pub fn sample<'a>(addresses: impl Iterator<Item = &'a Address>) -> BTreeSet<Address> {
    let mut drawn: Vec<(String, &Address)> =
        addresses.map(|address| (short_digest(&address.to_string(), 16), address)).collect();
    drawn.sort();
    drawn.into_iter().take(QUESTIONS_MAX / QUESTIONS_EACH).map(|(_, address)| address.clone()).collect()
}

/// The questions about these memories, then the unanswerable ones. `vocabulary` covers all memories.
pub fn questions(sources: &[QuestionSource], vocabulary: &TermIndex) -> Vec<Question> {
    let about = |source: &QuestionSource| {
        let texts = [by_title(source, vocabulary), by_passage(source, vocabulary)];
        texts
            .into_iter()
            .flatten()
            .map(|text| Question { text, wanted: Some(source.address.clone()) })
            .collect()
    };
    let answerable = sources.iter().flat_map(|source| -> Vec<Question> { about(source) });
    let nothing = unanswerable(sources, vocabulary);
    answerable.chain(nothing.into_iter().map(|text| Question { text, wanted: None })).collect()
}

/// The title without every third word: people rarely remember it exactly.
fn by_title(source: &QuestionSource, vocabulary: &TermIndex) -> Option<String> {
    let words = topics(&source.title);
    let dropped = chosen(&source.address, "title", FEW_WORDS);
    let kept = words.iter().enumerate().filter(|(at, _)| at % FEW_WORDS != dropped).map(|(_, topic)| topic);
    let kept: Vec<&Topic> = kept.collect();
    (words.len() >= FEW_WORDS && vocabulary.tells_apart(&kept)).then(|| joined(kept))
}

/// Some words spread over a passage, without words of title and tags, so that only the text can match. Choosing
/// the rarest words would be too easy: people also use common ones.
fn by_passage(source: &QuestionSource, vocabulary: &TermIndex) -> Option<String> {
    let name: HashSet<Term> = topics(&source.name()).into_iter().map(|topic| topic.term).collect();
    let passages: Vec<Vec<Topic>> = source
        .passages
        .iter()
        .map(|text| topics(text).into_iter().filter(|topic| !name.contains(&topic.term)).collect())
        .filter(|words: &Vec<Topic>| words.len() >= PASSAGE_WORDS && vocabulary.tells_apart(&spread(words)))
        .collect();
    let words = passages.get(chosen(&source.address, "passage", passages.len().max(1)))?;
    Some(joined(spread(words)))
}

fn spread(words: &[Topic]) -> Vec<&Topic> {
    (0..PASSAGE_WORDS).filter_map(|at| words.get(at * words.len() / PASSAGE_WORDS)).collect()
}

/// Words that occur in no memory, and the same with one common word of the store, which does not make it
/// answerable. Words mixed from two unrelated memories would not do: both memories are an answer.
fn unanswerable(sources: &[QuestionSource], vocabulary: &TermIndex) -> Vec<String> {
    if vocabulary.memories == 0 {
        return Vec::new();
    }
    let strange: Vec<String> = ELSEWHERE
        .iter()
        .map(|words| {
            topics(words).into_iter().filter(|topic| vocabulary.memories_with(topic).is_empty()).collect()
        })
        .filter(|words: &Vec<Topic>| words.len() >= FEW_WORDS)
        .map(|words| joined(&words))
        .collect();
    let common_words = common_words(sources, vocabulary);
    let near =
        strange.iter().zip(common_words.iter().cycle()).map(|(strange, word)| format!("{word} {strange}"));
    let near: Vec<String> = near.collect();
    strange.into_iter().chain(near).collect()
}

/// The words in the most memories, most common first.
fn common_words(sources: &[QuestionSource], vocabulary: &TermIndex) -> Vec<String> {
    let least = COMMON_MIN.max((f64::from(vocabulary.memories) * COMMON_SHARE) as usize);
    let mut common: BTreeMap<String, usize> = BTreeMap::new();
    for topic in sources.iter().flat_map(|source| &source.passages).flat_map(|text| topics(text)) {
        let doc_freq = vocabulary.memories_with(&topic).len();
        if doc_freq >= least {
            common.insert(topic.word, doc_freq);
        }
    }
    let mut common: Vec<(String, usize)> = common.into_iter().collect();
    common.sort_by_key(|(_, doc_freq)| std::cmp::Reverse(*doc_freq));
    common.into_iter().take(ELSEWHERE.len()).map(|(word, _)| word).collect()
}

/// A content word with its term.
struct Topic {
    word: String,
    term: Term,
}

/// The content words of a text in order, each once. English stems are enough to tell words apart.
fn topics(text: &str) -> Vec<Topic> {
    const SHORTEST: usize = 3;
    let mut met = HashSet::new();
    let mut topics = Vec::new();
    each_word(text, &mut |word| {
        let says_something = word.len() >= SHORTEST && !word.bytes().all(|byte| byte.is_ascii_digit());
        let term = term_of(word, Language::English).filter(|_| says_something);
        if let Some(term) = term.filter(|term| met.insert(*term)) {
            topics.push(Topic { word: word.to_owned(), term });
        }
    });
    topics
}

fn joined<'a>(topics: impl IntoIterator<Item = &'a Topic>) -> String {
    topics.into_iter().map(|topic| topic.word.as_str()).collect::<Vec<_>>().join(" ")
}

/// A number below `bound` that depends only on the memory.
fn chosen(address: &Address, what: &str, bound: usize) -> usize {
    let digits = short_digest(&format!("{what} {address}"), 8);
    usize::from_str_radix(&digits, 16).unwrap_or(0) % bound
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn source(name: &str, title: &str, passages: &[&str]) -> QuestionSource {
        QuestionSource {
            address: Address::note(name).unwrap(),
            title: title.to_owned(),
            tags: vec!["ops".to_owned()],
            passages: passages.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    fn built(sources: &[QuestionSource]) -> Vec<Question> {
        let mut vocabulary = TermIndex::default();
        sources.iter().for_each(|source| vocabulary.take(source));
        questions(sources, &vocabulary)
    }

    fn store() -> Vec<QuestionSource> {
        vec![
            source(
                "cache",
                "Restart the redis cache at night",
                &["Run the blue script on the bastion, the server answers after a minute."],
            ),
            source(
                "bread",
                "Bread",
                &["Every oven of the server room is hot, so bake the loaf for an hour."],
            ),
            source("one", "", &["A server."]),
            source("two", "", &["Another server."]),
        ]
    }

    #[test]
    fn memories_give_questions_and_some_that_nothing_answers() {
        let questions = built(&store());
        let said: Vec<String> = questions
            .iter()
            .filter(|question| question.wanted.is_some() || question.text.contains("penguin"))
            .map(|question| match &question.wanted {
                Some(wanted) => format!("{wanted}: {}", question.text),
                None => format!("nothing: {}", question.text),
            })
            .collect();
        expect![[r#"
            notes/cache: restart cache night
            notes/cache: run blue bastion server after
            notes/bread: every oven room hot loaf
            nothing: penguins hatch eggs antarctic winter
            nothing: server penguins hatch eggs antarctic winter"#]]
        .assert_eq(&said.join("\n"));
        assert_eq!(built(&store()), questions, "the same memories give the same questions");
    }

    #[test]
    fn nothing_is_asked_that_several_memories_answer_as_well() {
        let same = ["Goals and plans of this week, none of them are written down yet"];
        let sources: Vec<QuestionSource> =
            ["a", "b", "c"].map(|name| source(name, "Plans of the week ahead", &same)).into();
        assert!(built(&sources).iter().all(|question| question.wanted.is_none()));
        assert_eq!(built(&[]), []);
    }

    #[test]
    fn what_stands_in_a_memory_is_not_asked_as_if_it_stood_nowhere() {
        let text = ELSEWHERE[..31].join(" ");
        let questions = built(&[source("all", "All", &[&text])]);
        let nothing: Vec<&str> = questions
            .iter()
            .filter(|question| question.wanted.is_none())
            .map(|one| one.text.as_str())
            .collect();
        assert_eq!(nothing, [ELSEWHERE[31]]);
    }

    #[test]
    fn a_store_that_grows_keeps_its_sample() {
        let addresses: Vec<Address> =
            (0..300).map(|number| Address::note(&format!("n{number}")).unwrap()).collect();
        let before = sample(addresses[..290].iter());
        let after = sample(addresses.iter());
        assert_eq!((before.len(), after.len()), (100, 100));
        assert!(before.intersection(&after).count() >= 90);
    }
}
