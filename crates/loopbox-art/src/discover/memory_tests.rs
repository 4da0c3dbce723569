//! Discovery in simulated structures: the latest ones of Android 16, and what later source adds to them.

use super::*;
use crate::offsets::{ROWS, Row};

/// `JavaVMExt`, `Runtime`, `ThreadList`, one `Thread` and its `JNIEnvExt`, laid out as a row says.
struct Memory {
    vm: Vec<usize>,
    runtime: Vec<usize>,
    list: Vec<usize>,
    node: Vec<usize>,
    thread: Vec<usize>,
    env: Vec<usize>,
}

/// What the source of a later build adds, in machine words.
#[derive(Debug, Clone, Copy, Default)]
struct Added {
    /// Members between `thread_list_` and `java_vm_`.
    between: usize,
    /// Members in Runtime after `java_vm_`, such as `build_sdk_version_`.
    behind_java_vm: usize,
    /// Members in Thread after the end of the thread's own buffer, such as `thread_local_jhp_pos`. They are
    /// outside of the part that is searched.
    behind_jni_env: usize,
    /// Members in Thread before `jni_env`.
    before_jni_env: usize,
}

const ID: u32 = 7;

fn address(words: &[usize]) -> usize {
    words.as_ptr() as usize
}

impl Memory {
    fn of(row: &Row, added: Added) -> Self {
        let mut memory = Self {
            vm: vec![0; 8],
            runtime: vec![0; 300],
            list: vec![0; LIST_AT / WORD + 3],
            node: vec![0; 3],
            thread: vec![0; 400],
            env: vec![0; 8],
        };
        let java_vm = usize::from(row.java_vm) / WORD + added.between;
        memory.vm[1] = address(&memory.runtime);
        memory.runtime[usize::from(row.thread_list) / WORD] = address(&memory.list);
        memory.runtime[java_vm] = address(&memory.vm);
        // Numbers and pointers that discovery has to pass over.
        memory.runtime[java_vm + 1..=java_vm + 1 + added.behind_java_vm].fill(37);
        let head = address(&memory.list) + LIST_AT;
        memory.list[LIST_AT / WORD..].copy_from_slice(&[address(&memory.node), address(&memory.node), 1]);
        memory.node.copy_from_slice(&[head, head, address(&memory.thread)]);
        let jni_env = usize::from(row.jni_env) / WORD + added.before_jni_env;
        memory.thread[jni_env] = address(&memory.env);
        memory.thread[jni_env + 2] = address(&memory.thread);
        memory.thread[jni_env + 20..jni_env + 20 + added.behind_jni_env].fill(address(&memory.list));
        let numbers = usize::from(row.thin_lock_id) / 4;
        let mut words = [0_u32; 8];
        (words[numbers], words[numbers + 1]) = (ID, crate::sys::gettid());
        for (word, pair) in memory.thread.iter_mut().zip(words.chunks(WORD / 4)) {
            let bytes: Vec<u8> = pair.iter().flat_map(|number| number.to_ne_bytes()).collect();
            *word = usize::from_ne_bytes(bytes.try_into().unwrap());
        }
        memory.env[1] = address(&memory.thread);
        memory.env[2] = address(&memory.vm);
        memory
    }

    fn thread(&self) -> Result<FoundThread, Off> {
        let of = ThreadEnv { env: address(&self.env), tid: crate::sys::gettid() };
        thread_of(of, address(&self.vm))
    }

    fn runtime(&self) -> Result<FoundRuntime, Off> {
        runtime_of(address(&self.vm), None, &[self.thread()?])
    }

    /// Compares what discovery finds in this memory with the table.
    fn compare(&self, row: &Row) -> Result<Match, Off> {
        let (thread, runtime) = (self.thread()?, self.runtime()?);
        let findings = Findings {
            suspend: row.suspend,
            thread_list: runtime.thread_list_at,
            java_vm: runtime.java_vm_at,
            thin_lock_id: thread.thin_lock_id_at,
            jni_env: thread.jni_env_at,
            visitor_size: row.visitor_size.into(),
            host_build: !row.device,
        };
        findings.compare(Some(37))
    }
}

#[test]
fn each_row_is_found_in_memory_that_is_laid_out_by_it() {
    for row in ROWS {
        let memory = Memory::of(row, Added::default());
        let (thread, runtime) = (memory.thread().unwrap(), memory.runtime().unwrap());
        assert_eq!(
            (thread.jni_env_at, thread.thin_lock_id_at),
            (row.jni_env.into(), row.thin_lock_id.into()),
            "{:?}",
            row.id
        );
        assert_eq!((thread.id, thread.thread), (ID, address(&memory.thread)), "{:?}", row.id);
        assert_eq!(
            (runtime.thread_list_at, runtime.java_vm_at),
            (row.thread_list.into(), row.java_vm.into()),
            "{:?}",
            row.id
        );
        assert_eq!(runtime.thread_list, address(&memory.list), "{:?}", row.id);
    }
}

#[cfg(target_pointer_width = "64")]
fn last() -> &'static Row {
    ROWS.iter().find(|row| row.id.as_str().starts_with("36q2-")).unwrap()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn fields_that_later_source_adds_behind_the_known_ones_change_nothing() {
    let at = ROWS.iter().position(|row| row.id == last().id).unwrap();
    for added in [
        Added { behind_java_vm: 1, ..Added::default() },
        Added { behind_jni_env: 1, ..Added::default() },
        Added { behind_java_vm: 1, behind_jni_env: 1, ..Added::default() },
    ] {
        let Ok(Match::Rows(rows)) = Memory::of(last(), added).compare(last()) else { panic!("{added:?}") };
        assert!(rows.contains(&at), "{added:?}");
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_field_before_the_known_ones_of_a_thread_is_left_to_discovery() {
    let added = Added { before_jni_env: 1, ..Added::default() };
    assert_eq!(Memory::of(last(), added).compare(last()), Ok(Match::NoRow));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_field_between_the_thread_list_and_the_vm_is_refused() {
    for between in 1..=4 {
        let memory = Memory::of(last(), Added { between, ..Added::default() });
        assert_eq!(memory.compare(last()).unwrap_err().code(), "unknown-art", "{between}");
    }
}
