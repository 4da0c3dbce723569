package named

import android.os.Handler
import android.os.Looper
import io.loopbox.Config
import io.loopbox.Loopbox
import io.reactivex.rxjava3.android.schedulers.AndroidSchedulers
import io.reactivex.rxjava3.core.Single
import io.reactivex.rxjava3.functions.Consumer
import java.io.File
import java.util.TreeMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Semaphore
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.android.asCoroutineDispatcher
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

/**
 * How long each message runs at least, in nanoseconds. Libraries dispatch the messages: a launched coroutine,
 * its continuation after a delay, an observer of Rx. Each runs until there is a report of it; the last report
 * has all of them in its history. Arguments of the program: folder, hook.
 */
private const val LEAST_NS = 2_500_000_000L

/** Has a permit when a message has run for long enough to be reported. */
private val running = Semaphore(0)

class Feed(private val handler: Handler) {
    fun load() {
        CoroutineScope(handler.asCoroutineDispatcher()).launch {
            parse()
            delay(20)
            parse()
            observe()
        }
    }

    private fun observe() {
        Single.just(1).observeOn(AndroidSchedulers.mainThread()).subscribe(object : Consumer<Int> {
            override fun accept(value: Int) = parse()
        })
    }

    /** Spends the time in a class of Java's library. */
    fun parse() {
        val since = System.nanoTime()
        val known = TreeMap<Int, Int>()
        fun spend() {
            for (i in 0..999) known[(i * 7919) % 1000] = i
        }
        while (System.nanoTime() - since < LEAST_NS) spend()
        asked = CountDownLatch(1)
        running.release()
        while (asked.count > 0) spend()
    }

    companion object {
        @Volatile var asked = CountDownLatch(1)
    }
}

fun main(arguments: Array<String>) {
    Looper.prepareMainLooper()
    val hook = Config.Hook.valueOf(arguments[1])
    check(Loopbox.install(Config.Builder(File(arguments[0])).hook(hook).build()).isOn)
    Thread {
        for (what in listOf("launched", "resumed", "observed")) {
            running.acquire()
            println("SCRIPT $what " + Loopbox.dump(what))
            Feed.asked.countDown()
        }
        // The last one is over when the next message runs.
        val over = CountDownLatch(1)
        Handler(Looper.getMainLooper()).post { over.countDown() }
        over.await()
        println("SCRIPT over " + Loopbox.dump("over"))
    }.start()
    Feed(Handler(Looper.getMainLooper())).load()
    Looper.loop()
}
