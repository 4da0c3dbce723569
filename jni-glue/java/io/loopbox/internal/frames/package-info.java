// SPDX-License-Identifier: MIT OR Apache-2.0
/** Watches the app's windows: the display frames that each window draws, and the input that it gets. */
package io.loopbox.internal.frames;
