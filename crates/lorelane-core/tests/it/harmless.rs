//! Harmless text that is full of random characters, always the same for a seed.
//!
//! Random digests next to words such as `token` are what makes scanners cry wolf, so the
//! generator mixes both in earnest: every family draws its own values, names and frames.

const DIGIT: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const ALNUM: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const BASE64: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+/";
const URL64: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
/// Base64 of images is poor in entropy and rich in `A`: zero bytes.
const IMAGE: &str = "AAAAAAAAAAAAAABCDEFGIJKLMNOQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn lines(count: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    (0..count).map(|at| FAMILIES[at % FAMILIES.len()](&mut random)).collect()
}

type Family = fn(&mut Random) -> String;

const FAMILIES: &[Family] = &[
    cargo_lock,
    npm_lock,
    yarn_lock,
    poetry_lock,
    go_sum,
    git,
    digest,
    uuid_line,
    image,
    image_chunk,
    certificate,
    documented,
    env_template,
    rust_code,
    script_code,
    config,
    url,
    css,
    minified,
    log,
    prose,
    public_material,
    source_map,
    kubernetes,
    command,
    nix,
    address,
];

/// SplitMix64: short, and good enough to draw text.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    fn text(&mut self, alphabet: &str, length: usize) -> String {
        (0..length).map(|_| alphabet.as_bytes()[self.below(alphabet.len())] as char).collect()
    }

    fn hex(&mut self, length: usize) -> String {
        self.text(HEX, length)
    }

    fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|length| self.hex(length)).join("-")
    }

    fn version(&mut self) -> String {
        format!("{}.{}.{}", self.below(30), self.below(40), self.below(20))
    }

    fn word(&mut self) -> &'static str {
        self.pick(&[
            "auth",
            "token",
            "secret",
            "password",
            "key",
            "session",
            "client",
            "vault",
            "crypto",
            "billing",
            "api",
            "oauth2",
            "user",
            "k8s",
            "s3",
            "x86_64",
            "login",
            "cloudflare",
            "datadog",
            "twilio",
            "aws",
            "heroku",
        ])
    }

    fn name(&mut self) -> String {
        let joint = self.pick(&["-", "_", "", "."]);
        (0..1 + self.below(3)).map(|_| self.word()).collect::<Vec<_>>().join(joint)
    }

    /// A name as code has it for a secret.
    fn secret_name(&mut self) -> &'static str {
        self.pick(&[
            "password",
            "token",
            "secret",
            "api_key",
            "apiKey",
            "access_token",
            "client_secret",
            "DB_PASSWORD",
            "GITHUB_TOKEN",
            "secretKey",
            "private_key",
            "auth_token",
            "passwd",
            "x-api-key",
            "AWS_SECRET_ACCESS_KEY",
            "credentials",
            "passphrase",
            "TWILIO_AUTH_TOKEN",
            "DATADOG_API_KEY",
            "SECRET_KEY",
        ])
    }
}

fn cargo_lock(r: &mut Random) -> String {
    match r.below(3) {
        0 => format!("checksum = \"{}\"", r.hex(64)),
        1 => format!("name = \"{}\" # {}", r.name(), r.version()),
        _ => format!("source = \"git+https://github.com/acme/{}?rev={}#{}\"", r.name(), r.hex(8), r.hex(40)),
    }
}

fn npm_lock(r: &mut Random) -> String {
    let name = r.name();
    match r.below(3) {
        0 => format!("      \"integrity\": \"sha512-{}==\",", r.text(BASE64, 86)),
        1 => format!("  \"node_modules/@{}/{name}\": {{ \"version\": \"{}\",", r.word(), r.version()),
        _ => format!(
            "\"resolved\": \"https://registry.example.org/{name}/-/{name}-{}.tgz#{}\"",
            r.version(),
            r.hex(40)
        ),
    }
}

fn yarn_lock(r: &mut Random) -> String {
    match r.below(3) {
        0 => format!("  checksum: 10c0/{}", r.hex(128)),
        1 => format!("  integrity sha512-{}==", r.text(BASE64, 86)),
        _ => format!("\"@{}/{}@npm:^{}, {}@~{}\":", r.word(), r.name(), r.version(), r.name(), r.version()),
    }
}

fn poetry_lock(r: &mut Random) -> String {
    let name = r.name();
    match r.below(2) {
        0 => format!(
            "    {{file = \"{name}-{}-py3-none-any.whl\", hash = \"sha256:{}\"}},",
            r.version(),
            r.hex(64)
        ),
        _ => format!("{name}=={} --hash=sha256:{} \\", r.version(), r.hex(64)),
    }
}

