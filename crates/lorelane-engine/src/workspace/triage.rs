//! What a stopping session leaves to be saved.

use super::{CAPTURES_FOLDER, Failure, Workspace, lane_state, locate};
use crate::captures::Captures;
use crate::config::ConfigFiles;
use crate::disk::{Disk, RealDisk};
use crate::env::{Env, Folders};
use crate::index::Wanted;
use crate::transcript;
use lorelane_core::capture::{Item, Origin};
use lorelane_core::conversation::{Conversation, Format};
use lorelane_core::lifecycle::Status;
use lorelane_core::memory::Category;
use lorelane_core::policy::{DEFAULT_ROOT, Policy};
use lorelane_core::triage::{self, Activity, Finding, NATIVE};
use std::path::Path;
use std::sync::Arc;

/// What a stop needs to know of a project, whether it has a store or not. No index is opened.
#[derive(Debug)]
pub struct Desk {
    pub policy: Policy,
    pub captures: Captures,
}

/// The outcome of a triage, ready for [`Captures::save`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Triaged {
    pub activity: Activity,
    pub items: Vec<Item>,
    /// Found, too, but these categories take no more memories. Said with the one request of a session.
    pub full: Vec<Category>,
}

impl Desk {
    pub fn open(env: &Env, start: &Path) -> Desk {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let (project, lane) = match locate(&*disk, start) {
            Ok(located) => (located.project, located.lane),
            Err(_) => (start.to_owned(), start.join(DEFAULT_ROOT)),
        };
        let folders = env.folders();
        let user = folders.as_ref().map(|folders| folders.config.as_path());
        let policy = ConfigFiles::of_project(&project, user).read(&*disk);
        let state = lane_state(folders.as_ref(), &Folders::lane_key(&lane));
        Desk { policy, captures: Captures::new(disk, state.join(CAPTURES_FOLDER)) }
    }
}

impl Workspace {
    /// Looks for what a transcript leaves to be saved. `shown` is what lorelane showed in this session.
    pub fn triage_transcript(
        &mut self,
        env: &Env,
        (path, format): (&Path, Format),
        session: &str,
        shown: &[String],
    ) -> Result<Triaged, Failure> {
        if !self.policy.triage_enabled() {
            return Ok(Triaged::default());
        }
        let max_messages = self.policy.triage_max_messages();
        let conversation = transcript::read(path, format, max_messages, &transcript::folders(env))
            .map_err(|source| Failure::io("read the transcript", path, source))?;
        self.triage(conversation, session, shown)
    }

    /// Looks for what a conversation leaves to be saved, as the project's settings say.
    pub fn triage(
        &mut self,
        conversation: Conversation,
        session: &str,
        shown: &[String],
    ) -> Result<Triaged, Failure> {
        if !self.policy.triage_enabled() {
            return Ok(Triaged::default());
        }
        let conversation = conversation.without_lines_of(shown);
        let threshold = |category| self.policy.triage_threshold(category);
        let assessment = triage::assess(&conversation, &NATIVE, &threshold);
        let mut triaged = Triaged { activity: assessment.activity, ..Triaged::default() };
        for finding in assessment.findings {
            if self.is_full(finding.category)? {
                triaged.full.push(finding.category);
            } else {
                triaged.items.push(item(finding, session));
            }
        }
        Ok(triaged)
    }

    /// Sessions have a window of their own, which makes room by itself.
    fn is_full(&mut self, category: Category) -> Result<bool, Failure> {
        if category == Category::SessionSummary {
            return Ok(false);
        }
        let wanted = Wanted { category: Some(category), status: Some(Status::Active), prose: false };
        Ok(self.entries(wanted)?.len() >= self.policy.max_memories_per_category())
    }
}

fn item(finding: Finding, session: &str) -> Item {
    let Finding { category, score, snippets, excerpt, at, words } = finding;
    let origin = Origin { session: session.to_owned(), at, words };
    Item { category, score, snippets, excerpt, origin, settled: false }
}
