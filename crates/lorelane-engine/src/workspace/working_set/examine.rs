//! What `status` and `doctor` say about the working set. Nothing is changed here.

use super::WorkingSet;
use super::location::SessionRoot;
use crate::finding::Finding;
use crate::workspace::Workspace;
use lorelane_core::working_set::{ColdManifest, HotManifest, ManifestFault, SetManifest, WorkingSetFile};
use std::path::PathBuf;

const CHECK: &str = "working-set";

impl WorkingSet<'_> {
    /// The files and folders that a working set may write, with their purpose.
    pub(in crate::workspace) fn declared(workspace: &Workspace) -> Vec<(PathBuf, &'static str)> {
        let Some(root) = SessionRoot::chosen(&*workspace.disk, &workspace.project.state) else {
            return Vec::new();
        };
        let path = root.path(&workspace.project.root);
        let journal = workspace.project.journal(&path).declared();
        let mut declared = vec![
            (path, "working set: sessions with their log, summaries and archive"),
            (journal, "journal of the working set: log, undo"),
        ];
        if let Some(folders) = &workspace.folders {
            declared.push((folders.cache.join("working-sets"), "state of sessions: may be deleted"));
        }
        declared
    }

    /// What is wrong with the current session.
    pub fn examine(workspace: &mut Workspace) -> Vec<Finding> {
        let Some(root) = SessionRoot::chosen(&*workspace.disk, &workspace.project.state) else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        let mut found = |what: String, hint: &str| {
            findings.push(Finding { check: CHECK, what, hint: hint.to_owned() });
        };
        let project = workspace.project.root.clone();
        let session = match root.is_flat {
            true => Some("current".to_owned()),
            false => root.current(&*workspace.disk, &project),
        };
        let path = root.path(&project);
        let Some(session) = session else {
            let what = format!("cannot find the current session of the working set in {}", path.display());
            found(what, "`lorelane ws init` starts one");
            return findings;
        };
        let set = WorkingSet::at(workspace, root, session);
        let folder = set.path("");
        if !set.workspace.disk.is_folder(&folder) {
            let what = format!("the folder of the current session is gone: {}", folder.display());
            found(what, "`lorelane ws init` starts another session");
            return findings;
        }
        for file in WorkingSetFile::ALL {
            if let Some(what) = set.problem_of(file) {
                let what = format!("{}: {what}", set.path(file.name()).display());
                found(what, "fix it, or the next `lorelane ws` command renames it and starts a new one");
            }
        }
        match set.verify() {
            Ok(faults) => {
                for fault in faults {
                    let what = format!("{}: {fault}", set.path("session-log.md").display());
                    found(what, "somebody edited the log; new events go to another file");
                }
            }
            Err(failure) => found(failure.to_string(), "put a regular, readable file in its place"),
        }
        findings
    }

    fn problem_of(&self, file: WorkingSetFile) -> Option<String> {
        let text = match self.manifest(file) {
            Ok(None) => return None,
            Ok(Some(Ok(text))) => text,
            Ok(Some(Err(fault))) => return Some(fault.to_string()),
            Err(failure) => return Some(failure.to_string()),
        };
        let fault: Option<ManifestFault> = match file {
            WorkingSetFile::Set => SetManifest::read(&text).err(),
            WorkingSetFile::Hot => HotManifest::read(&text).err(),
            WorkingSetFile::Cold => ColdManifest::read(&text).err(),
        };
        fault.map(|fault| fault.to_string())
    }
}
