//! Summaries of files in the set, and which of them are stale.

use super::change::required;
use super::read::MEMORY;
use super::status::SetFileStatus;
use super::{SessionDraft, WorkingSet};
use crate::workspace::Failure;
use lorelane_core::path::RelPath;
use lorelane_core::text::tokens;
use lorelane_core::working_set::{
    EventKind, SidecarEdit, SidecarStatus, SummaryGenerator, SummaryHead, SummarySource, SummaryStyle,
    WorkingSetError, earlier_text, extract, summary_body, title_of, with_earlier,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const SUMMARIES: &str = "summaries";
const SUMMARY_MAX_BYTES: u64 = 4 << 20;

/// A summary that is asked for.
#[derive(Clone, Debug, Default)]
pub struct SummaryRequest<'r> {
    /// As [`WorkingSet::resolve`] returns them.
    pub paths: Vec<String>,
    /// A file in the session folder; by default one in `summaries/`.
    pub into: Option<&'r str>,
    pub style: SummaryStyle,
    /// What the model wrote; without it, an extract.
    pub text: Option<&'r str>,
    /// An earlier text that an extract keeps, marked as stale.
    pub earlier: Option<&'r str>,
    /// Whether the body links the sources; the frontmatter always does.
    pub keep_refs: bool,
}

/// A summary that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSummary {
    /// Relative to the project.
    pub path: String,
    pub sources: Vec<String>,
    pub style: SummaryStyle,
    pub generator: SummaryGenerator,
    pub tokens_before: u64,
    pub tokens_after: u64,
}

/// A summary file before it is written.
#[derive(Clone, Debug)]
pub(super) struct ComposedSummary {
    pub(super) text: String,
    pub(super) summary: WrittenSummary,
}

/// A summary whose sources changed, or that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaleSummary {
    pub path: String,
    pub sources: Vec<String>,
    /// The sources with another text; all of them if the summary is gone.
    pub changed: Vec<String>,
    pub is_missing: bool,
}

