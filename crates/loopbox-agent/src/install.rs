//! One recording, from install to uninstall: makes the parts, wires them and starts their threads; and what
//! the app may ask of the recording in progress.

use crate::anr::sigquit::{self, SigQuit};
use crate::anr::{HANDLED, native_stack, stall_monitor};
use crate::error::{InstallError, SamplerError};
use crate::hook::callbacks;
use crate::hook::frame_events::MainFrames;
use crate::hook::main_thread::{self, MainEnvironment};
use crate::jni::attach;
use crate::jni::class_cache::{self, ClassCache};
use crate::jni::env::Env;
use crate::monitor::frame_stats;
use crate::report::worker::Worker;
use crate::report::{crash_mark, listener, ring_file};
use crate::sampler::sample::{self, SampleReceiver};
use crate::sampler::thread::{self, SamplerParts};
use crate::session::allowance::Allowance;
use crate::session::annotations::Annotations;
use crate::session::breadcrumbs::Breadcrumbs;
use crate::session::display_frames::{self, FrameReceiver, Frames};
use crate::session::features::Features;
use crate::session::gate::Gate;
use crate::session::kill_switch::KillSwitch;
use crate::session::monitor::MonitorWishes;
use crate::session::settings::Settings;
use crate::session::shared_state::SharedState;
use crate::session::stall::StallState;
use crate::session::symbols::SharedSymbols;
use crate::session::thread_query::ThreadQueries;
use crate::session::warnings::Warnings;
use crate::session::{Request, SWITCHED_OFF, Session};
#[cfg(debug_assertions)]
use crate::sys::fault;
use crate::sys::wake::EventFd;
use crate::sys::{clock, descriptors};
use loopbox_art::{JniEnv, Joined, ThreadEnv};
use loopbox_format::model::{AnrWarning, Feature, FeatureState, Uptime};
use loopbox_recorder::{AdoptedMessage, Aggregator};
use loopbox_store::{BuildId, Geometry, Identity, Ring, RingOptions, WorkerWriter};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The recording in progress, with what is needed to start its remaining parts and to end it.
struct Installed {
    session: Arc<Session>,
    sig_quit: Option<SigQuit>,
    /// What is needed to start the sampler; `None` once it was started.
    unstarted: Option<SamplerParts>,
}

static INSTALLED: Mutex<Option<Installed>> = Mutex::new(None);

/// What is left of a recording that has ended: the parts that only the main thread can undo.
struct Ended {
    /// Keeps the eventfd open: a handler of SIGQUIT may be about to write to it.
    session: Arc<Session>,
    sig_quit: Option<SigQuit>,
}

static ENDED: Mutex<Option<Ended>> = Mutex::new(None);

