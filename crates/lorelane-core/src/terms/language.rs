//! The language of a text, as far as stemming depends on it.

use frostem::{Algorithm, Stemmer};

/// A language with a stemmer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Swedish,
    Russian,
}

impl Language {
    pub const ALL: [Language; 9] = [
        Language::English,
        Language::German,
        Language::French,
        Language::Spanish,
        Language::Italian,
        Language::Portuguese,
        Language::Dutch,
        Language::Swedish,
        Language::Russian,
    ];

    /// The language whose function words are most frequent in a text. Most memories are English, so that is the
    /// default where a text does not tell.
    pub fn of(text: &str) -> Language {
        let mut counts = [0_usize; Language::ALL.len()];
        let mut all = 0;
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(400) {
            all += 1;
            let word = word.to_lowercase();
            for (language, count) in Language::ALL.into_iter().zip(&mut counts) {
                *count += usize::from(language.small_words().binary_search(&word.as_str()).is_ok());
            }
        }
        // Among equals the first one wins, and that is English.
        let best = (1..counts.len()).fold(0, |best, at| if counts[at] > counts[best] { at } else { best });
        // `de` and `in` occur in code too: in a sentence at least one word in eight is a function word.
        let is_long = counts[best] >= 3 && 8 * counts[best] >= all && counts[best] > 2 * counts[0];
        // A short text shows it by its letters too.
        let is_short = counts[best] >= 2 && 5 * counts[best] >= all && counts[0] == 0 && !text.is_ascii();
        let is_sure = is_long || is_short;
        if is_sure { Language::ALL[best] } else { Language::English }
    }

