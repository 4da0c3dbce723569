//! Reads the parts of a dex file that the oracle needs: classes, their supertypes, methods, and every
//! instruction.
//!
//! Source: the dex format description of the Android documentation (dex-format, dalvik-bytecode,
//! instruction-formats). Only standard dex (`dex\n03x`) is read, which is what dx writes.

use std::collections::HashMap;
use std::rc::Rc;

/// A method as it is named in another method's code or by a sampled frame.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MethodId {
    /// Class in Java notation: `java.lang.String`.
    pub class: Rc<str>,
    /// Name.
    pub name: Rc<str>,
    /// Descriptor: `(I)V`.
    pub signature: Rc<str>,
}

/// One instruction of a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instruction {
    /// Calls a method.
    Invoke(MethodId),
    /// Calls the target of a method handle or a call site, known only at run time.
    InvokeHandle,
    /// May load or initialise a class, and so run a static initialiser or a class loader.
    TouchesClass,
    /// Any other instruction.
    Other,
}

/// Name and descriptor of a method within its class.
pub type Key = (Rc<str>, Rc<str>);

/// A method's instructions by dex pc.
pub type Code = HashMap<u32, Instruction>;

/// A class definition.
#[derive(Debug, Default)]
pub struct Class {
    /// Direct superclass and interfaces.
    pub supertypes: Vec<Rc<str>>,
    /// Code by name and descriptor; `None` for native and abstract methods.
    pub methods: HashMap<Key, Option<Code>>,
}

/// A dex file is cut or malformed.
#[derive(Debug, thiserror::Error)]
#[error("dex offset {offset:#x}: {what}")]
pub struct DexError {
    /// The offset of the error.
    pub offset: usize,
    /// What was expected there.
    pub what: &'static str,
}

type Result<T> = std::result::Result<T, DexError>;

struct Reader<'a> {
    bytes: &'a [u8],
}

impl Reader<'_> {
    fn array<const N: usize>(&self, at: usize) -> Result<[u8; N]> {
        let found = self.bytes.get(at..).and_then(|b| b.first_chunk().copied());
        found.ok_or(DexError { offset: at, what: "the file ends here" })
    }
    fn u16(&self, at: usize) -> Result<u16> {
        self.array(at).map(u16::from_le_bytes)
    }
    fn u32(&self, at: usize) -> Result<usize> {
        self.array(at).map(|b| u32::from_le_bytes(b) as usize)
    }
    fn uleb(&self, at: &mut usize) -> Result<usize> {
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let [byte] = self.array(*at)?;
            *at += 1;
            value |= (byte as usize & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(DexError { offset: *at, what: "a LEB128 number of at most five bytes" })
    }
    /// The offset of item `index` of an id section. The section is described at header offset `header`, and
    /// its items have `size` bytes.
    fn item(&self, header: usize, index: usize, size: usize) -> Result<usize> {
        if index >= self.u32(header)? {
            return Err(DexError { offset: header, what: "an index below the section's size" });
        }
        Ok(self.u32(header + 4)? + index * size)
    }
    fn string(&self, index: usize) -> Result<Rc<str>> {
        let mut at = self.u32(self.item(0x38, index, 4)?)?;
        self.uleb(&mut at)?;
        let rest = self.bytes.get(at..).unwrap_or_default();
        let text = rest.split(|b| *b == 0).next().unwrap_or_default();
        Ok(String::from_utf8_lossy(text).into()) // names are ASCII here; MUTF-8 only differs beyond
    }
    fn descriptor(&self, index: usize) -> Result<Rc<str>> {
        self.string(self.u32(self.item(0x40, index, 4)?)?)
    }
    fn class_name(&self, index: usize) -> Result<Rc<str>> {
        Ok(java_name(&self.descriptor(index)?))
    }
    fn signature(&self, proto: usize) -> Result<Rc<str>> {
        let at = self.item(0x48, proto, 12)?;
        let mut text = String::from("(");
        let parameters = self.u32(at + 8)?;
        if parameters != 0 {
            for i in 0..self.u32(parameters)? {
                text += &self.descriptor(self.u16(parameters + 4 + 2 * i)?.into())?;
            }
        }
        text.push(')');
        text += &self.descriptor(self.u32(at + 4)?)?;
        Ok(text.into())
    }
    fn method(&self, index: usize) -> Result<MethodId> {
        let at = self.item(0x58, index, 8)?;
        Ok(MethodId {
            class: self.class_name(self.u16(at)?.into())?,
            signature: self.signature(self.u16(at + 2)?.into())?,
            name: self.string(self.u32(at + 4)?)?,
        })
    }
    fn code(&self, at: usize) -> Result<Code> {
        let units = self.u32(at + 12)?;
        let start = at + 16;
        let mut found = HashMap::new();
        let mut pc = 0;
        while pc < units {
            let here = start + 2 * pc;
            let unit = self.u16(here)?;
            let width = match unit {
                0x0100 => usize::from(self.u16(here + 2)?) * 2 + 4, // packed-switch payload
                0x0200 => usize::from(self.u16(here + 2)?) * 4 + 2, // sparse-switch payload
                0x0300 => (usize::from(self.u16(here + 2)?) * self.u32(here + 4)?).div_ceil(2) + 4, // array data
                _ => {
                    let op = unit as u8;
                    let instruction = match op {
                        0x6e..=0x72 | 0x74..=0x78 => {
                            Instruction::Invoke(self.method(self.u16(here + 2)?.into())?)
                        }
                        0xfa..=0xfd => Instruction::InvokeHandle,
                        // const-class, check-cast, instance-of, new-instance, new-array, filled-new-array,
                        // sget, sput, const-method-handle, const-method-type
                        0x1c | 0x1f | 0x20 | 0x22..=0x25 | 0x60..=0x6d | 0xfe | 0xff => {
                            Instruction::TouchesClass
                        }
                        _ => Instruction::Other,
                    };
                    found.insert(pc as u32, instruction);
                    width(op)
                }
            };
            pc += width;
        }
        if pc != units {
            return Err(DexError {
                offset: start,
                what: "code whose last instruction ends where the code ends",
            });
        }
        Ok(found)
    }
}

