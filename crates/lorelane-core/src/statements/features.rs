//! What speaks for and against keeping a statement, as numbers that each have a meaning.

use super::cut::{CutStatement, MessageCut};
use super::explicit;
use super::lexicon::{
    ANSWERS, AnswerSense, CONTRASTS, FILLERS, FUNCTION_WORDS, SENSES, STRESSED, SUBJECTS, Sense,
};
use super::words::{PhraseTable, SentenceWords, WordSet, hash};
use crate::text::writes_no_blanks;

/// A group of features that belong together: measured by leaving all of them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureFamily {
    Form,
    Contrast,
    Scope,
    Reason,
    Order,
    Deferral,
    Question,
    Domain,
    Length,
    Document,
    Place,
    Agent,
    Repetition,
}

macro_rules! features {
    ($($name:ident $text:literal $family:ident $meaning:literal;)*) => {
        /// One property of a statement.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StatementFeature {
            $(#[doc = $meaning] $name,)*
        }

        impl StatementFeature {
            /// In the order of their weights.
            pub const ALL: &[StatementFeature] = &[$(StatementFeature::$name,)*];

            pub fn name(self) -> &'static str {
                match self { $(StatementFeature::$name => $text,)* }
            }

            pub fn parse(name: &str) -> Option<StatementFeature> {
                StatementFeature::ALL.iter().copied().find(|feature| feature.name() == name)
            }

            pub fn family(self) -> FeatureFamily {
                match self { $(StatementFeature::$name => FeatureFamily::$family,)* }
            }

            pub fn meaning(self) -> &'static str {
                match self { $(StatementFeature::$name => $meaning,)* }
            }
        }
    };
}

features! {
    RuleLead "rule_lead" Form "a sentence begins with the verb of a lasting instruction";
    RuleVerb "rule_verb" Form "it has the verb of a lasting instruction";
    EditLead "edit_lead" Form "a sentence begins with the verb of a single edit";
    Prohibition "prohibition" Form "it forbids something";
    Lets "lets" Form "it proposes: let's";
    Should "should" Form "it states an obligation";
    Want "want" Form "the user wants something to be so";
    Commitment "commitment" Form "the user commits to something";
    Declaration "declaration" Form "it says that something was decided";
    Cause "cause" Form "it tells what made something fail";
    Request "request" Form "it asks politely for an action";
    DecidingQuestion "deciding_question" Form "it is a question that proposes a decision";
    TaskStep "task_step" Form "it names the next step of the work";
    Fact "fact" Form "it states how things are";
    Subject "subject" Form "a sentence begins with a thing and not with a person";
    Emphasis "emphasis" Form "it stresses a word";
    Instead "instead" Contrast "one thing takes the place of another";
    NotThis "x_not_y" Contrast "it says: X, not Y";
    Correction "correction" Contrast "it says that something is wrong";
    Only "only" Scope "it restricts: only";
    Every "every" Scope "it holds for every case";
    General "general" Scope "it names a rule, a default or a convention";
    Reason "reason" Reason "it gives a reason";
    Order "order" Order "it says what comes first";
    Deferral "deferral" Deferral "it postpones something";
    Question "question" Question "the share of its sentences that are questions";
    QuestionLead "question_lead" Question "a sentence begins with a question word";
    Screen "screen" Domain "words about the look of a screen";
    Trouble "trouble" Domain "words about errors";
    Process "process" Domain "words about the way of working";
    Architecture "architecture" Domain "words about the parts of a system";
    Outside "outside" Domain "words about limits from outside";
    Product "product" Domain "words about what the product does";
    Report "report" Domain "the user reports what was seen or done";
    CodeShare "code_share" Domain "the share of words that are names or paths";
    Length "length" Length "the number of its words, as a logarithm";
    Short "short" Length "it has at most three words";
    Long "long" Length "it has at least 35 words";
    InDocument "in_document" Document "a heading or code is before it in the message";
    BigMessage "big_message" Document "the message has two headings, or more than twenty statements";
    LogMessage "log_message" Document "the message has more than two lines of logs";
    LabelEnd "label_end" Document "it ends with a colon";
    LabelLead "label_lead" Document "it begins with a label and a colon";
    Quoted "quoted" Document "it begins with a quotation mark";
    Statements "statements" Place "the number of statements in the message, as a logarithm";
    Acknowledged "acknowledged" Agent "the agent's next words accept it";
    Repeated "repeated_by_agent" Agent "the share of its words in the agent's next words";
    SaidBefore "said_before" Repetition "how similar it is to an earlier statement";
}