fn go_sum(r: &mut Random) -> String {
    format!(
        "github.com/{}/{} v{}-0.{}-{}/go.mod h1:{}=",
        r.word(),
        r.name(),
        r.version(),
        r.text(DIGIT, 14),
        r.hex(12),
        r.text(BASE64, 43)
    )
}

fn git(r: &mut Random) -> String {
    match r.below(5) {
        0 => format!("{} {}: keep the token out of the log", r.hex(40), r.name()),
        1 => format!("index {}..{} 100644", r.hex(10), r.hex(10)),
        2 => format!("Subproject commit {}", r.hex(40)),
        3 => format!("Reviewed-by: {}@acme.dev (key 4096R/{})", r.word(), r.hex(16).to_uppercase()),
        _ => format!("diff --git a/src/{}.rs b/src/{}.rs", r.name(), r.name()),
    }
}

fn digest(r: &mut Random) -> String {
    let length = [32, 40, 56, 64, 96, 128][r.below(6)];
    let hex = r.hex(length);
    match r.below(6) {
        0 => format!("{hex}  {}-{}.tar.gz", r.name(), r.version()),
        1 => format!("sha256:{}", r.hex(64)),
        2 => format!("image: ghcr.io/acme/{}:{}@sha256:{}", r.word(), r.version(), r.hex(64)),
        3 => format!("SHA256 ({}.iso) = {hex}", r.name()),
        4 => format!("{}_sha256 = \"{}\"", r.secret_name(), r.hex(64)),
        _ => format!("ETag: \"{hex}\" Content-MD5: {}==", r.text(BASE64, 22)),
    }
}

fn uuid_line(r: &mut Random) -> String {
    let uuid = r.uuid();
    match r.below(6) {
        0 => uuid,
        1 => format!("\"{}_id\": \"{uuid}\",", r.word()),
        2 => format!("urn:uuid:{uuid} {}", r.uuid().to_uppercase()),
        3 => format!("/subscriptions/{uuid}/resourceGroups/{}", r.name()),
        4 => format!("urn:oid token={uuid}"),
        _ => format!("{}-{}", r.word(), r.uuid()),
    }
}

fn image(r: &mut Random) -> String {
    let length = 200 + r.below(800);
    let format = r.pick(&[
        "png;base64,iVBORw0KGgo",
        "gif;base64,R0lGODlh",
        "webp;base64,UklGR",
        "jpeg;base64,/9j/4AAQ",
    ]);
    let frame = r.pick(&["<img src=\"", "background:url(", "![logo](", "token: "]);
    format!("{frame}data:image/{format}{}==", r.text(IMAGE, length))
}

fn image_chunk(r: &mut Random) -> String {
    let alphabet = r.pick(&[IMAGE, BASE64, URL64, BASE32]);
    let width = [60, 64, 72, 76, 120, 400][r.below(6)];
    r.text(alphabet, width)
}

fn certificate(r: &mut Random) -> String {
    match r.below(3) {
        0 => format!("MII{}", r.text(BASE64, 61)),
        1 => format!("-----BEGIN CERTIFICATE----- MII{}", r.text(BASE64, 61)),
        _ => format!("Serial Number: {}", [0; 16].map(|_| r.hex(2)).join(":")),
    }
}

/// A stand-in as documentation has it.
fn stand_in(r: &mut Random) -> String {
    let name = r.secret_name().to_uppercase().replace('-', "_");
    match r.below(16) {
        0 => format!("<your-{}>", r.word()),
        1 => format!("${{{name}}}"),
        2 => format!("${name}"),
        3 => format!("YOUR_{name}"),
        4 => "x".repeat(8 + r.below(40)),
        5 => "*".repeat(8 + r.below(20)),
        6 => format!("{{{{ {} }}}}", r.name()),
        7 => format!("example-{}", r.hex(12)),
        8 => "changeme".to_owned(),
        9 => format!("${{{{ secrets.{name} }}}}"),
        10 => format!("%{name}%"),
        11 => format!("ghp_{}", "X".repeat(36)),
        12 => "AKIAIOSFODNN7EXAMPLE".to_owned(),
        13 => format!("$(pass show {}/{})", r.word(), r.name()),
        14 => format!("/run/secrets/{}_{}", r.name(), r.hex(4)),
        _ => format!("<paste the {} here>", r.name()),
    }
}

