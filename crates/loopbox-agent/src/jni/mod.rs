//! The JNI: calls into the VM without the jni crate's overhead, the handles of our Java classes, attached
//! threads.

pub(crate) mod attach;
pub(crate) mod call;
pub mod class_cache;
pub mod entry;
pub mod env;
pub mod raw;
pub(crate) mod string;
