//! Requests to remember something, in ten languages. They pass whatever the score is.

use super::features::StatementLexicon;
use super::words::SentenceWords;

/// How a request is worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestForm {
    /// "Remember that": only at the beginning of a clause. "I remember that" asks for nothing.
    Order,
    /// "From now on": anywhere.
    Duration,
}

pub(super) const REQUESTS: &[(RequestForm, &str)] = &[
    (RequestForm::Order, ENGLISH),
    (RequestForm::Duration, ENGLISH_DURATIONS),
    (RequestForm::Order, SPANISH),
    (RequestForm::Duration, SPANISH_DURATIONS),
    (RequestForm::Order, GERMAN),
    (RequestForm::Duration, GERMAN_DURATIONS),
    (RequestForm::Order, FRENCH),
    (RequestForm::Duration, FRENCH_DURATIONS),
    (RequestForm::Order, PORTUGUESE),
    (RequestForm::Duration, PORTUGUESE_DURATIONS),
    (RequestForm::Order, ITALIAN),
    (RequestForm::Duration, ITALIAN_DURATIONS),
    (RequestForm::Order, RUSSIAN),
    (RequestForm::Duration, RUSSIAN_DURATIONS),
    (RequestForm::Duration, CHINESE),
    (RequestForm::Duration, JAPANESE),
    (RequestForm::Duration, KOREAN),
];

const ENGLISH: &str = "\
    remember that, remember this, remember to, remember not to, remember we, remember our, remember my, remember the, \
    remember for next time, remember for the future, remember it, remember always, remember never, \
    keep in mind that, bear in mind that, make a note, take a note, take note that, note for next time, \
    note for the future, note for future, note to self, write this down, write that down, note this down, \
    save this to memory, save that to memory, save to memory, save this in memory, save this in your memory, \
    save this to your memory, store this in memory, store this in your memory, put this in your memory, \
    add this to memory, add that to memory, add to memory, add this to your memory, add that to your memory, \
    add to your memory, commit this to memory, memorize this, memorize that, memorise this, memorise that, \
    dont forget that, do not forget that, never forget that, next time";
const ENGLISH_DURATIONS: &str = "\
    from now on, from here on, for next time, for future reference, for future sessions, in future sessions, \
    in all future sessions, for all future sessions";
const SPANISH: &str = "\
    recuerda que, recuerda esto, recuerda, recuerden que, recuerde que, acuerdate de, acuerdate que, \
    ten en cuenta que, tenga en cuenta que, ten presente que, toma nota, anota que, anota esto, anotalo, apunta que, \
    apunta esto, no olvides que, no te olvides de, guarda esto en memoria, guarda esto en la memoria, \
    guardalo en memoria, memoriza, la proxima vez";
const SPANISH_DURATIONS: &str = "\
    de ahora en adelante, a partir de ahora, desde ahora, para la proxima vez, para la proxima, \
    para futuras sesiones, en futuras sesiones";
const GERMAN: &str = "\
    merk dir, merke dir, merkt euch, merken sie sich, denk daran, denke daran, denken sie daran, denk dran, \
    notiere dir, notier dir, notiere, schreib dir auf, behalte im kopf, behalte im gedachtnis, vergiss nicht dass, \
    vergiss nicht, speichere im gedachtnis, nachstes mal, beim nachsten mal";
const GERMAN_DURATIONS: &str = "\
    ab jetzt, von jetzt an, ab sofort, von nun an, in zukunft, furs nachste mal, fur das nachste mal, \
    fur kunftige sitzungen";
const FRENCH: &str = "\
    souviens toi, souvenez vous, rappelle toi, rappelez vous, retiens que, retiens bien, retenez que, note que, \
    note bien, notez que, prends note, prenez note, n oublie pas que, n oubliez pas que, garde en tete, \
    garde a l esprit, gardez a l esprit, memorise, memorisez, la prochaine fois";
const FRENCH_DURATIONS: &str = "\
    a partir de maintenant, desormais, dorenavant, pour la prochaine fois, a l avenir";
const PORTUGUESE: &str = "\
    lembre se de, lembre se que, lembre se, lembra te, lembre que, lembra que, anote que, anote isso, anota que, \
    anota isso, nao esqueca que, nao se esqueca, tenha em mente, tem em mente, guarde na memoria, salve na memoria, \
    memorize, memoriza, da proxima vez, na proxima vez";
const PORTUGUESE_DURATIONS: &str = "\
    de agora em diante, a partir de agora, daqui em diante, daqui para a frente, para a proxima vez, \
    para as proximas sessoes";
const ITALIAN: &str = "\
    ricorda che, ricorda di, ricordati che, ricordati di, ricordati, ricordate che, tieni presente che, \
    tieni presente, tieni a mente, prendi nota, annota che, annota, non dimenticare che, memorizza, \
    salva in memoria, la prossima volta";
const ITALIAN_DURATIONS: &str = "\
    d ora in poi, da ora in poi, da adesso in poi, d ora in avanti, per la prossima volta, per il futuro";
const RUSSIAN: &str = "\
    запомни, запомните, помни что, помните что, помни, имеи в виду, имеите в виду, учти что, учтите что, \
    запиши себе, запиши что, не забудь что, не забываи что, не забываите что, сохрани в память, в следующии раз";
const RUSSIAN_DURATIONS: &str = "\
    впредь, с этого момента, с этого дня, на будущее, отныне, в дальнеишем";
const CHINESE: &str = "\
    记住, 請記住, 記住, 记得, 記得, 记下来, 記下來, 记一下, 牢记, 别忘了, 別忘了, 以后都, 以後都, 从现在起, 從現在起, 从现在开始, \
    從現在開始, 今后, 下次请, 下次請";
const JAPANESE: &str = "\
    覚えておいて, 覚えといて, 覚えてください, 記憶して, メモして, 忘れないで, 今後は, これからは, 次回から, 次からは, 次回は";
const KOREAN: &str = "\
    기억해, 기억하세요, 메모해, 잊지 마, 잊지마, 앞으로는, 다음부터, 다음번에는, 이제부터, 지금부터";

/// Words that may stand before an order within its clause.
const BEFORE_ORDER: &[&str] = &[
    "please",
    "and",
    "also",
    "but",
    "so",
    "just",
    "always",
    "ok",
    "okay",
    "now",
    "then",
    "thanks",
    "pls",
    "por",
    "favor",
    "bitte",
    "und",
    "auch",
    "aber",
    "y",
    "pero",
    "et",
    "mais",
    "e",
    "mas",
    "ma",
    "и",
    "но",
    "пожалуиста",
];
/// What follows "remember" when nobody is asked to.
const NO_ORDER: &[&str] = &["me", "when", "last"];

/// Whether a sentence that is no question asks to remember something.
pub(super) fn asks(words: &SentenceWords, lead: usize, lexicon: &StatementLexicon) -> bool {
    let is_order = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        words.begins_clause(at) || before.is_some_and(|word| BEFORE_ORDER.contains(&word))
    };
    let mut found = false;
    lexicon.requests.each(words, &mut |form, at| found |= form == RequestForm::Duration || is_order(at));
    let remembers = words.get(lead).is_some_and(|word| word == "remember");
    let follower = words.get(lead + 1);
    found || (remembers && is_order(lead) && follower.is_some_and(|word| !NO_ORDER.contains(&word)))
}
