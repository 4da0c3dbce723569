// SPDX-License-Identifier: MIT OR Apache-2.0
/** What Java adds to a report, and how reports of earlier launches reach the app. */
package io.loopbox.internal.report;
