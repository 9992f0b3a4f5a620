//! What a client hands over on stdin: one JSON value.

use lorelane_core::json::Json;
use std::io::Read;
use std::sync::mpsc;
use std::time::Duration;

/// A client that says nothing for so long has nothing to say.
const PATIENCE: Duration = Duration::from_secs(2);
const INPUT_MAX_BYTES: usize = 16 << 20;

/// Reads until the value is complete, the input ends, or nothing comes any more. A client may keep its end open, so
/// the end is not waited for.
pub(super) fn value() -> Option<Json> {
    let (sender, chunks) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut chunk = vec![0; 64 << 10];
        while let Ok(length @ 1..) = stdin.read(&mut chunk) {
            if sender.send(chunk[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut bytes: Vec<u8> = Vec::new();
    while let Ok(chunk) = chunks.recv_timeout(PATIENCE) {
        bytes.extend(chunk);
        // Only where an object can end is it worth a try.
        if bytes.trim_ascii_end().ends_with(b"}")
            && let Ok(value) = Json::parse(&String::from_utf8_lossy(&bytes))
        {
            return Some(value);
        }
        if bytes.len() > INPUT_MAX_BYTES {
            return None;
        }
    }
    Json::parse(&String::from_utf8_lossy(&bytes)).ok()
}
