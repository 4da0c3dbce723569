//! The inverse of `pack`, for bytes that anyone may have written.

use super::pack::{CHILDREN_FOLLOW, COUNT_FOLLOWS, EXTENSIONS, VERSION};
use super::parts::{TreeError, interval_us_at, source_of};
use super::varint::{Cursor, unzigzag};
use loopbox_format::codec;
use loopbox_format::model::{Location, LocationId, Method, MethodId, StackTree, TreeNode, Uptime};

/// A tree with its own names and locations.
#[derive(Debug, PartialEq)]
pub(super) struct Unpacked {
    pub(super) methods: Vec<Method>,
    pub(super) locations: Vec<Location>,
    pub(super) tree: StackTree,
}

/// Unpacks a tree. Its strings and methods are counted against `budget`: a string may share nearly all of its
/// bytes with the one before, and a method may repeat any string, so the input does not limit their sum.
///
/// All indexes in the result are valid.
pub(super) fn unpack(bytes: &[u8], budget: &mut usize) -> Result<Unpacked, TreeError> {
    let mut from = Cursor(bytes);
    match from.byte() {
        Some(VERSION) => {}
        Some(version) => return Err(TreeError::Version(version)),
        None => return Err(TreeError::Cut),
    }
    let len = from.count().ok_or(TreeError::Cut)?;
    let mut tree: StackTree = codec::decode(from.bytes(len).ok_or(TreeError::Cut)?)?;
    let strings = strings(&mut from, budget)?;
    let methods = methods(&mut from, &strings, budget)?;
    let locations = locations(&mut from, methods.len())?;
    tree.sample_deltas_ns = samples(&mut from, &tree).ok_or(TreeError::Cut)?;
    tree.nodes = nodes(&mut from, locations.len())?;
    match from.byte() {
        None => Ok(Unpacked { methods, locations, tree }),
        Some(_) => Err(TreeError::Trailing),
    }
}

fn spend(budget: &mut usize, bytes: usize) -> Result<(), TreeError> {
    *budget = budget.checked_sub(bytes).ok_or(TreeError::Budget)?;
    Ok(())
}

fn strings(from: &mut Cursor<'_>, budget: &mut usize) -> Result<Vec<String>, TreeError> {
    let count = from.count().ok_or(TreeError::Cut)?;
    let mut strings = Vec::with_capacity(count);
    let mut before: Vec<u8> = Vec::new();
    for _ in 0..count {
        let shared = usize::try_from(from.number().ok_or(TreeError::Cut)?).unwrap_or(usize::MAX);
        let len = from.count().ok_or(TreeError::Cut)?;
        let rest = from.bytes(len).ok_or(TreeError::Cut)?;
        if shared > before.len() {
            return Err(TreeError::Index);
        }
        spend(budget, shared + len)?;
        before.truncate(shared);
        before.extend_from_slice(rest);
        strings.push(String::from_utf8(before.clone()).map_err(|_| TreeError::Text)?);
    }
    Ok(strings)
}

fn methods(from: &mut Cursor<'_>, strings: &[String], budget: &mut usize) -> Result<Vec<Method>, TreeError> {
    let count = from.count().ok_or(TreeError::Cut)?;
    let mut methods = Vec::with_capacity(count);
    for _ in 0..count {
        let mut text = |from: u32| -> Result<String, TreeError> {
            let text = strings.get(from as usize).ok_or(TreeError::Index)?;
            spend(budget, text.len())?;
            Ok(text.clone())
        };
        let mut next = || from.small().ok_or(TreeError::Cut);
        let (class, name, signature) = (text(next()?)?, text(next()?)?, text(next()?)?);
        let source = next()?;
        let source_file = if let Some(extension) = EXTENSIONS.get(source as usize) {
            source_of(&class, extension)
        } else {
            strings.get(source as usize - EXTENSIONS.len()).ok_or(TreeError::Index)?.clone()
        };
        spend(budget, source_file.len())?;
        methods.push(Method { class, name, signature, source_file });
    }
    Ok(methods)
}

fn locations(from: &mut Cursor<'_>, methods: usize) -> Result<Vec<Location>, TreeError> {
    let count = from.count().ok_or(TreeError::Cut)?;
    let mut locations = Vec::with_capacity(count);
    for _ in 0..count {
        let kind = from.number().ok_or(TreeError::Cut)?;
        let location = if let Some(frame) = kind.checked_sub(1) {
            Location::Frame {
                method: MethodId(u32::try_from(frame >> 2).map_err(|_| TreeError::Index)?),
                dex_pc: (frame & 1 != 0).then(|| from.small().ok_or(TreeError::Cut)).transpose()?,
                line: (frame & 2 != 0).then(|| from.small().ok_or(TreeError::Cut)).transpose()?,
            }
        } else {
            let len = from.count().ok_or(TreeError::Cut)?;
            codec::decode(from.bytes(len).ok_or(TreeError::Cut)?)?
        };
        match location {
            Location::Frame { method, .. } if method.0 as usize >= methods => return Err(TreeError::Index),
            location => locations.push(location),
        }
    }
    Ok(locations)
}

fn samples(from: &mut Cursor<'_>, tree: &StackTree) -> Option<Vec<u64>> {
    let count = from.count()?;
    let mut deltas = Vec::with_capacity(count);
    let (mut at_us, mut at_ns) = (tree.start_ns.0 / 1000, tree.start_ns);
    for sample in 0..count {
        let late = unzigzag(from.number()?).cast_unsigned();
        let waited_us = late.wrapping_add(interval_us_at(&tree.phases, sample as u32));
        at_us = at_us.saturating_add(waited_us);
        let next_ns = Uptime(at_us.saturating_mul(1000)).max(at_ns);
        deltas.push(next_ns - at_ns);
        at_ns = next_ns;
    }
    Some(deltas)
}

fn nodes(from: &mut Cursor<'_>, locations: usize) -> Result<Vec<TreeNode>, TreeError> {
    let count = from.count().ok_or(TreeError::Cut)?;
    let mut nodes = Vec::with_capacity(count);
    for _ in 0..count {
        let byte = u32::from(from.byte().ok_or(TreeError::Cut)?);
        let mut number = |follows: bool, value: u32| {
            if follows { from.small().ok_or(TreeError::Cut) } else { Ok(value) }
        };
        let location = number(true, 0)?;
        let skip = number(byte & 1 != 0, 0)?;
        let children = byte >> 1 & 3;
        let children = number(children == CHILDREN_FOLLOW, children)?;
        let count = number(byte >> 3 == COUNT_FOLLOWS, byte >> 3)?;
        if location as usize >= locations {
            return Err(TreeError::Index);
        }
        nodes.push(TreeNode { location: LocationId(location), skip, count, children });
    }
    Ok(nodes)
}
