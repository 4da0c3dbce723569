// What Kotlin must refuse: a null where the API takes none, and a result that may be null used as if it was
// there. Each line with an error ends with the compiler's message;
// `crates/loopbox-android-pack/tests/kotlin.rs` compares them all.
package kotlinapp

import android.content.Context
import io.loopbox.Config
import io.loopbox.DumpCallback
import io.loopbox.Listener
import io.loopbox.Loopbox
import io.loopbox.MonitorConfig
import io.loopbox.Redactor
import io.loopbox.Report
import java.io.File

fun arguments(context: Context, config: Config) {
    Loopbox.install(null, config) // null cannot be a value
    Loopbox.install(context, null) // null cannot be a value
    Loopbox.annotate(null, "value") // null cannot be a value
    Loopbox.setEnabled(null, true) // null cannot be a value
    Loopbox.monitor(null) // null cannot be a value
    Config.Builder().hook(null) // null cannot be a value
    Config.Builder().appVersion(null) // null cannot be a value
    Config.Builder().annotate("name", null) // null cannot be a value
    MonitorConfig.Builder().levelsMs(null) // null cannot be a value
}

fun results(report: Report) {
    val file: File = Loopbox.dump("now") // actual 'File?'
    println(Loopbox.dump("now").length()) // nullable receiver
    val nothing: Nothing? = report.digest // actual 'String'
    println("$file $nothing")
}

val dumped = DumpCallback { report -> println(report.digest) } // nullable receiver
val redactor2: (String) -> String = { Redactor { _, value -> value }.redact("name", it) } // actual 'String?'

class Wrong : Listener { // is not abstract and does not implement
    override fun onReport(report: Report?) = Unit // overrides nothing
}