    /// The language of a question if its function words are not English; a question is too short for
    /// [`Language::of`].
    pub(crate) fn of_question(text: &str) -> Option<Language> {
        let mut counts = [0_usize; Language::ALL.len()];
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).take(100) {
            let word = word.to_lowercase();
            let is_english = ENGLISH_STOP_WORDS.binary_search(&word.as_str()).is_ok();
            for (language, count) in Language::ALL.into_iter().zip(&mut counts) {
                *count += usize::from(match language {
                    Language::English => is_english,
                    other => !is_english && other.is_question_word(&word),
                });
            }
        }
        let best = (1..counts.len()).fold(0, |best, at| if counts[at] > counts[best] { at } else { best });
        (best > 0).then(|| Language::ALL[best])
    }

    /// Whether a word is a function word or a question word of the language.
    pub(crate) fn is_question_word(self, word: &str) -> bool {
        self.has_small_word(word) || self.question_words().binary_search(&word).is_ok()
    }

    pub(crate) fn is_arabic_function_word(word: &str) -> bool {
        ARABIC_FUNCTION_WORDS.binary_search(&word).is_ok()
    }

    /// Words that questions consist of besides what they ask about.
    fn question_words(self) -> &'static [&'static str] {
        match self {
            Language::English => &[],
            Language::German => &[
                "ab", "am", "an", "bis", "da", "dann", "denn", "diese", "diesem", "diesen", "dieser",
                "dieses", "doch", "du", "durch", "er", "euch", "gibt", "habe", "haben", "hat", "hatte",
                "ihr", "ihre", "in", "ja", "kann", "keine", "keinen", "können", "man", "mein", "mir", "muss",
                "müssen", "noch", "ob", "oft", "sein", "seine", "seit", "so", "soll", "sollen", "um", "uns",
                "unser", "unsere", "viel", "viele", "vom", "vor", "wann", "warum", "was", "weil", "welche",
                "welchem", "welchen", "welcher", "welches", "wem", "wen", "wer", "weshalb", "wieso", "wo",
                "wofür", "woher", "wohin", "womit", "worauf", "wozu", "wurde", "wurden",
            ],
            Language::French => &[
                "a", "ai", "as", "avez", "avons", "ces", "combien", "comment", "dont", "elles", "fait",
                "faut", "ils", "laquelle", "lequel", "leur", "leurs", "nos", "notre", "on", "où", "pourquoi",
                "quand", "quel", "quelle", "quelles", "quels", "quoi", "sa", "ses", "si", "son", "ta", "te",
                "tu", "y",
            ],
            Language::Spanish => &[
                "a", "cuando", "cuanta", "cuantas", "cuanto", "cuantos", "cuál", "cuáles", "cuándo",
                "cuánta", "cuántas", "cuánto", "cuántos", "cómo", "donde", "dónde", "e", "fue", "ha", "han",
                "hay", "le", "les", "me", "mi", "nos", "nuestra", "nuestro", "o", "quien", "quién",
                "quiénes", "qué", "sea", "somos", "te", "tiene", "tienen", "tu", "u",
            ],
            Language::Italian => &[
                "a", "chi", "ci", "cosa", "cui", "dove", "ha", "hanno", "ho", "io", "loro", "mi", "noi",
                "nostro", "o", "perché", "qual", "quale", "quali", "quando", "quanta", "quante", "quanti",
                "quanto", "quella", "quello", "questa", "questo", "se", "si", "sia",
            ],
            Language::Portuguese => &[
                "a", "aonde", "cadê", "ela", "ele", "eles", "foram", "há", "me", "meu", "nossa", "nosso",
                "onde", "porque", "quais", "qual", "quando", "quanta", "quantas", "quanto", "quantos",
                "quem", "quê", "seu", "sua", "tem", "têm", "você",
            ],
            Language::Dutch => &[
                "ben", "bent", "had", "hadden", "heb", "hebben", "heeft", "hem", "hij", "hoe", "hoeveel",
                "hun", "je", "jij", "kan", "kunnen", "mijn", "moet", "moeten", "ons", "onze", "waar",
                "waarheen", "waarmee", "waarom", "wanneer", "was", "wat", "welk", "welke", "wie", "zal",
                "ze", "zij",
            ],
            Language::Swedish => &[
                "de", "dem", "du", "ha", "hade", "hon", "hur", "i", "kommer", "min", "mina", "mycket",
                "många", "ni", "ska", "skulle", "under", "vad", "varför", "vart", "vem", "vilka", "vilken",
                "vilket", "vår", "våra",
            ],
            Language::Russian => &[
                "без",
                "бы",
                "была",
                "были",
                "было",
                "быть",
                "вам",
                "вас",
                "все",
                "всё",
                "вы",
                "где",
                "да",
                "до",
                "его",
                "ее",
                "ему",
                "есть",
                "ещё",
                "её",
                "за",
                "зачем",
                "здесь",
                "им",
                "какая",
                "какие",
                "какого",
                "какое",
                "какой",
                "каком",
                "какую",
                "ко",
                "которые",
                "который",
                "кто",
                "куда",
                "ли",
                "меня",
                "мне",
                "можно",
                "над",
                "надо",
                "нам",
                "нас",
                "него",
                "нет",
                "нужно",
                "об",
                "он",
                "она",
                "они",
                "оно",
                "откуда",
                "перед",
                "под",
                "почему",
                "про",
                "раз",
                "сколько",
                "со",
                "тебя",
                "тем",
                "теперь",
                "того",
                "тоже",
                "только",
                "том",
                "тут",
                "ты",
                "уже",
                "часто",
                "чего",
                "чей",
                "чем",
                "чему",
                "через",
            ],
        }
    }

    /// The number that the index stores; it never changes.
    pub fn number(self) -> u8 {
        self as u8
    }

    pub fn from_number(number: u8) -> Option<Language> {
        Language::ALL.get(usize::from(number)).copied()
    }

    /// The Snowball stemmer for a word; `None` for other scripts. `rust-stemmers` has older stems, and
    /// `snowball_stemmers_rs` has the same ones but needs serde.
    pub(super) fn stemmer_for(self, word: &str) -> Option<Stemmer> {
        let cyrillic = word.starts_with(|c| ('\u{400}'..='\u{4ff}').contains(&c));
        if cyrillic {
            return Some(Stemmer::new(Algorithm::Russian));
        }
        let latin = word.starts_with(|c: char| c.is_ascii_alphabetic() || ('ß'..='\u{24f}').contains(&c));
        latin.then(|| {
            Stemmer::new(match self {
                Language::English | Language::Russian => Algorithm::English,
                Language::German => Algorithm::German,
                Language::French => Algorithm::French,
                Language::Spanish => Algorithm::Spanish,
                Language::Italian => Algorithm::Italian,
                Language::Portuguese => Algorithm::Portuguese,
                Language::Dutch => Algorithm::Dutch,
                Language::Swedish => Algorithm::Swedish,
            })
        })
    }

    /// Whether a word is a stop word. English ones are stop words in any text, because names and code are English
    /// everywhere.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        ENGLISH_STOP_WORDS.binary_search(&word).is_ok()
            || (self != Language::English && self.has_small_word(word))
    }

    pub(super) fn has_small_word(self, word: &str) -> bool {
        self.small_words().binary_search(&word).is_ok()
    }

    /// Function words: frequent in nearly every sentence of the language and rare in the others.
    fn small_words(self) -> &'static [&'static str] {
        match self {
            Language::English => &[
                "and", "are", "be", "been", "but", "for", "from", "has", "have", "how", "if", "is", "it",
                "not", "of", "that", "the", "this", "to", "was", "we", "what", "when", "which", "with",
                "you",
            ],
            Language::German => &[
                "als", "auch", "auf", "aus", "bei", "das", "dass", "dem", "den", "der", "des", "die", "ein",
                "eine", "einen", "einer", "es", "für", "ich", "im", "ist", "mit", "nach", "nicht", "nur",
                "oder", "sich", "sie", "sind", "und", "von", "war", "wenn", "werden", "wie", "wir", "wird",
                "zu", "zum", "zur", "über",
            ],
            Language::French => &[
                "au", "aux", "avec", "ce", "cette", "dans", "de", "des", "du", "elle", "en", "est", "et",
                "il", "je", "la", "le", "les", "mais", "nous", "ou", "par", "pas", "pour", "qu", "que",
                "qui", "sont", "sur", "un", "une", "vous", "à", "été", "être",
            ],
            Language::Spanish => &[
                "al", "como", "con", "de", "del", "el", "en", "es", "esta", "este", "la", "las", "lo", "los",
                "más", "no", "para", "pero", "por", "que", "se", "ser", "si", "sin", "sobre", "son", "su",
                "también", "un", "una", "y", "ya",
            ],
            Language::Italian => &[
                "al", "alla", "anche", "che", "come", "con", "da", "dal", "dei", "del", "della", "delle",
                "di", "e", "gli", "i", "il", "in", "la", "le", "lo", "ma", "nel", "non", "per", "più",
                "sono", "su", "un", "una", "è",
            ],
            Language::Portuguese => &[
                "ao", "as", "com", "como", "da", "das", "de", "do", "dos", "e", "em", "foi", "mais", "mas",
                "na", "no", "nos", "não", "o", "os", "ou", "para", "pela", "pelo", "por", "que", "se", "são",
                "também", "um", "uma", "à", "é",
            ],
            Language::Dutch => &[
                "aan", "als", "bij", "dat", "de", "die", "dit", "door", "een", "en", "er", "geen", "het",
                "ik", "in", "is", "maar", "met", "naar", "niet", "of", "om", "ook", "op", "te", "uit", "van",
                "voor", "we", "wel", "worden", "wordt", "zijn",
            ],
            Language::Swedish => &[
                "att", "av", "den", "det", "efter", "eller", "en", "ett", "från", "för", "han", "har",
                "inte", "jag", "kan", "med", "men", "när", "och", "om", "på", "som", "så", "till", "var",
                "vi", "vid", "är",
            ],
            Language::Russian => &[
                "а",
                "был",
                "в",
                "во",
                "для",
                "если",
                "и",
                "из",
                "или",
                "их",
                "к",
                "как",
                "когда",
                "мы",
                "на",
                "не",
                "но",
                "о",
                "от",
                "по",
                "при",
                "с",
                "так",
                "также",
                "то",
                "у",
                "что",
                "чтобы",
                "это",
                "я",
            ],
        }
    }
}

