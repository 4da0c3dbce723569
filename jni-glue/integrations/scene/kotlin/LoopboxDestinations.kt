// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.scene

import android.content.res.Resources
import android.os.Bundle
import androidx.navigation.NavController
import androidx.navigation.NavDestination
import io.loopbox.Loopbox

/**
 * Names the scene by the destination of Jetpack Navigation, for Fragments and for Compose:
 * `navController.addOnDestinationChangedListener(LoopboxDestinations(resources))`. Use it with
 * `autoScene(false)`: otherwise the Activity's name replaces the destination's at each resume.
 *
 * A route is kept as it was declared, `item/{id}`, without the values of its arguments. A destination of XML
 * has the name of its id.
 */
class LoopboxDestinations(private val resources: Resources) : NavController.OnDestinationChangedListener {
    override fun onDestinationChanged(controller: NavController, destination: NavDestination, arguments: Bundle?) {
        Loopbox.scene(destination.route ?: nameOf(destination.id))
    }

    private fun nameOf(id: Int): String =
        try {
            resources.getResourceEntryName(id)
        } catch (made: Resources.NotFoundException) {
            // Its id was made at run time.
            "destination $id"
        }
}
