//! Summaries of files in the set, and which of them are stale.

use super::change::required;
use super::read::MEMORY;
use super::{SessionDraft, WorkingSet};
use crate::workspace::Failure;
use lorelane_core::text::tokens;
use lorelane_core::working_set::{
    EventKind, SidecarEdit, SidecarStatus, SummaryGenerator, SummaryHead, SummarySource, SummaryStyle,
    WorkingSetError, extract, summary_body, title_of,
};
use std::collections::BTreeMap;

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
        let inside = self.summary_place(request)?;
        self.commit(&format!("ws summarize {}: {why}", request.paths.join(", ")), |set, draft| {
            set.draft_summary(draft, request, &inside, why)
        })
    }

    /// Where a summary goes, relative to the session folder.
    fn summary_place(&self, request: &SummaryRequest<'_>) -> Result<String, Failure> {
        let Some(into) = request.into else { return Ok(self.new_summary_name(&request.paths)) };
        let inside = self.in_session(into).unwrap_or(into).to_owned();
        self.rel_path(&inside)?;
        match inside.starts_with(&format!("{SUMMARIES}/")) && inside.ends_with(".md") {
            true => Ok(inside),
            false => {
                let what = format!(
                    "a summary is written to {SUMMARIES}/NAME.md in the session folder, not to {into}"
                );
                Err(WorkingSetError::InvalidArgs { what }.into())
            }
        }
    }

    /// A name that no summary has yet.
    pub(super) fn new_summary_name(&self, paths: &[String]) -> String {
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
        names.find(|name| !self.workspace.disk.exists(&self.path(name))).unwrap_or_default()
    }

    /// Writes a summary within a change: the file, the backlink in every source's sidecar, and the event.
    pub(super) fn draft_summary(
        &self,
        draft: &mut SessionDraft,
        request: &SummaryRequest<'_>,
        inside: &str,
        why: &str,
    ) -> Result<WrittenSummary, Failure> {
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
                    Some(earlier) => format!("{extract}\n\n## Earlier summary (stale)\n\n{earlier}"),
                    None => extract,
                };
                (SummaryGenerator::Extractive, body)
            }
        };
        let (created, style) = (self.workspace.now, request.style);
        let tokens_after = tokens(&body) as u64;
        let head = SummaryHead { sources, style, generator, created, tokens_before, tokens_after };
        // Links lead from the summary's folder to the project's root.
        let depth = self.from_project(inside).matches('/').count();
        let to_project = "../".repeat(depth);
        draft.put(inside, head.render(&body, request.keep_refs.then_some(to_project.as_str())));
        let path = self.from_project(inside);
        for source in &request.paths {
            let edit = SidecarEdit {
                status: Some(SidecarStatus::Summarized),
                summarized_in: Some((path.clone(), self.workspace.now)),
                ..SidecarEdit::default()
            };
            self.edit_sidecar(draft, source, &edit)?;
        }
        draft.events.push(EventKind::SummaryCreated {
            path: path.clone(),
            why: why.to_owned(),
            sources: request.paths.clone(),
            style: style.name().to_owned(),
            generator: generator.name().to_owned(),
        });
        let sources = request.paths.clone();
        Ok(WrittenSummary { path, sources, style, generator, tokens_before, tokens_after })
    }

    fn summary_text(&self, path: &str) -> Option<String> {
        let bytes = self.workspace.disk.read_regular(&self.file_of(path), SUMMARY_MAX_BYTES).ok()??;
        String::from_utf8(bytes).ok()
    }

    /// Whether a summary is gone, or was made from other texts.
    pub(super) fn is_stale(&self, path: &str) -> bool {
        let head = self.summary_text(path).and_then(|text| SummaryHead::read(&text));
        head.is_none_or(|head| !head.stale_sources(|source| self.text_of(source).ok()).is_empty())
    }

    /// Every summary of the session that is stale or gone. A source that is gone makes its summary stale.
    pub fn stale_summaries(&self) -> Vec<StaleSummary> {
        let mut of_summary: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, file) in &self.state.files {
            let summary =
                self.sidecar(path).and_then(|sidecar| sidecar.summarized_in).or(file.summary.clone());
            if let Some(summary) = summary {
                of_summary.entry(summary).or_default().push(path.clone());
            }
        }
        let judge = |(path, sources): (String, Vec<String>)| {
            let head = self.summary_text(&path).and_then(|text| SummaryHead::read(&text));
            let (is_missing, changed) = match &head {
                None => (true, sources.clone()),
                Some(head) => {
                    let changed = head.stale_sources(|source| self.text_of(source).ok());
                    (false, changed.into_iter().map(str::to_owned).collect())
                }
            };
            (!changed.is_empty()).then_some(StaleSummary { path, sources, changed, is_missing })
        };
        of_summary.into_iter().filter_map(judge).collect()
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
                let Some(inside) = set.in_session(&summary.path).map(str::to_owned) else { continue };
                let old = set.summary_text(&summary.path);
                let head = old.as_deref().and_then(SummaryHead::read);
                let readable = |path: &String| set.text_of(path).is_ok();
                let named =
                    head.as_ref().map(|head| head.sources.iter().map(|source| source.path.clone()).collect());
                let sources: Vec<String> = named.unwrap_or(summary.sources);
                let paths: Vec<String> = sources.into_iter().filter(readable).collect();
                if paths.is_empty() {
                    set.warnings.push(format!("{}: none of its sources can be read any more", summary.path));
                    continue;
                }
                let by_model = head.as_ref().is_some_and(|head| head.generator == SummaryGenerator::Model);
                let earlier = old.as_deref().filter(|_| by_model).map(summary_body);
                let style = head.map_or(SummaryStyle::Bullet, |head| head.style);
                let request =
                    SummaryRequest { paths, into: None, style, text: None, earlier, keep_refs: true };
                let done = set.draft_summary(draft, &request, &inside, why)?;
                written.push(done);
            }
            Ok(written)
        })
    }
}
