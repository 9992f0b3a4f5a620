//! Lists the public methods of one type, from all its `impl` blocks.

use super::codebase::Codebase;
use super::uses::{is_word, tokens};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Method {
    pub(super) path: String,
    pub(super) name: String,
}

/// What other crates can call: `pub fn` in `impl Type`, without methods of traits.
pub(super) fn public_methods(codebase: &Codebase, crate_name: &str, type_name: &str) -> Vec<Method> {
    let mut methods = Vec::new();
    for file in codebase.files.iter().filter(|file| file.crate_name() == crate_name) {
        let tokens: Vec<&str> = tokens(&file.code).into_iter().map(|(token, _)| token).collect();
        let names = public_functions(&tokens, type_name).into_iter();
        methods.extend(names.map(|name| Method { path: file.path.clone(), name: name.to_owned() }));
    }
    methods.sort();
    methods
}

fn public_functions<'t>(tokens: &[&'t str], type_name: &str) -> Vec<&'t str> {
    let mut names = Vec::new();
    let mut depth = 0;
    // The brace depth inside the current `impl` block.
    let mut inside = None;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inside = inside.filter(|inside| *inside <= depth);
            }
            "impl" if inside.is_none() && implements(&tokens[at + 1..], type_name) => {
                inside = Some(depth + 1)
            }
            "pub" if inside == Some(depth) => names.extend(function_name(&tokens[at + 1..])),
            _ => {}
        }
    }
    names
}

/// Whether what follows an `impl` is `<…> path::Type<…> {`.
fn implements(tokens: &[&str], type_name: &str) -> bool {
    let rest = without_generics(tokens);
    let length = rest.iter().take_while(|token| **token == "::" || token.starts_with(is_word)).count();
    let path = &rest[..length];
    let path = path.split(|token| *token == "where").next().unwrap_or(path);
    // Methods in `impl Trait for Type` belong to the trait.
    !path.contains(&"for")
        && path.last() == Some(&type_name)
        && matches!(without_generics(&rest[path.len()..]).first(), Some(&"{" | &"where"))
}

fn without_generics<'s, 't>(tokens: &'s [&'t str]) -> &'s [&'t str] {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "<" => depth += 1,
            ">" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return if *token == ">" { &tokens[at + 1..] } else { &tokens[at..] };
        }
    }
    &[]
}

/// The name in `const fn name`; `None` for a field, a constant, and `pub(crate)`.
fn function_name<'t>(tokens: &[&'t str]) -> Option<&'t str> {
    let qualifiers =
        tokens.iter().take_while(|token| matches!(**token, "const" | "async" | "unsafe")).count();
    match &tokens[qualifiers..] {
        ["fn", name, ..] => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_inherent_methods_are_counted() {
        for (code, expected) in [
            ("impl Desk { pub fn a(&self) {} fn b() {} pub(crate) fn c() {} pub fn d() {} }", "a d"),
            ("impl<'a, D: Disk> Desk<'a, D> where D: X { pub fn a() {} }", "a"),
            ("impl super::Desk { pub const fn a() {} pub async fn b() {} pub const C: u8 = 1; }", "a b"),
            ("impl Drop for Desk { pub fn a() {} }", ""),
            ("impl From<u8> for Desk { pub fn a() {} }", ""),
            ("impl Other { pub fn a(desk: Desk) {} } pub fn b() -> impl Desk { }", ""),
            ("impl Desk { fn a() { struct X; impl X { pub fn b() {} } } pub fn c() {} } pub fn d() {}", "c"),
            ("struct Desk { pub a: u8 }", ""),
            ("#[cfg(test)]\nimpl Desk { pub fn a() {} }", ""),
        ] {
            let files = [("crates/b/src/c.rs".to_owned(), code.to_owned())];
            let codebase = Codebase::read(&files);
            let methods = public_methods(&codebase, "b", "Desk");
            let names: Vec<&str> = methods.iter().map(|method| method.name.as_str()).collect();
            assert_eq!(names.join(" "), expected, "{code}");
            assert_eq!(public_methods(&codebase, "other", "Desk"), []);
        }
    }
}
