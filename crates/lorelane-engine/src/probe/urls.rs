//! Asks web servers whether an address still exists. `curl` does the asking: a TLS library would add 2 MB to the binary
//! for one rarely used option.

use lorelane_core::claim::{UrlHost, is_public, public_host};
use lorelane_core::settle::{Presence, Site};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{IpAddr, ToSocketAddrs};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// How many addresses are asked at the same time, and in one audit.
const AT_ONCE: usize = 8;
const URLS_MAX: usize = 500;
/// In seconds, for one request.
const TIME_LIMIT: &str = "10";
/// A body is not needed; some servers answer HEAD with an error, and then its start is fetched.
const BODY_MAX_BYTES: &str = "1048576";

/// What each of the addresses is now.
pub(super) fn presence<'u>(urls: impl Iterator<Item = &'u str>) -> BTreeMap<&'u str, Presence> {
    let mut all: Vec<&str> = urls.collect();
    all.sort_unstable();
    all.dedup();
    let rest = all.split_off(all.len().min(URLS_MAX));
    let workers = all.len().min(AT_ONCE);
    let (waiting, answers) = (Mutex::new(all.into_iter()), Mutex::new(BTreeMap::new()));
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.next());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(url) = next() {
                    let answer = ask(url);
                    answers.lock().iter_mut().for_each(|answers| {
                        answers.insert(url, answer.clone());
                    });
                }
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_default();
    let too_many = Presence::Unchecked(format!("not checked: more than {URLS_MAX} addresses"));
    answers.extend(rest.into_iter().map(|url| (url, too_many.clone())));
    answers
}

fn ask(url: &str) -> Presence {
    let host = match public_host(url) {
        Ok(host) => host,
        Err(reason) => return Presence::Unchecked(reason.why().to_owned()),
    };
    let address = match public_address(&host) {
        Ok(address) => address,
        Err(why) => return Presence::Unchecked(why),
    };
    let mut status = request(url, &host, address, &["--head"]);
    // Some servers do not know HEAD, and a few answer it with 404.
    if !status.as_ref().is_ok_and(|status| is_found(*status)) {
        status = status.and_then(|_| request(url, &host, address, &["--max-filesize", BODY_MAX_BYTES]));
    }
    match status {
        Ok(status) if is_found(status) => Presence::There(Site::default()),
        Ok(status @ (404 | 410)) => Presence::NotFound(status),
        Ok(status) => Presence::Unchecked(format!("the server answered {status}")),
        Err(why) => Presence::Unchecked(why),
    }
}

/// A redirect is an answer: it is not followed, because it may lead to a private host.
fn is_found(status: u16) -> bool {
    (200..400).contains(&status)
}

/// One address of the host. Curl must use it: a second look-up could lead elsewhere.
fn public_address(host: &UrlHost) -> Result<IpAddr, String> {
    let found = (host.name.as_str(), host.port).to_socket_addrs();
    let found: Vec<IpAddr> = found.into_iter().flatten().map(|address| address.ip()).collect();
    match found.first() {
        None => Err("the host was not found".to_owned()),
        Some(_) if !found.iter().copied().all(is_public) => Err("not checked: a private host".to_owned()),
        Some(first) => Ok(*first),
    }
}

/// The status of the answer. The user's settings of curl do not count: they may have cookies and headers.
fn request(url: &str, host: &UrlHost, address: IpAddr, how: &[&str]) -> Result<u16, String> {
    let resolved = match address {
        IpAddr::V4(address) => format!("{}:{}:{address}", host.name, host.port),
        IpAddr::V6(address) => format!("{}:{}:[{address}]", host.name, host.port),
    };
    let output = Command::new("curl")
        .args(["--disable", "--silent", "--globoff", "--proto", "=http,https", "--noproxy", "*"])
        .args(["--max-time", TIME_LIMIT, "--max-redirs", "0", "--resolve", &resolved])
        .args(["--user-agent", concat!("lorelane/", env!("CARGO_PKG_VERSION"))])
        .args(["--output", "/dev/null", "--write-out", "%{http_code}"])
        .args(how)
        .args(["--url", url])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let output = output.map_err(|fault| match fault.kind() {
        ErrorKind::NotFound => "not checked: curl is not installed".to_owned(),
        _ => format!("curl could not be started: {fault}"),
    })?;
    // The status is there even if the body was too long or the time was up.
    let status = std::str::from_utf8(&output.stdout).ok().and_then(|status| status.trim().parse().ok());
    status.filter(|status| *status > 0).ok_or_else(|| "the server did not answer".to_owned())
}
