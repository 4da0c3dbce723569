// SPDX-License-Identifier: MIT OR Apache-2.0
/** Frames of the display and input, window by window. */
package io.loopbox.internal.frames;
