// All of the public API as a Kotlin app uses it. `crates/loopbox-android-pack/tests/kotlin.rs` compiles it
// against the archive's classes alone: that a result is never null, that an argument may be, is shown by the
// types written out here.
package kotlinapp

import android.content.Context
import android.os.MessageQueue
import android.view.Window
import io.loopbox.Config
import io.loopbox.DumpCallback
import io.loopbox.FirstFileListener
import io.loopbox.FrameConfig
import io.loopbox.FrameGesture
import io.loopbox.FrameListener
import io.loopbox.FrameWindow
import io.loopbox.Listener
import io.loopbox.Loopbox
import io.loopbox.Monitor
import io.loopbox.MonitorConfig
import io.loopbox.MonitorListener
import io.loopbox.MonitorSampler
import io.loopbox.MonitorUploader
import io.loopbox.ObserverAccess
import io.loopbox.QueueAccess
import io.loopbox.Redactor
import io.loopbox.Report
import io.loopbox.Stall
import io.loopbox.Status
import java.io.File
import java.lang.reflect.Field

class Notified : FirstFileListener {
    override fun onFirstFile(report: Report) = println(report.label)

    override fun onReport(report: Report) {
        val file: File = report.file
        val words: List<String> = listOf(report.reason, report.label, report.processName, report.digest)
        val numbers: List<Long> = listOf(report.pid.toLong(), report.timeMs, report.exitTimeMs)
        val wanted = when (report.kind) {
            Report.Kind.ANR, Report.Kind.HANG, Report.Kind.RECOVERED -> true
            Report.Kind.CRASH -> report.isComplete
            Report.Kind.REQUESTED, Report.Kind.SIGQUIT, Report.Kind.UNKNOWN -> report.verdict == Report.Verdict.CONFIRMED
        }
        val profile: File? = report.systemProfile
        println("$profile $file $words $numbers $wanted")
    }
}

fun configuration(directory: File?): Config {
    val builder: Config.Builder = if (directory == null) Config.Builder() else Config.Builder(directory)
    return builder
        // Made from jni-glue/options.toml: calls
        .groupMs(300).detailMs(50).slots(100).detailsPerRecord(8).sampling(true).sampleOnsetMs(50)
        .sampleIntervalMs(10).sampleOnce(false).minSamples(95).trees(10).allNames(true).hook(Config.Hook.AUTO)
        .hiddenApi(Config.HiddenApi.REFLECTION).observerAccess(null).pollPeek(null)
        .runningName(Config.RunningName.STACK).sigQuit(true).hangMs(5_000).printerCheckMs(60_000)
        .pendingLines(200).pendingMs(200).keepObjects(false).redactThreadNames(false).digestAnnotations(false)
        .listener(null).redactor(null).logger(null).autoScene(true).watchInput(false).frames(null)
        .mainProcessOnly(false).pauseInBackground(false).systemProfiles(false).profileTrigger(null)
        .hangTraceMs(0).profileListener(null).anrWarnings(true).keepProcessState(false).appVersion("")
        // End of what is made from jni-glue/options.toml
        .listener(Listener { report -> println(report.digest) })
        .redactor { name, value -> if (name == "card") null else value }
        .logger { priority, line, fault -> println("$priority $line ${fault?.message}") }
        .userShare(0.1, "7f3a")
        .frames(frames())
        .annotate("flavour", "demo")
        .build()
}

fun frames(): FrameConfig =
    FrameConfig.Builder()
        // Made from jni-glue/options.toml: frame calls
        .scroll(true).touch(false).stages(false).jankData(false).jankStacks(true).jankFrameMs(34)
        .skippedFrames(30).scenes(16).listener(null)
        // End of what is made from jni-glue/options.toml
        .listener(object : FrameListener {
            override fun onWindow(window: FrameWindow) {
                val level: FrameWindow.Level = window.level
                val scene: String = window.scene
                println("$level $scene ${window.fps} ${window.refreshRate} ${window.longestMs} ${window.frames} ${window.missed}")
            }

            override fun onGesture(gesture: FrameGesture) =
                println("${gesture.fps} ${gesture.durationMs} ${gesture.hitchMsPerSecond} ${gesture.isByFinger}")

            override fun onSkippedFrames(frames: Int, scene: String) = println(scene.length + frames)
        })
        .build()

fun install(context: Context): Boolean {
    val status: Status = Loopbox.install(context, configuration(null))
    val reason: String = status.reason
    val parts: List<String> = status.parts.map { part: Status.Part -> "${part.name} ${part.isOn} ${part.detail}" }
    Loopbox.addListener { report: Report -> println(Report.of(report.file).kind) }
    println("$reason $parts ${Loopbox.install(configuration(File("reports"))).isOn}")
    return Loopbox.status().isOn
}

fun use(context: Context, window: Window?) {
    val dumped: File? = Loopbox.dump(null)
    println(dumped?.length())
    Loopbox.dumpAsync(null, null)
    Loopbox.dumpAsync("shaken", DumpCallback { report: Report? -> println(report?.digest) })
    val digests: List<String> = Loopbox.takePendingReports().map { it.digest }
    println(digests)
    Loopbox.annotate("user", "u-17")
    Loopbox.annotate("user", null)
    Loopbox.breadcrumb("tap")
    Loopbox.breadcrumb(null)
    Loopbox.scene("checkout")
    Loopbox.scene(null)
    Loopbox.watchInput(window)
    Loopbox.frames().run {
        begin("opening")
        end("opening")
        watch(window)
        forget(window)
    }
    Loopbox.pause()
    Loopbox.resume()
    Loopbox.setSampling(false)
    Loopbox.setEnabled(context, true)
    val isGone: Boolean = Loopbox.purge(context)
    Loopbox.uninstall()
}

class Memory : MonitorSampler {
    override fun name() = "memory"

    override fun sample(into: MutableMap<String, Long>) {
        into["free"] = Runtime.getRuntime().freeMemory()
    }
}

class Access : ObserverAccess {
    override fun name() = "none"

    override fun read(): Any? = null

    override fun write(observer: Any?) = Unit
}

class Head : QueueAccess {
    override fun fields(queue: MessageQueue): Array<Field> = throw NoSuchFieldException("none")
}

fun monitor(): List<File> {
    val config: MonitorConfig = MonitorConfig.Builder()
        // Made from jni-glue/options.toml: monitor calls
        .levelsMs(100, 300).blockMs(200).sampleMs(500).directory(null).files(true).keepDays(7)
        .maxBytes(2_097_152).log(true).listener(null).uploader(null).uploadRetryMs(60_000)
        // End of what is made from jni-glue/options.toml
        .listener(object : MonitorListener {
            override fun onBlock(ageMs: Long, stack: String) = println("$ageMs $stack")

            override fun onStall(stall: Stall) {
                val texts: List<String> = listOf(stall.message, stall.scene, stall.stack, stall.json)
                println("$texts ${stall.level} ${stall.wallMs} ${stall.startUptimeMs} ${stall.startTimeMs}")
            }
        })
        .uploader(MonitorUploader { gzip: File, day: String -> gzip.length() > day.length })
        .build()
    val monitor: Monitor = Loopbox.monitor(config)
    monitor.addSampler(Memory())
    println(monitor.start() && monitor.isMonitoring)
    monitor.upload()
    monitor.stop()
    return monitor.pending()
}

val redactor = Redactor { _: String, value: String -> value.takeIf { it.length < 10 } }