pub const FEATURES: usize = StatementFeature::ALL.len();

/// The values of all features of a statement.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureValues(pub [f64; FEATURES]);

impl FeatureValues {
    pub fn get(&self, feature: StatementFeature) -> f64 {
        self.0[feature as usize]
    }

    fn set(&mut self, feature: StatementFeature, value: f64) {
        self.0[feature as usize] = value;
    }

    fn mark(&mut self, feature: StatementFeature, holds: bool) {
        self.set(feature, f64::from(u8::from(holds)));
    }
}

/// What is around the statements of one message.
#[derive(Debug, Default)]
pub(super) struct MessageContext {
    acknowledged: bool,
    reply: ContentWords,
}

/// The agent's next words that count, in characters.
const ACKNOWLEDGEMENT_MAX: usize = 160;
const REPLY_MAX: usize = 500;

impl MessageContext {
    /// From the beginning of the agent's answer.
    pub(super) fn new(reply: &str, lexicon: &StatementLexicon) -> MessageContext {
        let first = |max: usize| {
            SentenceWords::new(reply.char_indices().nth(max).map_or(reply, |(end, _)| &reply[..end]))
        };
        MessageContext {
            acknowledged: lexicon.answers.has(&first(ACKNOWLEDGEMENT_MAX), AnswerSense::Acknowledgement),
            reply: ContentWords::of([&first(REPLY_MAX)], lexicon),
        }
    }
}

/// The phrases of all lexicons, ready to be found.
#[derive(Debug)]
pub(super) struct StatementLexicon {
    senses: PhraseTable<Sense>,
    fillers: WordSet,
    function_words: WordSet,
    pub(super) answers: PhraseTable<AnswerSense>,
    pub(super) requests: PhraseTable<explicit::RequestForm>,
}

impl StatementLexicon {
    pub(super) fn new() -> StatementLexicon {
        StatementLexicon {
            senses: PhraseTable::new(SENSES),
            fillers: WordSet::new(FILLERS),
            function_words: WordSet::new(FUNCTION_WORDS),
            answers: PhraseTable::new(ANSWERS),
            requests: PhraseTable::new(explicit::REQUESTS),
        }
    }

    /// Whether a word has content of its own.
    pub(super) fn is_telling(&self, word: &str, hash: u64) -> bool {
        word.chars().nth(2).is_some() && !self.function_words.has(hash)
    }
}

/// The words of a statement that have content, as sorted hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ContentWords(Vec<u64>);

impl ContentWords {
    fn of<'s>(
        sentences: impl IntoIterator<Item = &'s SentenceWords>,
        lexicon: &StatementLexicon,
    ) -> ContentWords {
        let telling = |(word, hash): &(&str, u64)| lexicon.is_telling(word, *hash);
        let words = sentences.into_iter().flat_map(|sentence| sentence.hashed().filter(telling));
        let mut words: Vec<u64> = words.map(|(_, hash)| hash).collect();
        words.sort_unstable();
        words.dedup();
        ContentWords(words)
    }

    fn shared(&self, other: &ContentWords) -> usize {
        let (mut at, mut shared) = (0, 0);
        for word in &self.0 {
            while other.0.get(at).is_some_and(|other| other < word) {
                at += 1;
            }
            shared += usize::from(other.0.get(at) == Some(word));
        }
        shared
    }

    /// A statement of few words is not alike by one of them.
    pub(super) const FEW: usize = 3;

    fn share_in(&self, other: &ContentWords) -> f64 {
        self.shared(other) as f64 / self.0.len().max(ContentWords::FEW) as f64
    }

    /// The Jaccard index, or zero if it cannot be more than `least`.
    fn similarity(&self, other: &ContentWords, least: f64) -> f64 {
        let (fewer, more) = (self.0.len().min(other.0.len()), self.0.len().max(other.0.len()));
        if fewer as f64 <= least * more as f64 {
            return 0.0;
        }
        let shared = self.shared(other);
        shared as f64 / (self.0.len() + other.0.len() - shared).max(ContentWords::FEW) as f64
    }
}