impl WorkingSet<'_> {
    /// Summarizes one file or several into one summary.
    pub fn summarize(&mut self, request: &SummaryRequest<'_>, why: &str) -> Result<WrittenSummary, Failure> {
        required("summarize", why)?;
        if request.paths.is_empty() {
            return Err(
                WorkingSetError::InvalidArgs { what: "no file to summarize is named".to_owned() }.into()
            );
        }
        self.commit(&format!("ws summarize {}: {why}", request.paths.join(", ")), |set, draft| {
            // Under the lock: two writers would choose the same name.
            let inside = set.summary_place(request)?;
            let composed = set.composed_summary(request, &inside)?;
            set.draft_summary(draft, composed, &inside, why)
        })
    }

    /// Where a summary goes, relative to the session folder. A name alone means a file in `summaries/`.
    fn summary_place(&self, request: &SummaryRequest<'_>) -> Result<String, Failure> {
        let Some(into) = request.into else {
            return Ok(self.new_summary_name(&request.paths, &BTreeSet::new()));
        };
        let invalid = |what: String| Failure::from(WorkingSetError::InvalidArgs { what });
        let inside = self.in_session(into).unwrap_or(into);
        let name = inside.strip_prefix(&format!("{SUMMARIES}/")).unwrap_or(inside);
        let name = name.strip_suffix(".md").unwrap_or(name);
        if name.is_empty() || name.contains(['/', '\\']) {
            return Err(invalid(format!(
                "a summary is written to {SUMMARIES}/NAME.md in the session folder, not to {into}"
            )));
        }
        let place = format!("{SUMMARIES}/{name}.md");
        self.rel_path(&place)?;
        // The sources of another summary would link a file that does not mention them.
        let known = self.summary_text(&self.path_in_project(&place));
        let head = known.as_deref().and_then(SummaryHead::read);
        let is_left_out = |source: &SummarySource| !request.paths.contains(&source.path);
        match head {
            None if self.workspace.disk.exists(&self.path(&place)) => {
                Err(invalid(format!("{place} exists and is no summary; choose another name")))
            }
            Some(head) if head.sources.iter().any(is_left_out) => Err(invalid(format!(
                "{place} summarizes other files too; name them as well, or choose another name"
            ))),
            _ => Ok(place),
        }
    }

    /// A name that no summary has yet.
    pub(super) fn new_summary_name(&self, paths: &[String], taken: &BTreeSet<&str>) -> String {
        let first = paths.first().map(|path| title_of(path.trim_start_matches(MEMORY))).unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric();
        let slug: String =
            first.chars().map(|c| if is_plain(c) { c.to_ascii_lowercase() } else { '-' }).collect();
        let slug = slug.trim_matches('-');
        let slug = if slug.is_empty() { "summary" } else { slug };
        let more = if paths.len() > 1 { format!("-and-{}-more", paths.len() - 1) } else { String::new() };
        let date = self.workspace.now.date();
        let names = std::iter::once(String::new()).chain((2..).map(|number| format!("-{number}")));
        let mut names = names.map(|number| format!("{SUMMARIES}/{slug}{more}-{date}{number}.md"));
        let is_free =
            |name: &String| !taken.contains(name.as_str()) && !self.workspace.disk.exists(&self.path(name));
        names.find(is_free).unwrap_or_default()
    }

    /// The text of a new summary file.
    pub(super) fn composed_summary(
        &self,
        request: &SummaryRequest<'_>,
        inside: &str,
    ) -> Result<ComposedSummary, Failure> {
        let mut texts = Vec::new();
        for path in &request.paths {
            let unreadable =
                |what| WorkingSetError::InvalidArgs { what: format!("cannot summarize {path}: {what}") };
            texts.push((path.as_str(), self.text_of(path).map_err(unreadable)?));
        }
        let sources: Vec<SummarySource> =
            texts.iter().map(|(path, text)| SummarySource::of(path, text)).collect();
        let tokens_before = texts.iter().map(|(_, text)| tokens(text) as u64).sum();
        let (generator, body) = match request.text {
            Some(text) => (SummaryGenerator::Model, text.to_owned()),
            None => {
                let files: Vec<(&str, &str)> =
                    texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
                let extract = extract(&files);
                let body = match request.earlier {
                    Some(earlier) => with_earlier(&extract, earlier),
                    None => extract,
                };
                (SummaryGenerator::Extractive, body)
            }
        };
        let (created, style) = (self.workspace.now, request.style);
        let tokens_after = tokens(&body) as u64;
        let head = SummaryHead { sources, style, generator, created, tokens_before, tokens_after };
        let to_project = self.way_to_project(inside);
        let text = head.render(&body, request.keep_refs.then_some(to_project.as_str()));
        let (path, sources) = (self.path_in_project(inside), request.paths.clone());
        let summary = WrittenSummary { path, sources, style, generator, tokens_before, tokens_after };
        Ok(ComposedSummary { text, summary })
    }

    /// How links lead from the folder of a session file to the project's root.
    pub(super) fn way_to_project(&self, inside: &str) -> String {
        "../".repeat(self.path_in_project(inside).matches('/').count())
    }

    /// Writes a summary within a change: the file, the backlink in every source's sidecar, and the event.
    pub(super) fn draft_summary(
        &self,
        draft: &mut SessionDraft,
        composed: ComposedSummary,
        inside: &str,
        why: &str,
    ) -> Result<WrittenSummary, Failure> {
        let ComposedSummary { text, summary } = composed;
        draft.put(inside, text);
        for source in &summary.sources {
            let edit = SidecarEdit {
                status: Some(SidecarStatus::Summarized),
                summarized_in: Some((summary.path.clone(), self.workspace.now)),
                ..SidecarEdit::default()
            };
            self.edit_sidecar(draft, source, &edit)?;
        }
        draft.events.push(EventKind::SummaryCreated {
            path: summary.path.clone(),
            why: why.to_owned(),
            sources: summary.sources.clone(),
            style: summary.style.name().to_owned(),
            generator: summary.generator.name().to_owned(),
        });
        Ok(summary)
    }

    pub(super) fn summary_text(&self, path: &str) -> Option<String> {
        let bytes =
            self.workspace.disk.read_regular(&self.file_inside(path).ok()?, SUMMARY_MAX_BYTES).ok()??;
        String::from_utf8(bytes).ok()
    }

    /// Whether a summary is gone, or was made from other texts.
    pub(super) fn is_stale(&self, path: &str) -> bool {
        let head = self.summary_text(path).and_then(|text| SummaryHead::read(&text));
        head.is_none_or(|head| {
            !head.stale_sources(|source| self.text_of(&self.project_name(source.to_owned())).ok()).is_empty()
        })
    }

    /// Every summary of the session that is stale or gone. A source that is gone makes its summary stale.
    pub fn stale_summaries(&self) -> Vec<StaleSummary> {
        self.stale_among(&self.set_entries())
    }

    /// The same for the files of the set and those that the log knows. A file of the set links what its sidecar says.
    pub(super) fn stale_among(&self, set: &[SetFileStatus]) -> Vec<StaleSummary> {
        let mut of_summary: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let in_set = set.iter().map(|file| (&file.path, file.file.summary.as_ref()));
        let others = self.state.files.iter().filter(|(_, file)| file.entry.is_none());
        for (path, summary) in in_set.chain(others.map(|(path, file)| (path, file.summary.as_ref()))) {
            if let Some(summary) = summary {
                of_summary.entry(summary.clone()).or_default().push(path.clone());
            }
        }
        let judge = |(path, sources): (String, Vec<String>)| {
            let head = self.summary_text(&path).and_then(|text| SummaryHead::read(&text));
            let (is_missing, changed) = match &head {
                None => (true, sources.clone()),
                Some(head) => {
                    let changed =
                        head.stale_sources(|source| self.text_of(&self.project_name(source.to_owned())).ok());
                    (false, changed.into_iter().map(str::to_owned).collect())
                }
            };
            (!changed.is_empty()).then_some(StaleSummary { path, sources, changed, is_missing })
        };
        of_summary.into_iter().filter_map(judge).collect()
    }

    /// The path of a summary in the session folder. What a sidecar names may be anywhere.
    pub(super) fn summary_inside(&self, path: &str) -> Option<String> {
        let inside = if self.path_in_project("").is_empty() { Some(path) } else { self.in_session(path) };
        let inside = inside.filter(|inside| inside.starts_with(&format!("{SUMMARIES}/")))?;
        RelPath::parse(inside).is_ok().then(|| inside.to_owned())
    }

    /// Makes stale and missing summaries again, as extracts. What a model wrote is kept below, marked as stale.
    pub fn refresh_summaries(&mut self, why: &str) -> Result<Vec<WrittenSummary>, Failure> {
        required("summarize", why)?;
        let stale = self.stale_summaries();
        if stale.is_empty() {
            return Ok(Vec::new());
        }
        self.commit(&format!("ws summarize --stale: {why}"), |set, draft| {
            let mut written = Vec::new();
            for summary in stale {
                let Some(inside) = set.summary_inside(&summary.path) else { continue };
                let old = set.summary_text(&summary.path);
                let head = old.as_deref().and_then(SummaryHead::read);
                let readable = |path: &String| set.text_of(path).is_ok();
                let named =
                    head.as_ref().map(|head| head.sources.iter().map(|source| source.path.clone()).collect());
                let sources: Vec<String> = named.unwrap_or(summary.sources);
                let named_count = sources.len();
                let paths: Vec<String> = sources.into_iter().filter(readable).collect();
                if paths.is_empty() {
                    set.warnings.push(format!("{}: none of its sources can be read any more", summary.path));
                    continue;
                }
                let gone = named_count.saturating_sub(paths.len());
                if gone > 0 {
                    let sources = if gone == 1 { "source" } else { "sources" };
                    set.warnings.push(format!(
                        "{}: {gone} {sources} cannot be read any more; the earlier text is kept",
                        summary.path
                    ));
                }
                // Of a source that is gone, the earlier text is all that is left.
                let earlier = old.as_deref().and_then(|text| match gone {
                    0 => earlier_text(text),
                    _ => Some(summary_body(text)),
                });
                let style = head.map_or(SummaryStyle::Bullet, |head| head.style);
                let request =
                    SummaryRequest { paths, into: None, style, text: None, earlier, keep_refs: true };
                let composed = set.composed_summary(&request, &inside)?;
                let done = set.draft_summary(draft, composed, &inside, why)?;
                written.push(done);
            }
            Ok(written)
        })
    }
}
