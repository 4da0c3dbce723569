//! What the threads of one recording share: plain data and its locks. Nothing here starts or wires anything,
//! and no module of this folder knows the threads that use it.

pub(crate) mod allowance;
pub(crate) mod annotations;
pub(crate) mod breadcrumbs;
pub(crate) mod class_names;
pub(crate) mod copies;
pub(crate) mod display_frames;
pub(crate) mod features;
pub(crate) mod gate;
pub(crate) mod hint;
pub(crate) mod hook_trust;
pub(crate) mod kill_switch;
pub(crate) mod main_state;
pub(crate) mod monitor;
pub(crate) mod numbers;
pub(crate) mod pace;
pub(crate) mod previous_runs;
pub(crate) mod sampler_work;
pub(crate) mod settings;
pub(crate) mod shared_state;
pub(crate) mod stall;
pub(crate) mod stops;
pub(crate) mod symbols;
pub(crate) mod thread_query;
pub(crate) mod warnings;

use crate::sys::wake::EventFd;
use crate::sys::{clock, proc};
use allowance::Allowance;
use annotations::Annotations;
use breadcrumbs::Breadcrumbs;
use display_frames::Frames;
use features::Features;
use gate::Gate;
use kill_switch::KillSwitch;
use loopbox_art::Art;
use loopbox_format::model::Uptime;
use loopbox_recorder::{Demand, Frozen};
use loopbox_store::{BuildId, RingReader};
use monitor::MonitorWishes;
use previous_runs::PreviousRuns;
use settings::Settings;
use shared_state::SharedState;
use stall::StallState;
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use symbols::SharedSymbols;
use thread_query::ThreadQueries;
use warnings::Warnings;

/// The detail of a feature that the app has switched off.
pub(crate) const SWITCHED_OFF: &str = "switched off by the app";

/// What all threads of a recording share.
pub(crate) struct Session {
    pub(crate) settings: Settings,
    /// When the process started, uptime; empty until it was looked up.
    pub(crate) started: OnceLock<Option<Uptime>>,
    pub(crate) installed_ns: Uptime,
    /// Whether recording began in the message that starts the app.
    pub(crate) began_in_bind: AtomicBool,
    pub(crate) shared: Arc<SharedState>,
    pub(crate) features: Features,
    pub(crate) annotations: Annotations,
    pub(crate) breadcrumbs: Breadcrumbs,
    /// Display frames, where the app asks for them.
    pub(crate) frames: Option<Frames>,
    pub(crate) symbols: SharedSymbols,
    pub(crate) reader: RingReader,
    /// Build id of the ART module.
    pub(crate) libart: BuildId,
    /// ART, as soon as the sampler has found it.
    pub(crate) art: OnceLock<Art>,
    /// Questions of the worker to the sampler about threads and locks.
    pub(crate) thread_queries: ThreadQueries,
    /// The main thread's CPU clock.
    pub(crate) main_cpu: Option<libc::clockid_t>,
    /// What the stall monitor found out about the running message.
    pub(crate) stall: StallState,
    /// What the app's performance monitor wants to be notified of.
    pub(crate) monitor: MonitorWishes,
    /// The warnings that the system has sent.
    pub(crate) warnings: Warnings,
    /// How many SIGQUITs there were before this session.
    pub(crate) signals_before: u32,
    /// The version of the last native stack before this session. The worker cannot find it out: a signal may
    /// come before the worker's thread first runs.
    pub(crate) capture_before: u32,
    /// What earlier processes left. The worker finds it out before anything else, and the sampler waits for
    /// it.
    pub(crate) previous_runs: OnceLock<PreviousRuns>,
    /// The number of times that ART's Signal Catcher had given up its processor, read when the worker found
    /// that thread.
    pub(crate) catcher_pauses: OnceLock<u64>,
    /// Whether another process of the app has switched the recorder off.
    pub(crate) kill_switch: KillSwitch,
    /// The gate: open until the recording ends. Each notice that waits for a listener has it, too.
    pub(crate) gate: Arc<Gate>,
    /// Wakes the worker.
    pub(crate) wake: EventFd,
    pub(crate) requests: Mutex<Vec<Request>>,
    /// How many of the app's requests for reports are granted.
    pub(crate) allowance: Allowance,
}