/// A statement whose words were looked up.
#[derive(Debug)]
pub(super) struct ReadStatement {
    sentences: Vec<ReadSentence>,
    pub(super) content: ContentWords,
}

#[derive(Debug)]
struct ReadSentence {
    words: SentenceWords,
    /// Each with the place of its word.
    senses: Vec<(Sense, usize)>,
    /// A bit for each sense that it has.
    mask: u32,
    /// The first word that is no filler.
    lead: usize,
    is_question: bool,
}

impl ReadStatement {
    pub(super) fn new(text: &str, statement: &CutStatement, lexicon: &StatementLexicon) -> ReadStatement {
        let sentences = statement.sentences.iter();
        let sentences: Vec<ReadSentence> =
            sentences.map(|sentence| ReadSentence::new(&text[sentence.clone()], lexicon)).collect();
        let content = ContentWords::of(sentences.iter().map(|sentence| &sentence.words), lexicon);
        ReadStatement { sentences, content }
    }

    /// The same for all statements with the same words.
    pub(super) fn key(&self) -> u64 {
        self.sentences.iter().fold(0, |key, sentence| key.rotate_left(7) ^ hash(sentence.words.folded()))
    }

    /// Whether a sentence asks to remember something.
    pub(super) fn is_request_to_remember(&self, lexicon: &StatementLexicon) -> bool {
        self.sentences
            .iter()
            .any(|sentence| !sentence.is_question && explicit::asks(&sentence.words, sentence.lead, lexicon))
    }

    /// Whether all sentences are questions.
    pub(super) fn only_asks(&self) -> bool {
        self.sentences.iter().all(|sentence| sentence.is_question)
    }
}

impl ReadSentence {
    fn new(text: &str, lexicon: &StatementLexicon) -> ReadSentence {
        let words = SentenceWords::new(text);
        let last = words.len().saturating_sub(1);
        let lead = words.hashed().take(last).take_while(|(_, hash)| lexicon.fillers.has(*hash)).count();
        let mut senses = Vec::new();
        lexicon.senses.each(&words, &mut |sense, at| {
            let is_report = sense == Sense::Prohibition && is_report(&words, at);
            if !is_report && !is_never_mind(&words, at) {
                senses.push((sense, at));
            }
        });
        if forbids_a_thing(&words) {
            senses.push((Sense::Prohibition, 0));
        }
        let ended = text.trim_end_matches([' ', ')', '"', '\'', '*']);
        let asks = |(sense, at): &(Sense, usize)| *sense == Sense::QuestionWord && *at <= lead;
        let is_question = ended.ends_with(['?', '？']) || senses.iter().any(asks);
        let mask = senses.iter().fold(0, |mask, (sense, _)| mask | bit(*sense));
        ReadSentence { words, senses, mask, lead, is_question }
    }

    fn has(&self, wanted: Sense) -> bool {
        self.mask & bit(wanted) != 0
    }

    /// Whether the sentence begins so.
    fn leads_with(&self, wanted: Sense) -> bool {
        let begins = |at: usize| at == self.lead || at == 0;
        self.has(wanted) && self.senses.iter().any(|(sense, at)| *sense == wanted && begins(*at))
    }

    fn states_a_fact(&self) -> bool {
        let moods = [Sense::Should, Sense::Want, Sense::Lets, Sense::Request, Sense::Prohibition];
        let verbs = [Sense::EditVerb, Sense::RuleVerb];
        self.has(Sense::Stative)
            && !self.is_question
            && !moods.iter().any(|mood| self.has(*mood))
            && !self.senses.iter().any(|(sense, at)| verbs.contains(sense) && *at == self.lead)
    }
}

fn bit(sense: Sense) -> u32 {
    1 << sense as u32
}

/// Whether `don't` tells what somebody does, and does not forbid: "I don't see it".
fn is_report(words: &SentenceWords, at: usize) -> bool {
    let denies = words.get(at) == Some("dont")
        || (words.get(at) == Some("do") && words.get(at.saturating_add(1)) == Some("not"));
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let somebody = ["i", "you", "they", "it", "and", "that", "which", "we"];
    denies && before.is_some_and(|word| somebody.contains(&word))
}

