// SPDX-License-Identifier: MIT OR Apache-2.0

/**
 * Loopbox for Kotlin: the configuration as a block, reports as a flow, and a suspending function that
 * requests a report.
 */
@file:JvmName("LoopboxKtx")

package io.loopbox.ktx

import android.content.Context
import io.loopbox.Config
import io.loopbox.FrameConfig
import io.loopbox.Listener
import io.loopbox.Loopbox
import io.loopbox.Report
import io.loopbox.Status
import java.io.File
import kotlin.coroutines.resume
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/**
 * A configuration from its options: `loopbox { hangMs(4_000) }`.
 *
 * @param directory where the recorder keeps its files; null for a folder of the app
 */
public inline fun loopbox(directory: File? = null, options: Config.Builder.() -> Unit): Config {
    val builder = if (directory == null) Config.Builder() else Config.Builder(directory)
    return builder.apply(options).build()
}

/**
 * [Loopbox.install] with these options, on the main thread: `installLoopbox { hangMs(4_000) }`.
 *
 * @return what is on and what is off
 */
public inline fun Context.installLoopbox(options: Config.Builder.() -> Unit): Status =
    Loopbox.install(this, loopbox(options = options))

/** [Config.Builder.frames] with these options: `frames { touch(true) }`. */
public inline fun Config.Builder.frames(options: FrameConfig.Builder.() -> Unit): Config.Builder =
    frames(FrameConfig.Builder().apply(options).build())

/**
 * The reports of this process, each when it is complete, and at the start of this process those of processes
 * that were killed. They are passed on while the flow is collected, as to a [Listener] that
 * [Loopbox.addListener] has added. Collecting may begin before [Loopbox.install] or after it. Each collector
 * gets all of them; a slow one loses none and delays no other.
 *
 * When a collector gets a report, listeners of the configuration may have taken its file away already: an app
 * with such a listener needs no flow. The properties of a report read its file: collect where that is
 * allowed, for example on [Dispatchers.IO].
 *
 * @param withPending whether the flow begins with [Loopbox.pendingReports], the reports that no process has
 *     taken yet; no report comes twice
 */
public fun loopboxReports(withPending: Boolean = false): Flow<Report> = flow {
    val came = Channel<Report>(Channel.UNLIMITED)
    val listener = Listener { report -> came.trySend(report) }
    Loopbox.addListener(listener)
    try {
        // A report that comes meanwhile may be in this list, too.
        val pending = if (withPending) withContext(Dispatchers.IO) { Loopbox.pendingReports() } else emptyList()
        val names = pending.mapTo(HashSet()) { it.file.name }
        pending.forEach { emit(it) }
        for (report in came) {
            if (report.file.name !in names) emit(report)
        }
    } finally {
        Loopbox.removeListener(listener)
    }
}

/**
 * [Loopbox.dumpAsync]: writes a report of what the main thread does now, and suspends until it is complete.
 * Any thread. When the coroutine is cancelled, the report is written nevertheless.
 *
 * @param reason goes into the report
 * @return null when there is no report: while nothing records, when a listener of reports calls this, or when
 *     too many reports were requested at the same time
 */
public suspend fun loopboxDump(reason: String? = null): Report? = suspendCancellableCoroutine { waiting ->
    Loopbox.dumpAsync(reason) { report -> waiting.resume(report) }
}
