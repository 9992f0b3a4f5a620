//! The prompt scoring of the `claude-memory` scripts: title and tags, category descriptions, recency of the best.

use super::{Hit, PREFIX_MIN, Query, ScorePart, Signal, hit, is_recent, name_parts, priority};
use crate::corpus::MemorySummary;
use crate::memory::Category;
use crate::text::words;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Only this many of the best can get the point for recency.
const DEEP_CHECK: usize = 20;
const DESCRIPTION_MAX: i32 = 2;

/// The memories that share a word with the prompt, best first; ties stay in the order of the listing.
pub fn keyword(
    query: &Query,
    entries: &[MemorySummary],
    describe: &dyn Fn(Category) -> Option<String>,
) -> Vec<Hit> {
    let described: BTreeMap<Category, ScorePart> = Category::ALL
        .into_iter()
        .filter_map(|category| Some((category, description_part(query, &describe(category)?)?)))
        .collect();
    let mut listed: Vec<&MemorySummary> =
        entries.iter().filter(|entry| query.admits(entry.kind, entry.status)).collect();
    listed.sort_by_cached_key(|entry| (entry.kind.display(), entry.title.to_lowercase()));
    let mut hits: Vec<(Hit, bool)> = listed
        .into_iter()
        .filter_map(|entry| {
            let mut parts = name_parts(query, &entry.title, &entry.tags);
            parts.extend(entry.kind.category().and_then(|category| described.get(&category)).cloned());
            (!parts.is_empty()).then(|| (hit(entry, parts, query.now), is_recent(entry, query.now)))
        })
        .collect();
    let order = |(hit, _): &(Hit, bool)| (Reverse(hit.score), priority(hit.kind));
    hits.sort_by_key(order);
    for (hit, _) in hits.iter_mut().take(DEEP_CHECK).filter(|(_, recent)| *recent) {
        hit.score += 1;
        hit.explain.push(ScorePart { signal: Signal::Recent, points: 1, matched: Vec::new() });
    }
    hits.sort_by_key(order);
    hits.into_iter().map(|(hit, _)| hit).collect()
}

/// A word of the description is one point, a prefix of one half a point; two points at most.
fn description_part(query: &Query, description: &str) -> Option<ScorePart> {
    let known = words(description);
    let (exact, others): (Vec<&String>, Vec<&String>) =
        query.words.iter().partition(|word| known.contains(word));
    let begins = |word: &&String| {
        word.chars().count() >= PREFIX_MIN && known.iter().any(|known| known.starts_with(word.as_str()))
    };
    let prefixes: Vec<&String> = others.into_iter().filter(begins).collect();
    let points =
        i32::try_from((2 * exact.len() + prefixes.len()) / 2).unwrap_or(i32::MAX).min(DESCRIPTION_MAX);
    let matched = exact.into_iter().chain(prefixes).cloned().collect();
    (points > 0).then_some(ScorePart { signal: Signal::Description, points, matched })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::Status;
    use crate::memory::{Address, MemoryKind};
    use crate::path::RelPath;
    use crate::time::Timestamp;

    fn entry(category: Category, title: &str, tags: &[&str], days_old: i64) -> MemorySummary {
        let address = Address::for_title(category, title);
        MemorySummary {
            path: RelPath::parse(&format!("{}/{}.json", category.folder(), address.name())).expect("a path"),
            address,
            kind: MemoryKind::Record(category),
            title: title.to_owned(),
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            status: Status::Active,
            status_at: None,
            created: None,
            updated: Some(Timestamp(-days_old * 86_400)),
            validity: Default::default(),
            content_changed: None,
            written: None,
            revised: 0,
        }
    }

    #[test]
    fn names_descriptions_and_recency_add_up_and_order() {
        let entries = [
            entry(Category::Runbook, "Deploy the gateway", &["deploy"], 100),
            entry(Category::Decision, "Gateway uses deploy tokens", &[], 100),
            entry(Category::Constraint, "No weekend deploy", &[], 1),
            entry(Category::Preference, "Tabs", &[], 1),
        ];
        let describe =
            |category| (category == Category::Preference).then(|| "how we deployed things".to_owned());
        let query = Query::new("deploy the gateway", Timestamp(0));
        let seen: Vec<String> = keyword(&query, &entries, &describe)
            .iter()
            .map(|hit| format!("{} {}", hit.address, hit.score))
            .collect();
        assert_eq!(
            seen,
            [
                "runbook/deploy-the-gateway 7",
                "decision/gateway-uses-deploy-tokens 4",
                "constraint/no-weekend-deploy 3",
            ]
        );
    }

    #[test]
    fn a_description_is_worth_two_points_at_most() {
        let points = |prompt: &str, description: &str| {
            description_part(&Query::new(prompt, Timestamp(0)), description).map_or(0, |part| part.points)
        };
        assert_eq!(points("release", "release notes"), 1);
        assert_eq!(points("deploy", "deployment"), 0);
        assert_eq!(points("deploy relea", "deployment releases"), 1);
        assert_eq!(points("release notes tags", "release notes tags"), 2);
    }
}
