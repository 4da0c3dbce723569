// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.AnyThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;

/** Checks, and can change, everything that the app says about itself before it is kept. */
public interface Redactor {
    /**
     * Called for each value before it is kept.
     *
     * @param name what was annotated: "scene", "user", ...; "breadcrumb" for {@link Loopbox#breadcrumb}
     * @param value the value as given
     * @return the value to keep, or null to keep none. When it throws, none is kept.
     */
    @AnyThread
    @Nullable
    String redact(@NonNull String name, @NonNull String value);
}
