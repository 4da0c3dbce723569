// The part of androidx.compose.runtime that the link uses.
package androidx.compose.runtime

annotation class Composable

interface DisposableEffectResult {
    fun dispose()
}

class DisposableEffectScope {
    inline fun onDispose(crossinline onDisposeEffect: () -> Unit): DisposableEffectResult =
        object : DisposableEffectResult {
            override fun dispose() = onDisposeEffect()
        }
}

@Composable
fun DisposableEffect(key1: Any?, effect: DisposableEffectScope.() -> DisposableEffectResult) {
    DisposableEffectScope().effect().dispose()
}
