//! How advice, touches and pins decide about a file, and how large the budget is.

/// Advice of this age or older has no weight.
pub const ADVICE_MAX_TURNS: u32 = 10;
/// The turns in which touches count as recent.
pub const RECENT_TURNS: u32 = 5;
const RECENT_TOUCHES_FULL: u32 = 3;
const PROMOTING_TOUCHES: u32 = 3;
pub(super) const JUST_TOUCHED_TURNS: u32 = 2;
/// The hotness of a file before the first turn was seen.
pub const HOTNESS_PRIOR: f64 = 0.5;
const RESERVE_MAX: u64 = 4000;

/// How many tokens a context may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBudget {
    pub max: u64,
    pub reserved: u64,
    pub effective: u64,
    /// Whether the file named another `effective` than the difference.
    pub disagrees: bool,
}

impl TokenBudget {
    /// If a file's `effective` is not the difference of the other two, the smaller one counts.
    pub fn new(max: u64, reserved: Option<u64>, effective: Option<u64>) -> TokenBudget {
        let reserved = reserved.unwrap_or(RESERVE_MAX.min(max / 7));
        let rest = max.saturating_sub(reserved);
        let effective = effective.unwrap_or(rest);
        TokenBudget { max, reserved, effective: effective.min(rest), disagrees: effective != rest }
    }
}

/// The four parts of a file's hotness, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HotnessFactors {
    pub recent_touches: f64,
    pub in_working_set: f64,
    pub hot_listed: f64,
    pub pinned: f64,
}

impl HotnessFactors {
    /// `recent_touches` are those of the last [`RECENT_TURNS`] turns.
    pub fn new(recent_touches: u32, in_working_set: bool, hot_listed: bool, pinned: bool) -> HotnessFactors {
        let recent = f64::from(recent_touches) / f64::from(RECENT_TOUCHES_FULL);
        HotnessFactors {
            recent_touches: recent.min(1.0),
            in_working_set: f64::from(u8::from(in_working_set)),
            hot_listed: f64::from(u8::from(hot_listed)),
            pinned: f64::from(u8::from(pinned)),
        }
    }

    pub fn hotness(&self) -> f64 {
        0.3 * self.recent_touches + 0.2 * self.in_working_set + 0.3 * self.hot_listed + 0.2 * self.pinned
    }
}

/// What advice of this age weighs.
pub fn advice_weight(age_turns: u32) -> f64 {
    if age_turns < ADVICE_MAX_TURNS { 1.0 } else { 0.0 }
}

/// How much advice moves a priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdviceWeights {
    pub hot: f64,
    pub cold: f64,
}

impl Default for AdviceWeights {
    fn default() -> AdviceWeights {
        AdviceWeights { hot: 0.2, cold: 0.3 }
    }
}

impl AdviceWeights {
    /// A file's priority after advice; `hot` and `honored_cold` are shares from 0 to 1.
    pub fn effective_priority(&self, priority: f64, hot: f64, honored_cold: f64) -> f64 {
        let moved = priority + self.hot * hot - self.cold * honored_cold;
        // A priority that is not a number sorts last.
        if moved.is_nan() { 0.0 } else { moved.clamp(0.0, 1.0) }
    }
}

/// What is known about a file when advice about it is judged. Ages are in turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdviceFacts {
    pub hot_age: Option<u32>,
    pub cold_age: Option<u32>,
    /// Whether the advice asks for a summary first, and there is none.
    pub lacks_summary: bool,
    /// Whether a failed attempt is to be archived, and there is no postmortem of it.
    pub lacks_postmortem: bool,
    pub is_protected: bool,
    pub is_pinned: bool,
    pub has_unsaved_changes: bool,
    pub touched_ago: Option<u32>,
    pub recent_touches: u32,
    pub mentioned_by_user: bool,
}

