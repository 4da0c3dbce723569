#![doc = include_str!("../README.md")]

mod dex;

pub use dex::{Class, Code, DexError, Instruction, Key, MethodId};

use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Read};
use std::rc::Rc;

/// One frame of a sampled stack.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Class in Java notation.
    pub class: String,
    /// Method name.
    pub name: String,
    /// Descriptor; empty when the sampler does not know it.
    pub signature: String,
    /// The position in the method; `None` for a native method.
    pub dex_pc: Option<u32>,
}

/// Why a caller and the callee above it are possible together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pair {
    /// The caller's dex pc invokes the callee.
    Invoke,
    /// The caller's dex pc invokes a method handle, whose target is known only at run time.
    InvokeHandle,
    /// The caller is native code, which may call anything.
    FromNative,
    /// The caller or callee is a generated proxy method.
    Proxy,
    /// The runtime initialises a class at the caller's instruction.
    ClassInit,
    /// The runtime asks a class loader for a class at the caller's instruction.
    ClassLoading,
    /// The runtime constructs an exception that the caller's instruction throws.
    ImplicitThrow,
    /// The runtime registers a new object whose class has a finalizer.
    Finalizable,
    /// `String` constructors are replaced by `StringFactory` methods.
    StringFactory,
}

/// Why a stack is not possible.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wrong {
    /// Index of the caller in the stack, 0 is the top.
    pub caller: usize,
    /// What contradicts the dex files.
    pub why: String,
}

/// The oracle over a class path.
#[derive(Debug, Default)]
pub struct Oracle {
    classes: HashMap<Rc<str>, Class>,
}

