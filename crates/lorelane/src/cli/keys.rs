//! Reads keys and lines from a terminal.

use super::output;
use std::io::{BufRead, Read, Write as _};

pub(super) fn typed_line(question: &str) -> String {
    output::out(question);
    // Only a newline would show it by itself.
    let _ = std::io::stdout().flush();
    let mut line = String::new();
    let _ = std::io::stdin().lock().read_line(&mut line);
    line.trim().to_owned()
}

/// One key, without Enter. Ctrl-C is read as a key too: a killed process would leave the terminal without echo.
/// The question comes after the switch, so that whoever answers it at once is understood.
#[cfg(unix)]
pub(super) fn typed_key(question: &str) -> Option<char> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let stdin = std::io::stdin();
    let before = tcgetattr(&stdin).ok()?;
    let mut by_key = before.clone();
    by_key.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
    tcsetattr(&stdin, OptionalActions::Now, &by_key).ok()?;
    output::out(question);
    let mut byte = [0];
    let read = stdin.lock().read(&mut byte);
    let _ = tcsetattr(&stdin, OptionalActions::Now, &before);
    match read {
        Ok(1) => Some(char::from(byte[0])),
        _ => None,
    }
}

/// One key and Enter, where a terminal cannot be read key by key.
#[cfg(not(unix))]
pub(super) fn typed_key(question: &str) -> Option<char> {
    output::out(question);
    let mut line = String::new();
    match std::io::stdin().lock().read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim().chars().next().unwrap_or(' ')),
    }
}
