//! Error blocks: a title, then one `key: value` per line.

use super::ScriptOutput;

#[derive(Debug)]
pub(super) struct Block(String);

impl Block {
    pub(super) fn new(head: &str) -> Block {
        Block(format!("{head}\n"))
    }

    /// Adds a line. Line breaks in the value are removed: a value must not look like the next key.
    pub(super) fn line(mut self, key: &str, value: &str) -> Block {
        let value: Vec<&str> = value.lines().map(str::trim).collect();
        self.0.push_str(&format!("{key}: {}\n", value.join(" ")));
        self
    }

    /// Separates two errors in a block.
    pub(super) fn gap(mut self) -> Block {
        self.0.push('\n');
        self
    }
}

impl From<Block> for ScriptOutput {
    fn from(Block(text): Block) -> ScriptOutput {
        ScriptOutput::failed(text)
    }
}