/// The decision about one file, with its reason. The names are those of `memory_actions`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdviceDecision {
    Honored,
    Deferred(DeferReason),
    Overridden(OverrideReason),
    PromotedToHot(PromoteReason),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferReason {
    /// The file is on both lists.
    Conflict,
    Stale,
    TouchedRecently,
    UnsavedChanges,
    PendingSummary,
    NoPostmortem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideReason {
    Protected,
    Pinned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromoteReason {
    UserMention,
    Touches,
}

impl AdviceDecision {
    pub fn action_taken(self) -> &'static str {
        match self {
            AdviceDecision::Honored => "honored",
            AdviceDecision::Deferred(_) => "deferred",
            AdviceDecision::Overridden(_) => "overridden",
            AdviceDecision::PromotedToHot(_) => "promoted_to_hot",
        }
    }

    pub fn reason(self) -> Option<&'static str> {
        Some(match self {
            AdviceDecision::Honored => return None,
            AdviceDecision::Deferred(DeferReason::Conflict) => "conflict",
            AdviceDecision::Deferred(DeferReason::Stale) => "stale",
            AdviceDecision::Deferred(DeferReason::TouchedRecently) => "touched_recently",
            AdviceDecision::Deferred(DeferReason::UnsavedChanges) => "unsaved_changes",
            AdviceDecision::Deferred(DeferReason::PendingSummary) => "pending_summary",
            AdviceDecision::Deferred(DeferReason::NoPostmortem) => "no_postmortem",
            AdviceDecision::Overridden(OverrideReason::Protected) => "protected",
            AdviceDecision::Overridden(OverrideReason::Pinned) => "pinned",
            AdviceDecision::PromotedToHot(PromoteReason::UserMention) => "user_mention",
            AdviceDecision::PromotedToHot(PromoteReason::Touches) => "touches",
        })
    }
}

/// Judges the advice about one file; `None` if there is none and the file is not promoted either.
///
/// Rules that keep a file come first: a wrong eviction costs more than a late one.
pub fn decide(facts: &AdviceFacts) -> Option<AdviceDecision> {
    let AdviceFacts { hot_age, cold_age, .. } = *facts;
    let is_stale = |age: u32| advice_weight(age) == 0.0;
    if cold_age.is_some() && facts.is_protected {
        return Some(AdviceDecision::Overridden(OverrideReason::Protected));
    }
    if cold_age.is_some() && facts.is_pinned {
        return Some(AdviceDecision::Overridden(OverrideReason::Pinned));
    }
    if facts.mentioned_by_user {
        return Some(AdviceDecision::PromotedToHot(PromoteReason::UserMention));
    }
    let deferred = |reason| Some(AdviceDecision::Deferred(reason));
    match (hot_age, cold_age) {
        (Some(hot), Some(cold)) if !is_stale(hot) && !is_stale(cold) => deferred(DeferReason::Conflict),
        (_, Some(cold)) if !is_stale(cold) => match facts {
            facts if facts.recent_touches >= PROMOTING_TOUCHES => {
                Some(AdviceDecision::PromotedToHot(PromoteReason::Touches))
            }
            facts if facts.touched_ago.is_some_and(|ago| ago <= JUST_TOUCHED_TURNS) => {
                deferred(DeferReason::TouchedRecently)
            }
            facts if facts.has_unsaved_changes => deferred(DeferReason::UnsavedChanges),
            facts if facts.lacks_postmortem => deferred(DeferReason::NoPostmortem),
            facts if facts.lacks_summary => deferred(DeferReason::PendingSummary),
            _ => Some(AdviceDecision::Honored),
        },
        (Some(hot), _) if !is_stale(hot) => Some(AdviceDecision::Honored),
        _ if facts.recent_touches >= PROMOTING_TOUCHES => {
            Some(AdviceDecision::PromotedToHot(PromoteReason::Touches))
        }
        (None, None) => None,
        _ => deferred(DeferReason::Stale),
    }
}
