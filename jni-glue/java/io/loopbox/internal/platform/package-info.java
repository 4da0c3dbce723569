// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * What the recorder uses of the device and of Java itself: the framework's answers, files, clocks, threads,
 * the log.
 */
package io.loopbox.internal.platform;
