//! Validates a record and reports all its faults at once.

use super::draft::unfilled_fault;
use super::fields::{self, Field, FieldGroup, FieldType, Requirement, SCHEMA_VERSION};
use crate::json::{Json, JsonFormat, Object};
use crate::memory::{Address, Category};
use crate::refusal::{FieldFault, Refusal};
use crate::secret;
use crate::steps;
use crate::text::{SLUG_MAX, cut, is_slug};
use crate::time::{TimeFault, Timestamp};

const GOT_MAX: usize = 200;
pub(super) const FAULTS_MAX: usize = 100;
pub(super) const SLUG_PATTERN: &str = "^[a-z0-9]([a-z0-9-]{0,78}[a-z0-9])?$";
/// The times that [`Timestamp::read`] accepts: months of 31, of 30 and of 28 days, and 29 February of leap years.
pub(super) const TIME_PATTERN: &str = concat!(
    "^([0-9]{4}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
    "|[0-9]{4}-(0[469]|11)-(0[1-9]|[12][0-9]|30)",
    "|[0-9]{4}-02-(0[1-9]|1[0-9]|2[0-8])",
    "|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)",
    "([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:([0-5][0-9]|60)(\\.[0-9]+)?)?([Zz]|[+-]([01][0-9]|2[0-3]):?[0-5][0-9])?)?$",
);

/// The faults of a record in field order, unknown fields last; after the first hundred only their number.
pub fn validate(record: &Object, category: Category) -> Vec<FieldFault> {
    let mut faults = FaultList::default();
    each_fault(record, category, &mut |found| faults.take(&found));
    faults.into_list()
}

/// The first faults and the number of the others. A record of 1 MiB can have 100,000.
#[derive(Default)]
pub(super) struct FaultList {
    first: Vec<FieldFault>,
    more: usize,
}

impl FaultList {
    pub(super) fn take(&mut self, found: &RawFault<'_>) {
        if self.first.len() < FAULTS_MAX { self.first.push(found.fault()) } else { self.more += 1 }
    }

    /// Adds a field that still has the template's placeholder.
    pub(super) fn take_unfilled(&mut self, field: String) {
        if self.first.len() == FAULTS_MAX {
            self.more += 1;
            return;
        }
        self.first.push(unfilled_fault(field));
    }

    pub(super) fn refuse(self, address: &Address) -> Result<(), Refusal> {
        let faults = self.into_list();
        if faults.is_empty() { Ok(()) } else { Err(Refusal::Invalid { address: address.clone(), faults }) }
    }

    fn into_list(mut self) -> Vec<FieldFault> {
        self.first.extend(FieldFault::more(self.more));
        self.first
    }
}

/// A fault that is not formatted yet: formatting masks secrets in the value, which is expensive.
pub(super) struct RawFault<'f> {
    path: &'f Path<'f>,
    pub(super) expected: String,
    got: ActualValue<'f>,
    fix: &'f dyn Fn() -> String,
}

enum ActualValue<'f> {
    Value(&'f Json),
    Object(&'f Object),
}

impl RawFault<'_> {
    pub(super) fn field(&self) -> String {
        self.path.text()
    }

    fn fault(&self) -> FieldFault {
        steps::add(1);
        let got = match self.got {
            ActualValue::Value(value) => value.render(JsonFormat::SCRIPT_LINE),
            ActualValue::Object(object) => Json::Object(object.clone()).render(JsonFormat::SCRIPT_LINE),
        };
        // Masked before it is cut: the scanner would not recognise half a secret, and half of it would be shown.
        let got = cut(&secret::masked(&got), GOT_MAX);
        FieldFault { field: self.field(), expected: self.expected.clone(), got, fix: (self.fix)() }
    }
}

type Visit<'v> = dyn FnMut(RawFault<'_>) + 'v;

pub(super) fn each_fault(record: &Object, category: Category, visit: &mut Visit<'_>) {
    check_group(&fields::BASE, record, &Path::Root, category, visit);
}

/// The path of a value. It is formatted only for a fault: most records have none, and every record that is read is
/// validated.
pub(super) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>, usize),
}

