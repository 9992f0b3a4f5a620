//! The table of formats, one row each.
//!
//! Rows are tried in order and the first match wins, so a narrow format comes before a wide one (`sk-ant-` before
//! `sk-`). Rows of one kind are adjacent.

use super::alphabet::{
    ALNUM, Alphabet, BASE64, DASH, DIGIT, DOT, HEX, LOWER_ALNUM, PERCENT, PLUS, SIGN, TILDE, UPPER,
    UPPER_ALNUM, URL64,
};

/// One format.
#[derive(Clone, Copy)]
pub(super) struct SecretRule {
    pub(super) kind: &'static str,
    pub(super) place: SearchScope,
    /// One of these words must occur shortly before, in lower case; empty requires nothing. A format that other
    /// values share needs a name or such a word: 52 lower-case letters and digits may be a token or a Nix digest.
    pub(super) near: &'static [&'static str],
    pub(super) shape: &'static [PatternPart],
    pub(super) check: Check,
    /// Whether its prefix is so short that it occurs inside base64.
    pub(super) short: bool,
}

/// Where a secret of this format is searched.
#[derive(Clone, Copy)]
pub(super) enum SearchScope {
    /// At the start of any word.
    Anywhere,
    /// As the value of a name that contains one of these. Names are compared in lower case and without
    /// punctuation: `awssecret` is in `AWS_SECRET`, `aws-secret` and `awsSecretKey`.
    NameHas(&'static [&'static str]),
    /// As the value of a name that ends with one of these (trailing digits are ignored), unless the name is
    /// harmless: `page_token`, `PublicKeyToken`.
    NameEnds(&'static [&'static str]),
    /// As the value of exactly this name.
    NameIs(&'static [&'static str]),
    /// As the password in a URL of one of these schemes; empty is any scheme.
    Userinfo(&'static [&'static str]),
}

#[derive(Clone, Copy)]
pub(super) enum PatternPart {
    /// One of these texts, as part of the secret.
    Lit(&'static [&'static str]),
    /// One of these texts, before the secret.
    Lead(&'static [&'static str]),
    /// The longest run of the alphabet; its length must be in the range.
    Run(Alphabet, usize, usize),
    /// The longest run of the alphabet, before the secret.
    Skip(Alphabet, usize, usize),
    /// Exactly this many characters of the alphabet, whatever follows.
    Take(Alphabet, usize),
    Uuid,
    /// The base64 between the `BEGIN` and the `END` line, and the `END` line.
    PemBody,
    /// As many words as a recovery phrase has, and nothing after them.
    Phrase,
    /// A value as people write it after `=` or `:`, quoted or not, with this minimum length.
    Assigned(usize),
}

/// The test that a value of the right shape must pass to count.
#[derive(Clone, Copy)]
pub(super) enum Check {
    /// Neither a placeholder nor monotonous.
    Token,
    /// Also not composed of words: a path has the shape of base64.
    Key,
    /// As dense as random text. The base64 of files has the same shape, but is less dense.
    Dense,
    /// Looks random: the shape alone says nothing.
    Random,
    /// Looks like a password: random, or letters mixed with digits and punctuation.
    Password,
    /// A password by its position; only placeholders are accepted.
    Userinfo,
    /// A password after a word that also occurs in prose; words are accepted.
    Said,
    /// The base64 of `user:password`.
    Basic,
    /// Shape and name are enough.
    Shape,
}

use PatternPart::{Assigned, Lead, Lit, PemBody, Phrase, Run, Skip, Take, Uuid};
use SearchScope::{Anywhere, NameEnds, NameHas, NameIs, Userinfo};

pub(super) const OPEN: usize = usize::MAX;
/// The characters of user and database names.
const FIELD: Alphabet = ALNUM | DASH | DOT;

const fn token(kind: &'static str, shape: &'static [PatternPart]) -> SecretRule {
    SecretRule { kind, place: Anywhere, near: &[], shape, check: Check::Token, short: false }
}

const fn named(kind: &'static str, place: SearchScope, shape: &'static [PatternPart]) -> SecretRule {
    SecretRule { kind, place, near: &[], shape, check: Check::Key, short: false }
}

