// The part of androidx.navigation that the link uses (2.4 and newer).
package androidx.navigation

import android.os.Bundle

open class NavController {
    fun interface OnDestinationChangedListener {
        fun onDestinationChanged(controller: NavController, destination: NavDestination, arguments: Bundle?)
    }
}

open class NavDestination {
    val id: Int = 0
    val route: String? = null
}
