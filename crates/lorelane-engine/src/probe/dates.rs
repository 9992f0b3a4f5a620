//! Which commits of the past are looked at: few, however many dates there are.

use lorelane_core::time::Timestamp;
use std::collections::BTreeMap;

/// The last commit before each date, and for each list of dates the positions of its commits. `commits` is newest
/// first. If there are more than `max`, commits near each other in time are one: the one that most dates
/// lead to.
pub(super) fn commits_for(
    commits: &[(String, Timestamp)],
    dates: &[&[Timestamp]],
    max: usize,
) -> (Vec<String>, Vec<Vec<usize>>) {
    let mut before: BTreeMap<Timestamp, Option<usize>> =
        dates.iter().flat_map(|dates| dates.iter()).map(|date| (*date, None)).collect();
    // One pass over both, newest first: the first commit that is not later.
    let mut waiting: Vec<Timestamp> = before.keys().copied().collect();
    for (at, (_, time)) in commits.iter().enumerate() {
        while let Some(date) = waiting.last().filter(|date| **date >= *time) {
            before.insert(*date, Some(at));
            waiting.pop();
        }
        if waiting.is_empty() {
            break;
        }
    }
    let mut uses: BTreeMap<usize, usize> = BTreeMap::new();
    let found = |date: &Timestamp| before.get(date).copied().flatten();
    for at in dates.iter().flat_map(|dates| dates.iter().filter_map(found)) {
        *uses.entry(at).or_default() += 1;
    }
    let groups = grouped(&uses, |at| commits[at].1, max);
    let chosen = groups.iter().map(|group| group.chosen).map(|at| commits[at].0.clone()).collect();
    let group_of = |date: &Timestamp| {
        let at = found(date)?;
        groups.iter().position(|group| group.members.binary_search(&at).is_ok())
    };
    let positions = dates.iter().map(|dates| {
        let mut of_one: Vec<usize> = dates.iter().filter_map(group_of).collect();
        of_one.dedup();
        of_one
    });
    (chosen, positions.collect())
}

/// Commits that are looked at as one.
struct CommitGroup {
    /// In order.
    members: Vec<usize>,
    chosen: usize,
}

fn grouped(uses: &BTreeMap<usize, usize>, time: impl Fn(usize) -> Timestamp, max: usize) -> Vec<CommitGroup> {
    let order: Vec<usize> = uses.keys().copied().collect();
    let mut gaps: Vec<(i64, usize)> =
        (1..order.len()).map(|at| ((time(order[at - 1]).0 - time(order[at]).0).abs(), at)).collect();
    gaps.sort_unstable_by_key(|(gap, at)| (std::cmp::Reverse(*gap), *at));
    gaps.truncate(max.saturating_sub(1));
    let mut starts: Vec<usize> = gaps.into_iter().map(|(_, at)| at).collect();
    starts.sort_unstable();
    let ends = starts.iter().copied().chain([order.len()]);
    let starts = [0].into_iter().chain(starts.iter().copied());
    starts
        .zip(ends)
        .filter_map(|(start, end)| {
            let members = order.get(start..end)?.to_vec();
            let chosen = members.iter().copied().max_by_key(|at| uses.get(at))?;
            Some(CommitGroup { members, chosen })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(times: &[i64]) -> Vec<(String, Timestamp)> {
        times.iter().rev().map(|time| (format!("c{time}"), Timestamp(*time))).collect()
    }

    #[test]
    fn a_date_leads_to_the_last_commit_before_it() {
        let commits = history(&[10, 20, 30]);
        let dates = [vec![Timestamp(5)], vec![Timestamp(20)], vec![Timestamp(29), Timestamp(99)], vec![]];
        let dates: Vec<&[Timestamp]> = dates.iter().map(Vec::as_slice).collect();
        let (chosen, of) = commits_for(&commits, &dates, 12);
        assert_eq!(chosen, ["c30", "c20"]);
        assert_eq!(of, [vec![], vec![1], vec![1, 0], vec![]]);
    }

    #[test]
    fn near_dates_share_a_commit() {
        // Thirty days of commits an hour apart, in bursts of two.
        let times: Vec<i64> = (0..30).flat_map(|day| [day * 86_400, day * 86_400 + 3_600]).collect();
        let commits = history(&times);
        let dates: Vec<Vec<Timestamp>> = times.iter().map(|time| vec![Timestamp(*time)]).collect();
        let dates: Vec<&[Timestamp]> = dates.iter().map(Vec::as_slice).collect();
        let (chosen, of) = commits_for(&commits, &dates, 12);
        assert_eq!(chosen.len(), 12);
        assert!(of.iter().all(|positions| positions.len() == 1));
        assert_eq!(commits_for(&[], &dates, 12).0, Vec::<String>::new());
    }
}