const fn url(kind: &'static str, schemes: &'static [&'static str]) -> SecretRule {
    SecretRule { kind, place: Userinfo(schemes), near: &[], shape: &[], check: Check::Userinfo, short: false }
}

impl SecretRule {
    const fn near(mut self, words: &'static [&'static str]) -> SecretRule {
        self.near = words;
        self
    }

    const fn short(mut self) -> SecretRule {
        self.short = true;
        self
    }

    const fn check(mut self, check: Check) -> SecretRule {
        self.check = check;
        self
    }
}

const PEM: &[PatternPart] = &[
    Lit(&["-----BEGIN "]),
    Lit(&["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP ", "SSH2 ENCRYPTED ", ""]),
    Lit(&["PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"]),
    PemBody,
];

pub(super) const RULES: &[SecretRule] = &[
    // Cloud providers.
    token("AWS access key", &[Lit(&["AKIA", "ASIA", "ABIA", "ACCA"]), Run(UPPER_ALNUM, 16, 16)]),
    named("AWS secret key", NameHas(&["awssecret", "secretaccesskey"]), &[Run(BASE64, 40, 40)]),
    token("AWS Bedrock key", &[Lit(&["ABSK"]), Run(BASE64, 109, 269)]),
    token("Google API key", &[Lit(&["AIza"]), Run(URL64, 35, 35)]),
    token("Google OAuth client secret", &[Lit(&["GOCSPX-"]), Run(URL64, 28, 28)]),
    token("Google OAuth token", &[Lit(&["ya29."]), Run(URL64 | DOT, 30, OPEN)]),
    token("Google OAuth token", &[Lit(&["1//0"]), Run(URL64, 40, 160)]),
    token("Google service account key", PEM).near(&["\"private_key\""]),
    named("Azure storage key", NameIs(&["accountkey", "sharedaccesskey"]), &[Run(BASE64, 43, 88)]),
    named("Azure SAS signature", NameIs(&["sig"]), &[Run(BASE64 | DASH | PERCENT, 43, 64)]),
    token(
        "Azure AD client secret",
        &[Take(ALNUM, 3), Take(DIGIT, 1), Lit(&["Q~"]), Run(URL64 | DOT | TILDE, 31, 34)],
    ),
    token("Azure DevOps token", &[Take(ALNUM, 76), Lit(&["AZDO"]), Take(ALNUM, 4)]),
    named(
        "Azure DevOps token",
        NameHas(&["azuredevops", "devopspat", "devopsextpat", "vststoken", "vstspat"]),
        &[Run(LOWER_ALNUM, 52, 52)],
    ),
    token("Amazon MWS token", &[Lit(&["amzn.mws."]), Uuid]),
    token("Alibaba access key", &[Lit(&["LTAI"]), Run(ALNUM, 20, 20)]),
    token("Tencent Cloud key", &[Lit(&["AKID"]), Run(ALNUM, 32, 32)]).short(),
    token("Yandex Cloud key", &[Lit(&["AQVN"]), Run(URL64, 35, 38)]).short(),
    token("Scalingo token", &[Lit(&["tk-us-"]), Run(URL64, 48, 48)]),
    token("OpenShift token", &[Lit(&["sha256~"]), Run(URL64, 43, 43)]),
    token("ClickHouse key", &[Lit(&["4b1d"]), Run(ALNUM, 38, 38)]).check(Check::Key),
    token("Convex key", &[Lit(&["eyJ2MiI6I"]), Run(BASE64, 40, 400)]),
    named(
        "service token",
        NameHas(&[
            "codecovtoken",
            "consulhttptoken",
            "consultoken",
            "exaapikey",
            "nomadtoken",
            "postmarkapitoken",
            "postmarkservertoken",
            "postmarktoken",
            "railwayapitoken",
            "railwaytoken",
            "snykapitoken",
            "snyktoken",
        ]),
        &[Uuid],
    )
    .check(Check::Token),
    token("DigitalOcean token", &[Lit(&["dop_v1_", "doo_v1_", "dor_v1_"]), Run(HEX, 64, 64)]),
    token("Heroku API key", &[Lit(&["HRKU-"]), Run(URL64, 36, 80)]),
    named("Heroku API key", NameHas(&["herokuapi", "herokukey", "herokutoken", "herokuauth"]), &[Uuid])
        .check(Check::Token),
    named("Cloudflare API token", NameHas(&["cloudflare", "cfapi"]), &[Run(URL64, 37, 40)]),
    token("Cloudflare origin CA key", &[Lit(&["v1.0-"]), Run(HEX, 24, 24), Lit(&["-"]), Run(HEX, 146, 146)]),
    named("Fastly API token", NameHas(&["fastly"]), &[Run(URL64, 32, 32)]),
    token("Fly.io token", &[Lit(&["fm2_", "fm1r_", "fm1a_", "fo1_"]), Run(BASE64 | DASH, 43, 2000)]),
    token("Netlify token", &[Lit(&["nfp_", "nfc_", "nfo_"]), Run(ALNUM, 36, 40)]),
    token("Render API key", &[Lit(&["rnd_"]), Run(ALNUM, 28, 40)]),
    token("Supabase key", &[Lit(&["sbp_", "sb_secret_"]), Run(URL64, 31, 48)]),
    token("PlanetScale token", &[Lit(&["pscale_tkn_", "pscale_pw_", "pscale_oauth_"]), Run(URL64, 32, 64)]),
    token("Databricks token", &[Lit(&["dapi"]), Run(HEX, 32, 32)]),
    token("Tailscale key", &[Lit(&["tskey-"]), Run(URL64, 24, 80)]),
    // Code hosting and CI.
    token("GitHub token", &[Lit(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]), Run(ALNUM, 36, 255)]),
    token("GitHub fine-grained token", &[Lit(&["github_pat_"]), Run(ALNUM | DASH, 60, 255)]),
    token(
        "GitLab token",
        &[
            Lit(&[
                "glpat-",
                "gldt-",
                "glrt-",
                "glrtr-",
                "glptt-",
                "glft-",
                "gloas-",
                "glcbt-",
                "glimt-",
                "glsoat-",
                "glffct-",
                "glagent-",
                "glwt-",
                "GR1348941",
            ]),
            Run(URL64 | DOT, 20, 300),
        ],
    ),
    token("Bitbucket token", &[Lit(&["ATBB"]), Run(ALNUM, 32, 32)]),
    token("Bitbucket token", &[Lit(&["ATCTT3"]), Run(BASE64 | DASH, 60, 300)]),
    token("npm token", &[Lit(&["npm_"]), Run(ALNUM, 36, 36)]),
    token("PyPI token", &[Lit(&["pypi-AgEI"]), Run(URL64, 50, OPEN)]),
    token("Cargo registry token", &[Lit(&["cio"]), Run(ALNUM, 32, 32)]),
    token("RubyGems key", &[Lit(&["rubygems_"]), Run(HEX, 48, 48)]),
    token("NuGet key", &[Lit(&["oy2"]), Run(LOWER_ALNUM, 43, 43)]),
    token("Clojars token", &[Lit(&["CLOJARS_"]), Run(ALNUM, 60, 60)]),
    token("Artifactory key", &[Lit(&["AKCp"]), Run(ALNUM, 69, 69)]),
    token("JFrog reference token", &[Lit(&["cmVmdGtu"]), Run(ALNUM, 56, 56)]),
    token("Sonar token", &[Lit(&["squ_", "sqp_", "sqa_"]), Run(HEX, 40, 40)]),
    token("Sourcegraph token", &[Lit(&["sgp_local_", "sgp_"]), Run(HEX, 40, 40)]),
    token("Sourcegraph token", &[Lit(&["sgp_"]), Run(HEX, 16, 16), Lit(&["_"]), Run(HEX, 40, 40)]),
    token(
        "Harness token",
        &[
            Lit(&["pat.", "sat."]),
            Run(URL64, 22, 22),
            Lit(&["."]),
            Run(HEX, 24, 24),
            Lit(&["."]),
            Run(ALNUM, 20, 20),
        ],
    ),
    token("Octopus Deploy key", &[Lit(&["API-"]), Run(UPPER_ALNUM, 25, 32)]),
    token("Prefect key", &[Lit(&["pnu_", "pnb_"]), Run(LOWER_ALNUM, 36, 36)]),
    token("Infracost key", &[Lit(&["ico-"]), Run(ALNUM, 32, 32)]),
    token("Endor Labs key", &[Lit(&["endr+"]), Run(URL64, 16, 16)]),
    token("Settlemint token", &[Lit(&["sm_pat_", "sm_aat_", "sm_sat_"]), Run(ALNUM, 16, 16)]),
    token("Docker token", &[Lit(&["dckr_pat_", "dckr_oat_"]), Run(URL64, 27, 40)]),
    token("Buildkite token", &[Lit(&["bkua_"]), Run(HEX, 40, 40)]),
    token("CircleCI token", &[Lit(&["CCIPAT_"]), Run(ALNUM, 22, 22), Lit(&["_"]), Run(HEX, 40, 40)]),
    named(".npmrc auth token", NameIs(&["authtoken"]), &[Uuid]).near(&["//"]).check(Check::Token),
    named(".npmrc auth token", NameIs(&["authtoken"]), &[Assigned(16)]).near(&["//"]).check(Check::Random),
    // Language models.
    token("Anthropic API key", &[Lit(&["sk-ant-"]), Run(URL64, 32, OPEN)]),
    token("Langfuse key", &[Lit(&["sk-lf-"]), Uuid]),
    token("OpenRouter API key", &[Lit(&["sk-or-"]), Run(URL64, 32, 80)]),
    token("OpenAI API key", &[Lit(&["sk-proj-", "sk-svcacct-", "sk-admin-"]), Run(URL64, 40, OPEN)]),
    token("OpenAI API key", &[Lit(&["sk-"]), Run(ALNUM, 32, 64)]),
    token("Hugging Face token", &[Lit(&["hf_", "api_org_"]), Run(ALNUM, 34, 40)]),
    token("Groq API key", &[Lit(&["gsk_"]), Run(ALNUM, 40, 64)]),
    token("Replicate token", &[Lit(&["r8_"]), Run(ALNUM, 37, 40)]),
    token("xAI API key", &[Lit(&["xai-"]), Run(ALNUM, 60, 100)]),
    token("Perplexity API key", &[Lit(&["pplx-"]), Run(ALNUM, 40, 64)]),
    token(
        "LangSmith key",
        &[Lit(&["lsv2_pt_", "lsv2_sk_"]), Run(HEX, 32, 32), Lit(&["_"]), Run(HEX, 10, 10)],
    ),
    token("Pinecone key", &[Lit(&["pcsk_"]), Run(ALNUM, 4, 8), Lit(&["_"]), Run(ALNUM, 58, 68)]),
    token("Tavily key", &[Lit(&["tvly-dev-", "tvly-prod-", "tvly-"]), Run(ALNUM, 32, 40)]),
    token("ElevenLabs key", &[Lit(&["sk_"]), Run(HEX, 48, 48)]),
    token("Fireworks key", &[Lit(&["fw_"]), Run(ALNUM, 22, 24)]).check(Check::Key),
    token("Firecrawl key", &[Lit(&["fc-"]), Run(HEX, 32, 32)]),
    token("Voyage key", &[Lit(&["pa-"]), Run(URL64, 43, 43)]).check(Check::Key),
    token("Brave Search key", &[Lit(&["BSA"]), Run(URL64, 27, 28)]).check(Check::Key),
    token("Cursor key", &[Lit(&["key_"]), Run(HEX, 64, 64)]),
    // Messaging and mail.
    token(
        "Slack token",
        &[
            Lit(&["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxe.xoxp-", "xapp-"]),
            Run(ALNUM | DASH, 24, 300),
        ],
    ),
    token(
        "Slack webhook",
        &[
            Lead(&["https://hooks.slack.com/"]),
            Lit(&["services/T", "workflows/T", "triggers/T"]),
            Run(ALNUM, 6, 16),
            Lit(&["/"]),
            Run(ALNUM, 6, 24),
            Lit(&["/"]),
            Run(ALNUM, 16, 40),
        ],
    ),
    token(
        "Teams webhook",
        &[
            Lead(&["webhookb2/"]),
            Uuid,
            Lit(&["@"]),
            Uuid,
            Lit(&["/IncomingWebhook/"]),
            Run(HEX, 32, 32),
            Lit(&["/"]),
            Uuid,
        ],
    ),
    token(
        "Discord webhook",
        &[
            Lead(&["https://discord.com/api/webhooks/", "https://discordapp.com/api/webhooks/"]),
            Run(DIGIT, 17, 20),
            Lit(&["/"]),
            Run(URL64, 60, 80),
        ],
    ),
    token(
        "Discord bot token",
        &[
            Lit(&["M", "N", "O"]),
            Run(URL64, 23, 27),
            Lit(&["."]),
            Run(URL64, 6, 7),
            Lit(&["."]),
            Run(URL64, 27, 40),
        ],
    ),
    token("Telegram bot token", &[Run(DIGIT, 8, 10), Lit(&[":AA"]), Run(URL64, 32, 33)]),
    token("SendGrid API key", &[Lit(&["SG."]), Run(URL64, 16, 32), Lit(&["."]), Run(URL64, 16, 64)]),
    token("Mailgun API key", &[Lit(&["key-"]), Run(HEX, 32, 32)]),
    token("Mailgun API key", &[Run(HEX, 32, 32), Lit(&["-"]), Run(HEX, 8, 8), Lit(&["-"]), Run(HEX, 8, 8)]),
    token("Mailchimp API key", &[Run(HEX, 32, 32), Lit(&["-us"]), Run(DIGIT, 1, 2)]),
    token(
        "Brevo API key",
        &[Lit(&["xkeysib-", "xsmtpsib-"]), Run(HEX, 64, 64), Lit(&["-"]), Run(ALNUM, 16, 16)],
    ),
    token("Resend key", &[Lit(&["re_"]), Run(ALNUM, 8, 8), Lit(&["_"]), Run(ALNUM, 24, 24)])
        .check(Check::Key),
    token("Twilio API key", &[Lit(&["SK"]), Run(HEX, 32, 32)]),
    named("Twilio auth token", NameHas(&["twilioauth", "twiliotoken"]), &[Run(HEX, 32, 32)]),
    // Payments and shops.
    token("Stripe key", &[Lit(&["sk_live_", "rk_live_", "sk_test_", "rk_test_"]), Run(ALNUM, 20, 250)]),
    token("Stripe webhook secret", &[Lit(&["whsec_"]), Run(BASE64, 32, 80)]),
    token("Shopify token", &[Lit(&["shpat_", "shpss_", "shpca_", "shppa_"]), Run(HEX, 32, 32)]),
    token("Square token", &[Lit(&["sq0atp-", "sq0csp-"]), Run(URL64, 22, 43)]),
    token("Square token", &[Lit(&["EAAA"]), Run(URL64, 60, 60)]).short().check(Check::Dense),
    token("Plaid token", &[Lit(&["access-production-", "access-development-", "access-sandbox-"]), Uuid]),
    token("Adyen key", &[Lit(&["AQE"]), Run(BASE64 | DASH, 85, 240)]).short().check(Check::Dense),
    token("EasyPost key", &[Lit(&["EZAK", "EZTK"]), Run(ALNUM, 54, 54)]),
    token("Duffel token", &[Lit(&["duffel_live_", "duffel_test_"]), Run(URL64, 43, 43)]),
    token("Shippo token", &[Lit(&["shippo_live_", "shippo_test_"]), Run(HEX, 40, 40)]),
    token("Lob key", &[Lit(&["live_", "test_"]), Run(HEX, 35, 35)]),
    token(
        "Braintree token",
        &[Lit(&["access_token$production$"]), Run(LOWER_ALNUM, 16, 16), Lit(&["$"]), Run(HEX, 32, 32)],
    ),
    token("Razorpay key", &[Lit(&["rzp_live_"]), Run(ALNUM, 14, 14)]),
    token("Flutterwave key", &[Lit(&["FLWSECK-", "FLWSECK_TEST-"]), Run(ALNUM, 32, 32)]),
    token("Facebook token", &[Lit(&["EAA"]), Take(UPPER, 1), Run(ALNUM, 79, 400)])
        .short()
        .check(Check::Dense),
    token("Facebook token", &[Lit(&["EAA"]), Run(ALNUM, 80, 400)])
        .near(&["facebook", "fb_", "graph", "meta"]),
    token("X bearer token", &[Lit(&["AAAAAAAAAAAAAAAAAAAAA"]), Run(ALNUM | PERCENT, 60, 140)])
        .short()
        .check(Check::Dense),
    token(
        "Firebase server key",
        &[Lit(&["AAAA"]), Run(URL64, 7, 7), Lit(&[":APA91b"]), Run(URL64, 120, 160)],
    ),
    named("PagerDuty key", NameHas(&["pagerduty"]), &[Lit(&["u+"]), Run(URL64, 18, 18)]).check(Check::Token),
    named("Beamer key", NameHas(&["beamer"]), &[Lit(&["b_"]), Run(URL64, 44, 44)]),
    // Monitoring.
    token(
        "Sentry DSN",
        &[Lead(&["https://", "http://"]), Run(HEX, 32, 32), Lit(&["@"]), Run(ALNUM | DASH | DOT, 4, 80)],
    ),
    token("Sentry token", &[Lit(&["sntrys_", "sntryu_"]), Run(BASE64 | DASH, 60, 400)]),
    token("New Relic key", &[Lit(&["NRAK-", "NRAL-", "NRII-"]), Run(URL64, 27, 36)]),
    token("New Relic key", &[Lit(&["NRJS-"]), Run(HEX, 19, 19)]),
    named(
        "Datadog key",
        NameHas(&["datadogapi", "datadogapp", "datadogkey", "ddapikey", "ddappkey"]),
        &[Run(HEX, 32, 40)],
    ),
    token("Grafana token", &[Lit(&["glsa_"]), Run(ALNUM, 32, 32), Lit(&["_"]), Run(HEX, 8, 8)]),
    token("Grafana token", &[Lit(&["glc_"]), Run(BASE64, 32, 400)]),
    token("Grafana token", &[Lit(&["eyJrIjoi"]), Run(BASE64, 60, 400)]),
    token("Honeycomb key", &[Lit(&["hcaik_01", "hcxik_01"]), Run(LOWER_ALNUM, 58, 58)]),
    token("PostHog key", &[Lit(&["phx_"]), Run(ALNUM, 40, 50)]),
    token(
        "Dynatrace token",
        &[Lit(&["dt0c01.", "dt0s01."]), Run(UPPER_ALNUM, 24, 24), Lit(&["."]), Run(UPPER_ALNUM, 64, 64)],
    ),
    token("LaunchDarkly key", &[Lit(&["sdk-"]), Uuid]),
    token("LaunchDarkly key", &[Lit(&["api-", "mob-"]), Uuid]).near(&[
        "launchdarkly",
        "launch_darkly",
        "ld_",
    ]),
    // Infrastructure.
    token("Vault token", &[Lit(&["hvs.", "hvb.", "hvr."]), Run(URL64, 24, OPEN)]),
    token("Terraform Cloud token", &[Run(ALNUM, 14, 14), Lit(&[".atlasv1."]), Run(URL64, 60, 80)]),
    token("Pulumi token", &[Lit(&["pul-"]), Run(HEX, 40, 40)]),
    token(
        "Doppler token",
        &[Lit(&["dp.st.", "dp.pt.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."]), Run(URL64 | DOT, 40, 90)],
    ),
    token("1Password service token", &[Lit(&["ops_eyJ"]), Run(BASE64 | DASH, 100, 2000)]),
    token(
        "1Password secret key",
        &[
            Lit(&["A3-"]),
            Run(UPPER_ALNUM, 6, 6),
            Lit(&["-"]),
            Run(UPPER_ALNUM, 6, 6),
            Lit(&["-"]),
            Run(UPPER_ALNUM, 5, 5),
            Lit(&["-"]),
            Run(UPPER_ALNUM, 5, 5),
            Lit(&["-"]),
            Run(UPPER_ALNUM, 5, 5),
            Lit(&["-"]),
            Run(UPPER_ALNUM, 5, 5),
        ],
    ),
    token(
        "Defined Networking key",
        &[Lit(&["dnkey-"]), Run(LOWER_ALNUM, 26, 26), Lit(&["-"]), Run(LOWER_ALNUM, 52, 52)],
    ),
    token("age secret key", &[Lit(&["AGE-SECRET-KEY-1"]), Run(UPPER_ALNUM, 58, 58)]),
    // Productivity and data.
    token("MaxMind key", &[Take(ALNUM, 6), Lit(&["_"]), Take(ALNUM, 29), Lit(&["_mmk"])]),
    token("Mapbox token", &[Lit(&["sk.eyJ1Ijoi"]), Run(URL64, 40, 120), Lit(&["."]), Run(URL64, 20, 40)]),
    token("Intra 42 secret", &[Lit(&["s-s4t2ud-", "u-s4t2ud-"]), Run(HEX, 64, 64)]),
    token("Typeform token", &[Lit(&["tfp_"]), Run(URL64 | DOT, 40, 64)]),
    token("Frame.io token", &[Lit(&["fio-u-"]), Run(URL64, 64, 64)]),
    token("ReadMe key", &[Lit(&["rdme_"]), Run(LOWER_ALNUM, 70, 70)]),
    token("Stytch secret", &[Lit(&["secret-live-", "secret-test-"]), Run(URL64, 34, 40)]),
    token("Adafruit key", &[Lit(&["aio_"]), Run(ALNUM, 28, 28)]),
    token("Linear API key", &[Lit(&["lin_api_", "lin_oauth_"]), Run(ALNUM, 40, 64)]),
    token("Notion token", &[Lit(&["ntn_"]), Run(ALNUM, 40, 50)]),
    token("Notion token", &[Lit(&["secret_"]), Run(ALNUM, 43, 43)]),
    token("Airtable token", &[Lit(&["pat"]), Run(ALNUM, 14, 14), Lit(&["."]), Run(HEX, 64, 64)]),
    token("Atlassian token", &[Lit(&["ATATT3"]), Run(BASE64 | DASH, 60, 300)]),
    token("Figma token", &[Lit(&["figd_", "figo_"]), Run(URL64, 38, 60)]),
    token("Postman API key", &[Lit(&["PMAK-"]), Run(HEX, 24, 24), Lit(&["-"]), Run(HEX, 34, 34)]),
    token("HubSpot token", &[Lit(&["pat-na1-", "pat-na2-", "pat-eu1-"]), Uuid]),
    token("Contentful token", &[Lit(&["CFPAT-"]), Run(URL64, 43, 43)]),
    token("Dropbox token", &[Lit(&["sl.u.", "sl."]), Run(URL64, 120, OPEN)]),
    named("Okta token", NameHas(&["okta", "ssws"]), &[Lit(&["00"]), Run(URL64, 40, 40)]),
    // Formats of no particular vendor.
    named("recovery phrase", NameEnds(&["mnemonic", "phrase", "seed"]), &[Phrase]).check(Check::Shape),
    token(
        "Django secret key",
        &[Lit(&["django-insecure-"]), Run(LOWER_ALNUM | DASH | PLUS | PERCENT | SIGN, 50, 50)],
    ),
    token("private key", PEM),
    token("PuTTY private key", &[Lead(&["Private-Lines: "]), Skip(DIGIT, 1, 3), PemBody]),
    token(
        "JWT",
        &[
            Lit(&["eyJ"]),
            Run(URL64, 10, OPEN),
            Lit(&[".eyJ"]),
            Run(URL64, 10, OPEN),
            Lit(&["."]),
            Run(URL64, 20, OPEN),
        ],
    ),
    url("PostgreSQL connection string", &["postgres", "postgresql"]),
    url("MySQL connection string", &["mysql", "mariadb"]),
    url("MongoDB connection string", &["mongodb"]),
    url("Redis connection string", &["redis", "rediss", "valkey"]),
    url("AMQP connection string", &["amqp", "amqps"]),
    url("SQL Server connection string", &["sqlserver", "mssql"]),
    url("password in a URL", &[]),
    named("database connection string", NameIs(&["password", "pwd"]), &[Assigned(6)])
        .near(&["server=", "data source=", "host=", "user id=", "uid=", "jdbc:"])
        .check(Check::Userinfo),
    named(
        "Authorization header",
        NameIs(&["authorization", "proxyauthorization"]),
        &[Lead(&["Basic ", "basic "]), Run(BASE64 | DASH, 12, OPEN)],
    )
    .check(Check::Basic),
    named(
        "Authorization header",
        NameIs(&["authorization", "proxyauthorization"]),
        &[
            Lead(&["Bearer ", "bearer ", "Token ", "token ", "ApiKey ", "SSWS "]),
            Run(BASE64 | DASH | DOT | TILDE, 16, OPEN),
        ],
    )
    .check(Check::Random),
    named("Docker registry login", NameIs(&["auth"]), &[Run(BASE64, 12, 400)]).check(Check::Basic),
    token(
        ".pgpass password",
        &[
            Lead(&[":5432:", ":5433:", ":6432:"]),
            Skip(FIELD, 1, 64),
            Lead(&[":"]),
            Skip(FIELD, 1, 64),
            Lead(&[":"]),
            Assigned(6),
        ],
    )
    .check(Check::Password),
    token(
        "htpasswd hash",
        &[Lead(&[":"]), Lit(&["$2y$"]), Take(DIGIT, 2), Lit(&["$"]), Run(ALNUM | PLUS | DOT, 53, 53)],
    ),
    token(
        "htpasswd hash",
        &[
            Lead(&[":"]),
            Lit(&["$apr1$"]),
            Run(ALNUM | PLUS | DOT, 1, 8),
            Lit(&["$"]),
            Run(ALNUM | PLUS | DOT, 22, 22),
        ],
    ),
    token(
        "password on a command line",
        &[Lead(&[" -u ", " --user "]), Skip(FIELD, 1, 64), Lead(&[":"]), Assigned(6)],
    )
    .near(&["curl"])
    .check(Check::Userinfo),
    token("password on a command line", &[Lead(&[" -p"]), Assigned(6)])
        .near(&["mysql", "mariadb"])
        .check(Check::Userinfo),
    token("password on a command line", &[Lead(&[" -p "]), Assigned(6)])
        .near(&["docker login", "podman login"])
        .check(Check::Userinfo),
    token("password on a command line", &[Lead(&["sshpass -p ", "sshpass -p"]), Assigned(6)])
        .check(Check::Userinfo),
    token(".netrc password", &[Lead(&["password "]), Assigned(6)]).near(&["login "]).check(Check::Said),
    token("password", &[Lead(&["--password ", "--passphrase "]), Assigned(8)]).check(Check::Password),
    named("password", NameEnds(&["password", "passwd", "pwd", "passphrase", "dbpass"]), &[Assigned(8)])
        .check(Check::Password),
    token("API key", &[Lead(&["--api-key ", "--apikey "]), Assigned(16)]).check(Check::Random),
    named(
        "API key",
        NameEnds(&["apikey", "accesskey", "accountkey", "authkey", "licensekey", "writekey"]),
        &[Assigned(16)],
    )
    .check(Check::Random),
    named(
        "secret",
        NameEnds(&[
            "secret",
            "secretkey",
            "secretkeybase",
            "privatekey",
            "signingkey",
            "encryptionkey",
            "masterkey",
        ]),
        &[Assigned(16)],
    )
    .check(Check::Random),
    token("token", &[Lead(&["--token ", "--auth-token "]), Assigned(16)]).check(Check::Random),
    named("token", NameEnds(&["token", "credential", "credentials", "bearer"]), &[Assigned(16)])
        .check(Check::Random),
];