/// How many requested reports may wait to be begun: no more than a directory keeps.
const MAX_REQUESTS: usize = 16;

/// A report that the app has asked for.
pub(crate) struct Request {
    pub(crate) reason: String,
    answer: Option<Answer>,
}

/// Receives the file's path, or nothing when there is no file.
type Answer = Box<dyn FnOnce(Option<&Path>) + Send>;

impl Request {
    /// `answer` is called once, when the report is complete or there will be none.
    pub(crate) fn new(reason: String, answer: impl FnOnce(Option<&Path>) + Send + 'static) -> Self {
        Self { reason, answer: Some(Box::new(answer)) }
    }

    /// Answers the request with its complete report, the file at `path`.
    pub(crate) fn finish(mut self, path: &Path) {
        if let Some(answer) = self.answer.take() {
            answer(Some(path));
        }
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            answer(None);
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl Session {
    /// How much processor time the main thread has demanded so far: it ran, or waited to run. Where the
    /// kernel does not report the waits, only the time that it ran counts.
    pub(crate) fn main_demand(&self) -> Option<Demand> {
        let ran_ns = clock::thread_cpu_of(self.main_cpu?)?;
        Some(Demand { ran_ns, waited_ns: proc::main_waited_ns().unwrap_or(0) })
    }

    /// Whether main has used processor time since it went to rest. If so, main may have run something that no
    /// hook saw. Main went to rest when, after the hook's last message, the stall monitor first saw it wait
    /// for a message. `None` in these cases: the stall monitor has not seen that, a message runs, main's CPU
    /// time cannot be read.
    pub(crate) fn ran_at_rest(&self) -> Option<bool> {
        let (token, _) = self.shared.main.between_messages()?;
        let rest = Some(self.stall.snapshot().rest).filter(|rest| rest.token == token)?;
        let ran_ns = self.main_demand()?.ran_ns;
        // A message that began meanwhile is what it ran.
        (self.shared.main.token() == token).then_some(ran_ns > rest.demand.ran_ns)
    }

    /// When the process started, uptime. Reads a file the first time, so not for the main thread.
    pub(crate) fn started_ns(&self) -> Option<Uptime> {
        *self.started.get_or_init(|| loopbox_store::start_ticks().and_then(clock::uptime_of_start))
    }

    /// The times at which the process did not run, as the stall monitor would determine them now.
    pub(crate) fn frozen_now(&self) -> Frozen {
        self.stall.snapshot().at(clock::now_ns(), self.shared.main.activity(), None).frozen()
    }

    /// The figures of display frames, where they are counted: not in a pause.
    pub(crate) fn counted_frames(&self) -> Option<&Frames> {
        self.frames.as_ref().filter(|_| !self.shared.is_paused())
    }

    pub(crate) fn wake_worker(&self) {
        self.wake.notify();
    }

    pub(crate) fn wait_for_work(&self, timeout_ms: i32) {
        self.wake.wait(timeout_ms);
    }

    pub(crate) fn add_request(&self, request: Request) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let one_too_many = (requests.len() == MAX_REQUESTS).then(|| requests.remove(0));
        requests.push(request);
        drop(requests);
        drop(one_too_many);
        if self.gate.is_closed() {
            self.drop_requests();
        }
        self.wake_worker();
    }

    pub(crate) fn has_requests(&self) -> bool {
        !self.requests.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Answers each request: there will be no report.
    pub(crate) fn drop_requests(&self) {
        drop(self.take_requests());
    }

    pub(crate) fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut *self.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
