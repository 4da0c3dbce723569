//! The causes: what the app does, and which verdict is right.

use super::Known;
use super::Main::{self, Computes, Idles, Waits};
use super::outside::Outside;

const fn known(
    name: &'static str,
    words: &'static str,
    main: Main,
    rule: &'static str,
    culprit: Option<&'static str>,
) -> Known {
    Known {
        name,
        words,
        rule,
        or: &[],
        may_be_hedged: false,
        culprit,
        says: "",
        main,
        outside: Outside::Nothing,
    }
}

impl Known {
    /// Also accepts these rules.
    const fn or(mut self, rules: &'static [&'static str]) -> Self {
        self.or = rules;
        self
    }

    /// Also accepts an unsure verdict that says that main was stopped, or that there are no stacks for a part
    /// of the time. When the report is written, nothing shows any more what stopped main.
    const fn or_hedged(mut self) -> Self {
        self.may_be_hedged = true;
        self
    }

    /// Demands that the title contains these words.
    const fn says(mut self, words: &'static str) -> Self {
        self.says = words;
        self
    }

    /// Sets what happens to the process while it hangs.
    const fn under(mut self, outside: Outside) -> Self {
        self.outside = outside;
        self
    }
}

/// The causes that are in every test run.
pub const CAUSES: [Known; 32] = [
    // The method called sleep() says less than its caller.
    known("sleep", "sleeps", Waits, "sleep", Some("causes.Causes")),
    known("busy", "computes", Computes, "current-slow", Some("causes.Causes")),
    known("lock", "waits for a monitor", Waits, "lock", Some("causes.Causes")),
    known("reentrant", "waits for a ReentrantLock", Waits, "lock", Some("causes.Waits$Ledger.book")),
    known("deadlock", "deadlock of monitors", Waits, "lock", Some("causes.Causes")),
    known("crossed", "deadlock of ReentrantLocks", Waits, "lock", Some("causes.Waits$Ledger.book")),
    known("wait", "Object.wait", Waits, "lock", Some("causes.Waits$Mailbox.take")),
    known("join", "Thread.join", Waits, "lock", Some("causes.Waits$Crew.finish")),
    known("future", "Future.get", Waits, "lock", Some("causes.Waits$Quote.fetch")),
    known("park", "parks, as runBlocking does", Waits, "lock", Some("causes.Waits$Loader.block")),
    known("apply", "preferences are written at a stop", Waits, "io", None),
    known("load", "reads preferences", Waits, "io", Some("causes.Platform$Settings.theme")),
    known("query", "queries a database", Waits, "io", Some("causes.Platform$Orders.list")),
    known("connection", "waits for a database connection", Waits, "io", Some("causes.Platform$Orders.list")),
    known("files", "writes files", Waits, "io", Some("causes.Causes$Files.writeForEver")),
    known("network", "reads from a server", Waits, "io", Some("causes.Waits$Api.read")),
    known("binder", "calls a service", Waits, "binder", Some("causes.Platform$Shop.open")),
    known("native", "waits in native code", Waits, "native", Some("causes.Platform$Codec.configure")),
    known("dex", "loads classes", Waits, "io", Some("causes.Platform$Plugins.load")),
    known("library", "loads a library", Waits, "io", Some("causes.Platform$Engine.start")),
    known("gc", "asks for collections", Computes, "gc", Some("causes.Causes")),
    known("pressure", "allocates in a full heap", Computes, "gc", Some("causes.Crowd$Gallery")),
    known("pool", "its own pool takes the processors", Computes, "starved", None),
    known("flood", "one kind of message floods the queue", Computes, "flood", None),
    known("kinds", "messages of many kinds", Computes, "history", None),
    known("barrier", "a sync barrier is leaked", Waits, "barrier", None),
    known("victim", "a slow message, then short ones", Computes, "history", None),
    known("touch", "computes in an input handler", Computes, "outside", Some("causes.Causes")),
    known("idle", "computes in an idle handler", Computes, "outside", None),
    known("cold", "computes at the start", Computes, "current-slow", Some("causes.")),
    known("own-join", "joins its own thread", Waits, "lock", Some("causes.Waits$Crew.finishItself")),
    known("free", "nothing", Idles, "main-free", None),
];

