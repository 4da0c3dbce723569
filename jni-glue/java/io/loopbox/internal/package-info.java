// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Begins and ends a recording, and passes on the native side's calls. The packages below it do not use it.
 */
package io.loopbox.internal;
