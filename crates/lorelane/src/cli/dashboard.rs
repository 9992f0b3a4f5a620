//! `dashboard`: the memories of every project on this machine.

use super::{CliResult, Exit, Session, audit, output};
use crate::view::DashboardView;
use clap::Args;
use lorelane_core::audit::Distribution;
use lorelane_core::text::{cut, one_line};
use lorelane_engine::workspace::{
    AuditScope, AutoOwner, IndexTokens, MemoryAudit, MemoryStore, MemoryStores, StoreAudit,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many projects, agents and orphans are listed; `--all` and `--json` have all of them.
const LISTED_MAX: usize = 20;
const WORST_MAX: usize = 10;
const UNREADABLE_MAX: usize = 5;
/// The columns of the figures in a table, with the spaces before them.
const FIGURES_WIDTH: usize = 51;
/// Longer lines are hard to read, and shorter ones cannot hold the figures.
const WIDTHS: std::ops::RangeInclusive<usize> = 72..=160;
const WIDTH: usize = 80;

/// Show the memories of all your projects: how many, how stale, what Claude Code loads and loses
///
/// Finds the projects in which Claude Code had sessions, the memories of its sub-agents, and memory folders whose project
/// is gone. Reads files only: nothing is indexed or written, and no claim is checked.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lorelane dashboard\n  lorelane dashboard --json")]
pub struct DashboardArgs {
    /// List every project, not only those with the most stale memories
    #[arg(long)]
    all: bool,
}

pub(super) fn run(session: &Session<'_>, args: &DashboardArgs) -> CliResult {
    let mut stores = MemoryStores::find_all(session.env);
    let mut audited = stores.audit_all(AuditScope::default());
    let to_prune = |audited: &StoreAudit| {
        let counts = audited.report.distribution;
        (counts.stale, counts.review, audited.index.lost)
    };
    audited.sort_by(|a, b| to_prune(b).cmp(&to_prune(a)).then_with(|| a.store.name.cmp(&b.store.name)));
    let mut unreadable = stores.unreadable;
    for StoreAudit { store, report, .. } in &audited {
        let base = store.root().cloned().unwrap_or_default();
        unreadable.extend(report.unreadable.iter().map(|(path, why)| (base.join(path), why.clone())));
    }
    let mut worst: Vec<&MemoryAudit> = audited.iter().flat_map(|audited| &audited.report.memories).collect();
    let distribution = Distribution::of(worst.iter().map(|memory| memory.score));
    let by_score =
        |memory: &&MemoryAudit| (std::cmp::Reverse((memory.score, memory.age.days)), memory.store.clone());
    worst.sort_by_cached_key(by_score);
    worst.truncate(WORST_MAX);
    let total = total(&audited);
    if session.json {
        output::document(&DashboardView::of(&audited, total, distribution, &worst, &unreadable));
    } else {
        let home = session.env.home();
        let page = Page { width: width(), home: home.as_deref(), all: args.all };
        output::out(&page.text(&audited, total, distribution, &worst));
        for (path, why) in unreadable.iter().take(UNREADABLE_MAX) {
            output::err(&format!(
                "warning: skipped {}: {}",
                one_line(&path.to_string_lossy()),
                one_line(why)
            ));
        }
        if unreadable.len() > UNREADABLE_MAX {
            let more = unreadable.len() - UNREADABLE_MAX;
            output::err(&format!("warning: skipped {more} more; `lorelane dashboard --json` lists all"));
        }
    }
    Ok(if audited.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn total(audited: &[StoreAudit]) -> IndexTokens {
    let sum = |of: fn(&IndexTokens) -> usize| audited.iter().map(|audited| of(&audited.index)).sum();
    IndexTokens {
        loaded: sum(|index| index.loaded),
        on_demand: sum(|index| index.on_demand),
        lost: sum(|index| index.lost),
        lost_entries: sum(|index| index.lost_entries),
    }
}

/// The width of the terminal; of anything else a usual one.
fn width() -> usize {
    #[cfg(unix)]
    let shown = rustix::termios::tcgetwinsize(std::io::stdout()).ok().map(|size| usize::from(size.ws_col));
    #[cfg(not(unix))]
    let shown = None;
    shown.filter(|width| *width > 0).unwrap_or(WIDTH).clamp(*WIDTHS.start(), *WIDTHS.end())
}

struct Page<'h> {
    width: usize,
    home: Option<&'h Path>,
    all: bool,
}

impl Page<'_> {
    fn text(
        &self,
        audited: &[StoreAudit],
        total: IndexTokens,
        counts: Distribution,
        worst: &[&MemoryAudit],
    ) -> String {
        let of = |wanted: fn(&AutoOwner) -> bool| -> Vec<&StoreAudit> {
            audited.iter().filter(|audited| wanted(&audited.store.owner)).collect()
        };
        let projects = of(|owner| matches!(owner, AutoOwner::Project { .. } | AutoOwner::Everyone));
        let agents = of(|owner| matches!(owner, AutoOwner::Agent { .. }));
        let orphans = of(|owner| matches!(owner, AutoOwner::Nobody { .. }));
        let memories: usize = audited.iter().map(|audited| audited.report.memories.len()).sum();
        let mut text = String::new();
        let _ = writeln!(
            text,
            "projects   {}, {}, {}",
            output::count(projects.len(), "project with memories", "projects with memories"),
            output::count(agents.len(), "agent", "agents"),
            output::count(orphans.len(), "orphan", "orphans"),
        );
        let _ = writeln!(
            text,
            "memories   {memories}: {} fresh, {} aging, {} to review, {} stale",
            counts.fresh, counts.aging, counts.review, counts.stale
        );
        let _ = writeln!(
            text,
            "tokens     {} loaded, {} on demand, {} lost in {}",
            total.loaded,
            total.on_demand,
            total.lost,
            output::count(total.lost_entries, "entry", "entries"),
        );
        self.table(&mut text, "project", &projects);
        self.table(&mut text, "agent", &agents);
        if !worst.is_empty() {
            text.push_str("\nworst memories\n");
        }
        for memory in worst {
            let days = output::count(memory.age.days, "day", "days");
            let line = format!(
                "  [{:>3}] {}, {days}: {}",
                memory.score,
                audit::full_name(memory),
                one_line(&memory.title)
            );
            let _ = writeln!(text, "{}", shortened(&line, self.width));
        }
        if !orphans.is_empty() {
            text.push_str("\norphans: memory folders that no project uses any more\n");
        }
        for orphan in self.listed(&orphans) {
            let _ = writeln!(text, "{}", shortened(&self.orphan(orphan), self.width));
        }
        self.rest(&mut text, &orphans);
        text
    }

    fn table(&self, text: &mut String, what: &str, stores: &[&StoreAudit]) {
        if stores.is_empty() {
            return;
        }
        let names = self.width - FIGURES_WIDTH;
        let head = ["memories", "loaded", "lost", "on demand", "review", "stale"];
        let [memories, loaded, lost, on_demand, review, stale] = head;
        let _ = writeln!(
            text,
            "\n{}{memories:>9}{loaded:>8}{lost:>7}{on_demand:>11}{review:>8}{stale:>7}",
            padded(what, names + 1)
        );
        for StoreAudit { store, report, index } in self.listed(stores) {
            let (counts, memories) = (report.distribution, report.memories.len());
            let _ = writeln!(
                text,
                "{}{memories:>9}{:>8}{:>7}{:>11}{:>8}{:>7}",
                padded(&self.name(store, names), names + 1),
                index.loaded,
                index.lost,
                index.on_demand,
                counts.review,
                counts.stale
            );
        }
        self.rest(text, stores);
        for StoreAudit { store, .. } in self.listed(stores) {
            if let AutoOwner::Project { shared_with, .. } = &store.owner
                && !shared_with.is_empty()
            {
                let others: Vec<String> = shared_with.iter().map(|root| self.path(root)).collect();
                let line = format!("{} shares its folder with {}", one_line(&store.name), others.join(", "));
                let _ = writeln!(text, "{}", shortened(&line, self.width));
            }
        }
    }

    fn listed<'s>(&self, stores: &'s [&'s StoreAudit]) -> impl Iterator<Item = &'s StoreAudit> {
        stores.iter().copied().take(if self.all { usize::MAX } else { LISTED_MAX })
    }

    fn rest(&self, text: &mut String, stores: &[&StoreAudit]) {
        if !self.all && stores.len() > LISTED_MAX {
            let _ = writeln!(text, "… {} more; --all lists them", stores.len() - LISTED_MAX);
        }
    }

    /// The name of a store, and its path where there is room.
    fn name(&self, store: &MemoryStore, width: usize) -> String {
        let of_all = if store.owner == AutoOwner::Everyone { " (all projects)" } else { "" };
        let name = format!("{}{of_all}", one_line(&store.name));
        let place = self.path(&store.place());
        let room = width.saturating_sub(columns(&name) + 2);
        match room >= columns(&place) {
            true => format!("{name}  {place}"),
            false => abbreviated(&name, width),
        }
    }

    fn orphan(&self, orphan: &StoreAudit) -> String {
        let former = match &orphan.store.owner {
            AutoOwner::Nobody { former: Some(former) } => format!(", was {}", self.path(former)),
            _ => String::new(),
        };
        let memories = output::count(orphan.report.memories.len(), "memory", "memories");
        format!("  {}: {memories}{former}", one_line(&orphan.store.name))
    }

    /// A path as a shell would take it.
    fn path(&self, path: &Path) -> String {
        let below = self.home.and_then(|home| path.strip_prefix(home).ok());
        let short = below.map_or_else(|| path.to_owned(), |below| PathBuf::from("~").join(below));
        one_line(&short.to_string_lossy())
    }
}

/// The columns that a terminal needs for a text: letters of East Asia and emoji take two.
fn columns(text: &str) -> usize {
    let is_wide = |c: char| matches!(u32::from(c), 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60 | 0x1f300..=0x1f9ff | 0x20000..=0x3fffd);
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// A text in so many columns.
fn shortened(text: &str, width: usize) -> String {
    let mut length = width;
    loop {
        let short = cut(text, length);
        if columns(&short) <= width || length == 0 {
            return short;
        }
        length -= 1;
    }
}

/// A name in so many columns, without its middle: similar names differ at the end.
fn abbreviated(name: &str, width: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    let mut kept = all.len();
    let mut short = name.to_owned();
    while columns(&short) > width && kept > 0 {
        kept -= 1;
        let (start, end) = (kept - kept / 2, kept / 2);
        short = all[..start].iter().chain(&['…']).chain(&all[all.len() - end..]).collect();
    }
    short
}
