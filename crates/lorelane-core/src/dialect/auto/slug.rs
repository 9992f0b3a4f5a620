//! The name of a project's folder in Claude Code's `projects` folder.

/// A longer path is cut here, and a hash of the whole path is added.
const SLUG_MAX: usize = 200;

/// The name that Claude Code gives a project: every UTF-16 unit that is not a letter or digit of ASCII becomes a
/// dash. Two paths may have the same name, so a folder of this name is only a hint.
pub fn project_slug(path: &str) -> String {
    let dashed = |unit: u16| char::from_u32(unit.into()).filter(char::is_ascii_alphanumeric).unwrap_or('-');
    let slug: String = path.encode_utf16().map(dashed).collect();
    if slug.len() <= SLUG_MAX {
        return slug;
    }
    format!("{}-{}", &slug[..SLUG_MAX], base36(path_hash(path).unsigned_abs()))
}

/// The part of a long path's name that every version of the client agrees on; `None` if the path is short enough to
/// have no hash.
pub fn long_slug_prefix(slug: &str) -> Option<&str> {
    slug.get(..=SLUG_MAX).filter(|prefix| prefix.ends_with('-') && slug.len() > SLUG_MAX + 1)
}

fn path_hash(path: &str) -> i32 {
    path.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

fn base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.extend(char::from_digit(number % 36, 36));
        number /= 36;
    }
    digits.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sign_is_one_dash_per_unit() {
        let table = [
            ("/u/me/proj/.worktrees/2573", "-u-me-proj--worktrees-2573"),
            ("/u/me/.agents", "-u-me--agents"),
            ("E:\\MatLab_HomeWork", "E--MatLab-HomeWork"),
            ("/t/café/😀", "-t-caf----"),
            ("/w/a_b/x.y", "-w-a-b-x-y"),
            ("/w/a-b/x-y", "-w-a-b-x-y"),
            ("", ""),
        ];
        for (path, expected) in table {
            assert_eq!(project_slug(path), expected, "{path}");
        }
    }

    #[test]
    fn a_long_path_ends_in_a_hash_of_the_whole_path() {
        let long = project_slug(&"/a".repeat(120));
        assert_eq!(long.len(), 207);
        assert!(long.ends_with("-vbgiog") && long.starts_with("-a-a-a"), "{long}");
        assert_eq!(long_slug_prefix(&long), Some(&long[..201]));
        let whole = project_slug(&"/a".repeat(100));
        assert_eq!((whole.len(), long_slug_prefix(&whole)), (200, None));
    }
}