fn documented(r: &mut Random) -> String {
    let (name, value) = (r.secret_name(), stand_in(r));
    let quote = r.pick(&["", "\"", "'"]);
    match r.below(6) {
        0 => format!("export {name}={quote}{value}{quote}"),
        1 => format!("    $ acme login --{name} {value}"),
        2 => format!("Set `{name}: {value}` in `config.yaml`."),
        3 => format!("curl -H \"Authorization: Bearer {value}\" https://api.acme.dev/v2/{}", r.name()),
        4 => format!("| `{name}` | string | `{value}` | the {} of the {} |", r.word(), r.word()),
        _ => format!("{{\"{name}\": \"{value}\", \"id\": \"{}\"}}", r.uuid()),
    }
}

fn env_template(r: &mut Random) -> String {
    match r.below(4) {
        0 => format!("{}=", r.secret_name()),
        1 => format!("{}={}", r.secret_name(), stand_in(r)),
        2 => format!("{}_TTL={} # seconds", r.secret_name(), r.text(DIGIT, 5)),
        _ => format!("{}_FILE=/run/secrets/{}", r.secret_name(), r.name()),
    }
}

fn rust_code(r: &mut Random) -> String {
    let (name, other) = (r.secret_name().replace('-', "_"), r.name().replace(['-', '.'], "_"));
    let kind = r.pick(&[
        "String",
        "Option<String>",
        "Vec<u8>",
        "[u8; 32]",
        "Secret<Utf8Bytes>",
        "&'a str",
        "Sha256",
    ]);
    match r.below(8) {
        0 => format!("    pub {name}: {kind},"),
        1 => format!("let {name} = {other}.{}()?;", r.word()),
        2 => format!("let {name}: {kind} = {other}::from_env(\"{}\")?;", name.to_uppercase()),
        3 => format!("fn {name}(&self, {other}: {kind}) -> {kind} {{"),
        4 => format!(
            "if {name} == {other}.{name}2 {{ return Err(Error::{}) }}",
            r.pick(&["Utf8", "Base64", "X509"])
        ),
        5 => format!("assert_eq!({name}.kind, Kind::{}{});", r.pick(&["Int", "F", "Utf"]), r.below(64)),
        6 => format!("const {}: usize = 0x{};", name.to_uppercase(), r.hex(6)),
        _ => format!("        {name} => {other}_v{}({name}),", r.below(9)),
    }
}

fn script_code(r: &mut Random) -> String {
    let (name, other) = (r.secret_name().replace('-', "_"), r.name().replace('-', "_"));
    match r.below(8) {
        0 => format!("{name}: Optional[str] = None"),
        1 => format!("{name} = os.environ[\"{}\"]", name.to_uppercase()),
        2 => format!("const {name} = process.env.{}_V{};", name.to_uppercase(), r.below(9)),
        3 => format!("{name} = request.form.get('{name}{}')", r.below(9)),
        4 => format!("this.{name} = {other}.data.items[{}].{name};", r.below(99)),
        5 => format!("{name}={other}({}, '{}')", r.below(9), r.word()),
        6 => format!("\"{name}\": z.string().min({}).max({}),", r.below(9), r.below(99)),
        _ => format!("self.{name} = {name} or hashlib.sha256({other}.encode()).hexdigest()"),
    }
}

fn config(r: &mut Random) -> String {
    match r.below(7) {
        0 => format!("{}_name: {}-{}-v{}", r.word(), r.name(), r.word(), r.below(9)),
        1 => format!("cache-key: {}-Linux-x64-{}", r.name(), r.hex(40)),
        2 => format!(
            "{}: projects/{}/secrets/{}/versions/{}",
            r.secret_name(),
            r.text(DIGIT, 12),
            r.name(),
            r.below(99)
        ),
        3 => format!(
            "{}: arn:aws:secretsmanager:eu-west-1:{}:secret:{}",
            r.secret_name(),
            r.text(DIGIT, 12),
            r.name()
        ),
        4 => format!("nextPageToken: {}", r.text(URL64, 32)),
        5 => format!("key_id = \"{}\" # public", r.text(ALNUM, 24)),
        _ => format!(
            "{}.Tokens, Version={}.0, Culture=neutral, PublicKeyToken={}",
            r.word(),
            r.version(),
            r.hex(16)
        ),
    }
}

