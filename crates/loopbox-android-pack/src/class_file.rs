//! Class files: what one declares, and what it uses from other classes.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

/// The flag of a member that no other class can use.
const PRIVATE: u16 = 0x0002;
const PUBLIC: u16 = 0x0001;
const PROTECTED: u16 = 0x0004;
const STATIC: u16 = 0x0008;
const INTERFACE: u16 = 0x0200;

/// A class, `android/os/Looper`, or a member, `android/os/Looper.getQueue:()Landroid/os/MessageQueue;`.
pub type Used = String;

/// The content of a class file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassFile {
    /// `android/os/Looper`.
    pub name: String,
    /// Whether it is an interface.
    pub is_interface: bool,
    /// Whether the class is public by its flags. A private nested class is package-private by its flags.
    pub is_visible: bool,
    /// The class and the interfaces that it extends.
    pub extends: Vec<String>,
    /// The members by name and descriptor, `getQueue:()Landroid/os/MessageQueue;`.
    pub members: BTreeMap<String, Member>,
    /// The classes and members that it refers to, including itself.
    pub uses: BTreeSet<Used>,
}

/// A field or a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    flags: u16,
    /// The value of a constant field, as text.
    pub constant: Option<String>,
}

impl Member {
    /// Whether it is static.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.flags & STATIC != 0
    }

    /// Whether other classes can refer to it.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        self.flags & (PUBLIC | PROTECTED) != 0
    }

    /// Whether the member is private, so that only its class can refer to it.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.flags & PRIVATE != 0
    }
}

/// An entry of the constant pool, as far as it is needed here.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Constant {
    Text(String),
    Number(String),
    Class(u16),
    String(u16),
    Member(u16, u16),
    NameAndType(u16, u16),
    Other,
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).context("the class file is cut")?;
        self.rest = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_be_bytes(self.take(2)?.try_into()?))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into()?))
    }

    fn constant(&mut self) -> Result<Constant> {
        Ok(match self.u8()? {
            1 => {
                let length = self.u16()?.into();
                Constant::Text(String::from_utf8_lossy(self.take(length)?).into_owned())
            }
            3 => Constant::Number(i32::from_be_bytes(self.take(4)?.try_into()?).to_string()),
            4 => Constant::Number(f32::from_be_bytes(self.take(4)?.try_into()?).to_string()),
            5 => Constant::Number(i64::from_be_bytes(self.take(8)?.try_into()?).to_string()),
            6 => Constant::Number(f64::from_be_bytes(self.take(8)?.try_into()?).to_string()),
            7 => Constant::Class(self.u16()?),
            8 => Constant::String(self.u16()?),
            9..=11 => Constant::Member(self.u16()?, self.u16()?),
            12 => Constant::NameAndType(self.u16()?, self.u16()?),
            15 => {
                self.take(3)?;
                Constant::Other
            }
            16 | 19 | 20 => {
                self.take(2)?;
                Constant::Other
            }
            17 | 18 => {
                self.take(4)?;
                Constant::Other
            }
            tag => bail!("a constant of kind {tag}"),
        })
    }
}

struct Pool(Vec<Constant>);

impl Pool {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let count = usize::from(reader.u16()?);
        let mut all = vec![Constant::Other];
        while all.len() < count {
            let is_wide = matches!(reader.rest.first(), Some(5 | 6));
            all.push(reader.constant()?);
            if is_wide {
                all.push(Constant::Other);
            }
        }
        Ok(Self(all))
    }

    fn get(&self, at: u16) -> &Constant {
        self.0.get(usize::from(at)).unwrap_or(&Constant::Other)
    }

    fn text(&self, at: u16) -> Result<&str> {
        match self.get(at) {
            Constant::Text(text) => Ok(text),
            other => bail!("{other:?} is no text"),
        }
    }

    fn class(&self, at: u16) -> Result<&str> {
        match self.get(at) {
            Constant::Class(name) => self.text(*name),
            other => bail!("{other:?} is no class"),
        }
    }

    fn value(&self, at: u16) -> Option<String> {
        match self.get(at) {
            Constant::Number(number) => Some(number.clone()),
            Constant::String(text) => self.text(*text).ok().map(str::to_owned),
            _ => None,
        }
    }

    fn used(&self, constant: &Constant) -> Result<Option<Used>> {
        Ok(match constant {
            Constant::Class(name) => class_of(self.text(*name)?),
            Constant::Member(class, named) => {
                let Constant::NameAndType(name, descriptor) = self.get(*named) else { return Ok(None) };
                let class = self.class(*class)?;
                // Arrays have one member, `clone`, everywhere.
                if class.starts_with('[') {
                    return Ok(None);
                }
                Some(format!("{class}.{}:{}", self.text(*name)?, self.text(*descriptor)?))
            }
            _ => None,
        })
    }
}