/// Arabic has a stemmer and no [`Language`]: its script tells it.
const ARABIC_FUNCTION_WORDS: &[&str] = &[
    "أن",
    "أو",
    "أي",
    "أين",
    "إلى",
    "إن",
    "التي",
    "الذي",
    "الى",
    "بعد",
    "بماذا",
    "بمن",
    "بين",
    "تلك",
    "ثم",
    "حتى",
    "ذلك",
    "على",
    "عن",
    "عند",
    "في",
    "قبل",
    "قد",
    "كان",
    "كانت",
    "كل",
    "كم",
    "كيف",
    "لأن",
    "لا",
    "لم",
    "لماذا",
    "لن",
    "ما",
    "ماذا",
    "متى",
    "مع",
    "من",
    "منذ",
    "نحن",
    "هذا",
    "هذه",
    "هل",
    "هم",
    "هو",
    "هي",
];

/// The English stop words of recall. Fewer than for titles and tags, because idf already discounts common words.
const ENGLISH_STOP_WORDS: &[&str] = &[
    "a", "am", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could", "did",
    "do", "does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "is",
    "it", "its", "me", "my", "of", "on", "or", "our", "she", "should", "than", "that", "the", "their",
    "them", "there", "these", "they", "this", "those", "to", "us", "was", "we", "were", "what", "when",
    "where", "which", "who", "whom", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_their_search() {
        assert!(ENGLISH_STOP_WORDS.is_sorted() && ARABIC_FUNCTION_WORDS.is_sorted());
        for language in Language::ALL {
            assert!(
                language.small_words().is_sorted() && language.question_words().is_sorted(),
                "{language:?}"
            );
            assert_eq!(Language::from_number(language.number()), Some(language));
        }
    }

    #[test]
    fn a_language_is_told_by_its_small_words() {
        let table = [
            ("We use JWT because the sessions of the old service were lost", Language::English),
            ("Wir verwenden JWT, weil die Sitzungen des alten Dienstes verloren gingen", Language::German),
            ("Nous utilisons JWT car les sessions du vieux service étaient perdues", Language::French),
            ("Usamos JWT porque las sesiones del servicio se perdían", Language::Spanish),
            ("Мы используем JWT, потому что сессии в старом сервисе терялись", Language::Russian),
            ("Brötchen und Käse sind beim Bäcker teuer", Language::German),
            ("JWT", Language::English),
            ("die", Language::English),
            ("", Language::English),
        ];
        for (text, expected) in table {
            assert_eq!(Language::of(text), expected, "{text}");
        }
    }
}
