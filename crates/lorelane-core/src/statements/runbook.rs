//! Findings of the agent: a cause of a failure that the user confirmed afterwards. What the agent supposes is none.

use super::cut::CutStatement;
use super::features::StatementLexicon;
use super::lexicon::AnswerSense;
use super::words::{PhraseTable, SentenceWords};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingSense {
    /// Names a cause.
    Cause,
    /// Names a failure.
    Failure,
    /// Supposes, plans or advises.
    Doubt,
}

pub(super) const FINDINGS: &[(FindingSense, &str)] =
    &[(FindingSense::Cause, CAUSE), (FindingSense::Failure, FAILURE), (FindingSense::Doubt, DOUBT)];

const CAUSE: &str = "\
    because, root cause, the cause, caused by, due to, the reason, reason is, reason was, that s why, thats why, \
    the issue was, the problem was, the issue is that, the problem is that, the culprit, turned out, turns out, \
    was causing, is causing, which caused, the key was, the fix was, \
    porque, la causa, el problema era, el problema es que, debido a, se debe a, se debia a, \
    weil, die ursache, das problem war, das problem ist dass, liegt daran, lag daran, verursacht, \
    parce que, la cause, le probleme etait, le probleme est que, a cause de, \
    causado por, a causa, o problema era, o problema e que, por causa, perche, il problema era, causato da, \
    потому что, причина, проблема в том, из за, 原因, 因为, 导致, 由于, 原因は, が原因, 원인, 때문";
const FAILURE: &str = "\
    error, errors, fail, fails, failed, failing, failure, broken, broke, crash, crashed, bug, issue, problem, exception, \
    wrong, missing, incorrect, incorrectly, cant, cannot, couldnt, doesnt, does not, didnt, wasnt, isnt, wont, not found, \
    null, undefined, blocked, rejected, conflict, mismatch, timeout, timed out, refused, denied, \
    fallo, fallaba, falta, problema, no funcionaba, fehler, fehlt, fehlte, schlug fehl, absturz, erreur, probleme, \
    manquant, erro, falha, faltava, errore, mancante, non funzionava, ошибка, ошибку, отсутствует, не работало, \
    错误, 失败, 报错, 缺少, エラー, 失敗, 오류, 실패";
const DOUBT: &str = "\
    might, may, maybe, perhaps, possibly, probably, likely, could be, seems, appears, i think, i suspect, let me, i will, \
    i ll, let s, lets, would, if you, you can, you could, you should, try, need to, needs to, next, should, \
    podria, quizas, tal vez, parece, voy a, deberia, vielleicht, wahrscheinlich, vermutlich, ich werde, sollte, \
    peut etre, probablement, je vais, talvez, provavelmente, vou, forse, probabilmente, возможно, вероятно, даваите, \
    может, 可能, 也许, 让我, 我来, 应该, かもしれ, おそらく, 아마";

/// The user's words that count, in characters.
const CONFIRMATION_MAX: usize = 300;

/// Whether the user's next message says that it works now.
pub(super) fn is_confirmed(next: &str, lexicon: &StatementLexicon) -> bool {
    let end = next.char_indices().nth(CONFIRMATION_MAX).map_or(next.len(), |(end, _)| end);
    let words = SentenceWords::new(&next[..end]);
    lexicon.answers.has(&words, AnswerSense::Confirmation)
        && !lexicon.answers.has(&words, AnswerSense::Failure)
}

/// Whether a message takes back what was said before it.
pub(super) fn is_withdrawal(next: &str, lexicon: &StatementLexicon) -> bool {
    let first = next.split(['.', '!', '?', '\n', ',', '。', '！']).next().unwrap_or_default();
    let end = first.char_indices().nth(CONFIRMATION_MAX).map_or(first.len(), |(end, _)| end);
    lexicon.answers.has(&SentenceWords::new(&first[..end]), AnswerSense::Withdrawal)
}

/// Whether a statement of the agent names the cause of a failure without doubt.
pub(super) fn names_a_cause(
    text: &str,
    statement: &CutStatement,
    findings: &PhraseTable<FindingSense>,
) -> bool {
    let words = SentenceWords::new(&text[statement.span.clone()]);
    let has = |sense: FindingSense| findings.has(&words, sense);
    has(FindingSense::Cause) && has(FindingSense::Failure) && !has(FindingSense::Doubt)
}