impl Path<'_> {
    fn text(&self) -> String {
        match self {
            Path::Root => String::new(),
            Path::Key(Path::Root, key) => (*key).to_owned(),
            Path::Key(outer, key) => format!("{}.{key}", outer.text()),
            Path::Item(outer, at) => format!("{}.{at}", outer.text()),
        }
    }
}

fn check_group(
    group: &FieldGroup,
    object: &Object,
    path: &Path<'_>,
    category: Category,
    visit: &mut Visit<'_>,
) {
    for field in group.fields {
        let path = Path::Key(path, field.name);
        match (object.get(field.name), field.need) {
            (None, Requirement::Required) => {
                let fix = || format!("add it: {}", example(field));
                let expected = "Field required".to_owned();
                visit(RawFault { path: &path, expected, got: ActualValue::Object(object), fix: &fix });
            }
            (None, _) | (Some(Json::Null), Requirement::Optional) => {}
            (Some(value), _) => check(&field.kind, value, &path, category, visit),
        }
    }
    for (key, value) in object.iter().filter(|(key, _)| !group.fields.iter().any(|field| field.name == *key))
    {
        let names =
            |group: &FieldGroup| group.fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ");
        let fix = || match path {
            Path::Root => format!(
                "remove it; the fields here are {}; those of content are {}",
                names(group),
                names(fields::content(category))
            ),
            _ => format!("remove it; the fields here are {}", names(group)),
        };
        let expected = "Extra inputs are not permitted".to_owned();
        visit(RawFault { path: &Path::Key(path, key), expected, got: ActualValue::Value(value), fix: &fix });
    }
}

fn check(kind: &FieldType, value: &Json, path: &Path<'_>, category: Category, visit: &mut Visit<'_>) {
    let fix = || mend(kind, value, &path.text());
    let mut wrong =
        |expected: String| visit(RawFault { path, expected, got: ActualValue::Value(value), fix: &fix });
    match (kind, value) {
        (FieldType::Any, _) | (FieldType::Flag, Json::Bool(_)) => {}
        (FieldType::Version, Json::Text(text)) if text == SCHEMA_VERSION => {}
        (FieldType::Version, _) => wrong(one_of(&[SCHEMA_VERSION])),
        (FieldType::OwnCategory, Json::Text(text)) if text == category.name() => {}
        (FieldType::OwnCategory, _) => wrong(one_of(&[category.name()])),
        (FieldType::Choice(choices), Json::Text(text)) if choices.contains(&text.as_str()) => {}
        (FieldType::Choice(choices), _) => wrong(one_of(choices)),
        (FieldType::Text { max }, Json::Text(text)) => {
            if let Some(max) = max.filter(|max| text.chars().nth(*max).is_some()) {
                wrong(format!("String should have at most {max} characters"));
            }
        }
        (FieldType::Slug, Json::Text(text)) => {
            if !is_slug(text) {
                wrong(format!("String should match pattern '{SLUG_PATTERN}'"));
            }
        }
        (FieldType::Time, Json::Text(text)) => {
            if let Err(fault) = Timestamp::read(text) {
                wrong(match fault {
                    TimeFault::Form => {
                        "String should be a UTC timestamp such as 2026-01-31T09:00:00Z".to_owned()
                    }
                    TimeFault::Date => "String should be a date that exists".to_owned(),
                });
            }
        }
        (FieldType::Text { .. } | FieldType::Slug | FieldType::Time, _) => {
            wrong("Input should be a valid string".to_owned())
        }
        (FieldType::Fraction, Json::Number(_)) => match value.as_f64() {
            Some(number) if number < 0.0 => wrong("Input should be greater than or equal to 0".to_owned()),
            Some(number) if number <= 1.0 => {}
            _ => wrong("Input should be less than or equal to 1".to_owned()),
        },
        (FieldType::Fraction, Json::Text(_)) => {
            wrong("Input should be a valid number, unable to parse string as a number".to_owned());
        }
        (FieldType::Fraction, _) => wrong("Input should be a valid number".to_owned()),
        (FieldType::Count, Json::Number(_)) => match value.as_f64() {
            Some(number) if number.fract() != 0.0 => {
                wrong("Input should be a valid integer, got a number with a fractional part".to_owned());
            }
            Some(number) if number < 0.0 => wrong("Input should be greater than or equal to 0".to_owned()),
            _ if value.as_u64().is_none() => wrong("Input should be a valid integer".to_owned()),
            _ => {}
        },
        (FieldType::Count, Json::Text(_)) => {
            wrong("Input should be a valid integer, unable to parse string as an integer".to_owned());
        }
        (FieldType::Count, _) => wrong("Input should be a valid integer".to_owned()),
        (FieldType::Flag, Json::Text(_) | Json::Number(_)) => {
            wrong("Input should be a valid boolean, unable to interpret input".to_owned());
        }
        (FieldType::Flag, _) => wrong("Input should be a valid boolean".to_owned()),
        (FieldType::List { of, min, max }, Json::List(items)) => {
            if items.len() < *min {
                wrong(format!("List should have at least {min} item after validation, not {}", items.len()));
            }
            if let Some(max) = max.filter(|max| items.len() > *max) {
                wrong(format!("List should have at most {max} items after validation, not {}", items.len()));
            }
            for (at, item) in items.iter().enumerate() {
                check(of, item, &Path::Item(path, at), category, visit);
            }
        }
        (FieldType::List { .. }, _) => wrong("Input should be a valid list".to_owned()),
        (FieldType::Group(_) | FieldType::OwnContent, value) => {
            let Some(group) = fields::group_of(kind, category) else { return };
            match value {
                Json::Object(object) => check_group(group, object, path, category, visit),
                _ => wrong(format!("Input should be a valid dictionary or instance of {}", group.model)),
            }
        }
    }
}

