// SPDX-License-Identifier: MIT OR Apache-2.0
/** Ways to see each dispatch of the main Looper, and what notices that another library took one out. */
package io.loopbox.internal.hook;