fn url(r: &mut Random) -> String {
    let (name, word) = (r.name(), r.word());
    match r.below(10) {
        0 => format!("git@github.com:{word}/{name}.git"),
        1 => format!("https://registry.example/@{word}/{name}/-/{name}-{}.tgz", r.version()),
        2 => format!("http://localhost:{}/@{name}/client?v={}", 1000 + r.below(9000), r.hex(8)),
        3 => format!("{name}@{word}.acme.dev, {}+{}@acme.dev", r.word(), r.hex(6)),
        4 => format!(
            "postgres://{word}:{}@localhost:5432/{name}",
            r.pick(&["pass", "password", "changeme", "$PW", "secret"])
        ),
        5 => format!("ssh://git@{word}.acme.dev:7999/{name}.git#{}", r.hex(40)),
        6 => format!("https://cdn.acme.dev/{}/{name}.{}.min.js", r.hex(32), r.hex(20)),
        7 => format!("docker://{word}:{}-bookworm@sha256:{}", r.version(), r.hex(64)),
        8 => format!("https://medium.com/@{word}/{name}-{}", r.hex(12)),
        _ => format!("https://acme.dev/c/{}?utm={}&v={}", r.text(URL64, 22), r.hex(16), r.text(ALNUM, 11)),
    }
}

fn css(r: &mut Random) -> String {
    let (block, hash) = (r.name().replace('.', "-"), r.text(ALNUM, 6));
    match r.below(3) {
        0 => format!(".{block}__{}--{hash}:hover{{color:#{};margin:{}px}}", r.word(), r.hex(6), r.below(99)),
        1 => format!(".token.{}{{background:#{};width:calc(100% - {}px)}}", r.word(), r.hex(6), r.below(99)),
        _ => format!(
            "@font-face{{src:url(/_next/static/media/{}.p.woff2)}} .sk-{block}-{}{{}}",
            r.hex(16),
            r.hex(8)
        ),
    }
}

fn minified(r: &mut Random) -> String {
    let mut piece = || {
        let (name, a, b) =
            (r.secret_name().replace('-', "_"), r.text("abcdefgnrtuo", 1), r.text("abcdefgnrtuo", 2));
        match r.below(6) {
            0 => format!("{a}.{name}={b}.{a}{}", r.below(99)),
            1 => format!("{name}:{a}({})", r.below(9999)),
            2 => format!("{a}=>{b}[\"{name}\"]||{b}.{name}"),
            3 => format!("{b}.push([{},\"{}\"])", r.below(999), r.hex(20)),
            4 => format!("case\"{name}\":return {a}?{b}:void 0"),
            _ => format!("{a}({}).then({b}.bind({b},{}))", r.below(9999), r.below(9999)),
        }
    };
    (0..8).map(|_| piece()).collect::<Vec<_>>().join(",")
}

fn log(r: &mut Random) -> String {
    let time = format!(
        "2026-0{}-1{}T0{}:1{}:22.{}Z",
        1 + r.below(9),
        r.below(9),
        r.below(9),
        r.below(9),
        r.text(DIGIT, 3)
    );
    match r.below(6) {
        0 => format!("{time} INFO request_id={} trace_id={} dur={}ms", r.uuid(), r.hex(32), r.below(999)),
        1 => format!(
            "{time} WARN token expired user={} session={} ip=10.{}.0.7",
            r.word(),
            r.text(ALNUM, 22),
            r.below(255)
        ),
        2 => format!(
            "[{}] {} at 0x{}: bad {} (code {})",
            r.below(9999),
            r.name(),
            r.hex(16),
            r.word(),
            r.below(999)
        ),
        3 => format!("{time} {}: token=*** password=*** key_id={}", r.name(), r.text(ALNUM, 20)),
        4 => format!(
            "kernel: [{}.{}] {}: {}",
            r.below(9999),
            r.text(DIGIT, 6),
            r.word(),
            [0; 6].map(|_| r.hex(2)).join(":")
        ),
        _ => format!("pod/{}-{}-{} restarted; digest {}", r.name(), r.hex(10), r.text(ALNUM, 5), r.hex(64)),
    }
}