/// Length of an instruction in 16-bit units, by opcode.
const fn width(op: u8) -> usize {
    match op {
        0x02
        | 0x05
        | 0x08
        | 0x13
        | 0x15
        | 0x16
        | 0x19
        | 0x1a
        | 0x1c
        | 0x1f
        | 0x20
        | 0x22
        | 0x23
        | 0x29
        | 0x2d..=0x3d
        | 0x44..=0x6d
        | 0x90..=0xaf
        | 0xd0..=0xe2
        | 0xfe
        | 0xff => 2,
        0x03
        | 0x06
        | 0x09
        | 0x14
        | 0x17
        | 0x1b
        | 0x24..=0x26
        | 0x2a..=0x2c
        | 0x6e..=0x72
        | 0x74..=0x78
        | 0xfc
        | 0xfd => 3,
        0xfa | 0xfb => 4,
        0x18 => 5,
        _ => 1,
    }
}

/// `Ljava/lang/String;` to `java.lang.String`; arrays and primitives stay descriptors.
fn java_name(descriptor: &str) -> Rc<str> {
    match descriptor.strip_prefix('L').and_then(|d| d.strip_suffix(';')) {
        Some(name) => name.replace('/', ".").into(),
        None => descriptor.into(),
    }
}

/// Adds the classes of one dex file. A class that exists already is kept: the first on a class path wins.
pub(crate) fn read_into(classes: &mut HashMap<Rc<str>, Class>, bytes: &[u8]) -> Result<()> {
    let dex = Reader { bytes };
    if &dex.array::<4>(0)? != b"dex\n" {
        return Err(DexError { offset: 0, what: "the magic of a dex file" });
    }
    for index in 0..dex.u32(0x60)? {
        let def = dex.item(0x60, index, 32)?;
        let name = dex.class_name(dex.u32(def)?)?;
        if classes.contains_key(&name) {
            continue;
        }
        let mut class = Class::default();
        let superclass = dex.u32(def + 8)?;
        if superclass != u32::MAX as usize {
            class.supertypes.push(dex.class_name(superclass)?);
        }
        let interfaces = dex.u32(def + 12)?;
        if interfaces != 0 {
            for i in 0..dex.u32(interfaces)? {
                class.supertypes.push(dex.class_name(dex.u16(interfaces + 4 + 2 * i)?.into())?);
            }
        }
        let mut at = dex.u32(def + 24)?;
        if at != 0 {
            let [statics, instances, direct, virtuals] =
                [dex.uleb(&mut at)?, dex.uleb(&mut at)?, dex.uleb(&mut at)?, dex.uleb(&mut at)?];
            for _ in 0..(statics + instances) * 2 {
                dex.uleb(&mut at)?;
            }
            for count in [direct, virtuals] {
                let mut method = 0;
                for _ in 0..count {
                    method += dex.uleb(&mut at)?;
                    dex.uleb(&mut at)?;
                    let code = dex.uleb(&mut at)?;
                    let MethodId { name, signature, .. } = dex.method(method)?;
                    let code = if code == 0 { None } else { Some(dex.code(code)?) };
                    class.methods.insert((name, signature), code);
                }
            }
        }
        classes.insert(name, class);
    }
    Ok(())
}
