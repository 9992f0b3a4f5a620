//! Arguments as Python's `argparse` reads them.

use super::ScriptOutput;
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: &'static str,
    pub(super) options: &'static [Flag],
}

#[derive(Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) takes: OptionValue,
    pub(super) need: OptionNeed,
}

#[derive(Debug)]
pub(super) enum OptionValue {
    Nothing,
    /// Any text; the name is its placeholder in the usage line.
    Text(&'static str),
    Choice(fn() -> Vec<&'static str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OptionNeed {
    Optional,
    Required,
    /// One of a group: exactly one of them is required.
    OneOf,
}

/// The given options. Of a repeated one the last value counts.
#[derive(Debug, Default)]
pub(super) struct ScriptOptions(BTreeMap<&'static str, String>);

impl ScriptOptions {
    pub(super) fn has(&self, option: &str) -> bool {
        self.0.contains_key(option)
    }

    pub(super) fn text(&self, option: &str) -> Option<&str> {
        self.0.get(option).map(String::as_str)
    }

    /// Like [`ScriptOptions::text`], but an empty text counts as absent, as in the scripts.
    pub(super) fn filled(&self, option: &str) -> Option<&str> {
        self.text(option).filter(|text| !text.is_empty())
    }
}

impl Script {
    /// Parses the arguments, or returns help or a usage error.
    pub(super) fn read(&self, arguments: &[String]) -> Result<ScriptOptions, ScriptOutput> {
        let mut given = ScriptOptions::default();
        let mut unrecognized = Vec::new();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (typed, explicit) = match argument.split_once('=') {
                Some((typed, value)) if typed.starts_with("--") => (typed, Some(value)),
                _ => (argument.as_str(), None),
            };
            if typed == "-h" || typed == "--help" {
                return Err(ScriptOutput { out: self.usage(), ..ScriptOutput::default() });
            }
            let Some(flag) = self.find(typed)? else {
                unrecognized.push(argument.as_str());
                continue;
            };
            let value = match (&flag.takes, explicit) {
                (OptionValue::Nothing, None) => String::new(),
                (OptionValue::Nothing, Some(value)) => {
                    return Err(self.wrong_value(flag, &format!("ignored explicit argument '{value}'")));
                }
                (_, Some(value)) => value.to_owned(),
                (_, None) => match rest.as_slice().first() {
                    Some(value) if !self.looks_like_an_option(value) => {
                        rest.next();
                        value.clone()
                    }
                    _ => return Err(self.wrong_value(flag, "expected one argument")),
                },
            };
            self.check(flag, &value, &given)?;
            given.0.insert(flag.name, value);
        }
        self.check_needs(&given)?;
        if !unrecognized.is_empty() {
            return Err(self.wrong(&format!("unrecognized arguments: {}", unrecognized.join(" "))));
        }
        Ok(given)
    }

    /// The option of this name, or the only one with this prefix.
    fn find(&self, typed: &str) -> Result<Option<&Flag>, ScriptOutput> {
        if let Some(flag) = self.options.iter().find(|flag| flag.name == typed) {
            return Ok(Some(flag));
        }
        let long = typed.len() > 2 && typed.starts_with("--");
        let near: Vec<&Flag> =
            self.options.iter().filter(|flag| long && flag.name.starts_with(typed)).collect();
        match near.as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only)),
            several => {
                let names: Vec<&str> = several.iter().map(|flag| flag.name).collect();
                Err(self.wrong(&format!("ambiguous option: {typed} could match {}", names.join(", "))))
            }
        }
    }

    /// A text with a space is a value even if it begins with a dash.
    fn looks_like_an_option(&self, argument: &str) -> bool {
        let number = argument.strip_prefix('-').is_some_and(|rest| rest.parse::<f64>().is_ok());
        argument.len() > 1 && argument.starts_with('-') && !number && !argument.contains(' ')
    }

    fn check(&self, flag: &Flag, value: &str, given: &ScriptOptions) -> Result<(), ScriptOutput> {
        if let OptionValue::Choice(choices) = flag.takes
            && !choices().contains(&value)
        {
            let quoted: Vec<String> = choices().iter().map(|choice| format!("'{choice}'")).collect();
            let what = format!("invalid choice: '{value}' (choose from {})", quoted.join(", "));
            return Err(self.wrong_value(flag, &what));
        }
        let is_rival = |other: &&Flag| {
            flag.need == OptionNeed::OneOf && other.need == OptionNeed::OneOf && other.name != flag.name
        };
        match self.options.iter().filter(is_rival).find(|rival| given.has(rival.name)) {
            Some(rival) => Err(self.wrong_value(flag, &format!("not allowed with argument {}", rival.name))),
            None => Ok(()),
        }
    }

    fn check_needs(&self, given: &ScriptOptions) -> Result<(), ScriptOutput> {
        let names = |need: OptionNeed| -> Vec<&str> {
            self.options.iter().filter(|flag| flag.need == need).map(|flag| flag.name).collect()
        };
        let missing: Vec<&str> =
            names(OptionNeed::Required).into_iter().filter(|name| !given.has(name)).collect();
        if !missing.is_empty() {
            return Err(self.wrong(&format!("the following arguments are required: {}", missing.join(", "))));
        }
        let one_of = names(OptionNeed::OneOf);
        if !one_of.is_empty() && !one_of.iter().any(|name| given.has(name)) {
            return Err(self.wrong(&format!("one of the arguments {} is required", one_of.join(" "))));
        }
        Ok(())
    }

    fn wrong_value(&self, flag: &Flag, what: &str) -> ScriptOutput {
        self.wrong(&format!("argument {}: {what}", flag.name))
    }

    fn wrong(&self, what: &str) -> ScriptOutput {
        let err = format!("{}{}: error: {what}\n", self.usage(), self.name);
        ScriptOutput { out: String::new(), err, code: 2 }
    }

    fn usage(&self) -> String {
        let shown = |flag: &Flag| match flag.takes {
            OptionValue::Nothing => flag.name.to_owned(),
            OptionValue::Text(called) => format!("{} {called}", flag.name),
            OptionValue::Choice(choices) => format!("{} {{{}}}", flag.name, choices().join(",")),
        };
        let mut usage = format!("usage: {} [-h]", self.name);
        for flag in self.options.iter().filter(|flag| flag.need != OptionNeed::OneOf) {
            let flag_shown = shown(flag);
            usage.push_str(&match flag.need {
                OptionNeed::Required => format!(" {flag_shown}"),
                _ => format!(" [{flag_shown}]"),
            });
        }
        let one_of: Vec<String> =
            self.options.iter().filter(|flag| flag.need == OptionNeed::OneOf).map(shown).collect();
        if !one_of.is_empty() {
            usage.push_str(&format!(" ({})", one_of.join(" | ")));
        }
        usage.push('\n');
        usage
    }
}