fn ended<T>(body: impl FnOnce(&mut Option<Ended>) -> T) -> T {
    body(&mut ENDED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn installed<T>(body: impl FnOnce(&mut Option<Installed>) -> T) -> T {
    body(&mut INSTALLED.lock().unwrap_or_else(PoisonError::into_inner))
}

fn current() -> Option<Arc<Session>> {
    installed(|installed| installed.as_ref().map(|installed| Arc::clone(&installed.session)))
}

/// Starts a recording of the calling thread, the main one. Opens no file: the threads that are started here
/// do that.
///
/// # Errors
/// When a recording is running already, the library was not loaded, or the process gets no descriptor or
/// thread. This call has then started nothing.
pub fn install(env: &Env<'_>, settings: Settings) -> Result<(), InstallError> {
    if current().is_some() {
        return Err(InstallError::AlreadyInstalled);
    }
    leave();
    #[cfg(debug_assertions)]
    fault::installation_crashes();
    let classes = class_cache::get().ok_or(InstallError::NotLoaded)?;
    let libart = loopbox_art::build_id(classes.vm_of_art());
    let libart = libart.map(|id| BuildId::new(&id)).unwrap_or_default();
    let identity = Identity { libart, ..Identity::of_this_process(clock::pair()) };
    let Ring { main: main_writer, worker: worker_writer, fuse, reader, mirror } =
        Ring::create(&ring_options(&settings, identity));

    descriptors::reserve();
    let shared = Arc::new(SharedState::default());
    let session = Arc::new(Session {
        started: OnceLock::new(),
        installed_ns: clock::now_ns(),
        began_in_bind: AtomicBool::new(false),
        shared: Arc::clone(&shared),
        features: Features::default(),
        annotations: Annotations::new(&settings.annotations),
        breadcrumbs: Breadcrumbs::default(),
        frames: settings.frames.as_ref().map(|frames| Frames::new(frames, settings.api_level)),
        symbols: SharedSymbols::new(),
        reader,
        libart,
        art: OnceLock::new(),
        thread_queries: ThreadQueries::default(),
        main_cpu: clock::cpu_clock_of_this_thread(),
        stall: StallState::new(settings.hang_threshold_ns, clock::now_ns()),
        monitor: MonitorWishes::default(),
        warnings: Warnings::default(),
        signals_before: sigquit::count(),
        capture_before: native_stack::version(),
        previous_runs: OnceLock::new(),
        catcher_pauses: OnceLock::new(),
        kill_switch: KillSwitch::new(settings.kill_switch.clone()),
        gate: Arc::new(Gate::default()),
        wake: EventFd::new().map_err(InstallError::NoEventFd)?,
        requests: Mutex::new(Vec::new()),
        allowance: Allowance::new(clock::now_ns()),
        settings,
    });

    let (sender, receiver) = sample::queue();
    let (seen, frames) = session.frames.as_ref().map(|_| display_frames::queue()).unzip();
    let started = listener::start()
        .and_then(|()| ring_file::start(&session, mirror))
        .and_then(|()| start_worker(classes, &session, worker_writer, receiver, frames))
        .and_then(|()| stall_monitor::start(&session));
    if let Err(error) = started {
        end_threads(&session);
        return Err(InstallError::NoThread(error));
    }
    crash_mark::set_ring(session.reader.clone());
    let main = ThreadEnv::current(env.of_art());
    let parts = SamplerParts { main, fuse, queue: sender };
    let mut unstarted = None;
    if session.settings.recorder.sampling.enabled {
        start_sampler(classes, &session, parts);
    } else {
        session.features.set(Feature::Sampler, false, SWITCHED_OFF);
        unstarted = Some(parts);
    }
    let sig_quit = install_sig_quit(&session);
    let aggregator = Aggregator::new(&session.settings.recorder, MainEnvironment::new(main_writer, shared));
    main_thread::install(aggregator, seen.map(|seen| Box::new(MainFrames::new(Arc::clone(&session), seen))));
    installed(|installed| *installed = Some(Installed { session, sig_quit, unstarted }));
    Ok(())
}

/// The greatest age of a start that is accepted for the message in which the installation runs. An older
/// start is ignored: it is the start of a process that existed long before this message.
const OLDEST_START_NS: u64 = 600_000_000_000;
/// Records the message that the installation runs in. On the main thread, before the hook is installed.
///
/// `loops`: how many `Looper.loop` are on the stack. `binds`: whether the message starts the app; then
/// `start_ms` is when the message began, uptime. `start_ms` is 0 or less when that is not known; then the
/// process's start is used.
pub fn adopt(loops: u32, binds: bool, start_ms: i64) {
    let Some(session) = current() else { return };
    let now_ns = clock::now_ns();
    let known_ns =
        u64::try_from(start_ms).ok().filter(|&ms| ms > 0).map(|ms| Uptime(ms.saturating_mul(1_000_000)));
    let plausible =
        |start_ns: &Uptime| *start_ns <= session.installed_ns && now_ns.since(*start_ns) <= OLDEST_START_NS;
    // A file says it, which another thread is reading. Below Android 7 nothing else does.
    let started_ns = if known_ns.is_none() && binds {
        session.started_ns()
    } else {
        session.started.get().copied().flatten()
    };
    let start_ns = known_ns.or(started_ns).filter(|_| binds).filter(plausible);
    let (start_ns, cpu_ns) = match start_ns {
        None => (session.installed_ns, clock::thread_cpu_ns()),
        Some(start_ns) => {
            // What the thread has computed since the process's start is the message's, or nearly.
            let before = started_ns.map_or(u64::MAX, |started_ns| start_ns.since(started_ns));
            let nearly_all = before.saturating_mul(8) <= now_ns - start_ns;
            (start_ns, nearly_all.then_some(0))
        }
    };
    session.began_in_bind.store(binds, Ordering::Relaxed);
    callbacks::adopt(loops, &AdoptedMessage { start_ns, cpu_ns, binds });
}

fn ring_options(settings: &Settings, identity: Identity) -> RingOptions {
    let frames_len = settings.frames.map_or(0, |_| Geometry::FRAMES_LEN);
    let geometry = Geometry { records: settings.recorder.slots, frames_len, ..Geometry::default() };
    RingOptions { geometry, ..RingOptions::new(&settings.directory, identity) }
}

fn start_worker(
    classes: &ClassCache,
    session: &Arc<Session>,
    writer: WorkerWriter,
    samples: SampleReceiver,
    frames: Option<FrameReceiver>,
) -> io::Result<()> {
    let session = Arc::clone(session);
    attach::spawn(&classes.vm, c"loopbox-worker", move |env| {
        #[cfg(debug_assertions)]
        fault::worker_is_late();
        Worker::new(&session, writer, samples, frames).run(env);
    })
}

fn start_sampler(classes: &ClassCache, session: &Arc<Session>, parts: SamplerParts) {
    let session_of_thread = Arc::clone(session);
    let started = attach::spawn(&classes.vm, c"loopbox-sampler", move |env| {
        thread::run(env, &session_of_thread, parts);
    });
    if let Err(error) = started {
        session.features.set(Feature::Sampler, false, SamplerError::NoThread(error).to_string());
    }
}

/// Switches sampling off, or on again, while the session runs.
pub fn set_sampling(on: bool) {
    let found = installed(|installed| {
        let installed = installed.as_mut()?;
        let parts = if on { installed.unstarted.take() } else { None };
        Some((Arc::clone(&installed.session), parts))
    });
    let Some((session, never_started)) = found else { return };
    session.shared.switch(on);
    if let (Some(parts), Some(classes)) = (never_started, class_cache::get()) {
        start_sampler(classes, &session, parts);
    }
}

fn install_sig_quit(session: &Session) -> Option<SigQuit> {
    if !session.settings.sig_quit {
        session.features.set(Feature::SigQuit, false, SWITCHED_OFF);
        return None;
    }
    match SigQuit::install(session.wake.raw(), &session.shared) {
        Ok(sig_quit) => {
            session.features.set(Feature::SigQuit, true, HANDLED);
            Some(sig_quit)
        }
        Err(why) => {
            let how = format!("noticed once ART has got it, its sender unknown: {why}");
            session.features.set(Feature::SigQuit, true, how);
            None
        }
    }
}

/// Ends the recording, on any thread. From here on no report's file gets its final name, nothing is copied
/// and no listener is called; [`wait_until_ended`] waits for what is under way. The main thread's callbacks
/// do nothing any more. [`leave`] undoes the rest.
pub fn uninstall() {
    let Some(Installed { session, sig_quit, .. }) = installed(Option::take) else { return };
    session.gate.close();
    main_thread::silence();
    if sig_quit.is_some() {
        SigQuit::end();
    }
    crash_mark::clear_ring();
    end_threads(&session);
    ended(|ended| *ended = Some(Ended { session, sig_quit }));
}

fn end_threads(session: &Session) {
    session.gate.close();
    descriptors::release();
    session.shared.stop();
    session.drop_requests();
    session.wake_worker();
    listener::end();
}

/// Waits until each of the recorder's threads has finished the step that it was in when the recording ended.
/// No longer than `timeout`.
pub fn wait_until_ended(timeout: Duration) {
    let session = ended(|ended| ended.as_ref().map(|ended| Arc::clone(&ended.session)));
    if let Some(session) = session {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        session.gate.wait_until_left(clock::now_ns().plus(timeout_ns));
    }
}

/// Undoes what only the main thread can undo of a recording that has ended: its signal mask, and the memory
/// that its callbacks used. On the main thread.
pub fn leave() {
    let Some(Ended { session, sig_quit }) = ended(Option::take) else { return };
    if let Some(sig_quit) = sig_quit {
        sig_quit.uninstall();
    }
    main_thread::uninstall();
    drop(session);
}

/// Notes that another library had taken out the hook, so messages ran unseen. The library may take it out
/// again while main sleeps, and then nothing would wake the stall monitor.
pub fn set_unseen() {
    /// After the hook was found removed, it counts as perhaps removed again for at least this time. A library
    /// that repeatedly replaces the hook does that about every second.
    const NOT_RELIED_ON_NS: u64 = 10_000_000_000;
    if let Some(session) = current() {
        let now_ns = clock::now_ns();
        session.shared.main.set_unseen(now_ns);
        // The hook's place is checked each time that the threshold has passed.
        let two_checks_ns = session.settings.hang_threshold_ns.saturating_mul(2);
        session.shared.rely_on_hook_from(now_ns.plus(two_checks_ns.max(NOT_RELIED_ON_NS)));
    }
}

/// Notes that the hook may be displaced, so that it is not relied on. A call of [`set_hook`] follows when
/// that is known.
pub fn doubt_hook() {
    if let Some(session) = current() {
        session.shared.set_hooked(false);
    }
}

/// Whether main has used processor time since it went to rest. Main went to rest when, after the hook's last
/// message, the stall monitor first saw it wait for a message. `None` in these cases: the stall monitor has
/// not seen that, a message runs, main's CPU time cannot be read, nothing records.
pub fn ran_at_rest() -> Option<bool> {
    current()?.ran_at_rest()
}

/// Records whether the hook works, and what the status says about it. Does not change the hook.
pub fn set_hook(on: bool, detail: String) {
    if let Some(session) = current() {
        session.features.set(Feature::Hook, on, detail);
        session.shared.set_hooked(on);
        session.wake_worker();
    }
}

/// Sets whether a feature of display frames is on in the status, and why. The features are the frames, their
/// stages, touches and jank types.
pub fn set_frames(feature: Feature, on: bool, detail: String) {
    if let Some(session) = current().filter(|session| session.frames.is_some()) {
        session.features.set(feature, on, detail);
        session.wake_worker();
    }
}

/// Records the stages of a display frame, each value at the position of its constant in `FrameMetrics`. Not
/// on the main thread.
pub fn stages(metrics: &[i64; loopbox_frames::METRICS], window: u64, lost: u32) {
    if let Some(frames) = current().as_ref().and_then(|session| session.counted_frames()) {
        frames.recorder(|recorder| recorder.stages(metrics, window, lost));
    }
}

/// Takes the compositor's jank type of the display frame of this vsync, as `JankData` has it. Not on the main
/// thread.
pub fn jank_type(vsync_id: u64, janks: u32) {
    if let Some(frames) = current().as_ref().and_then(|session| session.counted_frames()) {
        frames.recorder(|recorder| recorder.jank_type(vsync_id, janks));
    }
}

/// The figures of display frames so far, as `FrameStats.java` reads them. With `forgets` the figures begin
/// anew. `None` where none are recorded. Waits for the worker, so not on the main thread.
pub fn frame_stats(forgets: bool) -> Option<String> {
    let session = current()?;
    let frames = session.frames.as_ref()?;
    let lines = frame_stats::lines(&frames.session());
    if forgets {
        frames.reset();
        session.wake_worker();
    }
    Some(lines)
}

/// The thread whose end the main thread waits for. [`loopbox_art::Art::joined_by_main`] finds it. Called from
/// a fast native method, so it does not wait for the lock of the recording: a thread that has the lock may
/// wait for the collector, and the collector for the caller.
pub(crate) fn joined(env: JniEnv, threads: usize) -> Option<Joined> {
    let session = Arc::clone(&INSTALLED.try_lock().ok()?.as_ref()?.session);
    session.art.get()?.joined_by_main(env, threads)
}

/// Sets whether the app has paused the recorder.
pub fn set_paused(paused: bool) {
    if let Some(session) = current() {
        session.shared.set_paused(paused, clock::now_ns());
    }
}

/// Sets whether the app is in the background. `background` is false while the app starts, and while its state
/// is not known.
pub fn set_background(background: bool) {
    if let Some(session) = current() {
        session.shared.set_background(background);
    }
}

/// Sets what the app's performance monitor is notified of from now on: messages longer than `level_ms`, a
/// message that blocks for `block_ms`, and, every `tick_ms`, that it is time to sample the process. A
/// `level_ms` of 0 switches all notifications off. Returns false while nothing records.
pub fn set_monitor(level_ms: u64, block_ms: u64, tick_ms: u64) -> bool {
    let Some(session) = current() else { return false };
    let [level_ns, block_ns, tick_ns] = [level_ms, block_ms, tick_ms].map(|ms| ms.saturating_mul(1_000_000));
    session.monitor.set(clock::now_ns(), level_ns, block_ns, tick_ns);
    session.wake_worker();
    true
}

/// The state of each feature; empty while nothing records.
pub fn features() -> Vec<FeatureState> {
    current().map_or_else(Vec::new, |session| session.features.list())
}

/// Sets an annotation, or removes it when there is no value; false where it is not kept: nothing records, or
/// the app has too many names.
pub fn annotate(name: &str, value: Option<&str>) -> bool {
    let Some(session) = current() else { return false };
    let kept = session.annotations.set(name, value);
    if kept && session.annotations.wakes() {
        session.wake_worker();
    }
    kept
}

/// Keeps a breadcrumb of the app. Any thread; the worker is woken for the first one that it has not saved.
pub(crate) fn breadcrumb(name: &str, at_ns: Uptime) {
    if let Some(session) = current()
        && session.breadcrumbs.leave(at_ns, name)
    {
        session.wake_worker();
    }
}

/// Whether the app gets another report. Takes it from the allowance, or counts the refusal. A Java or native
/// listener gets no report while it is called, because it would then be called with that report too, and
/// could request the next one.
fn grants(session: &Session, in_listener: bool) -> bool {
    if in_listener || listener::is_calling() {
        session.allowance.refuse();
        return false;
    }
    session.allowance.take(clock::now_ns())
}

/// Takes the system's warning of an ANR of the app: its id and type, and how much of its time-out has passed.
/// Copies the ring at once, whichever process of the app the warning is about; the worker does the rest.
/// Waits for no thread: the caller holds a lock of the system's listeners.
pub fn warn_of_anr(id: i32, kind: i32, consumed_ms: u64, timeout_ms: u64) {
    let Some(session) = current() else { return };
    let warning = AnrWarning { at_ns: clock::now_ns(), id, kind, consumed_ms, timeout_ms };
    if session.warnings.add(warning) {
        session.shared.copies.ask();
        session.wake_worker();
    }
}

/// How many of the app's requests for reports were refused.
pub fn refused_requests() -> u32 {
    current().map_or(0, |session| session.allowance.refused())
}

/// Has a report written and waits for it. `in_listener`: whether a Java listener requests it while the
/// listener is called.
pub fn dump(reason: String, timeout: Duration, in_listener: bool) -> Option<PathBuf> {
    let session = current()?;
    if !grants(&session, in_listener) {
        return None;
    }
    // The outer one is whether there is an answer. A channel would be 4 KB more of the library.
    let waited = Arc::new((Mutex::new(None), Condvar::new()));
    let answered = Arc::clone(&waited);
    let answer = move |path: Option<&Path>| {
        *answered.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(path.map(Path::to_owned));
        answered.1.notify_one();
    };
    session.add_request(Request::new(reason, answer));
    let open = waited.0.lock().unwrap_or_else(PoisonError::into_inner);
    let answered = waited.1.wait_timeout_while(open, timeout, |answer| answer.is_none());
    answered.unwrap_or_else(PoisonError::into_inner).0.take().flatten()
}

/// Has a report written without waiting for it. Java is then called with two things: the request's number,
/// and the report, or null when there is none. For a request with number 0 Java is not called. Returns false,
/// and makes no call, while nothing records.
pub fn ask_for_dump(reason: String, asked: i64, in_listener: bool) -> bool {
    let Some(session) = current() else { return false };
    let gate = Arc::clone(&session.gate);
    if !grants(&session, in_listener) {
        if asked != 0 {
            listener::refuse(asked);
        }
        return true;
    }
    let answer = move |path: Option<&Path>| {
        if asked != 0 {
            listener::answer(&gate, asked, path);
        }
    };
    session.add_request(Request::new(reason, answer));
    true
}
