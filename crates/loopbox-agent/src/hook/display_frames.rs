//! The native methods of display frames, all for the main thread.

use super::frame_events::MainFrames;
use super::main_thread;
use crate::jni::string::Text;
use crate::sys::clock;
use jni::sys;
use loopbox_format::model::Token;
use loopbox_frames::FrameEvent;

// As in `Native.java`.
const DOWN: sys::jint = 0;
const UP: sys::jint = 1;
const CANCEL: sys::jint = 3;

/// Runs `body` with the main thread's frames and the running message. Returns the default on other threads,
/// and where there are no frames.
fn on_main<T: Default>(body: impl FnOnce(&mut MainFrames, Option<Token>) -> T) -> T {
    // SAFETY: no other function of the recorder is on this thread's stack.
    let main = unsafe { main_thread::main() };
    main.and_then(|main| {
        let running = main.aggregator.running();
        main.frames.as_mut().map(|frames| body(frames, running))
    })
    .unwrap_or_default()
}

fn on_frame(time_ns: sys::jlong) -> sys::jboolean {
    let time_ns = u64::try_from(time_ns).unwrap_or(0);
    // SAFETY: as in `on_main`, which is not called yet.
    if let Some(main) = unsafe { main_thread::main() } {
        main.is_called(None);
    }
    on_main(|frames, running| frames.frame(time_ns, running))
}

/// `Native.frame`: the frame callback runs. Returns whether Java should ask for it again.
pub extern "system" fn frame(_: *mut sys::JNIEnv, _: sys::jclass, time_ns: sys::jlong) -> sys::jboolean {
    on_frame(time_ns)
}

/// `Native.frameCritical`: as [`frame`], where ART supports `@CriticalNative`.
pub extern "system" fn frame_critical(time_ns: sys::jlong) -> sys::jboolean {
    on_frame(time_ns)
}

/// `Native.scrolled`: a view has scrolled, at this time of the animation clock. Returns whether Java should
/// post the frame callback.
pub extern "system" fn scrolled(_: *mut sys::JNIEnv, _: sys::jclass, clock_ms: sys::jlong) -> sys::jboolean {
    let clock_ms = u64::try_from(clock_ms).unwrap_or(0);
    on_main(|frames, running| frames.scrolled(clock_ms, running))
}

/// `Native.animate`: an animation begins or ends. Returns whether Java should post the frame callback.
pub extern "system" fn animate(_: *mut sys::JNIEnv, _: sys::jclass, begins: sys::jboolean) -> sys::jboolean {
    on_main(|frames, _| {
        if begins {
            return frames.begin_animation();
        }
        frames.end_animation();
        false
    })
}

/// `Native.stopFrames`: the frame callback that was posted, if any, is taken back.
pub extern "system" fn stop_frames(_: *mut sys::JNIEnv, _: sys::jclass) {
    on_main(|frames, _| frames.stop());
}

/// `Native.touch`: the first finger went down, is now this distance from where it went down, or was lifted.
pub extern "system" fn touch(
    _: *mut sys::JNIEnv,
    _: sys::jclass,
    action: sys::jint,
    distance_dp: sys::jfloat,
) {
    let at_ns = clock::now_ns();
    on_main(|frames, _| {
        frames.touched(match action {
            DOWN => FrameEvent::Down { at_ns },
            UP | CANCEL => FrameEvent::Up { at_ns },
            _ => FrameEvent::Moved { at_ns, distance_dp },
        });
    });
}

/// `Native.frameScene`: the frames from now on are those of this screen.
///
/// # Safety
/// Called by the VM: `env` is the calling thread's, without a pending exception, the string is a local
/// reference.
pub unsafe extern "system" fn frame_scene(env: *mut sys::JNIEnv, _: sys::jclass, name: sys::jstring) {
    // SAFETY: by this function's contract.
    let name = unsafe { Text::read(env, name) };
    on_main(|frames, _| frames.set_scene(name.as_str()));
}

/// `Native.refreshRate`: the refresh rate that the display reports.
pub extern "system" fn refresh_rate(_: *mut sys::JNIEnv, _: sys::jclass, hz: sys::jfloat) {
    on_main(|frames, _| frames.set_rate(hz));
}