/// The other causes that the test app has, for `cargo xtask stress causes`: one for each kind of cause that
/// has misled a diagnosis.
pub const MORE: [Known; 50] = [
    // The wall time first: something stops main, or takes its processor.
    known("stopped", "computes; the process is stopped", Waits, "frozen", None).under(Outside::Stop),
    known("frozen", "computes; the process is frozen", Waits, "frozen", None).under(Outside::Freeze),
    known("quota", "computes, with a tenth of a processor", Waits, "starved", None).under(Outside::Quota),
    known("neighbours", "computes; other processes take the processors", Waits, "starved", None)
        .under(Outside::Neighbours),
    known("debugger", "computes; a debugger has stopped it", Waits, "suspended", None)
        .under(Outside::Debugger),
    known("debugger-waits", "sleeps; a debugger has stopped it", Waits, "sleep", None)
        .or(&["suspended"])
        .under(Outside::Debugger),
    known("heap-dump", "computes, during a heap dump", Waits, "suspended", Some("causes.Stops$Leaks"))
        .or_hedged(),
    known(
        "heap-dumps",
        "computes, during one heap dump after the other",
        Waits,
        "suspended",
        Some("causes.Stops$Leaks"),
    )
    .or_hedged(),
    known("instances", "computes; a thread counts instances", Waits, "suspended", Some("causes.Stops$Leaks"))
        .or_hedged(),
    known("threads", "computes; own threads of many names take the processors", Waits, "starved", None)
        .says("own threads"),
    // Every slow message of the window.
    known(
        "before-last",
        "a slow message before the last slow one",
        Waits,
        "sleep",
        Some("causes.Past$Upload.retry"),
    )
    .or(&["history"]),
    known("newer", "two slow messages of like length", Waits, "sleep", Some("causes.Past$Sync.merge"))
        .or(&["history"]),
    // The path, not the leaf.
    known(
        "resume",
        "a helper computes for onResume",
        Computes,
        "current-slow",
        Some("causes.Screens$PriceScreen"),
    ),
    known("helper-sleep", "sleeps by a helper", Waits, "sleep", Some("causes.Screens$Basket.checkOut")),
    known(
        "maker",
        "computes, called by the device's maker",
        Computes,
        "current-slow",
        Some("causes.Screens$Chart.layOut"),
    ),
    known("sdk", "has an SDK compute", Computes, "current-slow", Some("causes.Screens$Preferences.load")),
    known(
        "branches",
        "sleeps in two places and computes",
        Computes,
        "current-slow",
        Some("causes.Screens$Home"),
    )
    .or(&["sleep"]),
    known(
        "mutual",
        "four methods that call each other",
        Computes,
        "current-slow",
        Some("causes.Screens$Json"),
    ),
    known(
        "recursion",
        "a method that calls itself",
        Computes,
        "current-slow",
        Some("causes.Screens$Sums.ways"),
    ),
    known(
        "regex",
        "a pattern that tries everything",
        Computes,
        "current-slow",
        Some("causes.Screens$Search.matches"),
    ),
    known(
        "exceptions",
        "throws and catches",
        Computes,
        "current-slow",
        Some("causes.Screens$Numbers.parseAll"),
    ),
    known(
        "reflection",
        "computes, called by reflection",
        Computes,
        "current-slow",
        Some("causes.Screens$Events.onOrder"),
    ),
    known(
        "spin",
        "spins until a thread is ready",
        Computes,
        "current-slow",
        Some("causes.Screens$Bridge.awaitReady"),
    ),
    known("list", "moves a long list", Computes, "current-slow", Some("causes.Screens$Orders.sort")),
    known("poll", "sleeps again and again", Waits, "sleep", Some("causes.Screens$Login.awaitToken")),
    // Kinds of wait.
    known("latch", "CountDownLatch.await", Waits, "lock", Some("causes.Locks$Feed.await")).says("a latch"),
    known(
        "full-pool",
        "Future.get of a pool that is full",
        Waits,
        "lock",
        Some("causes.Locks$Images.decode"),
    )
    .says("a future's result"),
    known("semaphore", "Semaphore.acquire", Waits, "lock", Some("causes.Locks$Slots.take"))
        .says("a permit of a semaphore"),
    known("read-lock", "a reader behind a queued writer", Waits, "lock", Some("causes.Locks$Prices.read"))
        .says("read lock"),
    known("write-lock", "a writer behind a reader", Waits, "lock", Some("causes.Locks$Prices.write"))
        .says("write lock"),
    known("condition", "Condition.await", Waits, "lock", Some("causes.Locks$Inbox.next")).says("a condition"),
    known("take", "takes of an empty queue", Waits, "lock", Some("causes.Locks$Inbox.take"))
        .says("an item of a queue"),
    known("put", "puts into a full queue", Waits, "lock", Some("causes.Locks$Inbox.put"))
        .says("room in a full queue"),
    known("cyclic", "CyclicBarrier.await", Waits, "lock", Some("causes.Locks$Feed.meet")).says("a latch"),
    known("pool-end", "awaitTermination", Waits, "lock", Some("causes.Locks$Images.close"))
        .says("a pool to end"),
    known("completable", "CompletableFuture.join", Waits, "lock", Some("causes.Locks$Feed.joined"))
        .says("a future's result"),
    known(
        "blocker",
        "parks for an object that nobody knows",
        Waits,
        "lock",
        Some("causes.Locks$Bridge.call"),
    ),
    known(
        "map",
        "a synchronized map that another thread holds",
        Waits,
        "lock",
        Some("causes.Locks$Session.user"),
    )
    .says("held by thread migration"),
    known(
        "chain",
        "a monitor whose holder waits for another",
        Waits,
        "lock",
        Some("causes.Locks$Session.save"),
    )
    .says("disk"),
    known("class-init", "another thread initializes a class", Waits, "lock", Some("causes.Locks$"))
        .says("initializ"),
    known("child", "Process.waitFor", Waits, "lock", Some("causes.Ends$Backup.compress"))
        .says("a child process"),
    known("shell", "reads what a child process writes", Waits, "io", Some("causes.Ends$Device.properties"))
        .says("a pipe"),
    known("pipe", "reads from a pipe", Waits, "io", Some("causes.Ends$Helper.answer")).says("a pipe"),
    known("connect", "connects to a server that is full", Waits, "io", Some("causes.Ends$Account.connect"))
        .says("the network"),
    known("datagram", "receives a datagram", Waits, "io", Some("causes.Ends$Account.discover"))
        .says("the network"),
    known("select", "selects", Waits, "io", Some("causes.Ends$Account.pump")).says("the network"),
    known("sync", "syncs a file again and again", Waits, "io", Some("causes.Ends$Journal.commit")),
    known("finalizers", "waits for finalizers", Waits, "lock", Some("causes.Ends$Bitmaps.release"))
        .says("the finalizers"),
    // The queue.
    known("late-barrier", "a sync barrier is leaked after a slow message", Waits, "barrier", None),
    known("short-flood", "a thread floods the queue with short messages", Computes, "flood", None)
        .or(&["history"]),
];
