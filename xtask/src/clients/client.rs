//! The clients: package, version, and the settings that point each at the scripted model.
//!
//! Every client starts with an empty environment, a made-up key and a scratch home, and knows no model but
//! ours on loopback.

use std::fs;
use std::path::{Path, PathBuf};

use super::hooks;
use crate::failure::Failure;
use crate::tool_cache::{Origin, Package};

/// One pinned client. Two versions of one client are two rows.
#[derive(Debug)]
pub struct Client {
    pub kind: Kind,
    pub version: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
    Opencode,
}

/// The second Claude Code ignores a whole hooks file because of one unknown event, and shows the output of a
/// stop hook differently. What works in both works in the versions between them.
pub const CLIENTS: &[Client] = &[
    Client { kind: Kind::ClaudeCode, version: "2.1.325" },
    Client { kind: Kind::ClaudeCode, version: "2.1.197" },
    Client { kind: Kind::Codex, version: "0.166.0" },
    Client { kind: Kind::Gemini, version: "0.61.0" },
    Client { kind: Kind::Copilot, version: "1.0.102" },
    Client { kind: Kind::Opencode, version: "1.18.33" },
];

impl Client {
    /// A unique name such as `claude-code-2.1.325`, also for its folder.
    pub fn id(&self) -> String {
        format!("{}-{}", self.kind.name(), self.version)
    }

    pub fn package(&self) -> Package {
        Package {
            name: self.kind.name(),
            version: self.version,
            origin: Origin::Npm(self.kind.package().to_owned()),
            program: Some(self.kind.program()),
        }
    }

    /// Whether `word` names this client, with or without its version.
    pub fn is_called(&self, word: &str) -> bool {
        word == self.kind.name() || word == self.id()
    }

    /// Whether this is the first version in the table. For the others, only payloads that differ are recorded
    /// and only old events are hooked.
    pub fn is_latest(&self) -> bool {
        let first = CLIENTS.iter().find(|client| client.kind == self.kind);
        first.is_some_and(|first| first.version == self.version)
    }
}

