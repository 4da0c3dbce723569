// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * The recording in progress: its settings, its state, the native half, and what the app has said about
 * itself.
 */
package io.loopbox.internal.recording;
