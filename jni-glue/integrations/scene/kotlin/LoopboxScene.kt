// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.scene

import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import io.loopbox.Loopbox

/**
 * Names the scene when this call comes into the composition: put it at the top of a screen, in Compose
 * without Navigation. Use it with `autoScene(false)`, like [LoopboxDestinations]. A scene that has left the
 * composition stays the current one until another scene comes: a screen that is still there below a dialog
 * does not name itself again.
 */
@Composable
fun LoopboxScene(name: String) {
    DisposableEffect(name) {
        Loopbox.scene(name)
        onDispose {}
    }
}