/// A jar could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// It is not a readable zip archive.
    #[error("not a readable jar: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// An entry cannot be unpacked.
    #[error("cannot unpack: {0}")]
    Io(#[from] std::io::Error),
    /// A dex file in it is malformed.
    #[error(transparent)]
    Dex(#[from] DexError),
}

impl Oracle {
    /// Adds a jar with `classes.dex`, `classes2.dex`, … Call it in class path order: the boot class path
    /// first.
    pub fn add_jar(&mut self, jar: &[u8]) -> Result<(), OracleError> {
        let mut zip = zip::ZipArchive::new(Cursor::new(jar))?;
        let mut names: Vec<_> = zip.file_names().flatten().filter(|n| is_dex(n)).map(String::from).collect();
        names.sort_by_key(|n| (n.len(), n.clone()));
        for name in names {
            let mut bytes = Vec::new();
            zip.by_name(&name)?.read_to_end(&mut bytes)?;
            dex::read_into(&mut self.classes, &bytes)?;
        }
        Ok(())
    }

    /// Number of classes known.
    pub fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Checks every pair of neighbours of a stack, top frame first.
    ///
    /// # Errors
    /// The first pair that cannot be true.
    pub fn check(&self, stack: &[Frame]) -> Result<Vec<Pair>, Wrong> {
        for (at, frame) in stack.iter().enumerate() {
            self.check_frame(frame).map_err(|why| Wrong { caller: at, why })?;
        }
        let pairs = stack.windows(2).enumerate();
        pairs
            .map(|(at, pair)| self.pair(&pair[0], &pair[1]).map_err(|why| Wrong { caller: at + 1, why }))
            .collect()
    }

    fn instructions(&self, frame: &Frame) -> Option<&Code> {
        let methods = &self.classes.get(frame.class.as_str())?.methods;
        let exact = methods.get(&(frame.name.as_str().into(), frame.signature.as_str().into()));
        exact?.as_ref()
    }

    /// Checks a frame by itself: its method exists and its dex pc is one of the method's instructions.
    fn check_frame(&self, frame: &Frame) -> Result<(), String> {
        if is_proxy(frame) {
            return Ok(());
        }
        let describe = || format!("{}.{}{}", frame.class, frame.name, frame.signature);
        let class =
            self.classes.get(frame.class.as_str()).ok_or_else(|| format!("no class {}", frame.class))?;
        let method = class.methods.get(&(frame.name.as_str().into(), frame.signature.as_str().into()));
        match (method.ok_or_else(|| format!("no method {}", describe()))?, frame.dex_pc) {
            (None, _) => Ok(()), // native; or an interface method, which a proxy's frame shows
            (Some(_), None) => Err(format!("{} has code but no dex pc", describe())),
            (Some(code), Some(pc)) if code.contains_key(&pc) => Ok(()),
            (Some(_), Some(pc)) => Err(format!("{} has no instruction at dex pc {pc:#x}", describe())),
        }
    }

    fn pair(&self, callee: &Frame, caller: &Frame) -> Result<Pair, String> {
        if is_proxy(caller) || is_proxy(callee) {
            return Ok(Pair::Proxy);
        }
        let Some(code) = self.instructions(caller) else {
            return Ok(Pair::FromNative); // or the interface method that stands for a proxy's; check_frame saw it exists
        };
        let instruction = caller.dex_pc.and_then(|pc| code.get(&pc)).unwrap_or(&Instruction::Other);
        // Compiled code of a caller reaches a static method before its class is ready: the class is
        // initialised when the method has begun and done nothing.
        let own_class = caller.class == callee.class && caller.dex_pc == Some(0);
        if callee.name == "<clinit>" && (*instruction != Instruction::Other || own_class) {
            return Ok(Pair::ClassInit);
        }
        if *instruction == Instruction::InvokeHandle {
            return Ok(Pair::InvokeHandle);
        }
        if let Instruction::Invoke(target) = instruction {
            if *target.name == *callee.name && *target.signature == *callee.signature {
                if self.related(&target.class, &callee.class) {
                    return Ok(Pair::Invoke);
                }
            } else if &*target.name == "<init>" && callee.class == "java.lang.StringFactory" {
                return Ok(Pair::StringFactory);
            }
        }
        if callee.class == "java.lang.ref.FinalizerReference"
            && callee.name == "add"
            && *instruction == Instruction::TouchesClass
        {
            return Ok(Pair::Finalizable);
        }
        if callee.name == "loadClass" && *instruction != Instruction::Other {
            return Ok(Pair::ClassLoading);
        }
        if callee.name == "<init>" && self.inherits(&callee.class, "java.lang.Throwable") {
            return Ok(Pair::ImplicitThrow);
        }
        Err(match instruction {
            Instruction::Invoke(t) => format!(
                "{}.{} at dex pc {:#x} invokes {}.{}{}, not {}.{}{}",
                caller.class,
                caller.name,
                caller.dex_pc.unwrap_or_default(),
                t.class,
                t.name,
                t.signature,
                callee.class,
                callee.name,
                callee.signature
            ),
            _ => format!(
                "{}.{} at dex pc {:#x} does not invoke, so it cannot have called {}.{}",
                caller.class,
                caller.name,
                caller.dex_pc.unwrap_or_default(),
                callee.class,
                callee.name
            ),
        })
    }

    /// Whether dispatch on the class `named` can end in a method of the class `found`: an override in a
    /// subclass, or a method that is inherited from a supertype. If `named` is an interface, `found` may also
    /// be a superclass of a class that implements `named`. Such a superclass is unrelated to the interface.
    fn related(&self, named: &str, found: &str) -> bool {
        self.inherits(found, named)
            || self.inherits(named, found)
            || named.starts_with('[')
            || self.classes.keys().any(|c| self.inherits(c, named) && self.inherits(c, found))
    }

    fn inherits(&self, class: &str, ancestor: &str) -> bool {
        let mut todo = vec![class];
        let mut seen = HashSet::new();
        while let Some(name) = todo.pop() {
            if name == ancestor {
                return true;
            }
            if seen.insert(name)
                && let Some(class) = self.classes.get(name)
            {
                todo.extend(class.supertypes.iter().map(|s| &**s));
            }
        }
        false
    }
}

fn is_dex(entry: &str) -> bool {
    entry
        .strip_prefix("classes")
        .is_some_and(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()) == ".dex")
}

fn is_proxy(frame: &Frame) -> bool {
    frame.class.rsplit('.').next().is_some_and(|simple| simple.starts_with("$Proxy"))
}
