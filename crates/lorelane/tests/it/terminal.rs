//! A program in a terminal of its own, driven key by key.

use crate::scratch::Scratch;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub struct Terminal {
    keys: File,
    shown: Receiver<Vec<u8>>,
    screen: String,
    program: Child,
}

impl Terminal {
    pub fn run(scratch: &Scratch, words: &[&str]) -> Terminal {
        Terminal::with_width(scratch, words, 80)
    }

    pub fn with_width(scratch: &Scratch, words: &[&str], columns: u16) -> Terminal {
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&main).unwrap();
        unlockpt(&main).unwrap();
        let name = ptsname(&main, Vec::new()).unwrap();
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&main, size).unwrap();
        let side = || Stdio::from(File::options().read(true).write(true).open(path).unwrap());
        let mut command = scratch.command(words);
        command.env("TERM", "xterm").stdin(side()).stdout(side()).stderr(side());
        let program = command.spawn().unwrap();
        // The program alone holds the other side, so that its end is the end of what is read.
        drop(command);
        let keys = File::from(main);
        let mut screen = keys.try_clone().unwrap();
        let (send, shown) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if send.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { keys, shown, screen: String::new(), program }
    }

    /// Waits until this is shown, clears the screen, and types.
    pub fn answer(&mut self, shown: &str, keys: &str) {
        while !self.screen.contains(shown) {
            match self.shown.recv_timeout(Duration::from_secs(60)) {
                Ok(bytes) => self.screen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(_) => panic!("no {shown:?} in {:?}", self.screen),
            }
        }
        self.screen.clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// The exit code and what was still shown.
    pub fn end(mut self) -> (Option<i32>, String) {
        let code = self.program.wait().unwrap().code();
        while let Ok(bytes) = self.shown.recv() {
            self.screen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (code, self.screen)
    }
}
