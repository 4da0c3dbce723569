//! The ways to watch a main thread.

use std::fmt;

use lab_launch::App;

/// How the main thread is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The Observer hook.
    Observer,
    /// The Printer hook.
    Printer,
    /// The poll hook.
    Poll,
    /// The Printer hook, and the app's windows are watched for input.
    Input,
    /// The Printer hook, which another library replaces.
    Displaced,
    /// The Printer hook, with sampling switched off.
    Unsampled,
    /// The Printer hook, with stacks from `Thread.getStackTrace`.
    Fallback,
    /// No hook.
    NoHook,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Observer => "observer",
            Self::Printer => "printer",
            Self::Poll => "poll",
            Self::Input => "input",
            Self::Displaced => "displaced",
            Self::Unsampled => "unsampled",
            Self::Fallback => "fallback",
            Self::NoHook => "no-hook",
        })
    }
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 8] = [
        Self::Observer,
        Self::Printer,
        Self::Poll,
        Self::Input,
        Self::Displaced,
        Self::Unsampled,
        Self::Fallback,
        Self::NoHook,
    ];

    pub(super) fn of(self, app: App) -> App {
        let app = match self {
            Self::Observer => app,
            Self::NoHook => app.argument("hook=NONE"),
            Self::Poll => app.argument("hook=POLL"),
            _ => app.argument("hook=PRINTER"),
        };
        match self {
            Self::Observer | Self::Printer | Self::Poll | Self::NoHook => app,
            Self::Input => app.argument("watchInput=on"),
            Self::Displaced => app.argument("displaced=yes"),
            Self::Unsampled => app.argument("sampling=off"),
            Self::Fallback => app.env("LOOPBOX_FAULT", "unknown-art"),
        }
    }
}