/// Whether it says "no X in Y": a rule without a verb. "No, X" is an answer, and "no problem" a phrase.
fn forbids_a_thing(words: &SentenceWords) -> bool {
    const PHRASES: &[&str] = &[
        "problem", "problems", "worries", "idea", "need", "longer", "one", "way", "thanks", "thank", "rush",
        "i", "we", "it", "its", "you", "that", "this", "there", "they", "he", "she", "not", "dont", "the",
        "more", "clue", "luck",
    ];
    words.get(0) == Some("no")
        && words.len() >= 3
        && !words.begins_clause(1)
        && words.get(1).is_some_and(|word| !PHRASES.contains(&word))
}

/// Whether `never` forbids nothing.
fn is_never_mind(words: &SentenceWords, at: usize) -> bool {
    words.get(at) == Some("never") && words.get(at.saturating_add(1)) == Some("mind")
}

/// Words of a domain that count in one statement.
const DOMAIN_MAX: usize = 4;

/// The values of the features of one statement of a message.
pub(super) fn values(
    text: &str,
    cut: &MessageCut,
    number: usize,
    read: &ReadStatement,
    context: &MessageContext,
    earlier: &[ContentWords],
) -> FeatureValues {
    use StatementFeature as F;
    let statement = &cut.statements[number];
    let words = &text[statement.span.clone()];
    let all = &read.sentences;
    let only_asks = read.only_asks();
    // A question proposes nothing, unless there is nothing else.
    let told = || all.iter().filter(|sentence| only_asks || !sentence.is_question);
    let mut values = FeatureValues([0.0; FEATURES]);
    for (feature, sense) in [
        (F::RuleVerb, Sense::RuleVerb),
        (F::Prohibition, Sense::Prohibition),
        (F::Lets, Sense::Lets),
        (F::Should, Sense::Should),
        (F::Want, Sense::Want),
        (F::Commitment, Sense::Commitment),
        (F::Cause, Sense::Cause),
        (F::Instead, Sense::Instead),
        (F::Correction, Sense::Correction),
        (F::Only, Sense::Only),
        (F::Every, Sense::Every),
        (F::General, Sense::General),
        (F::Reason, Sense::Reason),
        (F::Order, Sense::Order),
        (F::Deferral, Sense::Deferral),
        (F::Report, Sense::Report),
    ] {
        values.mark(feature, told().any(|sentence| sentence.has(sense)));
    }
    for (feature, sense) in [
        (F::Screen, Sense::Screen),
        (F::Trouble, Sense::Trouble),
        (F::Process, Sense::Process),
        (F::Architecture, Sense::Architecture),
        (F::Outside, Sense::Outside),
        (F::Product, Sense::Product),
    ] {
        let senses = all.iter().flat_map(|sentence| &sentence.senses);
        let count = senses.filter(|(found, _)| *found == sense).count();
        values.set(feature, (count.min(DOMAIN_MAX) as f64).ln_1p());
    }
    values.mark(F::RuleLead, told().any(|sentence| sentence.leads_with(Sense::RuleVerb)));
    values.mark(F::EditLead, told().any(|sentence| sentence.leads_with(Sense::EditVerb)));
    let declares = |sentence: &ReadSentence| !sentence.is_question && sentence.has(Sense::Declaration);
    values.mark(F::Declaration, all.iter().any(declares));
    // "Please don't" asks for no action.
    let requests =
        |sentence: &ReadSentence| sentence.has(Sense::Request) && !sentence.has(Sense::Prohibition);
    values.mark(F::Request, all.iter().any(requests));
    values.mark(F::TaskStep, all.iter().any(|sentence| sentence.has(Sense::TaskStep)));
    let decides = |sentence: &ReadSentence| sentence.is_question && sentence.has(Sense::DecidingQuestion);
    values.mark(F::DecidingQuestion, all.iter().any(decides));
    values.mark(F::Fact, all.iter().any(ReadSentence::states_a_fact));
    let subject = |sentence: &ReadSentence| {
        sentence.words.get(sentence.lead).is_some_and(|word| SUBJECTS.contains(&word))
    };
    values.mark(F::Subject, told().any(subject));
    let stressed =
        told().any(|sentence| sentence.has(Sense::Emphasis)) || words.split_whitespace().any(is_stressed);
    values.mark(F::Emphasis, stressed);
    values.mark(F::NotThis, all.iter().any(|sentence| has_contrast(&sentence.words)));
    let questions = all.iter().filter(|sentence| sentence.is_question).count();
    values.set(F::Question, questions as f64 / all.len().max(1) as f64);
    let asks = |sentence: &ReadSentence| {
        sentence.senses.iter().any(|(sense, at)| *sense == Sense::QuestionWord && *at <= sentence.lead)
    };
    values.mark(F::QuestionLead, all.iter().any(asks));
    set_length(&mut values, words, all);
    set_place(&mut values, words, cut, number);
    values.mark(F::Acknowledged, context.acknowledged);
    values.set(F::Repeated, read.content.share_in(&context.reply));
    let similar = |best: f64, earlier: &ContentWords| best.max(read.content.similarity(earlier, best));
    values.set(F::SaidBefore, earlier.iter().fold(0.0, similar));
    values
}

