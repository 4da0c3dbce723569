// SPDX-License-Identifier: MIT OR Apache-2.0
/** Begins and ends a recording, and passes on what the native side calls. Its packages know nothing of it. */
package io.loopbox.internal;