fn one_of(choices: &[&str]) -> String {
    let quoted: Vec<String> = choices.iter().map(|choice| format!("'{choice}'")).collect();
    match quoted.split_last() {
        Some((last, [])) => format!("Input should be {last}"),
        Some((last, rest)) => format!("Input should be {} or {last}", rest.join(", ")),
        None => String::new(),
    }
}

fn mend(kind: &FieldType, value: &Json, path: &str) -> String {
    match (kind, value) {
        (FieldType::Text { max: Some(max) }, Json::Text(_)) => {
            format!("shorten {path} to a text of at most {max} characters")
        }
        (FieldType::Text { max: Some(max) }, _) => format!("give {path} a text of at most {max} characters"),
        (FieldType::Slug, _) => format!("use 1 to {SLUG_MAX} lowercase letters, digits and dashes"),
        (FieldType::Choice(choices), _) => format!("choose one of {}", choices.join(", ")),
        _ => format!("give {path} {}", wanted(kind)),
    }
}

fn wanted(kind: &FieldType) -> &'static str {
    match kind {
        FieldType::Version => "the value \"1.0\"",
        FieldType::OwnCategory => "the category's own name",
        FieldType::Text { .. } | FieldType::Slug => "a text",
        FieldType::Time => "a time such as 2026-01-31T09:00:00Z",
        FieldType::Choice(_) => "one of the choices",
        FieldType::Fraction => "a number from 0 to 1",
        FieldType::Count => "a whole number from 0",
        FieldType::Flag => "true or false",
        FieldType::List { of: FieldType::Text { .. }, min: 0, .. } => "a list of texts",
        FieldType::List { of: FieldType::Text { .. }, .. } => "a list of at least one text",
        FieldType::List { .. } => "a list of objects",
        FieldType::Group(_) | FieldType::OwnContent => "an object",
        FieldType::Any => "any value",
    }
}

fn example(field: &Field) -> String {
    match field.kind {
        FieldType::Choice(choices) => format!("{} is one of {}", field.name, choices.join(", ")),
        _ => format!("{} is {}", field.name, wanted(&field.kind)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Formatting a fault costs most: 60,000 bad items took 11 seconds.
    #[test]
    fn no_more_faults_are_told_than_somebody_reads() {
        let items = Json::List(vec![Json::number(0); 10_000]);
        let record = [("related_files", items)].into_iter().collect();
        let mut faults = Vec::new();
        let told = steps::of(|| faults = validate(&record, Category::Decision));
        assert_eq!((told, faults.len()), (FAULTS_MAX, FAULTS_MAX + 1));
    }
}