fn set_length(values: &mut FeatureValues, words: &str, sentences: &[ReadSentence]) {
    use StatementFeature as F;
    // Where no spaces separate words, a word has about two characters.
    let unspaced = if words.is_ascii() { 0 } else { words.chars().filter(|c| writes_no_blanks(*c)).count() };
    let unspaced = unspaced as f64 / 2.0;
    let count = sentences.iter().map(|sentence| sentence.words.len()).sum::<usize>() as f64 + unspaced;
    values.set(F::Length, count.ln_1p());
    values.mark(F::Short, count <= 3.0);
    values.mark(F::Long, count >= 35.0);
    let all = words.split_whitespace().count().max(1) as f64;
    let names = words.split_whitespace().filter(|word| is_name(word)).count() as f64;
    values.set(F::CodeShare, names / all);
}

fn set_place(values: &mut FeatureValues, words: &str, cut: &MessageCut, number: usize) {
    use StatementFeature as F;
    let count = cut.statements.len();
    values.mark(F::InDocument, cut.statements[number].in_document);
    values.mark(F::BigMessage, cut.headings >= 2 || count > 20);
    values.mark(F::LogMessage, cut.log_lines > 2);
    values.mark(F::LabelEnd, words.ends_with([':', '：']));
    let label = words.chars().take(25).position(|c| c == ':');
    values.mark(F::LabelLead, label.is_some_and(|at| at > 0));
    values.mark(F::Quoted, words.starts_with(['"', '“', '\'']));
    values.set(F::Statements, (count as f64).ln_1p());
}

fn is_stressed(word: &str) -> bool {
    let is_upper = word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    is_upper && STRESSED.contains(&word.to_ascii_lowercase().as_str())
}

/// Whether it says: X, not Y; not X but Y.
fn has_contrast(words: &SentenceWords) -> bool {
    let has = |wanted: &str| (0..words.len()).any(|at| words.get(at) == Some(wanted));
    let before = |at: usize| at.checked_sub(1).and_then(|before| words.get(before));
    (0..words.len()).any(|at| match words.get(at) {
        Some("not") => (at > 0 && words.begins_clause(at)) || before(at) == Some("and") || has("but"),
        Some("sondern" | "sino") => true,
        Some("не") => before(at) == Some("а"),
        _ => false,
    }) || (words.is_unspaced() && CONTRASTS.iter().any(|contrast| words.folded().contains(contrast)))
}

/// Whether a word is a path, a file or an identifier.
fn is_name(word: &str) -> bool {
    let (mut has_lower, mut has_inner_upper) = (false, false);
    for (at, c) in word.char_indices() {
        match c {
            '/' | '_' | '`' | '@' => return true,
            '(' if at > 0 => return true,
            '.' if at > 0 && at + 1 < word.len() => return true,
            _ => {
                has_lower |= c.is_lowercase();
                has_inner_upper |= at > 0 && c.is_uppercase();
            }
        }
    }
    has_lower && has_inner_upper
}
