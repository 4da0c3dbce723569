// SPDX-License-Identifier: MIT OR Apache-2.0
/** The performance monitor: lines in files for messages that took long, and their upload. */
package io.loopbox.internal.monitor;