impl ClassFile {
    /// Parses the bytes of a file.
    ///
    /// # Errors
    /// When they are not those of a class file.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader { rest: bytes };
        ensure!(reader.u32()? == 0xCAFE_BABE, "no class file");
        reader.u32()?;
        let pool = Pool::read(&mut reader)?;
        let flags = reader.u16()?;
        let mut class = Self {
            name: pool.class(reader.u16()?)?.to_owned(),
            is_interface: flags & INTERFACE != 0,
            is_visible: flags & PUBLIC != 0,
            ..Self::default()
        };
        let above = reader.u16()?;
        if above != 0 {
            class.extends.push(pool.class(above)?.to_owned());
        }
        for _ in 0..reader.u16()? {
            class.extends.push(pool.class(reader.u16()?)?.to_owned());
        }
        for _ in 0..2 {
            for _ in 0..reader.u16()? {
                let (name, member) = member(&mut reader, &pool)?;
                class.members.insert(name, member);
            }
        }
        for constant in &pool.0 {
            class.uses.extend(pool.used(constant)?);
        }
        Ok(class)
    }
}

fn member(reader: &mut Reader<'_>, pool: &Pool) -> Result<(String, Member)> {
    let flags = reader.u16()?;
    let name = format!("{}:{}", pool.text(reader.u16()?)?, pool.text(reader.u16()?)?);
    let mut constant = None;
    for _ in 0..reader.u16()? {
        let attribute = pool.text(reader.u16()?)?;
        let length = usize::try_from(reader.u32()?)?;
        let mut content = Reader { rest: reader.take(length)? };
        if attribute == "ConstantValue" {
            constant = pool.value(content.u16()?);
        }
    }
    Ok((name, Member { flags, constant }))
}

/// The element class of an array, or the class itself; `None` for primitive types.
fn class_of(name: &str) -> Option<String> {
    let element = name.trim_start_matches('[');
    if element.len() == name.len() {
        return Some(name.to_owned());
    }
    Some(element.strip_prefix('L')?.trim_end_matches(';').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use loopbox_setup::jvm;
    use std::fs;

    const SOURCE: &str = "package a; public abstract class A extends Exception implements Runnable {
        protected static final String NAME = \"a\"; static final long ONE = 1L; private int[] numbers;
        static StackTraceElement[] f(Thread t) { t.interrupt(); return t.getStackTrace().clone(); } }";

    #[test]
    fn members_and_uses_are_read_of_what_javac_writes() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("A.java");
        fs::write(&source, SOURCE).unwrap();
        jvm::compile(&[source], &[], folder.path()).unwrap();
        let bytes = fs::read(folder.path().join("a/A.class")).unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        assert_eq!((class.name.as_str(), class.is_interface, class.is_visible), ("a/A", false, true));
        assert_eq!(class.extends, ["java/lang/Exception", "java/lang/Runnable"]);
        let name = &class.members["NAME:Ljava/lang/String;"];
        assert!(name.is_static() && name.is_visible() && name.constant.as_deref() == Some("a"));
        assert_eq!(class.members["ONE:J"].constant.as_deref(), Some("1"));
        assert!(class.members["numbers:[I"].is_private() && class.members["numbers:[I"].constant.is_none());
        let f = &class.members["f:(Ljava/lang/Thread;)[Ljava/lang/StackTraceElement;"];
        assert!(f.is_static() && !f.is_visible() && !f.is_private());
        let used = |what: &str| class.uses.contains(what);
        assert!(used("java/lang/Thread.interrupt:()V") && used("java/lang/Exception.<init>:()V"));
        assert!(used("java/lang/StackTraceElement") && used("a/A"), "{:?}", class.uses);
        assert!(!class.uses.iter().any(|used| used.starts_with('[')), "{:?}", class.uses);
        for length in 0..bytes.len() {
            assert!(ClassFile::parse(&bytes[..length.min(bytes.len() - 40)]).is_err(), "{length}");
        }
    }
}
