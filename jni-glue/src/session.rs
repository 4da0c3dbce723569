//! One recording, from install to uninstall.

use crate::config::Settings;
use crate::earlier::Earlier;
use crate::features::Features;
use crate::main_thread::{self, MainHost};
use crate::notes::Notes;
use crate::others::Looks;
use crate::sampler::{self, MainEnv, Parts};
use crate::shared::Shared;
use crate::sigquit::{self, SigQuit, Standing};
use crate::stacks::Names;
use crate::wake::EventFd;
use crate::watch::{self, Watched};
use crate::worker::{self, Worker};
use crate::{attach, clock, crash, java, log, report};
use jni::Env;
use loopbox_art::{Art, ThreadEnv};
use loopbox_format::model::{Feature, FeatureState};
use loopbox_recorder::Aggregator;
use loopbox_store::{BuildId, Geometry, Identity, Ring, RingOptions, RingReader, WorkerWriter};
use ringbuf::HeapRb;
use ringbuf::traits::Split;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

const HANDLED: &str = "handled on the main thread";

/// The note that says whether the user sees the app; the Java side keeps the app from writing it.
const FOREGROUND: &str = "foreground";

/// What all threads of a recording share.
pub(crate) struct Session {
    pub(crate) settings: Settings,
    pub(crate) installed_ns: u64,
    pub(crate) shared: Arc<Shared>,
    pub(crate) features: Features,
    pub(crate) notes: Notes,
    pub(crate) names: Names,
    pub(crate) reader: RingReader,
    /// Build id of the ART module.
    pub(crate) libart: BuildId,
    /// ART, as soon as the sampler has found it.
    pub(crate) art: OnceLock<Art>,
    /// Questions of the worker to the sampler.
    pub(crate) looks: Looks,
    /// What the sampler will be started with, while the app has never wanted it.
    unstarted: Mutex<Option<Parts>>,
    /// The main thread's CPU clock.
    pub(crate) main_cpu: Option<libc::clockid_t>,
    /// What the watching thread sees of the running message.
    pub(crate) watched: Watched,
    /// How many SIGQUITs there were before this session.
    pub(crate) signals_before: u32,
    /// What earlier processes left; the worker looks first of all, the sampler waits for the answer.
    pub(crate) earlier: OnceLock<Earlier>,
    /// Wakes the worker.
    wake: EventFd,
    requests: Mutex<Vec<Request>>,
}

/// A report that someone waits for.
pub(crate) struct Request {
    pub(crate) reason: String,
    /// Is sent the file, or dropped when there is none.
    pub(crate) done: Sender<PathBuf>,
}

impl Session {
    pub(crate) fn wake_worker(&self) {
        self.wake.notify();
    }