impl Kind {
    /// The name in `lorelane hook --client` and `lorelane setup`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ClaudeCode => "claude-code",
            Kind::Codex => "codex",
            Kind::Gemini => "gemini",
            Kind::Copilot => "copilot",
            Kind::Opencode => "opencode",
        }
    }

    fn package(self) -> &'static str {
        match self {
            Kind::ClaudeCode => "@anthropic-ai/claude-code",
            Kind::Codex => "@openai/codex",
            Kind::Gemini => "@google/gemini-cli",
            Kind::Copilot => "@github/copilot",
            Kind::Opencode => "opencode-ai",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Kind::ClaudeCode => "claude",
            Kind::Codex => "codex",
            Kind::Gemini => "gemini",
            Kind::Copilot => "copilot",
            Kind::Opencode => "opencode",
        }
    }

    /// The arguments that run one prompt without a terminal. Only Claude Code takes a plugin folder.
    pub fn arguments(self, prompt: &str, plugin: Option<&Path>, more: &[String]) -> Vec<String> {
        let mut words: Vec<String> = match self {
            Kind::ClaudeCode => {
                vec![
                    "-p",
                    prompt,
                    // A scenario may add another one after it: the last one counts.
                    "--permission-mode",
                    "bypassPermissions",
                    "--output-format",
                    "stream-json",
                    "--verbose",
                ]
            }
            Kind::Codex => vec![
                "exec",
                "--json",
                "--dangerously-bypass-approvals-and-sandbox",
                "--dangerously-bypass-hook-trust",
                prompt,
            ],
            Kind::Gemini => {
                vec!["-m", "gemini-2.5-flash", "--yolo", "--skip-trust", "-o", "json", "-p", prompt]
            }
            Kind::Copilot => vec!["--allow-all-tools", "--no-color", "-p", prompt],
            Kind::Opencode => vec!["run", "--model", "stub/stub", prompt],
        }
        .into_iter()
        .map(str::to_owned)
        .collect();
        if let Some(plugin) = plugin {
            words.extend(["--plugin-dir".to_owned(), plugin.display().to_string()]);
        }
        words.extend(more.iter().cloned());
        words
    }

    /// Environment variables beside PATH, HOME and the like.
    pub fn environment(self, port: u16) -> Vec<(&'static str, String)> {
        let base = format!("http://127.0.0.1:{port}");
        match self {
            Kind::ClaudeCode => vec![
                // Root may skip permissions only in a sandbox.
                ("IS_SANDBOX", "1".to_owned()),
                ("ANTHROPIC_BASE_URL", base),
                ("ANTHROPIC_API_KEY", MADE_UP_KEY.to_owned()),
                ("DISABLE_AUTOUPDATER", "1".to_owned()),
                ("DISABLE_TELEMETRY", "1".to_owned()),
                ("DISABLE_ERROR_REPORTING", "1".to_owned()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            ],
            Kind::Codex => vec![("STUB_KEY", MADE_UP_KEY.to_owned())],
            Kind::Gemini => vec![
                ("GEMINI_API_KEY", MADE_UP_KEY.to_owned()),
                ("GOOGLE_GEMINI_BASE_URL", base),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ],
            Kind::Copilot => vec![
                ("COPILOT_OFFLINE", "true".to_owned()),
                ("COPILOT_PROVIDER_BASE_URL", format!("{base}/v1")),
                ("COPILOT_PROVIDER_API_KEY", MADE_UP_KEY.to_owned()),
                ("COPILOT_MODEL", "stub".to_owned()),
            ],
            Kind::Opencode => vec![
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
                // It installs a package for plugins at every fresh start, and continues if it cannot.
                ("npm_config_offline", "true".to_owned()),
            ],
        }
    }

    /// Writes the settings that name our model. This comes before `lorelane setup`, which then has to edit
    /// existing settings.
    pub fn point_at_model(self, home: &Path, project: &Path, port: u16) -> Result<(), Failure> {
        let base = format!("http://127.0.0.1:{port}/v1");
        match self {
            Kind::ClaudeCode | Kind::Copilot => Ok(()),
            Kind::Codex => write(
                &home.join(".codex/config.toml"),
                &format!(
                    "model = \"stub\"\nmodel_provider = \"stub\"\n\n[model_providers.stub]\nname = \"stub\"\n\
                     base_url = \"{base}\"\nwire_api = \"responses\"\nenv_key = \"STUB_KEY\"\n"
                ),
            ),
            Kind::Gemini => write(
                &home.join(".gemini/settings.json"),
                "{\n  \"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } }\n}\n",
            ),
            Kind::Opencode => write(
                &project.join("opencode.json"),
                &format!(
                    r#"{{
  "model": "stub/stub",
  "small_model": "stub/stub",
  "autoupdate": false,
  "share": "disabled",
  "provider": {{
    "stub": {{
      "npm": "@ai-sdk/openai-compatible",
      "name": "stub",
      "options": {{ "baseURL": "{base}", "apiKey": "{MADE_UP_KEY}" }},
      "models": {{ "stub": {{ "name": "stub", "tool_call": true }} }}
    }}
  }}
}}
"#
                ),
            ),
        }
    }

    /// The events of this client, each with its name in `lorelane hook` if it has one.
    pub fn events(self) -> &'static [hooks::Event] {
        match self {
            Kind::ClaudeCode => hooks::CLAUDE_CODE,
            Kind::Codex => hooks::CODEX,
            Kind::Gemini => hooks::GEMINI,
            Kind::Copilot => hooks::COPILOT,
            Kind::Opencode => hooks::OPENCODE,
        }
    }
}

/// No service knows it.
const MADE_UP_KEY: &str = "sk-made-up-0000";

/// Writes a file and the folders above it.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let folder: PathBuf = path.parent().map(Path::to_owned).unwrap_or_default();
    fs::create_dir_all(&folder).map_err(|error| Failure::on("create", &folder, error))?;
    fs::write(path, text).map_err(|error| Failure::on("write", path, error))
}
