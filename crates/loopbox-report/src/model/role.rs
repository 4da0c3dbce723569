//! The roles of frames for the main thread, and what main waits for in them.

/// What the main thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum WaitKind {
    /// Main waits for nothing. As far as the stack shows, main runs code.
    Running,
    /// A lock, a condition, a latch, a future or another thread.
    Lock,
    /// `Thread.sleep`.
    Sleep,
    /// A synchronous binder call.
    Binder,
    /// An explicit garbage collection.
    Gc,
    /// Files.
    File,
    /// SQLite.
    Database,
    /// Shared preferences: reading them, or waiting until all of them are written.
    Preferences,
    /// Sockets, name resolution, TLS.
    Network,
    /// Loading classes or native libraries.
    Loading,
    /// Another process that writes into a pipe, or reads from it.
    Pipe,
    /// Native code of the platform or of a library that serves main from another thread or process.
    Native(NativeService),
    /// The next message. Main waits for it in `MessageQueue`.
    Polling,
    /// Something unknown: the report has no name for the top of the stack.
    Unknown,
}

/// The service of native code that main waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NativeService {
    Audio,
    Renderer,
    Flutter,
    Codec,
    Camera,
    WebView,
}

impl NativeService {
    /// What main waits for, as a noun.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Audio => "the audio system",
            Self::Renderer => "the render thread",
            Self::Flutter => "Flutter's engine",
            Self::Codec => "the media server",
            Self::Camera => "the camera",
            Self::WebView => "WebView",
        }
    }
}

impl WaitKind {
    /// Whether main waits for something that has a name.
    pub(crate) fn is_wait(self) -> bool {
        !matches!(self, Self::Running | Self::Unknown)
    }

    /// Whether main may be on a CPU during a wait of this kind. A wait for another thread or process takes no
    /// CPU.
    pub(crate) fn takes_cpu(self) -> bool {
        matches!(self, Self::File | Self::Database | Self::Gc | Self::Loading)
    }

    /// What main waits for, as a noun.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Running => "code",
            Self::Lock => "another thread",
            Self::Sleep => "a sleep",
            Self::Binder => "binder calls",
            Self::Gc => "collections that it asks for",
            Self::File => "files",
            Self::Database => "a database",
            Self::Preferences => "shared preferences",
            Self::Network => "the network",
            Self::Loading => "loading of code",
            Self::Pipe => "a pipe",
            Self::Native(service) => service.noun(),
            Self::Polling => "the queue",
            Self::Unknown => "what has no name",
        }
    }
}

/// The role of a frame for the main thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// The method takes messages from the queue and dispatches them, one after the other.
    Loop,
    /// The method hands a message to its callback or target.
    Dispatch,
    /// The method hands a message on. It is `dispatchMessage` of an app's own Handler.
    OwnDispatch,
    /// The method is in the queue: it waits there for a message, or calls code that runs between messages.
    Queue,
    /// The method waits for a message or an event, in the kernel.
    Poll,
    /// The method calls the listeners of file descriptors.
    Descriptors,
    /// A listener of file descriptors.
    DescriptorListener,
    /// An idle handler.
    IdleHandler,
    /// The method takes input events from their channel.
    Input,
    /// The method passes an input event on: to a view, an activity or a window's callback.
    InputEvent,
    /// The method is called at each vsync.
    Vsync,
    /// The method is called for each event of a sensor.
    Sensor,
    /// The method makes the app's content providers.
    Providers,
    /// The method's class is a proxy for an object of another process.
    BinderProxy,
    /// The method makes the runtime stop all other threads, for a long time.
    SuspendsAll,
    /// The method waits, or spends its time in another way that has a name.
    Waits(WaitKind),
}
