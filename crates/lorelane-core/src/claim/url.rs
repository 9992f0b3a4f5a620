//! Which addresses may be asked whether they still exist.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Names that never lead to a public server.
const PRIVATE_ENDS: [&str; 14] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "test",
    "example",
    "invalid",
    "onion",
    "arpa",
];
/// Second-level names that are reserved for examples.
const EXAMPLES: [&str; 3] = ["example.com", "example.net", "example.org"];

/// A server, as a URL names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlHost {
    pub name: String,
    pub port: u16,
}

/// Why an address is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAsked {
    Malformed,
    /// Whoever is asked would get the name and password.
    HasCredentials,
    PrivateHost,
}

impl NotAsked {
    pub fn why(self) -> &'static str {
        match self {
            NotAsked::Malformed => "not checked: the address has no host",
            NotAsked::HasCredentials => "not checked: the address has a user name",
            NotAsked::PrivateHost => "not checked: a private host",
        }
    }
}

/// The server of a public address. A name may still lead to a private address: see [`is_public`].
pub fn public_host(url: &str) -> Result<UrlHost, NotAsked> {
    let (scheme, rest) = url.split_once("://").ok_or(NotAsked::Malformed)?;
    let default_port = if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 };
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(NotAsked::HasCredentials);
    }
    let (name, port) = match authority.strip_prefix('[') {
        Some(literal) => literal.split_once(']').ok_or(NotAsked::Malformed)?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = match port.strip_prefix(':').filter(|port| !port.is_empty()) {
        Some(port) => port.parse().map_err(|_| NotAsked::Malformed)?,
        None => default_port,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_public = match name.parse::<IpAddr>() {
        Ok(address) => is_public(address),
        Err(_) if name.is_empty() || name.chars().any(|c| c.is_whitespace() || c.is_control()) => {
            return Err(NotAsked::Malformed);
        }
        Err(_) => is_public_name(&name),
    };
    if is_public { Ok(UrlHost { name, port }) } else { Err(NotAsked::PrivateHost) }
}

fn is_public_name(name: &str) -> bool {
    let Some((above, end)) = name.rsplit_once('.') else { return false };
    // Other spellings of numbers, such as `0x7f.1`, are addresses to some programs.
    let is_number = end.starts_with(|c: char| c.is_ascii_digit());
    let second = above.rsplit('.').next().unwrap_or_default();
    let is_example = EXAMPLES.contains(&format!("{second}.{end}").as_str());
    !is_number && !is_example && !PRIVATE_ENDS.contains(&end)
}

/// Whether an address is one of the public network.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => is_public_v4(address),
            None => is_public_v6(address),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let is_shared = first == 100 && (64..128).contains(&second);
    let is_reserved = first == 0 || first >= 240 || (first, second, third) == (192, 0, 0);
    let is_benchmark = first == 198 && (18..20).contains(&second);
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || is_shared
        || is_reserved
        || is_benchmark)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    // Only 2000::/3 is given out; of that, 6to4, Teredo and NAT64 carry an IPv4 address, and 2001:db8::/32 is for examples.
    let [first, second, ..] = address.segments();
    let is_given_out = first & 0xe000 == 0x2000;
    let is_tunnel = first == 0x2002 || (first == 0x2001 && second < 0x200);
    is_given_out && !is_tunnel && (first, second) != (0x2001, 0xdb8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_hosts_are_asked() {
        let host = |name: &str, port| Ok(UrlHost { name: name.to_owned(), port });
        use NotAsked::{HasCredentials, Malformed, PrivateHost};
        for (url, expected) in [
            ("https://docs.rs/tokio", host("docs.rs", 443)),
            ("http://DOCS.rs.:8080?q", host("docs.rs", 8080)),
            ("https://1.1.1.1/", host("1.1.1.1", 443)),
            ("https://[2606:4700::1]:444/x", host("2606:4700::1", 444)),
            ("https://user:secret@docs.rs/", Err(HasCredentials)),
            ("https://docs.rs:99999/", Err(Malformed)),
            ("https:///x", Err(Malformed)),
            ("https://[::1/x", Err(Malformed)),
            ("docs.rs", Err(Malformed)),
            ("http://localhost:3000/", Err(PrivateHost)),
            ("http://wiki/x", Err(PrivateHost)),
            ("http://wiki.corp/x", Err(PrivateHost)),
            ("http://api.example.com/x", Err(PrivateHost)),
            ("http://printer.local", Err(PrivateHost)),
            ("http://127.0.0.1/", Err(PrivateHost)),
            ("http://0x7f.1/", Err(PrivateHost)),
            ("http://127.1/", Err(PrivateHost)),
            ("http://10.1.2.3/", Err(PrivateHost)),
            ("http://172.20.0.1/", Err(PrivateHost)),
            ("http://192.168.1.1/", Err(PrivateHost)),
            ("http://169.254.169.254/latest/meta-data", Err(PrivateHost)),
            ("http://100.64.0.1/", Err(PrivateHost)),
            ("http://0.0.0.0/", Err(PrivateHost)),
            ("http://[::1]/", Err(PrivateHost)),
            ("http://[::ffff:10.0.0.1]/", Err(PrivateHost)),
            ("http://[fd00::1]/", Err(PrivateHost)),
            ("http://[fe80::1]/", Err(PrivateHost)),
            ("http://[2002:7f00:1::]/", Err(PrivateHost)),
        ] {
            assert_eq!(public_host(url), expected, "{url}");
        }
    }
}
