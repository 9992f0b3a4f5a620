//! Settings with their values and files, and those that are held back until trusted.

use super::{path_text, texts};
use lorelane_core::json::Json;
use lorelane_core::policy::{Policy, Setting, Weakening};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
pub struct SettingsView<'p> {
    settings: Vec<SettingView<'p>>,
    problems: Vec<String>,
    held_back: Vec<WeakeningView<'p>>,
}

#[derive(Debug, Serialize)]
pub struct OneSettingView<'p> {
    setting: SettingView<'p>,
}

#[derive(Debug, Serialize)]
struct SettingView<'p> {
    key: &'p str,
    value: Option<&'p Json>,
    file: Option<&'p str>,
}

impl<'p> SettingsView<'p> {
    pub fn of(policy: &'p Policy) -> SettingsView<'p> {
        SettingsView {
            settings: policy.settings().map(SettingView::of).collect(),
            problems: texts(&policy.problems),
            held_back: WeakeningView::without_words(&policy.held_back),
        }
    }
}

impl<'p> OneSettingView<'p> {
    pub fn of(setting: &'p Setting) -> OneSettingView<'p> {
        OneSettingView { setting: SettingView::of(setting) }
    }
}

impl<'p> SettingView<'p> {
    fn of(setting: &'p Setting) -> SettingView<'p> {
        SettingView { key: &setting.key, value: setting.value.as_ref(), file: setting.file.as_deref() }
    }
}

#[derive(Debug, Serialize)]
pub struct ConfigChangeView<'p> {
    key: &'p str,
    value: &'p Json,
    file: String,
}

impl<'p> ConfigChangeView<'p> {
    pub fn of(key: &'p str, value: &'p Json, file: &Path) -> ConfigChangeView<'p> {
        ConfigChangeView { key, value, file: path_text(file) }
    }
}

#[derive(Debug, Serialize)]
pub struct TrustView<'p> {
    project: String,
    repository: String,
    held_back: Vec<WeakeningView<'p>>,
    trusted: Vec<WeakeningView<'p>>,
}

impl<'p> TrustView<'p> {
    /// With free texts: whoever trusts the settings must have seen them.
    pub fn of(project: &Path, repository: &Path, policy: &'p Policy) -> TrustView<'p> {
        let all = |weakenings: &'p [Weakening]| {
            weakenings.iter().map(|known| WeakeningView::of(known, Some(&known.value))).collect()
        };
        TrustView {
            project: path_text(project),
            repository: path_text(repository),
            held_back: all(&policy.held_back),
            trusted: all(&policy.trusted),
        }
    }
}

/// A setting of a repository that would weaken the user's own.
#[derive(Debug, Serialize)]
pub struct WeakeningView<'p> {
    key: &'p str,
    value: Option<&'p Json>,
    file: &'p str,
    effect: &'static str,
}

impl<'p> WeakeningView<'p> {
    fn of(weakening: &'p Weakening, value: Option<&'p Json>) -> WeakeningView<'p> {
        let Weakening { key, file, effect, .. } = weakening;
        WeakeningView { key, value, file, effect }
    }

    /// For documents that agents read: without free texts, which only `trust` shows.
    pub fn without_words(weakenings: &'p [Weakening]) -> Vec<WeakeningView<'p>> {
        let known = |weakening: &'p Weakening| {
            let value = (!weakening.is_free_text()).then_some(&weakening.value);
            WeakeningView::of(weakening, value)
        };
        weakenings.iter().map(known).collect()
    }
}
