package ktx

import android.app.Application
import android.content.Context
import io.loopbox.Loopbox
import io.loopbox.Report
import io.loopbox.ktx.frames
import io.loopbox.ktx.installLoopbox
import io.loopbox.ktx.loopbox
import io.loopbox.ktx.loopboxDump
import io.loopbox.ktx.loopboxReports
import java.io.File
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

/** An app that uses all of loopbox-ktx. It prints which reports came, and that no listener is left behind. */
public class App : Application() {
    override fun attachBaseContext(base: Context) {
        super.attachBaseContext(base)
        val status = installLoopbox {
            hangMs(30_000)
            frames { scroll(false) }
        }
        println("SCRIPT installed ${status.isOn}")
        CoroutineScope(Dispatchers.Default).launch { use() }
    }
}

/** Whether this app requested the report. `integrate.Attached` requests another one. */
private fun ours(report: Report) = report.label != "asked"

/** Each listener has a thread while something is recorded. All who asked for a report share one thread. */
private fun listeners() = Thread.getAllStackTraces().keys.count { it.name == "loopbox-listener" }

private suspend fun waitUntil(wanted: () -> Boolean) {
    while (!wanted()) delay(5)
}

private suspend fun CoroutineScope.collect(into: Channel<Report>): Job {
    val before = listeners()
    val job = launch { loopboxReports().filter(::ours).collect(into::send) }
    waitUntil { listeners() == before + 1 }
    return job
}

private suspend fun use() = coroutineScope {
    val first = checkNotNull(loopboxDump("first"))
    println("SCRIPT dumped ${first.label} ${first.isComplete}")
    val before = listeners()

    val got = Channel<Report>(Channel.UNLIMITED)
    val collector = collect(got)
    val second = checkNotNull(loopboxDump("second"))
    println("SCRIPT collected ${got.receive().file == second.file} ${got.tryReceive().isFailure}")

    collector.cancelAndJoin()
    waitUntil { listeners() == before }
    println("SCRIPT removed")

    // Cancelled, the request waits no longer, and its report is written. On a single thread: else it may have
    // ended before it is cancelled.
    val other = collect(got)
    val isCancelled = runBlocking {
        val request = launch(start = CoroutineStart.UNDISPATCHED) { loopboxDump("left") }
        request.cancelAndJoin()
        request.isCancelled
    }
    println("SCRIPT left $isCancelled ${got.receive().label}")
    other.cancelAndJoin()
    waitUntil { listeners() == before }

    // What is there comes first, what is new after it, and nothing twice.
    val labels = launch {
        val all = loopboxReports(withPending = true).filter(::ours).map { it.label }.take(4).toList()
        println("SCRIPT all ${all.joinToString()}")
    }
    waitUntil { listeners() == before + 1 }
    checkNotNull(loopboxDump("new"))
    labels.join()
    waitUntil { listeners() == before }

    val config = loopbox(File("elsewhere")) { slots(60) }
    Loopbox.uninstall()
    println("SCRIPT over ${loopboxDump("none")} ${config.javaClass.simpleName}")
}
