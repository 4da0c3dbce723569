// SPDX-License-Identifier: MIT OR Apache-2.0
/** Ways to see each dispatch of the main Looper, and the detection of another library that took one out. */
package io.loopbox.internal.hook;
