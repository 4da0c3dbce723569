//! The name of a testbed, and the meaning of its parts.

use std::fmt;

use loopbox_setup::arch::Arch;
use serde::Deserialize;

/// How methods of a testbed come to be machine code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiled {
    /// Never compiled.
    Never,
    /// Compiled while they run.
    Jit,
    /// Compiled before they run.
    Aot,
}

/// A message queue that a level has behind a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queue {
    /// The queue with a lock, on levels whose usual one is lock-free.
    Legacy,
    /// The lock-free queue of API 36.
    Concurrent,
}

impl Queue {
    /// Its form in a testbed's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Concurrent => "concurrent",
        }
    }
}

/// The framework's classes of an API level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Framework {
    /// The API level.
    pub api: u32,
    /// The queue, where it is not the level's usual one.
    pub queue: Option<Queue>,
}

/// The name of a testbed, taken apart: `art11-fw37-legacy`, `art11-arm64`, `art11-fw35-jit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The runtime's file below `tests/testbed`, without its ending.
    pub runtime: String,
    /// The level of the framework's classes, where it differs from the usual one of the testbeds.
    pub framework: Option<Framework>,
    /// The architecture that it was built for.
    pub arch: Arch,
    /// How its methods become machine code.
    pub compiled: Compiled,
}

impl Name {
    /// Parses a name. This does not check that the testbed exists.
    #[must_use]
    pub fn parse(name: &str) -> Self {
        let ending = |text, compiled| Some((name.strip_suffix(text)?, compiled));
        let (rest, compiled) = ending("-jit", Compiled::Jit)
            .or_else(|| ending("-aot", Compiled::Aot))
            .unwrap_or((name, Compiled::Never));
        let of_arch = |arch: Arch| Some((rest.strip_suffix(arch.name())?.strip_suffix('-')?, arch));
        let (rest, arch) = Arch::ALL.into_iter().find_map(of_arch).unwrap_or((rest, Arch::X86_64));
        let queue = |queue: Queue| Some((rest.strip_suffix(queue.name())?.strip_suffix('-')?, Some(queue)));
        let (before, queue) =
            queue(Queue::Legacy).or_else(|| queue(Queue::Concurrent)).unwrap_or((rest, None));
        let framework = before
            .rsplit_once("-fw")
            .and_then(|(runtime, api)| Some((runtime, Framework { api: api.parse().ok()?, queue })));
        let (runtime, framework) = match framework {
            Some((runtime, framework)) => (runtime, Some(framework)),
            None => (rest, None),
        };
        Self { runtime: runtime.to_owned(), framework, arch, compiled }
    }
}

impl fmt::Display for Framework {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "fw{}", self.api)?;
        self.queue.map_or(Ok(()), |queue| write!(out, "-{}", queue.name()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compiled = match self.compiled {
            Compiled::Never => "",
            Compiled::Jit => "-jit",
            Compiled::Aot => "-aot",
        };
        out.write_str(&self.runtime)?;
        if let Some(framework) = self.framework {
            write!(out, "-{framework}")?;
        }
        if self.arch != Arch::X86_64 {
            write!(out, "-{}", self.arch.name())?;
        }
        out.write_str(compiled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_being_taken_apart() {
        for name in ["art10", "art11-libcxx", "art11-arm64", "art11-fw37-legacy", "art10-fw36-concurrent-jit"]
        {
            assert_eq!(Name::parse(name).to_string(), name);
        }
        for (name, arch) in [("art11-x86", Arch::X86), ("art11-arm", Arch::Arm), ("art11", Arch::X86_64)] {
            assert_eq!((Name::parse(name).to_string().as_str(), Name::parse(name).arch), (name, arch));
        }
        let legacy = Name::parse("art11-fw37-legacy");
        assert_eq!(legacy.framework, Some(Framework { api: 37, queue: Some(Queue::Legacy) }));
        assert_eq!(legacy.runtime, "art11");
        // Of no level, so the queue is no part of it either.
        assert_eq!(Name::parse("art11-legacy").runtime, "art11-legacy");
        assert_eq!(Name::parse("art11-fwx").framework, None);
    }
}
