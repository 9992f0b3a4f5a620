//! One line on why a file written by hand is not a valid record.

use super::Records;
use super::model::open;
use super::validate::validate;
use crate::json::{Json, Object};
use crate::memory::Category;
use crate::path::RelPath;
use crate::refusal::FieldFault;
use crate::text::{cut, one_line};

const COMPLAINT_MAX: usize = 400;
/// The validator's text for a missing field.
const MISSING: &str = "Field required";

impl Records {
    /// What is wrong with a file in the lane; `None` for a valid record. Faults that no reader fails on, such as a
    /// duplicate key, are left to `doctor`.
    pub fn complaint(path: &RelPath, bytes: &[u8]) -> Option<String> {
        let what = match judged(path, bytes) {
            Ok(()) => return None,
            Err(what) => what,
        };
        Some(cut(&one_line(&what), COMPLAINT_MAX))
    }
}

fn judged(path: &RelPath, bytes: &[u8]) -> Result<(), String> {
    let address = Records::address_of(path)
        .ok_or("a memory belongs in the folder of its category, with a name of a-z, 0-9 and -")?;
    let category = address.category().ok_or("its folder is not the folder of a category")?;
    let text = std::str::from_utf8(bytes)
        .map_err(|fault| format!("it is not UTF-8 from byte {}", fault.valid_up_to()))?;
    let Json::Object(record) = open(text)?.root.into_json() else {
        return Err("it is not a JSON object".to_owned());
    };
    match validate(&record, category).as_slice() {
        [] => Ok(()),
        faults => Err(told(faults, &record, category)),
    }
}

/// Uses the wording of the `claude-memory` scripts where they have one: agents know it.
fn told(faults: &[FieldFault], record: &Object, category: Category) -> String {
    let is_missing = |fault: &&FieldFault| fault.expected == MISSING && !fault.field.contains('.');
    let missing: Vec<&str> = faults.iter().filter(is_missing).map(|fault| fault.field.as_str()).collect();
    if !missing.is_empty() {
        return format!("Missing required fields: {}", missing.join(", "));
    }
    let Some(first) = faults.first() else { return String::new() };
    match (first.field.as_str(), record.get(&first.field)) {
        ("category", Some(found)) => format!(
            "Category mismatch: file in '{}' folder but category is '{}'",
            category.folder(),
            found.as_text().unwrap_or(&first.got)
        ),
        ("tags", found) if found.and_then(Json::as_list).is_none_or(<[Json]>::is_empty) => {
            "tags must be a non-empty array".to_owned()
        }
        ("content", Some(found)) if found.as_object().is_none() => "content must be an object".to_owned(),
        (field, _) => {
            let more =
                if faults.len() > 1 { format!(" and {} more", faults.len() - 1) } else { String::new() };
            format!("{field}: {} (got {}){more}", first.expected, first.got)
        }
    }
}