fn prose(r: &mut Random) -> String {
    let (first, second, hash) = (r.word(), r.name(), r.hex(8));
    let frame = r.pick(&[
        "The password of the {1} is kept in the vault: ask ops, see {2}.",
        "Token: a {0} value that the {1} sends with every request.",
        "Rotate the secret = run `{1} rotate`, then restart {0} ({2}).",
        "We chose {0} tokens over {1} because of commit {2}.",
        "Why is my API key: rejected? Because {1} lower-cases it.",
        "password: the {0} asks for it at login (see {1})",
        "The login needs a password between 8 and 64 characters, not {1}.",
        "Never write `{0}: …` into a memory; write where the {1} is kept.",
    ]);
    frame.replace("{0}", first).replace("{1}", &second).replace("{2}", &hash)
}

fn public_material(r: &mut Random) -> String {
    match r.below(5) {
        0 => format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} {}@laptop", r.text(BASE64, 43), r.word()),
        1 => format!("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC{}= {}", r.text(BASE64, 330), r.word()),
        2 => format!("public_key = \"{}=\"", r.text(BASE64, 43)),
        3 => format!("pk_live_{} # publishable", r.text(ALNUM, 24)),
        _ => format!("Key fingerprint = {}", [0; 10].map(|_| r.hex(4).to_uppercase()).join(" ")),
    }
}

fn source_map(r: &mut Random) -> String {
    let length = 60 + r.below(300);
    match r.below(2) {
        0 => format!("{{\"version\":3,\"mappings\":\"{}\"}}", r.text("ACDEGIK,;SUWYacegikmoqs", length)),
        _ => format!("//# sourceMappingURL=data:application/json;base64,eyJ{}", r.text(BASE64, length)),
    }
}

fn kubernetes(r: &mut Random) -> String {
    match r.below(5) {
        0 => format!("secretName: {}-{}-tls", r.name(), r.hex(5)),
        1 => format!("      secretKeyRef: {{ name: {}, key: {} }}", r.name(), r.secret_name()),
        2 => format!("  resourceVersion: \"{}\" uid: {}", r.text(DIGIT, 9), r.uuid()),
        3 => format!("existingSecret: {}-{}", r.name(), r.word()),
        _ => format!("serviceAccountToken: {{ path: {}-token, expirationSeconds: 3607 }}", r.word()),
    }
}

/// Options that in other places carry passwords.
fn command(r: &mut Random) -> String {
    let (name, word) = (r.name(), r.word());
    match r.below(9) {
        0 => format!(
            "docker run -u {}:{} -p {}:{} {name}",
            r.below(9999),
            r.below(99),
            8000 + r.below(99),
            443
        ),
        1 => format!("curl -u \"$USER:$PASSWORD\" -o {name}.json https://{word}.acme.dev/{}", r.hex(8)),
        2 => format!("curl -u {word}:{} https://acme.dev", stand_in(r)),
        3 => format!("mysql -u root -p {name} < {name}-{}.sql", r.hex(8)),
        4 => format!("mysql --protocol=tcp -P {} -D {name}_{}", r.below(9999), r.hex(4)),
        5 => format!("mkdir -p{name}/{} && cp -pR {word} {}", r.hex(8), r.hex(12)),
        6 => format!("git checkout -b {word}/{name}-{} && rsync -az {word} {}:/srv", r.hex(7), r.word()),
        7 => format!("ssh -p {} {word}@10.{}.0.7 -i ~/.ssh/id_{}", r.below(9999), r.below(255), r.hex(4)),
        _ => format!("openssl enc -pass env:{} -in {name}.{}", r.secret_name(), r.hex(6)),
    }
}

/// Digests and store paths in base 32.
fn nix(r: &mut Random) -> String {
    const NIX: &str = "0123456789abcdfghijklmnpqrsvwxyz";
    match r.below(3) {
        0 => format!("sha256 = \"{}\";", r.text(NIX, 52)),
        1 => format!("/nix/store/{}-{}-{}", r.text(NIX, 32), r.name(), r.version()),
        _ => format!("narHash = \"sha256-{}=\";", r.text(BASE64, 43)),
    }
}

/// Numbers that are joined by colons and dots.
fn address(r: &mut Random) -> String {
    let groups = [0; 8].map(|_| r.hex(4)).join(":");
    match r.below(4) {
        0 => format!("inet6 {groups}/64 scope link"),
        1 => format!("fe80::{}:{}%eth{} port {}", r.hex(4), r.text(DIGIT, 4), r.below(9), r.below(9999)),
        2 => format!("{}.acme.dev:5432:{}:{}:*", r.word(), r.word(), r.word()),
        _ => format!("ether {} {}", [0; 6].map(|_| r.hex(2)).join(":"), r.name()),
    }
}