    pub(crate) fn wait_for_work(&self, timeout_ms: i32) {
        self.wake.wait(timeout_ms);
    }

    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Session {
    /// Says in the features how SIGQUIT comes to us; true when that is news.
    pub(crate) fn check_sig_quit(&self) -> bool {
        let (on, how) = match sigquit::standing() {
            Standing::Off => return false,
            Standing::InFront => (true, HANDLED),
            Standing::Behind => (true, "another library's handler stands before ours"),
            Standing::Ignored => (false, "another library has the signal ignored"),
            Standing::Blocked => (false, "another library has blocked the signal on the main thread"),
        };
        let mut detail = how.to_owned();
        let made_good = sigquit::made_good();
        let causes = [
            "; put back from the default action: ",
            "; put back from being ignored: ",
            "; unblocked again: ",
        ];
        for (cause, times) in causes.iter().zip(made_good).filter(|(_, times)| *times > 0) {
            detail.push_str(cause);
            detail.push_str(&times.to_string());
        }
        self.features.news(Feature::SigQuit, on, detail)
    }
}

/// The recording in progress with what only the main thread takes out again.
struct Installed {
    session: Arc<Session>,
    sig_quit: Option<SigQuit>,
}

static INSTALLED: Mutex<Option<Installed>> = Mutex::new(None);

fn installed<T>(body: impl FnOnce(&mut Option<Installed>) -> T) -> T {
    body(&mut INSTALLED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn current() -> Option<Arc<Session>> {
    installed(|installed| installed.as_ref().map(|installed| Arc::clone(&installed.session)))
}

/// Starts a recording of the calling thread, the main one.
///
/// # Errors
/// A line for the log; nothing is running then.
pub(crate) fn install(env: &Env<'_>, settings: Settings) -> Result<(), String> {
    if current().is_some() {
        return Err("already installed".to_owned());
    }
    let java = java::get().ok_or("the library is not loaded")?;
    fs::create_dir_all(&settings.directory)
        .map_err(|error| format!("cannot create {}: {error}", settings.directory.display()))?;
    let libart = loopbox_art::build_id(java.vm.get_raw().cast());
    let libart = libart.map(|id| BuildId::new(&id)).unwrap_or_default();
    let Ring { main: main_writer, worker: worker_writer, fuse, reader } =
        Ring::create(&ring_options(&settings, libart));

    let shared = Arc::new(Shared::default());
    let session = Arc::new(Session {
        installed_ns: clock::now_ns(),
        shared: Arc::clone(&shared),
        features: Features::default(),
        notes: Notes::new(&settings.annotations),
        names: Names::new(),
        reader,
        libart,
        art: OnceLock::new(),
        looks: Looks::default(),
        unstarted: Mutex::new(None),
        main_cpu: clock::cpu_clock_of_this_thread(),
        watched: Watched::default(),
        signals_before: sigquit::count(),
        earlier: OnceLock::new(),
        wake: EventFd::new().map_err(|error| format!("no eventfd: {error}"))?,
        requests: Mutex::new(Vec::new()),
        settings,
    });
    describe_ring(&session);

    let (produce, consume) = HeapRb::new(sampler::QUEUE).split();
    start_worker(java, &session, worker_writer, consume)?;
    watch::start(&session).map_err(|error| format!("no thread: {error}"))?;
    crash::remember(session.reader.clone());
    let main = MainEnv(ThreadEnv::current(env.get_raw().cast()));
    let parts = Parts { main, fuse, queue: produce };
    if session.settings.recorder.sampling.enabled {
        start_sampler(java, &session, parts);
    } else {
        session.features.set(Feature::Sampler, false, sampler::SWITCHED_OFF);
        *unstarted(&session) = Some(parts);
    }
    let sig_quit = take_over_sig_quit(&session);
    main_thread::install(Aggregator::new(&session.settings.recorder, MainHost::new(main_writer, shared)));
    installed(|installed| *installed = Some(Installed { session, sig_quit }));
    Ok(())
}

fn ring_options(settings: &Settings, libart: BuildId) -> RingOptions {
    let identity = Identity { libart, ..Identity::of_this_process(clock::pair()) };
    let geometry = Geometry { records: settings.recorder.slots, ..Geometry::default() };
    RingOptions { geometry, ..RingOptions::new(&settings.directory, identity) }
}

fn describe_ring(session: &Session) {
    match session.reader.volatile_reason() {
        None => session.features.set(Feature::Ring, true, format!("{} bytes", session.reader.size())),
        Some(reason) => session.features.set(Feature::Ring, false, format!("only in memory: {reason}")),
    }
}

fn start_worker(
    java: &java::Java,
    session: &Arc<Session>,
    writer: WorkerWriter,
    samples: worker::Samples,
) -> Result<(), String> {
    let thread = Arc::clone(session);
    attach::spawn(&java.vm, "loopbox-worker", move |env| Worker::new(&thread, writer, samples).run(env))
        .map_err(|error| format!("no thread: {error}"))
}

fn unstarted(session: &Session) -> MutexGuard<'_, Option<Parts>> {
    session.unstarted.lock().unwrap_or_else(PoisonError::into_inner)
}

fn start_sampler(java: &java::Java, session: &Arc<Session>, parts: Parts) {
    let thread = Arc::clone(session);
    let started = attach::spawn(&java.vm, "loopbox-sampler", move |env| sampler::run(env, &thread, parts));
    if let Err(error) = started {
        session.features.set(Feature::Sampler, false, format!("no thread: {error}"));
    }
}

/// Switches sampling off, or on again, while the session runs.
pub(crate) fn set_sampling(on: bool) {
    let Some(session) = current() else { return };
    session.shared.switch(on);
    let never_started = if on { unstarted(&session).take() } else { None };
    if let (Some(parts), Some(java)) = (never_started, java::get()) {
        start_sampler(java, &session, parts);
    }
}

fn take_over_sig_quit(session: &Session) -> Option<SigQuit> {
    if !session.settings.sig_quit {
        session.features.set(Feature::SigQuit, false, "switched off by the app");
        return None;
    }
    match SigQuit::install(session.wake.raw()) {
        Ok(sig_quit) => {
            session.features.set(Feature::SigQuit, true, HANDLED);
            Some(sig_quit)
        }
        Err(error) => {
            session.features.set(Feature::SigQuit, false, error.to_string());
            None
        }
    }
}

/// Ends the recording. On the main thread.
pub(crate) fn uninstall() {
    let Some(Installed { session, sig_quit }) = installed(Option::take) else { return };
    if let Some(sig_quit) = sig_quit {
        sig_quit.uninstall();
    }
    crash::forget();
    main_thread::uninstall();
    session.shared.stop();
    session.wake_worker();
}

/// Notes how the hook works.
pub(crate) fn set_hook(on: bool, detail: String) {
    if let Some(session) = current() {
        session.features.set(Feature::Hook, on, detail);
        session.wake_worker();
    }
}

/// The state of each part; empty while nothing records.
pub(crate) fn features() -> Vec<FeatureState> {
    current().map_or_else(Vec::new, |session| session.features.list())
}

/// Keeps something that the app says about itself.
pub(crate) fn annotate(name: &str, value: Option<&str>) {
    let Some(session) = current() else { return };
    if name == FOREGROUND {
        session.shared.set_seen(value == Some("yes"));
    }
    if session.notes.set(name, value) {
        session.wake_worker();
    } else {
        log::warn(&format!("no room for the annotation {name}"));
    }
}

/// Has a report written and waits for it.
pub(crate) fn dump(reason: String, timeout: Duration) -> Option<PathBuf> {
    let session = current()?;
    let (done, wait) = channel();
    session.requests.lock().unwrap_or_else(PoisonError::into_inner).push(Request { reason, done });
    session.wake_worker();
    wait.recv_timeout(timeout).ok()
}

/// Who writes this session's reports.
pub(crate) fn meta(session: &Session) -> loopbox_format::model::Meta {
    report::meta(&session.settings, session.notes.list(), session.installed_ns)
}
