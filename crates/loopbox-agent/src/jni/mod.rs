//! The JNI: calls into the VM without the jni crate's overhead, the handles of our Java classes, attached threads.

pub(crate) mod attach;
pub mod class_cache;
pub mod entry;
pub mod raw;
pub(crate) mod string;
